"""Single votes in the order in which they were cast, for online Elo.

:class:`~bayes_arena.votes.cells.Cells` discard the order on purpose. Here it is kept, and a vote has a score W for the
competitor shown first: 1 for a win, 0 for a loss, 1/2 for a tie or a both-bad vote (Liu et al., 2025, section 3).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bayes_arena.arrays import Floats, sum_by
from bayes_arena.votes.cells import Cells, VoteRows, single_votes
from bayes_arena.votes.outcomes import outcome_scores


@dataclass(frozen=True, eq=False)
class VoteSequence(VoteRows):
    """Votes in order.

    Attributes
    ----------
    competitors : tuple of str
        Names, sorted.
    annotators : tuple of str
        Names, sorted; empty when the annotators are unknown.
    a, b : ndarray of int, shape (n_votes,)
        Index of the competitors shown first and second.
    annotator : ndarray of int, shape (n_votes,)
        Index of the annotator; 0 when the annotators are unknown.
    score : ndarray, shape (n_votes,)
        W: 1 if the first competitor won, 0 if the second did, 1/2 otherwise.
    """

    score: Floats

    def __repr__(self) -> str:
        return f"VoteSequence({self.n_votes:,} votes, {self.n_competitors} competitors, {self.n_annotators} annotators)"

    @property
    def n_votes(self) -> int:
        """Number of votes."""
        return len(self.score)

    def votes_by_annotator(self) -> Floats:
        """Votes of every annotator, shape (n_annotators,)."""
        return sum_by(self.annotator, np.ones(self.n_votes), self.n_annotators)[: self.n_annotators]


def one_by_one(cells: Cells) -> VoteSequence:
    """Expand cells into single votes, for methods that need these but not their order, such as shuffled Elo."""
    cell, outcome = single_votes(cells)
    return VoteSequence(
        competitors=cells.competitors,
        annotators=cells.annotators,
        a=cells.a[cell],
        b=cells.b[cell],
        annotator=cells.annotator[cell],
        score=outcome_scores(cells.counts.shape[1])[outcome],
    )
