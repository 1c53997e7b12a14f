"""Fits of graded votes: what is recovered, how much narrower intervals are, and what stays the same."""

import warnings
from dataclasses import replace
from functools import partial

import numpy as np
import polars as pl
import pytest
from grades import expected, graded_arena, model, z_scores
from numpy.testing import assert_allclose, assert_array_equal

import bayes_arena as ba
from bayes_arena.likelihood.outcomes.likelihood import likelihood
from bayes_arena.paper.perturbation import perturb
from bayes_arena.votes.outcomes import by_result, turned, with_grades

TIES = ("davidson", "rao-kupper")


@pytest.fixture(scope="module")
def default(graded):
    return ba.fit(graded)


def board(fit, **options):
    return ba.leaderboard(fit, **options).set_index("competitor").sort_index()


@pytest.mark.slow
@pytest.mark.parametrize("grades", [1, 2, 3])
@pytest.mark.parametrize("ties", TIES)
def test_the_truth_is_recovered(ties, grades):
    """The board and the common numbers lie within four standard errors, with 3, 5 and 7 outcomes."""
    arena = graded_arena(7, ties, grades)
    fit = ba.fit(arena.cells, model=model(ties, grades, "common"))
    z, _ = z_scores(arena, fit)
    assert np.abs(z).max() < 4
    names = ("log_tie_propensity", "emphasis", "grade_3")
    truth = dict(zip(names, arena.coordinates[1:, 0], strict=False))
    found = ba.effects(fit).set_index("effect")
    assert set(found.index) == set(truth)
    assert (np.abs(found["estimate"] - found.index.map(truth)) < 4 * found["sd"]).all()


@pytest.mark.slow
def test_an_annotator_who_never_says_much_is_found():
    arena = graded_arena(3, "davidson", 2, own=0.5, theta=0.3)
    fit = ba.fit(arena.cells)
    assert fit.model.name == "am-davidson with 2 grades"
    found = ba.annotators(fit).set_index("annotator").sort_index()["emphasis"]
    assert np.corrcoef(found, arena.coordinates[2])[0, 1] > 0.85
    assert found.mean() == pytest.approx(arena.coordinates[2].mean(), abs=0.2)
    assert 0.3 < fit.prior.spread("emphasis_spread") < 0.75


@pytest.mark.parametrize("ties", TIES)
def test_intervals_are_narrower_by_the_information_of_grades(ties):
    """Between equals, sd_graded / sd_folded = E|u| / sqrt(E[u^2] P(decided)), u = d ln p / d eta; and as fitted."""
    grades = 3
    one = likelihood(ties, grades=grades)
    z = np.array([0.0, -0.5, -0.2, 0.0])[:, None]
    p = np.exp(one.log_probabilities(z))[:, 0]
    up, down = (np.exp(one.log_probabilities(z + np.array([[step], [0], [0], [0]])))[:, 0] for step in (1e-5, -1e-5))
    seen = p > 0
    u, p = (np.log(up[seen]) - np.log(down[seen])) / 2e-5, p[seen]
    theory = (p @ np.abs(u)) / np.sqrt((p @ u**2) * p[np.abs(u) > 1e-9].sum())
    alike = np.repeat(z + np.array([[1], [0], [0], [0]]), 30, axis=1)
    arena = replace(graded_arena(0, ties, grades, sd=0.0), coordinates=alike)
    votes = expected(arena)
    votes = replace(votes, counts=1000 * votes.counts)  # so many that the prior does not matter
    (_, kept), (_, folded) = (z_scores(arena, ba.fit(votes, model=model(ties, g, "common"))) for g in (grades, 1))
    assert 0.85 < theory < 0.97
    assert_allclose(kept / folded, theory, rtol=2e-3)


@pytest.mark.slow
@pytest.mark.parametrize("whose", ["common", "annotator"])
@pytest.mark.parametrize("ties", TIES)
def test_intervals_cover(ties, whose):
    """Twenty arenas of 12 competitors; `benchmarks/grades.py` has a hundred."""
    own, theta = (0.5, 0.3) if whose == "annotator" else (0.0, 0.0)
    arenas = [graded_arena(seed, ties, 2, own=own, theta=theta) for seed in range(20)]
    z = np.array([z_scores(one, ba.fit(one.cells, model=model(ties, 2, whose)))[0] for one in arenas])
    assert 0.83 < (np.abs(z) < 1.598).mean() < 0.95
    assert 0.9 < (np.abs(z) < 1.96).mean() <= 1


