"""The four outcomes of a vote, and counts of them."""

from __future__ import annotations

import numpy as np

from bayes_arena.arrays import Floats, Ints
from bayes_arena.errors import ModelError

OUTCOMES = ("model_a", "model_b", "tie", "both_bad")
"""What a vote can say, in the order of the columns of ``Cells.counts``."""
COUNT_COLUMNS = ("wins_a", "wins_b", "ties", "both_bad")
"""Columns for the outcomes in tables of counts, in the same order."""
WIN, LOSS, TIE, BOTH_BAD = range(4)
"""Their indices: a win of the first, a win of the second, a tie, a both-bad vote."""
OUTCOME_SCORES = np.array([1.0, 0.0, 0.5, 0.5])
"""Score W of the first competitor for each of the ``OUTCOMES`` (Liu et al., 2025, section 3)."""


def wins_losses_ties(counts: Floats) -> tuple[Floats, Floats, Floats]:
    """Split counts (or probabilities) of the four outcomes, shape (..., 4); both-bad votes count as ties."""
    return counts[..., WIN], counts[..., LOSS], counts[..., TIE] + counts[..., BOTH_BAD]


def whole_votes(counts: Floats) -> Ints:
    """Return counts as integers.

    Raises
    ------
    ModelError
        If weights are fractional, so that votes cannot be drawn or left out one by one.
    """
    if not are_whole(counts):
        raise ModelError(
            "This needs whole votes, and some count in part: their weights are fractional, or a fit discounted them. "
            "Count all votes alike with robust=False (--robust off), or leave weights out."
        )
    return counts.astype(np.int64)


def are_whole(counts: Floats) -> bool:
    """Whether every count is a whole number."""
    return np.array_equal(counts, np.rint(counts))


def whole_counts(values: Floats) -> np.ndarray:
    """Return counts as integers if all are whole (they are, unless votes are weighted)."""
    return values.astype(np.int64) if are_whole(values) else values
