"""Posterior predictive checks: quiet where the model is true, loud where it is not."""

import numpy as np
import polars as pl
import pytest
from helpers import frame

import bayes_arena as ba

DAVIDSON = ba.Model("davidson", ties="davidson")


def share_outside(table):
    outside = (table["observed"] < table["lower"]) | (table["observed"] > table["upper"])
    return outside.groupby(table["statistic"]).mean()


@pytest.fixture(scope="module")
def crowd():
    """Bradley-Terry with Davidson ties is true; 150 annotators of 60 votes."""
    return ba.simulate(competitors=5, annotators=150, votes=9000, discrimination_sd=0.0, seed=4).votes


@pytest.fixture(scope="module")
def true_fit(crowd):
    return ba.fit(ba.read_votes(crowd), model=DAVIDSON)


@pytest.mark.parametrize(
    ("model", "possible"),
    [
        ("bradley-terry", [1, 1, 0, 0]),
        ("am-davidson", [1, 1, 1, 0]),
        (ba.Model("rk", ties="rao-kupper"), [1, 1, 1, 0]),
        (ba.Model("four", ties="davidson", both_bad="outcome", position="common"), [1, 1, 1, 1]),
    ],
)
def test_replications_cast_every_vote_again(four_outcomes, model, possible):
    fit = ba.fit(four_outcomes, model=model)
    votes = ba.replicate(fit, draws=200, seed=3)
    assert votes.shape == (200, len(fit.target.tally.i), 4)
    assert (votes.sum(axis=2) == fit.target.counts.sum(axis=0)).all()
    assert (votes.any(axis=(0, 1)) == possible).all()
    np.testing.assert_array_equal(votes, ba.replicate(fit, draws=200, seed=3))
    assert (votes != ba.replicate(fit, draws=200, seed=4)).any()
    if fit.model.ties != "half":
        replicated = votes.sum(axis=1)
        z = (fit.target.counts.sum(axis=1) - replicated.mean(axis=0)) / np.maximum(replicated.std(axis=0), 1)
        assert np.abs(z).max() < 2


@pytest.mark.slow
def test_rates_are_those_of_the_votes():
    rows = [("x", "y", "x", "j")] * 6 + [("y", "x", "x", "j")] * 2 + [("y", "x", "y", "k"), ("x", "y", "tie", "k")]
    fit = ba.fit(ba.read_votes(frame([*rows, ("z", "x", "x", "k")])), model=DAVIDSON)
    pair = ba.predictive_check(fit, "pair").set_index(["competitor", "opponent", "statistic"])
    assert pair.loc[("x", "y", "win"), ["votes", "observed"]].tolist() == [10, 0.8]
    assert pair.loc[("x", "y", "tie"), "observed"] == 0.1
    assert pair.loc[("x", "z", "win"), ["votes", "observed"]].tolist() == [1, 1.0]
    competitor = ba.predictive_check(fit, "competitor").set_index(["competitor", "statistic"])
    np.testing.assert_allclose(competitor["observed"].xs("win", level=1), [9 / 11, 1 / 10, 0])
    np.testing.assert_allclose(competitor["observed"].xs("tie", level=1), [1 / 11, 1 / 10, 0])
    annotator = ba.predictive_check(fit, "annotator").set_index(["annotator", "statistic"])
    assert annotator["observed"].xs("win", level=1).tolist() == [1.0, 1 / 3]  # for the one rated higher, x
    for table in (pair, competitor, annotator):
        assert ((table["lower"] <= table["predicted"]) & (table["predicted"] <= table["upper"])).all()
        assert table["tail"].between(0, 1).all()


@pytest.mark.slow
def test_no_fault_is_found_where_there_is_none(true_fit):
    table = ba.predictive_check(true_fit, "annotator")
    shares = share_outside(table)
    # intervals of counts cover a little more than 89 %; three binomial standard errors around 11 %
    assert shares.between(0.11 - 0.08, 0.11 + 0.08).all()
    for _, tail in table.groupby("statistic")["tail"]:
        assert tail.mean() == pytest.approx(0.5, abs=3 / np.sqrt(12 * len(tail)))
        assert tail.std() == pytest.approx(1 / np.sqrt(12), rel=0.2)


@pytest.mark.slow
def test_who_only_votes_for_ties_sticks_out(crowd):
    planted = "annotator-007"
    lazy = pl.when(pl.col("judge") == planted).then(pl.lit("tie")).otherwise("winner")
    cells = ba.read_votes(crowd.with_columns(winner=lazy))

    def row(model: ba.Model):
        table = ba.predictive_check(ba.fit(cells, model=model), "annotator")
        return table.set_index(["annotator", "statistic"]).loc[(planted, "tie")]

    common = row(DAVIDSON)
    assert common["observed"] == 1 > common["upper"]
    assert common["tail"] == 0
    own = row(ba.Model("nu_k", ties="davidson", tie_propensity="annotator"))
    assert own["predicted"] > 2 * common["predicted"]  # shrunk, but believed in part


@pytest.mark.slow
def test_what_cannot_be_checked_is_refused(arena, arena_cells, true_fit):
    with pytest.raises(ba.ModelError, match="by must be one of pair"):
        ba.predictive_check(true_fit, "judge")
    with pytest.raises(ba.ModelError, match="level"):
        ba.predictive_check(true_fit, level=1.2)
    with pytest.raises(ba.ModelError, match="half wins"):
        ba.predictive_check(ba.fit(arena_cells, model="am-elo"))
    with pytest.raises(ba.ModelError, match="posterior"):
        ba.replicate(ba.fit(arena_cells, model="m-elo", prior="flat"))
    anonymous = ba.read_votes(arena.votes.drop("judge"))
    with pytest.raises(ba.ModelError, match="no annotators"):
        ba.predictive_check(ba.fit(anonymous, model=DAVIDSON), "annotator")
    weighted = ba.read_votes(arena.votes.with_columns(w=pl.lit(0.5)), weight="w")
    with pytest.raises(ba.ModelError, match="whole votes"):
        ba.replicate(ba.fit(weighted, model=DAVIDSON))


def test_without_ties_half_wins_are_checked_like_any_likelihood(arena):
    decided = ba.read_votes(arena.votes.filter(pl.col("winner") != "tie"))
    table = ba.predictive_check(ba.fit(decided, model="bradley-terry"), "competitor")
    assert table["statistic"].unique().tolist() == ["win"]
    assert table["observed"].between(table["lower"], table["upper"]).mean() > 0.6


@pytest.mark.slow
def test_llmfao_annotators_differ_in_their_ties(llmfao):
    plain = ba.predictive_check(ba.fit(llmfao, model=DAVIDSON), "annotator", draws=300)
    pooled = ba.predictive_check(ba.fit(llmfao, model="am-davidson", robust=False), "annotator", draws=300)
    assert share_outside(plain)["tie"] > 0.3
    assert share_outside(pooled)["tie"] < 0.05
