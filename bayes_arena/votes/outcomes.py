"""The outcomes of a vote, and counts of them: the one place that knows how columns of counts are laid out.

There are four outcomes: a win of either, a tie, a both-bad vote. Where verdicts are graded (``A>>B`` beside ``A>B``), a
win of the first grade is the weakest, and each further grade g = 2, ..., G adds two outcomes, a win of the first and of
the second by that grade: K = 4 + 2 (G - 1) columns in all. Votes without grades have G = 1.
"""

from __future__ import annotations

import numpy as np

from bayes_arena.arrays import Floats, Ints
from bayes_arena.errors import ModelError
from bayes_arena.votes.names import MOST_GRADES

OUTCOMES = ("model_a", "model_b", "tie", "both_bad")
"""What a vote can say, in the order of the columns of ``Cells.counts``."""
COUNT_COLUMNS = ("wins_a", "wins_b", "ties", "both_bad")
"""Columns for the outcomes in tables of counts, in the same order."""
WIN, LOSS, TIE, BOTH_BAD = range(4)
"""Their indices: a win of the first, a win of the second, a tie, a both-bad vote."""
OUTCOME_SCORES = np.array([1.0, 0.0, 0.5, 0.5])
"""Score W of the first competitor for each of the ``OUTCOMES`` (Liu et al., 2025, section 3)."""


def n_outcomes(grades: int) -> int:
    """Return K, the number of outcomes of votes with so many grades."""
    return len(OUTCOMES) + 2 * (grades - 1)


def grades_of(outcomes: int) -> int:
    """Return G, the number of grades of votes with so many outcomes (at least the four)."""
    return 1 + (outcomes - len(OUTCOMES)) // 2


def outcome_names(grades: int) -> tuple[str, ...]:
    """Return the names of the outcomes: the four, then ``model_a_2, model_b_2, ...``."""
    return *OUTCOMES, *(f"{side}_{grade}" for grade in range(2, grades + 1) for side in OUTCOMES[:TIE])


def wins_by(grade: int) -> tuple[str, str]:
    """Return the names of the wins of the first and of the second by a grade."""
    won, lost = OUTCOMES[:TIE] if grade == 1 else outcome_names(grade)[-2:]
    return won, lost


def count_columns(grades: int) -> tuple[str, ...]:
    """Return the columns for the outcomes in tables of counts: the four, then ``wins_a_2, wins_b_2, ...``."""
    return *COUNT_COLUMNS, *(f"{side}_{grade}" for grade in range(2, grades + 1) for side in COUNT_COLUMNS[:TIE])


OF_NAME = {name: outcome for outcome, name in enumerate(outcome_names(MOST_GRADES))}
"""The outcome of every name."""
OF_COLUMN = {name: outcome for outcome, name in enumerate(count_columns(MOST_GRADES))}
"""The outcome that every column of counts counts."""


def outcome_scores(outcomes: int) -> Floats:
    """Return the score W of the first competitor for each outcome: a win scores 1, whatever its grade."""
    further: Floats = np.tile(OUTCOME_SCORES[:TIE], grades_of(outcomes) - 1)
    return np.concatenate([OUTCOME_SCORES, further])


def turned(outcomes: int) -> list[int]:
    """Return the index of each outcome as seen from the other side."""
    return [LOSS, WIN, TIE, BOTH_BAD, *(outcome ^ 1 for outcome in range(len(OUTCOMES), outcomes))]


def by_result(outcomes: int) -> tuple[list[int], list[int], list[int]]:
    """Return the outcomes that are a win of the first, weakest first, those that are one of the second, and others."""
    further = len(OUTCOMES)
    return [WIN, *range(further, outcomes, 2)], [LOSS, *range(further + 1, outcomes, 2)], [TIE, BOTH_BAD]


def with_grades(counts: Floats, grades: int) -> Floats:
    """Return counts (..., K) with so many grades: stronger ones count as the strongest of them, absent ones are zero.

    The array itself is returned if it has them.
    """
    size, known = n_outcomes(grades), counts.shape[-1]
    if size == known:
        return counts
    if size > known:
        return np.concatenate([counts, np.zeros((*counts.shape[:-1], size - known))], axis=-1)
    kept = counts[..., :size].copy()
    strongest = 0 if grades == 1 else size - 2
    kept[..., strongest] += counts[..., size::2].sum(axis=-1)
    kept[..., strongest + 1] += counts[..., size + 1 :: 2].sum(axis=-1)
    return kept


def wins_losses_ties(counts: Floats) -> tuple[Floats, Floats, Floats]:
    """Split counts (or probabilities) of outcomes, shape (..., K); wins of all grades, and both-bad votes as ties."""
    counts = with_grades(counts, 1)
    return counts[..., WIN], counts[..., LOSS], counts[..., TIE] + counts[..., BOTH_BAD]


def whole_votes(counts: Floats) -> Ints:
    """Return counts as integers."""
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
