"""Groups of voters: boards of populations and combinations, who is the best where, what makes votes differ."""

import numpy as np
import polars as pl
import pytest
from population import GROUPS, MODEL, SHARES, draw, shares

import bayes_arena as ba
from bayes_arena.inference.population import Stratum, raked
from bayes_arena.ratings.decision_draws import joint_strengths

pytestmark = pytest.mark.filterwarnings("ignore::bayes_arena.AverageWarning")


@pytest.fixture(scope="module")
def arena():
    return draw(1, times=6.0)


@pytest.fixture(scope="module")
def fit(arena) -> ba.Fit:
    return ba.fit(arena.cells, model=MODEL, robust=False)


@pytest.fixture(scope="module")
def of_two_kinds(arena) -> ba.Fit:
    model = ba.Model("two kinds", discrimination="annotator", strength_by=("group", "country"), ties="davidson")
    return ba.fit(arena.cells, model=model, robust=False)


def board(fit: ba.Fit) -> np.ndarray:
    return ba.leaderboard(fit).set_index("competitor").loc[list(fit.cells.competitors), "elo"].to_numpy()


@pytest.mark.slow
def test_strengths_are_averaged_with_the_shares_of_the_population(fit):
    people = fit.of_population(shares())
    part = fit.target.numbering.parts[0]
    by_hand = np.array(SHARES) @ fit.point.slices[part].reshape(len(GROUPS), -1)  # everybody was seen by every group
    np.testing.assert_allclose(people.view.slices @ fit.point.slices, by_hand)
    np.testing.assert_allclose(people.view.unseen, 0, atol=1e-12)


def test_annotators_count_so_that_groups_have_their_shares(arena, fit):
    crowd, cast = fit.of_population(shares()).crowd, arena.cells.votes_by_annotator()
    of_annotator = np.zeros(arena.cells.n_annotators, dtype=int)
    of_annotator[arena.cells.annotator] = arena.cells.slices["group"]
    np.testing.assert_allclose(np.bincount(of_annotator, crowd.shares(cast)), SHARES)
    assert 100 < crowd.effective_votes(cast) < 0.8 * arena.cells.n_votes
    of_votes = {"group": dict(zip(GROUPS, np.bincount(of_annotator, cast) / cast.sum(), strict=True))}
    same = fit.of_population(of_votes)
    assert same.crowd.effective_votes(cast) == pytest.approx(arena.cells.n_votes, rel=0.01)
    np.testing.assert_allclose(board(same), board(fit), atol=0.05)


def test_shares_of_two_kinds_hold_at_once():
    rng = np.random.default_rng(0)
    strata = [
        Stratum(tuple(rng.integers(size, size=60).tolist()), share)
        for size, share in ((2, (0.3, 0.7)), (3, (0.2, 0.5, 0.3)))
    ]
    weight = raked(rng.uniform(1, 9, 60), strata)
    for one in strata:
        np.testing.assert_allclose(np.bincount(one.group, weight) / weight.sum(), one.share, rtol=1e-9)


def test_a_single_group_is_its_own_ranking(fit):
    alone = fit.of_population({"group": {"B": 1.0}})
    within = fit.on(slice=("group", "B"))
    np.testing.assert_allclose(alone.view.slices.toarray(), within.view.slices.toarray())
    assert alone.view.given == within.view.given
    assert np.corrcoef(board(alone), board(within))[0, 1] > 0.999  # other voters' slopes


@pytest.mark.slow
def test_a_combination_of_groups(of_two_kinds):
    both = of_two_kinds.of_population({"group": {"B": 1.0}, "country": {"X": 1.0}})
    one = of_two_kinds.on(slice=("group", "B")).view.slices.toarray()
    first, second = of_two_kinds.target.numbering.parts
    found = both.view.slices.toarray()
    np.testing.assert_allclose(found[:, first], one[:, first])
    assert (found[:, second].sum(axis=1) == 1).all() and both.view.given == ("group", "country")


