"""Ranks: the arena's spread, the probability of every rank, and ranges."""

from types import SimpleNamespace

import numpy as np
import pytest

import bayes_arena as ba
from bayes_arena.boards.look import Look
from bayes_arena.boards.ranks import rank_spread, ranks
from bayes_arena.boards.standing import standing_of
from tests.boards.arenas import columns, fitted


def test_the_arenas_spread_of_its_own_example():
    """LMArena's picture: A above all, B and C with D and E in reach."""
    lower = np.array([1440.0, 1402.0, 1380.0, 1375.0, 1370.0, 1300.0])
    upper = np.array([1460.0, 1434.0, 1420.0, 1415.0, 1410.0, 1350.0])
    standing = SimpleNamespace(ranked=np.arange(6), bounds=(lower, upper))
    best, worst = rank_spread(standing)
    assert best.tolist() == [1, 2, 2, 2, 2, 6]
    assert worst.tolist() == [1, 5, 5, 5, 5, 6]


def test_intervals_that_touch_overlap():
    bounds = np.array([1.0, 0.0]), np.array([2.0, 1.0])
    best, worst = rank_spread(SimpleNamespace(ranked=np.arange(2), bounds=bounds))
    assert best.tolist() == [1, 1] and worst.tolist() == [2, 2]


def test_equal_strengths_share_a_rank():
    assert ranks(np.array([0.5, 0.1, 0.5 + 1e-12, -1.0])).tolist() == [1, 3, 1, 4]


def test_rank_probabilities_agree_with_the_board():
    fit = fitted(8, 300)
    table = ba.rank_probabilities(fit)
    board = ba.leaderboard(fit)
    assert table.index.tolist() == board["competitor"].tolist()
    np.testing.assert_allclose(table[1], board["p_best"])
    np.testing.assert_allclose(table.sum(axis=0), 1)
    np.testing.assert_allclose(table.sum(axis=1), 1)
    for row, (name, share) in enumerate(table.iterrows()):
        below = share[: board["rank_lower"][row] - 1].sum()
        above = share[board["rank_upper"][row] :].sum()
        assert max(below, above) <= 0.0251, name


def test_two_competitors_have_the_probability_of_their_gap():
    votes, _ = columns(2, 60, seed=8)
    fit = ba.fit(votes)
    board, pair = ba.leaderboard(fit), ba.pairs(fit)
    assert board["p_best"][0] == pytest.approx(pair["p_ahead"][0], abs=0.01)


def test_the_spread_is_an_option_and_wider():
    fit = fitted(10, 600)
    own, spread = ba.leaderboard(fit), ba.leaderboard(fit, rank_spread=True)
    assert (spread["rank_lower"] <= own["rank_lower"]).all()
    assert (spread["rank_upper"] >= own["rank_upper"]).all()
    assert not own.equals(spread)


def test_ranges_narrow_with_votes_and_level():
    fit = fitted(10, 600)

    def width(fit, level=0.95):
        first, last = standing_of(fit, Look(level=level)).rank_ranges
        return (last - first).mean()

    assert width(fit, 0.5) < width(fit) < width(fitted(10, 150))


@pytest.mark.slow
def test_true_ranks_lie_in_their_ranges():
    inside = []
    for seed in range(60):
        votes, strength = columns(10, 500, seed=seed)
        standing = standing_of(ba.fit(votes), Look(min_votes=0))
        first, last = standing.rank_ranges
        rank = 1 + (strength[:, None] < strength).sum(axis=1)
        rank = rank[standing.ranked]
        inside.append(np.mean((first <= rank) & (rank <= last)))
    assert np.mean(inside) > 0.95
