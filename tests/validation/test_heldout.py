"""Held-out votes: honest splits, scores by hand, and models that deserve to win."""

from functools import partial

import numpy as np
import polars as pl
import pytest
from helpers import frame

import bayes_arena as ba
from bayes_arena.validation.cross_validation import auc, clustered, scores, split_votes
from bayes_arena.validation.prediction import Prediction, predict_cells
from bayes_arena.votes.cells import with_counts

M_ELO = partial(ba.fit, model="m-elo", prior="flat")
AM_ELO = partial(ba.fit, model="am-elo")
AM_DAVIDSON = partial(ba.fit, model="am-davidson")
DAVIDSON = partial(ba.fit, model=ba.Model("davidson", ties="davidson"))


@pytest.fixture(scope="module")
def flippers():
    return ba.read_votes(ba.simulate(competitors=8, annotators=12, votes=1500, anomalous=2, seed=1).votes)


def table_of(cells: ba.Cells) -> dict[tuple, np.ndarray]:
    """Counts by names, cells without votes left out."""
    return {
        (cells.competitors[a], cells.competitors[b], cells.annotators[k]): counts
        for a, b, k, counts in zip(cells.a, cells.b, cells.annotator, cells.counts, strict=True)
    }


def test_splits_partition_the_votes(four_outcomes):
    whole = table_of(four_outcomes)
    seen = []
    for kept, left_out in split_votes(four_outcomes, splits=4, test=0.3, seed=2):
        assert left_out.n_votes == round(0.3 * four_outcomes.n_votes)
        parts = [table_of(kept), table_of(left_out)]
        assert set(parts[0]) | set(parts[1]) == set(whole)
        for key, counts in whole.items():
            np.testing.assert_array_equal(sum(part.get(key, np.zeros(4)) for part in parts), counts)
        assert kept.competitors == left_out.competitors == four_outcomes.competitors
        assert kept.annotators == left_out.annotators == four_outcomes.annotators
        seen.append(left_out.counts.tobytes())
    assert len(set(seen)) == 4


@pytest.mark.slow
def test_every_vote_is_left_out_equally_often():
    """A cell of nine wins and one tie: the tie goes with the probability of any other vote."""
    cells = ba.read_votes(frame([("x", "y", "x")] * 9 + [("x", "y", "tie")]))
    left_out = np.array([out.counts[0] for _, out in split_votes(cells, splits=2000, test=0.3, seed=0)])
    np.testing.assert_array_equal(left_out.sum(axis=1), 3)
    assert left_out[:, 2].mean() == pytest.approx(0.3, abs=4 * np.sqrt(0.21 / 2000))


@pytest.mark.slow
def test_weighted_votes_are_split_too(arena):
    """A summed weight of 9.25 is nine votes, and one that weighs a quarter; whole weights are split as votes."""
    table = frame([("x", "y", "x")] * 37 + [("x", "y", "tie")] * 12).with_columns(w=pl.lit(0.25))
    cells = ba.read_votes(table, weight="w")
    left_out = np.array([out.counts[0] for _, out in split_votes(cells, splits=2000, test=0.3, seed=0)])
    kept = np.array([kept.counts[0] for kept, _ in split_votes(cells, splits=2000, test=0.3, seed=0)])
    np.testing.assert_array_equal(kept + left_out, np.broadcast_to([9.25, 0, 3, 0], kept.shape))
    assert set(left_out[:, 0] % 1) == {0, 0.25}
    np.testing.assert_allclose(left_out.mean(axis=0), 4 / 13 * cells.counts[0], atol=0.1)
    heavy = arena.votes.with_columns(w=pl.when(pl.col("model_a") > "model-3").then(1.0).otherwise(0.5))
    assert np.isfinite(ba.held_out(ba.read_votes(heavy, weight="w"), {"m": M_ELO}, splits=2).loc[0, "mse_se"])


