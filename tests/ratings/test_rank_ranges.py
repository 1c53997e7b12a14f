"""The ranks that the votes leave open, all at once."""

import numpy as np
import pytest
from helpers import frame
from scipy.stats import norm

import bayes_arena as ba
from bayes_arena.ratings.decision_draws import decision_strengths
from bayes_arena.ratings.intervals.contract import Summary
from bayes_arena.ratings.rank_ranges import ranges_of_intervals, told_better

TOGETHER = np.zeros(4, dtype=int)


def test_pairs_are_told_apart_step_by_step():
    """Of three with sd 1 / sqrt(2), the widest gap needs alpha / 6, the next alpha / 5, the third alpha / 4."""
    steps = norm.isf(0.05 / np.arange(6, 0, -1))
    for third, told in ((steps[2] + 0.01, 3), (steps[2] - 0.01, 2)):
        value = np.array([steps[0] + third + 0.1, third, 0.0])
        assert value[0] - value[1] > steps[1]
        better = told_better(value, np.eye(3) / 2, 0.95, TOGETHER[:3])
        assert better.sum() == told and better[0, 1] and better[0, 2] and better[1, 2] == (told == 3)
    assert not told_better(np.array([steps[0] - 0.01, 0.0, 0.0]), np.eye(3) / 2, 0.95, TOGETHER[:3]).any()


def test_what_varies_together_is_told_apart_by_less():
    value, shared = np.array([1.0, 0.0]), np.array([[1.0, 0.95], [0.95, 1.0]])
    assert told_better(value, shared, 0.95, TOGETHER[:2])[0, 1]
    assert not told_better(value, np.eye(2), 0.95, TOGETHER[:2]).any()


def test_nobody_is_told_from_another_group():
    value, group = np.array([9.0, 6.0, 3.0, 0.0]), np.array([0, 1, 0, 1])
    better = told_better(value, np.eye(4) / 100, 0.95, group)
    assert better.sum() == 2 and better[0, 2] and better[1, 3]
    summary = Summary(value, np.full(4, 0.1), value, value)
    lower, upper = ranges_of_intervals(summary, 0.95, group)
    assert (lower.tolist(), upper.tolist()) == ([1, 1, 2, 2], [3, 3, 4, 4])


def test_by_intervals_it_is_the_formula_of_the_arena():
    """Its published figure: C with (1380, 1420), one lower bound above 1420 and four upper bounds above 1380."""
    lower = np.array([1430.0, 1400.0, 1380.0, 1370.0, 1360.0, 1300.0])
    upper = np.array([1470.0, 1418.0, 1420.0, 1410.0, 1390.0, 1370.0])
    half = norm.isf(0.5 * (1 - 0.95 ** (1 / 6)))
    found = ranges_of_intervals(
        Summary((lower + upper) / 2, (upper - lower) / 2 / half, lower, upper), 0.95, np.zeros(6)
    )
    assert list(zip(*found, strict=True))[:3] == [(1, 1), (2, 4), (2, 5)]


@pytest.mark.parametrize("interval", ["laplace", "sandwich", "profile"])
def test_both_ways_agree_where_all_is_far_apart(interval):
    rows = [(a, b, w) for a, b in ("xy", "yz") for w in ["model_a"] * 300 + ["model_b"]]
    board = ba.leaderboard(ba.fit(frame(rows), model="bradley-terry"), interval=interval)
    assert board["rank_lower"].tolist() == board["rank_upper"].tolist() == [1, 2, 3]


@pytest.mark.slow
@pytest.mark.parametrize("model", ["m-elo", "am-elo", "am-davidson"])
def test_the_covariance_is_that_of_draws(arena_cells, model):
    fit = ba.fit(arena_cells, model=model, robust=False)
    covariance = fit.board_covariance
    variance = fit.laplace.variance(fit.projection.by_head, fit.projection.own)
    np.testing.assert_allclose(covariance.diagonal(), variance, rtol=1e-9)
    drawn = np.cov(ba.draw(fit, size=20_000).elo_strength.T)
    np.testing.assert_allclose(covariance, drawn, atol=0.06 * variance.max())
    decided = decision_strengths(fit)
    np.testing.assert_allclose(decided.mean(axis=0), fit.board, atol=1e-12)
    np.testing.assert_allclose(covariance, np.cov(decided.T), atol=0.06 * variance.max())


@pytest.mark.slow
def test_all_true_ranks_are_in_their_ranges_at_once():
    """Over arenas drawn anew the level is a bound that is kept; and ranges leave something out."""
    covered, width = [], []
    for seed in range(30):
        arena = ba.simulate(competitors=6, annotators=10, votes=600, discrimination_sd=0, seed=seed)
        truth = dict(zip(arena.competitors, (-arena.strength).argsort().argsort() + 1, strict=True))
        board = ba.leaderboard(ba.fit(arena.votes, model="davidson"), level=0.8)
        true = board["competitor"].map(truth)
        covered.append(((board["rank_lower"] <= true) & (true <= board["rank_upper"])).all())
        width.append((board["rank_upper"] - board["rank_lower"]).mean())
    assert np.mean(covered) >= 0.8
    assert np.mean(width) < 3