def test_groups_that_nobody_voted_from_are_said_and_widen(fit):
    with pytest.warns(
        ba.AverageWarning, match=r"Nobody voted from 'D' \(25 % of the population\) by 'group', but from 'A', "
    ):
        unsure = fit.of_population({"group": {"A": 0.5, "B": 0.25, "D": 0.25}})
    assert "Nobody voted from 'D'" in " ".join(unsure.warnings)
    sure = fit.of_population({"group": {"A": 2 / 3, "B": 1 / 3}})
    wide, narrow = (ba.leaderboard(one).eval("upper - lower").mean() for one in (unsure, sure))
    sd = fit.spreads.spread("strength_by_group")
    assert wide > 1.05 * narrow
    np.testing.assert_allclose(unsure.view.unseen, 0.25**2 * sd**2)
    board = ba.leaderboard(unsure).set_index("competitor").loc[list(unsure.cells.competitors)]
    spread = np.sqrt(np.diag(unsure.board_covariance)) * 400 / np.log(10)
    np.testing.assert_allclose(board.eval("upper - lower") / 2 / 1.959964, spread, rtol=1e-5)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::bayes_arena.ArenaWarning")
def test_intervals_of_win_rates_know_of_groups_that_nobody_voted_from(fit):
    unsure = fit.of_population({"group": {"A": 0.2, "D": 0.8}})
    pair = [fit.cells.competitors[:2]]
    tables = ba.head_to_head(unsure, pair), ba.head_to_head(unsure, pair, draws=ba.draw(unsure, size=300))
    widths = [one["upper"] - one["lower"] for one in tables]
    np.testing.assert_allclose(widths[0], widths[1], rtol=0.2)


def test_the_ranking_says_whom_it_is_for(fit):
    about = ba.leaderboard(fit.of_population(shares())).attrs
    assert about["population"] == "by group" and int(about["effective_votes"].replace(",", "")) > 100
    assert "population" not in ba.leaderboard(fit).attrs


@pytest.mark.parametrize(
    ("shares", "said"),
    [
        ({}, "needs the shares"),
        ({"age": {"A": 1.0}}, "no strengths by 'age'.*groups: 'group'"),
        ({"group": {"A": 0.5, "B": 0.4}}, r"sum to 0\.9, not to 1"),
        ({"group": {"A": 1.5, "B": -0.5}}, r"at least 0, not -0\.5 of 'B'"),
        ({"group": {"A": float("nan"), "B": 0.5}}, "nan of 'A'"),
        ({"group": {"A": "half", "B": 0.5}}, "not half of 'A'"),
        ({"group": 1.0}, "'group' needs a share for each of its groups"),
        ({"group": {"a": 0.5, "b": 0.5}}, "Nobody voted from any of the population's groups by 'group', 'a', 'b'"),
    ],
)
def test_bad_populations_are_refused(fit, shares, said):
    with pytest.raises(ba.ModelError, match=said):
        fit.of_population(shares)


def test_the_best_by_group(fit):
    table = ba.best_by_group(fit, "group")
    for name in GROUPS:
        within = ba.rank_probabilities(fit, slice=("group", name)).set_index("competitor")["p_best"]
        np.testing.assert_allclose(table.set_index("competitor")[name], within.loc[table["competitor"]])
    assert (table["everywhere"] <= table[list(GROUPS)].min(axis=1) + 1e-12).all()
    assert table["at_worst"].sum() == pytest.approx(1) and table["at_worst"].is_monotonic_decreasing
    with pytest.raises(ba.ModelError, match="no strengths by 'age'"):
        ba.best_by_group(fit, "age")


@pytest.mark.slow
def test_rankings_of_groups_are_drawn_together(fit):
    """A single group is the best everywhere as often as it is the best, and rankings are as like as their draws."""
    ranked = [fit.on(slice=("group", name)) for name in GROUPS]
    drawn = joint_strengths([*ranked, fit])
    for one, each in zip((*ranked, fit), drawn, strict=True):
        np.testing.assert_allclose(each.mean(axis=0), one.board, atol=1e-9)
        np.testing.assert_allclose(np.cov(each.T), one.board_covariance, atol=0.002)
    apart = np.corrcoef(drawn[0][:, 0] - drawn[0][:, 1], drawn[1][:, 0] - drawn[1][:, 1])[0, 1]
    parameters = ba.draw(fit)
    by_hand = [one.seen(parameters).elo_strength for one in ranked]
    assert apart == pytest.approx(np.corrcoef(*((each[:, 0] - each[:, 1]) for each in by_hand[:2]))[0, 1], abs=0.06)


def test_groups_of_annotators_are_asked_for_by_name(arena):
    plan = ba.choose(arena.cells, groups=["group", "country"])
    assert plan.problem.model.strength_by == ("group", "country") and plan.robust and plan.most_directions
    assert plan.problem.model.name == "am-davidson by group, country"
    assert {one.what: one.why for one in plan.choices}["by country"] == "asked for"
    assert ba.choose(arena.cells, groups="group", model=MODEL).problem.model.strength_by == ("group",)