@pytest.mark.slow
def test_the_seed_decides_and_the_order_of_votes_does_not(arena):
    models = {"m-elo": M_ELO, "am-davidson": AM_DAVIDSON}
    one = ba.held_out(ba.read_votes(arena.votes), models, splits=2, seed=5)
    two = ba.held_out(ba.read_votes(arena.votes.sample(fraction=1, shuffle=True, seed=1)), models, splits=2, seed=5)
    other = ba.held_out(ba.read_votes(arena.votes), models, splits=2, seed=6)
    assert one.equals(two)
    assert (one["mse"] != other["mse"]).all()


def test_scores_by_hand():
    prediction = Prediction(np.array([0.8, 0.4]), np.log([[0.7, 0.3], [0.1, 0.5], [0.2, 0.2]]))
    counts = np.array([[2.0, 1.0, 1.0, 0.0], [0.0, 1.0, 0.0, 1.0]])
    mse, area, with_ties, log_score = scores(prediction, counts)
    assert mse == pytest.approx((2 * 0.2**2 + 0.8**2 + 0.3**2 + 0.4**2 + 0.1**2) / 6)
    assert area == pytest.approx(
        (2 * 1 + 2 * 0.5) / 4
    )  # each win of the first cell: above one loss, even with the other
    # wins above losses as before, each win above ties likewise; the ties above losses: 1/2 and 1, 0 and 1/2
    assert with_ties == pytest.approx((3 + 2 * (0.5 + 1) + (0.5 + 1) + (0 + 0.5)) / 12)
    assert log_score == pytest.approx(np.log([0.7, 0.7, 0.1, 0.2, 0.5, 0.2]).mean())


def test_area_under_the_curve_has_its_known_values():
    rising = np.arange(4.0)
    wins, losses = np.array([0, 0, 3.0, 1]), np.array([2.0, 5, 0, 0])
    assert auc(rising, wins, losses) == 1
    assert auc(-rising, wins, losses) == 0
    assert auc(np.zeros(4), wins, losses) == 0.5
    rng = np.random.default_rng(0)
    score, won = rng.integers(0, 5, 200) / 5, rng.integers(0, 2, 200)
    gap = score[won == 1][:, None] - score[won == 0]
    assert auc(score, won, 1 - won) == pytest.approx(np.mean((gap > 0) + 0.5 * (gap == 0)))
    with pytest.raises(ba.ModelError, match="wins and losses"):
        auc(rising, wins, 0 * losses)


@pytest.mark.parametrize(
    ("model", "outcomes"),
    [
        (ba.Model("half"), 2),
        (ba.Model("davidson", ties="davidson"), 3),
        (ba.Model("rao-kupper", ties="rao-kupper"), 3),
        (ba.Model("four", ties="davidson", both_bad="outcome"), 4),
    ],
)
def test_probabilities_are_those_of_the_likelihood(model, outcomes):
    rng = np.random.default_rng(0)
    coordinates = rng.normal(0, 3, (max(outcomes - 1, 1), 7))
    log_p = model.likelihood.log_probabilities(coordinates)
    np.testing.assert_allclose(np.exp(log_p).sum(axis=0), 1, rtol=1e-12)
    assert np.isneginf(log_p[outcomes:]).all()
    for outcome in range(outcomes):
        one = np.zeros((4, 7))
        one[outcome] = 1
        np.testing.assert_allclose(-model.likelihood.rows(one, coordinates).value, log_p[outcome], atol=1e-12)


def test_half_wins_are_scored_by_their_normalised_likelihood():
    """P, 1 - P and sqrt(P (1 - P)), normalised; the expected score stays P."""
    cells = ba.read_votes(frame([("x", "y", "x")] * 3 + [("x", "y", "y"), ("x", "y", "tie")]))
    prediction = predict_cells(M_ELO(cells), cells)
    p = 3.5 / 5
    weights = np.array([p, 1 - p, np.sqrt(p * (1 - p))])
    assert prediction.score[0] == pytest.approx(p)
    np.testing.assert_allclose(np.exp(prediction.log_p[:, 0]), weights / weights.sum(), rtol=1e-6)


def test_a_position_effect_favours_whoever_is_shown_first():
    rows = [("x", "y", "x")] * 40 + [("x", "y", "y")] * 10 + [("y", "x", "y")] * 40 + [("y", "x", "x")] * 10
    cells = ba.read_votes(frame(rows))
    prediction = predict_cells(ba.fit(cells, model=ba.Model("position", ties="davidson", position="common")), cells)
    assert (prediction.score > 0.7).all()


