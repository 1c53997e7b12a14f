"""Who can be told apart, all pairs at once."""

from itertools import combinations

import numpy as np
import pytest
from helpers import frame
from scipy.stats import norm

import bayes_arena as ba
from bayes_arena.decisions.tiers import longest_chain, told_better
from bayes_arena.ratings.decision_draws import decision_strengths


@pytest.fixture(scope="module")
def fit(arena_cells) -> ba.Fit:
    return ba.fit(arena_cells, model="bradley-terry")


def test_z_is_the_quantile_of_the_largest_deviation_over_pairs(fit):
    strength = decision_strengths(fit)
    apart = [strength[:, i] - strength[:, j] for i, j in combinations(range(6), 2)]
    largest = np.max([abs(d - d.mean()) / d.std(ddof=1) for d in apart], axis=0)
    better, z = told_better(strength, 0.9)
    assert z == pytest.approx(np.quantile(largest, 0.9))
    for (i, j), d in zip(combinations(range(6), 2), apart, strict=True):
        assert better[i, j] == (d.mean() > z * d.std(ddof=1))
        assert better[j, i] == (-d.mean() > z * d.std(ddof=1))


def test_of_two_competitors_it_is_the_plain_interval():
    fit = ba.fit(ba.read_votes(frame([("x", "y", "model_a"), ("x", "y", "model_b")] * 100)))
    assert ba.tiers(fit).attrs["z"] == pytest.approx(norm.ppf(0.975), abs=0.06)
    assert ba.tiers(fit)["tier"].tolist() == [1, 1]


def test_nobody_of_a_tier_is_told_apart_and_everybody_below_from_one_above(fit):
    table, (better, _) = ba.tiers(fit), told_better(decision_strengths(fit), 0.95)
    index = {name: place for place, name in enumerate(fit.cells.competitors)}
    tier = np.empty(6, dtype=int)
    tier[[index[name] for name in table["competitor"]]] = table["tier"]
    assert table["tier"].is_monotonic_increasing
    assert 1 < tier.max() < 6
    for i in range(6):
        assert not better[i, tier == tier[i]].any()
        assert tier[i] == 1 or better[tier == tier[i] - 1, i].any()


def test_places_count_who_is_told_better_and_worse(fit):
    table, (better, _) = ba.tiers(fit), told_better(decision_strengths(fit), 0.95)
    rows = table.set_index("competitor").loc[list(fit.cells.competitors)]
    assert rows["place_best"].tolist() == (1 + better.sum(axis=0)).tolist()
    assert rows["place_worst"].tolist() == (6 - better.sum(axis=1)).tolist()


def test_the_rank_spread_is_that_of_the_leaderboard(fit):
    shared = ["competitor", "elo", "rank", "rank_best", "rank_worst"]
    table = ba.tiers(fit, level=0.8)
    board = ba.leaderboard(fit, level=0.8)
    assert table.sort_values("rank", ignore_index=True)[shared].equals(board[shared])
    assert table.attrs["level"] == 0.8


def test_a_chain_may_pass_over_those_who_cannot_be_told_apart():
    """Of a > c > d and b > d, b can be told apart from d alone, and is in the first tier."""
    better = np.zeros((4, 4), dtype=bool)
    better[0, 2] = better[0, 3] = better[2, 3] = better[1, 3] = True
    assert longest_chain(better).tolist() == [1, 1, 2, 3]


def test_what_is_far_apart_has_a_tier_each():
    rows = [(a, b, "model_a") for a, b in ("xy", "yz") for _ in range(300)]
    fit = ba.fit(ba.read_votes(frame([*rows, ("x", "y", "model_b"), ("y", "z", "model_b")])))
    table = ba.tiers(fit)
    assert table["competitor"].tolist() == ["x", "y", "z"]
    assert table["tier"].tolist() == table["place_best"].tolist() == table["place_worst"].tolist() == [1, 2, 3]


def test_an_impossible_level_is_refused(fit):
    with pytest.raises(ba.ModelError, match="level"):
        ba.tiers(fit, level=0)