@pytest.mark.parametrize("known", [True, False])
def test_somebody_in_two_groups_is_named_where_people_are_known(known):
    table = pl.DataFrame(
        {"model_a": ["x", "y", "x"], "model_b": ["y", "z", "z"], "winner": ["x", "y", "tie"], "age": ["18", "40", "40"]}
    )
    if not known:
        assert ba.choose(table, groups="age").problem.model.strength_by == ("age",)
        return
    with pytest.raises(ba.ModelError, match=r"1 of 2 are in several by 'age': 'ann' \(18, 40\)\. Mend their rows"):
        ba.fit(table.with_columns(judge=pl.Series(["ann", "ann", "bob"])), groups=["age"])
    with pytest.raises(ba.ModelError, match=r"no 'agee'.*Did you mean 'age'\?"):
        ba.fit(ba.read_votes(table, slices=["age"]), groups=["agee"])
    with pytest.raises(ba.ModelError, match=r"told by their names, not 3\. Use a sequence"):
        ba.fit(table, groups=3)
    with pytest.raises(ba.errors.InvalidVotesError, match=r"row 2: missing slice .*age=None"):
        ba.fit(table.with_columns(age=pl.Series(["18", "18", None])), groups="age")


def test_disagreement_is_taken_apart(fit):
    table = ba.disagreement(fit).set_index("source")
    assert table["share"].sum() == pytest.approx(1)
    assert table.loc["what all share", "variance"] == pytest.approx(2 * np.var(fit.strength, ddof=1))
    assert table.loc["by group", "variance"] == pytest.approx(2 * fit.spreads.spread("strength_by_group") ** 2)
    assert table.index.tolist() == ["what all share", "by group", "discrimination", "chance"]
    assert 0.1 < table.loc["by group", "variance"] < 0.8  # 2 * .4^2 is true


def test_under_a_flat_prior_annotators_have_no_variance(fit):
    found = ba.fit(fit.cells, model="am-elo", prior="flat")
    with pytest.raises(ba.ModelError, match="nothing says how much annotators differ"):
        ba.disagreement(found)


def test_gaps_have_a_false_discovery_rate(fit):
    table = ba.slice_gaps(fit, "group")
    assert (table["q"] >= table["p"]).all() and table["q"].is_monotonic_increasing
    assert table["q"].iloc[0] == pytest.approx((table["p"] * len(table) / np.arange(1, len(table) + 1)).min())


@pytest.mark.slow
def test_a_group_that_ranks_the_other_way_round_is_not_taken_for_annotators_turned_round():
    rng = np.random.default_rng(0)
    strength, who = np.linspace(-1.5, 1.5, 6), rng.integers(30, size=1500)
    a = rng.integers(6, size=1500)
    b = (a + rng.integers(1, 6, size=1500)) % 6
    group = np.minimum(who // 10, 1)  # ten annotators against twenty
    lead = np.where(group == 0, -1, 1) * (strength[a] - strength[b])
    won = rng.random(1500) < 1 / (1 + np.exp(-lead))
    cells = ba.Cells(
        tuple("abcdef"), tuple(f"user-{one:02}" for one in range(30)), a, b, who, np.eye(4)[1 - won.astype(int)],
        slices={"group": group}, slice_names={"group": ("few", "many")},
    )  # fmt: skip
    fit = ba.fit(cells, model=ba.Model("by group", discrimination="annotator", strength_by=("group",)), robust=False)
    assert (fit.discrimination > 0).all()
    few = ba.leaderboard(fit.of_population({"group": {"few": 1.0}}))
    assert list(few["competitor"]) == list("abcdef")


@pytest.mark.slow  # imports xarray
def test_draws_are_about_the_same_groups_as_the_fit(fit):
    tree = ba.to_datatree(fit, votes=False)
    posterior = tree["posterior"].to_dataset().drop_vars("elo_strength")
    back = ba.from_posterior(type(tree).from_dict({"posterior": posterior}), fit.cells, model=MODEL)
    ours, theirs = (ba.leaderboard(one).set_index("competitor").sort_index() for one in (back, fit))
    sd, drawn = ((one["upper"] - one["lower"]) / 3.92 for one in (theirs, ours))
    np.testing.assert_array_less(abs(ours["elo"] - theirs["elo"]), 0.25 * sd)
    np.testing.assert_allclose(drawn, sd, rtol=0.1)
