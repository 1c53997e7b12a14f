"""The four perturbations of annotators."""

import numpy as np
import pandas as pd
import pytest

import bayes_arena as ba
from bayes_arena.errors import ModelError, VotesError
from bayes_arena.paper import KINDS, perturb
from bayes_arena.votes.votes import FIRST, SECOND, TIE

COLUMNS = ["model_a", "model_b", "winner", "judge"]


@pytest.fixture(scope="module")
def votes():
    arena = ba.simulate(competitors=4, annotators=5, votes=400, seed=2)
    return ba.read_votes(arena.votes)


def rows_of(votes, names):
    return np.isin(np.array(votes.annotators)[votes.annotator], names)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("share", "size"), [(0, 0), (0.2, 1), (0.45, 2), (0.5, 3), (1, 5)]
)
def test_votes_are_kept_and_nobody_else_is_touched(votes, kind, share, size):
    before = votes.counts.copy()
    case = perturb(votes, kind, share, seed=4)
    assert len(set(case.annotators)) == size
    touched = rows_of(votes, case.annotators)
    counts = case.votes.counts
    np.testing.assert_array_equal(counts[~touched], before[~touched])
    np.testing.assert_array_equal(counts.sum(axis=1), before.sum(axis=1))
    assert (counts >= 0).all() and (counts % 1 == 0).all()
    assert (counts[touched] != before[touched]).any() == (size > 0)
    np.testing.assert_array_equal(votes.counts, before)


def test_a_seed_decides_who_and_what(votes):
    first = perturb(votes, "mixed", 0.45, seed=1)
    again = perturb(votes, "mixed", 0.45, seed=1)
    np.testing.assert_array_equal(first.votes.counts, again.votes.counts)
    other = perturb(votes, "mixed", 0.45, seed=2)
    assert (first.votes.counts != other.votes.counts).any()
    assert len({perturb(votes, kind, 0.45, seed=1).annotators for kind in KINDS}) == 1


def test_flip_twice_is_no_change(votes):
    once = perturb(votes, "flip", 0.5, seed=1)
    twice = perturb(once.votes, "flip", 0.5, seed=1)
    np.testing.assert_array_equal(twice.votes.counts, votes.counts)


def test_equal_leaves_only_ties(votes):
    counts = perturb(votes, "equal", 1).votes.counts
    np.testing.assert_array_equal(counts[:, TIE], votes.counts.sum(axis=1))


def counts_of(kind):
    """Of 900 wins of the first and 90 ties, perturbed."""
    rows = [("x", "y", "model_a", "k")] * 900 + [("x", "y", "tie", "k")] * 90
    votes = ba.read_votes(pd.DataFrame(rows, columns=COLUMNS))
    return perturb(votes, kind, 1, seed=2).votes.counts.sum(axis=0)


def test_random_turns_half_of_the_wins_and_ties_the_others():
    counts = counts_of("random")
    assert counts[FIRST] == 0 and counts.sum() == 990
    assert abs(counts[SECOND] - 450) < 4 * 15


def test_mixed_is_a_third_of_each():
    counts = counts_of("mixed")
    assert counts[FIRST] == 0
    assert abs(counts[SECOND] - 450) < 4 * 15  # half of a third, and a third
    assert counts[TIE] == 990 - counts[SECOND]


def test_impossible_requests(votes):
    with pytest.raises(ModelError, match="random, equal, flip, mixed"):
        perturb(votes, "swap", 0.5)
    with pytest.raises(ModelError, match=r"share=.* must lie"):
        perturb(votes, "flip", 1.5)
    with pytest.raises(VotesError, match="do not say who voted"):
        perturb(votes.collapse(), "flip", 0.5)