@pytest.mark.slow
def test_standard_errors_allow_for_overlapping_splits(flippers):
    table = ba.held_out(flippers, {"m": M_ELO, "am": AM_ELO}, splits=3, test=0.4, seed=1, reference="am")
    values = np.array(
        [
            [scores(predict_cells(fitter(kept), out), out.counts) for fitter in (M_ELO, AM_ELO)]
            for kept, out in split_votes(flippers, splits=3, test=0.4, seed=1)
        ]
    )
    factor = np.sqrt(1 / 3 + 0.4 / 0.6)
    for number, name in enumerate(("mse", "auc", "auc_ties", "log_score")):
        np.testing.assert_allclose(table[name], values[:, :, number].mean(axis=0))
        np.testing.assert_allclose(table[f"{name}_se"], factor * values[:, :, number].std(axis=0, ddof=1))
        gap = values[:, 0, number] - values[:, 1, number]
        np.testing.assert_allclose(table[f"{name}_diff"], [gap.mean(), 0])
        np.testing.assert_allclose(table[f"{name}_diff_se"], [factor * gap.std(ddof=1), 0])


@pytest.mark.slow
def test_the_model_that_is_true_wins(flippers):
    """Annotators vote against the ranking and ties follow Davidson: am beats m, and knowing of ties helps too."""
    models = {"m-elo": M_ELO, "am-elo": AM_ELO, "am-davidson": AM_DAVIDSON}
    table = ba.held_out(flippers, models, splits=5).set_index("name")
    assert table["mse_diff"]["am-elo"] < -3 * table["mse_diff_se"]["am-elo"]
    assert table["auc_diff"]["am-elo"] > 3 * table["auc_diff_se"]["am-elo"]
    assert table["log_score"]["am-davidson"] > table["log_score"]["am-elo"] > table["log_score"]["m-elo"]


def silenced(cells: ba.Cells, annotator: int) -> ba.Cells:
    return with_counts(cells, cells.counts * (cells.annotator != annotator)[:, None])


@pytest.mark.slow
def test_somebody_without_a_training_vote_is_predicted_by_the_prior_alone(flippers):
    fit = AM_DAVIDSON(silenced(flippers, 0))
    theirs = with_counts(flippers, flippers.counts * (flippers.annotator == 0)[:, None])
    known, new = predict_cells(fit, theirs, draws=4000), predict_cells(fit, theirs, new=True, draws=4000)
    assert np.isfinite(known.log_p).all()
    np.testing.assert_allclose(known.score, new.score, atol=0.05)


def test_a_flat_prior_names_whom_it_cannot_predict(flippers, arena_cells):
    with pytest.raises(ba.errors.NotIdentifiedError, match=r"annotator-01.*prior='default'.*keep_annotators"):
        ba.fit(silenced(flippers, 0), model="am-elo", prior="flat")
    alone = (arena_cells.a == 2) | (arena_cells.b == 2)
    with pytest.warns(ba.errors.IdentificationWarning):
        fit = M_ELO(with_counts(arena_cells, arena_cells.counts * ~alone[:, None]))
    with pytest.raises(ba.errors.NotIdentifiedError, match=r"model-1 and model-3.*prior='default'"):
        predict_cells(fit, arena_cells)
    known = with_counts(arena_cells, arena_cells.counts * ~alone[:, None])
    assert np.isfinite(predict_cells(fit, known).score).all()


def test_annotators_left_out_by_the_papers_filter_vote_like_the_average_one(arena_cells):
    fit = ba.fit(ba.keep_annotators(arena_cells, more_than=100), model="am-elo", prior="flat")
    kept = np.isin(arena_cells.annotators, fit.cells.annotators)
    assert 0 < kept.sum() < len(kept)
    prediction = predict_cells(fit, arena_cells)
    theta = dict(zip(fit.cells.annotators, fit.discrimination, strict=True))
    each = np.array([theta.get(name, 1.0) for name in arena_cells.annotators])[arena_cells.annotator]
    lead = fit.strength[arena_cells.a] - fit.strength[arena_cells.b]
    np.testing.assert_allclose(prediction.score, 1 / (1 + np.exp(-each * lead)), rtol=1e-12)


