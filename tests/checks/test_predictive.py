import numpy as np
import pytest

import bayes_arena as ba
from bayes_arena.checks.predictive import p_values
from bayes_arena.checks.statistics import (
    gap_of,
    groups_of,
    score_of,
    score_residual,
)

AGREEMENT = "gap of annotators' agreement with the ranking"
ANNOTATORS_TIES = "gap of annotators' ties"


def arena(**options):
    sizes = {"competitors": 6, "annotators": 10, "votes": 1200, "seed": 4}
    return ba.read_votes(ba.simulate(**{**sizes, **options}).votes)


@pytest.fixture(scope="module")
def differing():
    return arena(reversed=2, tie_spread=1.2)


def check(votes, **options):
    table = ba.predictive_check(ba.fit(votes, **options), draws=100)
    return table.set_index("statistic")


def test_a_gap():
    groups = groups_of(np.array([7, 7, 9]), np.arange(3), np.ones(3))
    counts = np.array([[2.0, 0, 0], [0, 0, 2], [1, 0, 0]])
    p = np.array([[0.5, 0.5, 0], [0.5, 0.5, 0], [1.0, 0, 0]])
    # Group 7 has 3 points of 4 where 2 are expected; group 9 is as expected.
    gap = gap_of(groups, score_residual, counts, p)
    assert gap == pytest.approx(np.sqrt(4 * 0.25**2 / 5))


def test_a_mean_score_counts_ties_as_half():
    rows = [("oak", "elm", "model_a"), ("elm", "oak", "tie"), ("ash", "oak", "model_a")]
    rows += [("oak", "ash", "tie"), ("elm", "ash", "model_b")]
    votes = ba.read_votes(
        [dict(zip(("model_a", "model_b", "winner"), row, strict=True)) for row in rows]
    )
    scores = [score_of(votes.folded, votes, c) for c in range(3)]
    assert votes.competitors == ("ash", "elm", "oak")
    assert scores == [2.5 / 3, 0.5 / 3, 2 / 4]


def test_votes_of_the_model_itself_are_no_surprise():
    table = check(arena(discrimination_sd=0.0))
    assert (table["p"] > 0.01).all()
    inside = table["observed"].between(table["lower"], table["upper"])
    assert inside.mean() > 0.7


def test_annotators_that_differ_surprise_davidson_alone(differing):
    table = check(differing)
    assert table["p"][AGREEMENT] == 0
    assert table["p"][ANNOTATORS_TIES] == 0
    assert table["observed"][AGREEMENT] > 2 * table["predicted"][AGREEMENT]
    better = check(differing, model="am-davidson")
    assert better["p"][AGREEMENT] > 0.05
    assert better["p"][ANNOTATORS_TIES] > 0.05


def test_prompts():
    rng = np.random.default_rng(0)
    table = ba.simulate(competitors=5, annotators=4, votes=1500, seed=1).votes
    table["prompt"] = rng.integers(10, size=len(table)).astype(str)
    # On prompt 0 everything is reversed.
    swap = {"model_a": "model_b", "model_b": "model_a", "tie": "tie"}
    is_reversed = table["prompt"] == "0"
    table.loc[is_reversed, "winner"] = table.loc[is_reversed, "winner"].map(swap)
    result = check(ba.read_votes(table))
    assert result["p"]["gap of competitors' scores by prompt"] < 0.02


def test_half_wins_and_weights_are_refused(differing):
    fit = ba.fit(differing, model="bradley-terry")
    with pytest.raises(ba.ArenaError, match="ties as half wins"):
        ba.predictive_check(fit)
    table = ba.simulate(competitors=4, annotators=3, votes=60).votes
    table["w"] = 0.5
    fit = ba.fit(table, weight="w")
    with pytest.raises(ba.ArenaError, match="fractional weights"):
        ba.predictive_check(fit)


@pytest.mark.slow
def test_a_known_prior():
    votes = arena(tie_propensity=0)
    prior = ba.Prior(strength=2.0)
    table = ba.prior_check(votes, model="bradley-terry", prior=prior, draws=400)
    table = table.set_index("quantity")
    # The sd of six normal strengths of sd 2, around their mean.
    expected = 2.0 * 173.7178 * np.sqrt(4.35 / 6)
    assert table["q50"]["sd of Elo scores"] == pytest.approx(expected, rel=0.06)
    assert list(table.columns) == ["q05", "q50", "q95", "fitted"]
    assert "ties" not in table.index


@pytest.mark.slow
def test_the_default_prior_allows_for_what_was_found():
    fit = ba.fit(arena(strength_sd=1.5), model="am-davidson")
    table = ba.prior_check(fit)
    assert (table["q05"] <= table["fitted"]).all()
    assert (table["fitted"] <= table["q95"]).all()


def test_a_flat_prior_implies_nothing(differing):
    with pytest.raises(ba.ArenaError, match="flat prior implies nothing"):
        ba.prior_check(differing, prior="flat")


def test_of_ties_with_the_replications_half_are_as_far_out():
    """Two-sided for a share, one-sided for a gap, as a gap is never too small."""
    observed = np.zeros((4, 2))
    replicated = np.array([[1, 1], [0, 0], [0, 0], [-1, -1]])
    p = p_values(observed, replicated, np.array([True, False]))
    assert p.tolist() == [0.5, 1.0]
    p = p_values(observed, replicated - 0.5, np.array([True, False]))
    assert p.tolist() == [0.25, 0.5]
