"""Single votes in the order in which they were cast, for online Elo.

A vote has a score for the competitor shown first: 1 for a win, 0 for a loss, 1/2 for a tie
(Liu et al., 2025, section 3).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bayes_arena.arrays import Floats, Ints
from bayes_arena.errors import VotesError
from bayes_arena.said import Use
from bayes_arena.votes.votes import Votes

# Of a win, a loss, a tie, a clear win and loss, both bad.
SCORES = np.array([1.0, 0.0, 0.5, 1.0, 0.0, 0.5])


@dataclass(frozen=True, eq=False)
class VoteSequence:
    """Votes in order.

    Attributes
    ----------
    competitors, annotators : tuple of str
        Names, sorted; no annotators where they are unknown.
    i, j : ndarray of int, shape (votes,)
        Codes of the competitors shown first and second.
    annotator : ndarray of int, shape (votes,)
        Codes of the annotators; their number where nobody knows who voted.
    score : ndarray, shape (votes,)
        Score of the first: 1, 1/2 or 0.
    """

    competitors: tuple[str, ...]
    annotators: tuple[str, ...]
    i: Ints
    j: Ints
    annotator: Ints
    score: Floats

    def __len__(self) -> int:
        """Return the number of votes."""
        return len(self.i)


def one_by_one(votes: Votes) -> VoteSequence:
    """Return counted votes one by one, in no particular order, for shuffled Elo."""
    whole = votes.counts.astype(np.int64)
    if not (whole == votes.counts).all():
        raise VotesError(
            (
                "Weighted votes cannot be taken one by one.",
                (" Read them without ", Use("weight"), "."),
            )
        )
    row, outcome = np.nonzero(whole)
    times = whole[row, outcome]
    row, outcome = np.repeat(row, times), np.repeat(outcome, times)
    return in_sequence(votes, row, SCORES[outcome])


def in_sequence(votes: Votes, rows: Ints, score: Floats) -> VoteSequence:
    """Return some rows of votes as single votes."""
    return VoteSequence(
        competitors=votes.competitors,
        annotators=votes.annotators,
        i=votes.i[rows],
        j=votes.j[rows],
        annotator=votes.annotator[rows],
        score=score,
    )