def test_what_cannot_be_compared_is_refused(arena, arena_cells):
    with pytest.raises(ba.ModelError, match="no model"):
        ba.held_out(arena_cells, {})
    with pytest.raises(ba.ModelError, match="not one of the models: m"):
        ba.held_out(arena_cells, {"m": M_ELO}, reference="am")
    with pytest.raises(ba.ModelError, match="two splits"):
        ba.held_out(arena_cells, {"m": M_ELO}, splits=1)
    for share in (0.0, 1.0, 0.0001, np.nan):
        with pytest.raises(ba.ModelError, match="on each side"):
            ba.held_out(arena_cells, {"m": M_ELO}, test=share)
    with pytest.raises(ba.ModelError, match="leaves out ties"):
        ba.held_out(arena_cells, {"drop": partial(ba.fit, model=ba.Model("drop", ties="drop"))})
    fewer = arena.votes.filter((pl.col("model_a") != "model-3") & (pl.col("model_b") != "model-3"))
    with pytest.raises(ba.ModelError, match="not know model-3"):
        predict_cells(M_ELO(ba.read_votes(fewer)), arena_cells)


def test_clustered_standard_error_by_hand():
    """Three annotators of 1, 2 and 3 votes: residual sums -1, 0 and 1 around a mean of 2."""
    mean, se = clustered(np.array([1.0, 4.0, 7.0]), np.array([1.0, 2.0, 3.0]))
    assert mean == pytest.approx(2)
    assert se == pytest.approx(np.sqrt(3 / 2 * 2) / 6)


@pytest.mark.slow
def test_folds_of_one_annotator_score_every_vote_once(arena_cells):
    models = {"davidson": DAVIDSON, "am-davidson": AM_DAVIDSON}
    table = ba.kfold(arena_cells, models, over="annotator", folds=arena_cells.n_annotators).set_index("name")
    logs = 0.0
    for k in range(arena_cells.n_annotators):
        theirs = with_counts(arena_cells, arena_cells.counts * (arena_cells.annotator == k)[:, None])
        log_p = predict_cells(DAVIDSON(silenced(arena_cells, k)), theirs).log_p
        logs += (theirs.counts[:, :3].T * log_p).sum()
    assert table["log_score"]["davidson"] == pytest.approx(logs / arena_cells.n_votes)
    assert table["log_score_diff"]["davidson"] == table["mse_diff_se"]["davidson"] == 0
    assert abs(table["log_score_diff"]["am-davidson"]) < 3 * table["log_score_diff_se"]["am-davidson"] + 0.02


def test_folds_need_annotators_and_a_population(arena, arena_cells):
    with pytest.raises(ba.ModelError, match="between 2 and the number of annotators, 5, not 6"):
        ba.kfold(arena_cells, {"m": M_ELO}, over="annotator", folds=6)
    flat = lambda cells: ba.fit(ba.keep_annotators(cells, more_than=0), model="am-elo", prior="flat")  # noqa: E731
    with pytest.raises(ba.ModelError, match="population"):
        ba.kfold(arena_cells, {"am": flat}, over="annotator", folds=2)
    anonymous = ba.read_votes(arena.votes.drop("judge"))
    with pytest.raises(ba.ModelError, match="by 'annotator'"):
        ba.kfold(anonymous, {"m": M_ELO}, over="annotator", folds=2)
    assert len(ba.held_out(anonymous, {"m": M_ELO}, splits=2)) == 1


def test_the_auc_of_the_authors_program_ranks_ties_in_the_middle(llmfao_50):
    """One split of LLMFAO by m-ELO: .757 over decided votes, .674 with ties in the middle."""
    kept, out = next(split_votes(llmfao_50, splits=1, test=0.2, seed=0))
    _, decided, with_ties, _ = scores(predict_cells(M_ELO(kept), out), out.counts)
    assert (round(decided, 3), round(with_ties, 3)) == (0.757, 0.674)