@pytest.mark.slow
def test_folded_votes_give_the_fit_of_votes_without_grades(arena, arena_cells):
    """Bit for bit, whether grades are folded in reading or by the model."""
    arrows = {"model_a": "a>>b", "model_b": "b>>a", "tie": "tie"}
    strong = pl.int_range(pl.len()) % 3 == 0
    votes = arena.votes.with_columns(
        winner=pl.when(strong)
        .then(pl.col("winner").replace(arrows))
        .otherwise(pl.col("winner").replace({"model_a": "a>b", "model_b": "b>a"}))
    )
    kept, folded = ba.read_votes(votes), ba.read_votes(votes, grades="fold")
    assert (kept.grades, folded.grades) == (2, 1)
    assert_array_equal(folded.counts, arena_cells.counts)
    for chosen in ("am-elo", "m-elo", ba.Model("plain", "annotator", "davidson", "annotator")):
        before = ba.fit(arena_cells, model=chosen)
        for cells in (kept, folded):
            after = ba.fit(cells, model=chosen)
            assert_array_equal(after.strength, before.strength)
            assert_array_equal(after.point.own, before.point.own)
            assert_array_equal(board(after)["upper"], board(before)["upper"])


@pytest.mark.slow
def test_what_is_kept_and_what_is_folded_is_said(graded):
    said = {one.what: (one.taken, one.why) for one in ba.choose(graded).choices}
    assert said["grades"] == ("all 3 kept apart", "the votes have them")
    assert said["annotators"][0].startswith("discrimination, tie propensity, position, emphasis:")
    said = {one.what: (one.taken, one.why) for one in ba.choose(graded, model="am-elo").choices}
    assert said["grades"] == ("folded: a win is a win", "ties='half' has no probabilities of grades")
    two = {one.what: one.taken for one in ba.choose(graded, model=ba.Model("two", ties="davidson", grades=2)).choices}
    assert two["grades"] == "2 of 3 kept apart"
    with pytest.raises(ba.ModelError, match=r"keeps 4 grades of wins apart, and the votes have 3\. Use grades=3"):
        ba.fit(graded, model=ba.Model("four", ties="davidson", grades=4))
    with pytest.raises(ba.ModelError, match="Grades have no probabilities of their own under ties='glenn-david'"):
        ba.Model("own", ties="glenn-david", grades=2)
    for wrong in (0, 2.0, 10):
        with pytest.raises(ba.ModelError, match="grades must be a whole number from 1 to 9"):
            ba.Model("own", ties="davidson", grades=wrong)


def test_a_default_without_annotators_keeps_grades_even_without_ties():
    votes = pl.DataFrame({"model_a": [*"xyzzyx"], "model_b": [*"yzxyxz"], "winner": ["A>>B", "A>B", "B>A"] * 2})
    assert ba.fit(ba.read_votes(votes)).model.name.startswith("davidson")


@pytest.mark.slow
@pytest.mark.parametrize("chosen", [None, ba.Model("rk", "annotator", "rao-kupper", "annotator", grades=3)], ids=str)
def test_names_order_and_sides_do_not_matter(graded, chosen):
    fit = board(ba.fit(graded, model=chosen))
    renamed = replace(graded, competitors=tuple(f"{9 - place}" for place in range(6)))
    order = np.argsort(renamed.competitors, kind="stable")
    place = np.argsort(order)
    rows = np.random.default_rng(0).permutation(len(graded.a))
    other = replace(
        renamed.take(rows),
        competitors=tuple(np.array(renamed.competitors)[order].tolist()),
        a=place[graded.a[rows]],
        b=place[graded.b[rows]],
    )
    by_name = board(ba.fit(other, model=chosen)).iloc[::-1]
    assert_allclose(by_name[["elo", "lower", "upper"]], fit[["elo", "lower", "upper"]], atol=1e-6)
    swapped = replace(graded, a=graded.b, b=graded.a, counts=graded.counts[:, turned(8)])
    around = board(ba.fit(swapped, model=chosen))
    assert_allclose(around[["elo", "lower", "upper"]], fit[["elo", "lower", "upper"]], atol=1e-6)


