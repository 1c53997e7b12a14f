"""How surprising scores are."""

import numpy as np
import pytest
from scipy.stats import binom

from bayes_arena.boards.surprise import discoveries, divergence, tail_bounds


def certain(mean):
    """Return what is expected where a shift decides nothing."""
    return lambda shift: np.full(len(shift), mean)


def test_bounds_hold_the_tails_of_a_binomial():
    won = np.arange(21)
    high, low = tail_bounds(won / 20, np.full(21, 20.0), certain(0.3), np.zeros(21))
    assert (high >= 0.97 * binom.sf(won - 1, 20, 0.3)).all()
    assert (low >= 0.97 * binom.cdf(won, 20, 0.3)).all()
    assert high[20] == pytest.approx(0.3**20, rel=0.03)


def test_an_uncertain_expectation_makes_nothing_surprising():
    def expected_at(shift):
        return 1 / (1 + np.exp(-shift))

    score, votes = np.array([0.9]), np.array([30.0])
    sure = tail_bounds(score, votes, expected_at, np.array([0.01]))[0]
    unsure = tail_bounds(score, votes, expected_at, np.array([1.5]))[0]
    assert sure < 0.001 < 0.05 < unsure


def test_divergence_of_scores():
    x, q = np.array([0.0, 1.0, 0.5, 0.25]), np.array([0.5, 0.5, 0.5, 0.5])
    expected = [np.log(2), np.log(2), 0, 0.25 * np.log(0.5) + 0.75 * np.log(1.5)]
    np.testing.assert_allclose(divergence(x, q), expected)


def test_discoveries_by_hand():
    p = np.array([0.04, 0.001, 0.5, 0.02])
    assert discoveries(p, 0.05).tolist() == [False, True, False, True]
    assert discoveries(np.array([0.5, 0.9]), 0.05).tolist() == [False, False]
    assert discoveries(np.zeros(0), 0.05).tolist() == []