@pytest.mark.slow
def test_llmfao_gains_what_was_published(llmfao):
    """Differences to m-ELO over ten splits: am-davidson -.0076 mse, +.039 auc, +.121 log score."""
    models = {"m-elo": M_ELO, "am-davidson": partial(AM_DAVIDSON, dimensions=0, robust=False)}
    table = ba.held_out(llmfao, models).set_index("name")
    published = {"mse": (0.1311, 0.1235), "auc": (0.763, 0.802), "log_score": (-1.038, -0.917)}
    for score, (m_elo, am_davidson) in published.items():
        gap = table[f"{score}_diff"]["am-davidson"] - (am_davidson - m_elo)
        assert abs(gap) < 2 * np.sqrt(2) * table[f"{score}_diff_se"]["am-davidson"], score


@pytest.mark.slow
def test_somebody_new_votes_as_the_population_does():
    """Few votes on a wide gap: the average over theta ~ Normal(1, 2) is far from the vote of the average annotator."""
    rows = [("x", "y", "x", k) for k in "pqrs"] * 30 + [("x", "y", "y", k) for k in "pqrs"] * 4
    fit = ba.fit(ba.read_votes(frame(rows)), model="am-elo", prior=ba.Prior(discrimination=2.0, hyper=None))
    stranger = ba.read_votes(frame([("x", "y", "x", "nobody knows")]))
    lead = ba.draw(fit, size=4000).strength @ [1, -1]
    theta, weight = np.polynomial.hermite_e.hermegauss(40)
    expected = np.mean(1 / (1 + np.exp(-np.outer(lead, 1 + 2 * theta))) @ weight / weight.sum())
    for cells, new in ((stranger, False), (fit.cells, True)):
        score = predict_cells(fit, cells, new=new, draws=4000).score
        np.testing.assert_allclose(score, expected, atol=0.02)


def test_a_both_bad_vote_is_predicted_as_a_tie(four_outcomes):
    fit = ba.fit(four_outcomes, model=ba.Model("four", ties="davidson", both_bad="outcome"))
    np.testing.assert_allclose(np.exp(predict_cells(fit, four_outcomes).log_p).sum(axis=0), 1, rtol=1e-12)


@pytest.mark.slow
def test_warnings_of_fits_begin_with_the_name_of_the_model():
    votes = frame([("x", "y", "x"), ("y", "x", "x")] * 6)  # x is never beaten
    fits = {name: partial(ba.fit, model="m-elo", prior=name) for name in ("default", "flat")}
    with pytest.warns(ba.errors.NoMaximumWarning, match="^flat: "):
        ba.held_out(votes, fits, splits=2, test=0.5)


@pytest.mark.slow
def test_votes_that_were_not_read_yet_are_read(tmp_path):
    table = pl.DataFrame(
        {"model_a": [*"xyzx"] * 6, "model_b": [*"yzxz"] * 6, "winner": ["model_a", "tie", "model_b"] * 8}
    ).with_columns(judge=pl.Series([*"jk"] * 12))
    table.write_csv(tmp_path / "votes.csv")
    models = {"m-elo": partial(ba.fit, model="m-elo")}
    for compare in (partial(ba.held_out, splits=2, test=0.5), partial(ba.kfold, over="annotator", folds=2)):
        expected = compare(ba.read_votes(table), models)
        assert compare(table.to_pandas(), models).equals(expected)
        assert compare(tmp_path / "votes.csv", models).equals(expected)


@pytest.mark.slow
def test_a_model_is_fitted_as_it_is_by_default(arena_cells):
    by_name, by_model, by_function = (
        ba.held_out(arena_cells, {"m": one}, splits=2)
        for one in ("bradley-terry", ba.Model("bradley-terry"), partial(ba.fit, model="bradley-terry"))
    )
    assert by_name.equals(by_function)
    assert by_model.equals(by_function)
    with pytest.raises(ba.ModelError, match="bradley-terry"):
        ba.held_out(arena_cells, {"m": "bradly-terry"}, splits=2)