@pytest.mark.slow
def test_a_board_is_that_of_the_net_score(graded):
    """On the scale of "better than, a tie counting half": the projection of the average vote, whatever its grade."""
    fit = ba.fit(graded, model=ba.Model("alike", ties="davidson", grades=3))
    i, j = np.triu_indices(6, 1)
    tie, emphasis, third = fit.point.common
    eta = fit.strength[i] - fit.strength[j]
    odds = {grade: np.exp((grade - 1) * emphasis + third * (grade == 3)) for grade in (1, 2, 3)}
    won, lost = (sum(a * np.exp(side * g * eta / 2) for g, a in odds.items()) for side in (1, -1))
    score = (won + np.exp(tie) / 2) / (won + lost + np.exp(tie))
    r = board(fit)["elo"].to_numpy() * np.log(10) / 400
    shown = 1 / (1 + np.exp(-(r[i] - r[j])))
    for one in range(6):  # a projection keeps everybody's mean score
        mine = (i == one) * 1.0 - (j == one) * 1.0
        assert_allclose(mine @ shown, mine @ score, atol=1e-6)


@pytest.mark.slow
def test_a_saved_fit_is_the_same(default, tmp_path):
    pytest.importorskip("arviz")
    ba.save(default, tmp_path / "fit.nc")
    loaded = ba.load(tmp_path / "fit.nc")
    assert loaded.model == default.model
    assert_array_equal(loaded.cells.counts, default.cells.counts)
    assert_array_equal(board(loaded), board(default))


@pytest.mark.slow
def test_what_grades_add(default):
    fit = ba.fit(graded_arena(0, "rao-kupper", 3).cells, model=model("rao-kupper", 3, "common"))
    table = ba.grades(fit)
    kept = board(fit).loc[table["competitor"]]
    assert_array_equal(table[["elo", "lower", "upper"]], kept[["elo", "lower", "upper"]])
    assert table["width"].between(0.75, 0.95).all()
    assert_allclose(table["width"], (table["upper"] - table["lower"]) / (table["upper_folded"] - table["lower_folded"]))
    assert table.attrs["worth"] == pytest.approx((1 / table["width"] ** 2).mean())
    with pytest.raises(ba.ModelError, match="keeps no grades apart"):
        ba.grades(ba.fit(default.cells, model="am-elo"))


@pytest.mark.slow
def test_every_table_reads_graded_votes(default, graded):
    """Decisions, reliability and checks count wins of every grade as wins."""
    wins = ba.win_probability(default).to_numpy()
    assert_allclose(wins + wins.T, 1)
    folded = ba.fit(graded, model=replace(default.model, name="folded", grades=1), method="marginal")
    ours, theirs = (ba.leaderboard(one).set_index("competitor").sort_index() for one in (default, folded))
    assert_array_equal(ours[["wins", "losses", "ties"]], theirs[["wins", "losses", "ties"]])
    first, second, *_ = ba.leaderboard(default)["competitor"]
    for how in ("drop", "flip"):
        flip = ba.flips(default, [(first, second)], how=how)
        assert len(flip)
    changed = ba.flip_votes(default, first, second, how="drop")
    assert set(changed["winner"]) & {"model_a_2", "model_b_2", "model_a_3", "model_b_3"}
    check = ba.predictive_check(default, draws=100)
    assert ((check["observed"] >= 0) & (check["observed"] <= 1)).all()
    for kind in ("sandwich", "clustered", "bootstrap"):
        with warnings.catch_warnings(action="ignore"):
            one = ba.fit(graded, model=default.model, method="map")
            table = ba.leaderboard(one, interval=kind)
        assert (table["lower"] < table["elo"]).all() and (table["elo"] < table["upper"]).all()


@pytest.mark.slow
def test_fits_that_differ_in_grades_are_not_compared_by_their_densities(default, graded):
    folded = ba.fit(graded, model=replace(default.model, name="folded", grades=1))
    with pytest.raises(ba.ModelError, match="3 grades of wins apart"):
        ba.compare({"kept": default, "folded": folded})
    models = {
        "kept": partial(ba.fit, model="davidson"),
        "folded": partial(ba.fit, model=ba.Model("f", ties="davidson")),
    }
    table = ba.held_out(graded, models, splits=2).set_index("name")
    assert abs(table.loc["kept", "log_score"] - table.loc["folded", "log_score"]) < 0.05


def test_perturbed_annotators_turn_every_grade(graded):
    turned_votes, who = perturb(graded, "flip", share=0.4, seed=0)
    rows = np.isin(graded.annotator, [graded.annotators.index(name) for name in who])
    assert_array_equal(turned_votes.counts[rows], graded.counts[rows][:, turned(8)])
    random, _ = perturb(graded, "random", share=1.0, seed=0)
    _, _, ties = by_result(8)
    assert random.n_votes == graded.n_votes
    assert random.counts[:, ties].sum() > graded.counts[:, ties].sum()
    assert_array_equal(with_grades(random.counts, 1).sum(axis=1), graded.counts.sum(axis=1))
