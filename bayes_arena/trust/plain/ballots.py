"""The votes as the guard reads them: what is asked again and again, worked out once.

Rows are votes of an annotator on a pair, sorted by annotator. Strengths in which annotators have no part need no more
than sums by pair (:class:`Pairs`), and what annotators do for a competitor, sums by *meeting*: an annotator and a
competitor on which they voted (:class:`Meetings`). Hardly any annotator meets every competitor, so there are far fewer
meetings than entries of a table of both.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import NDArray

from bayes_arena.arrays import Floats, Ints, sum_by
from bayes_arena.likelihood.specification import Model
from bayes_arena.votes.cells import Cells
from bayes_arena.votes.tally import Met

DAVIDSON = Model("davidson", ties="davidson")


@dataclass(frozen=True, eq=False)
class Pairs:
    """Pairs of competitors in the order in which they were shown, and which of them every row is of.

    Attributes
    ----------
    place : ndarray of int, shape (n_rows,)
    i, j : ndarray of int, shape (n_pairs,)
    """

    place: Ints
    i: Ints
    j: Ints


@dataclass(frozen=True, eq=False)
class Meetings:
    """Annotators and the competitors on which they voted, sorted by annotator, then by competitor.

    Attributes
    ----------
    first : ndarray of int, shape (n_annotators + 1,)
        Where everybody's begin, and the last ones end.
    competitor : ndarray of int, shape (n_meetings,)
    at_i, at_j : ndarray of int, shape (n_rows,)
        Which of them a row's annotator has with i, and with j.
    """

    first: Ints
    competitor: NDArray[np.int32]
    at_i: NDArray[np.int32]
    at_j: NDArray[np.int32]

    @property
    def annotator(self) -> NDArray[np.int32]:
        """Whose every meeting is, shape (n_meetings,)."""
        return np.repeat(np.arange(len(self.first) - 1, dtype=np.int32), np.diff(self.first))

    def sum(self, at_i: Floats, at_j: Floats) -> Floats:
        """Sum what rows say of their i and of their j, shape (n_meetings,)."""
        summed = sum_by(self.at_i, at_i, len(self.competitor))
        summed += sum_by(self.at_j, at_j, len(self.competitor))
        return summed


@dataclass(frozen=True, eq=False)
class Ballots:
    """Votes summed by annotator and ordered pair.

    Attributes
    ----------
    competitors : tuple of str
        Names.
    n_annotators : int
    i, j, k : ndarray of int, shape (n_rows,)
        Competitors and annotator; sorted by annotator.
    counts : ndarray, shape (4, n_rows)
        Wins of i, wins of j and ties, as Davidson's model sees them.
    """

    competitors: tuple[str, ...]
    n_annotators: int
    i: Ints
    j: Ints
    k: Ints
    counts: Floats

    @classmethod
    def of(cls, cells: Cells) -> Self:
        """Sum the votes over all else."""
        tally = cells.tally(by_annotator=True, by_side=cells.sided)
        counts = DAVIDSON.seen_counts(tally.counts)
        return cls(cells.competitors, cells.n_annotators, tally.i, tally.j, tally.k, counts)

    def take(self, rows: NDArray[np.bool_]) -> Self:
        """Return some of the rows."""
        if rows.all():
            return self
        return replace(self, i=self.i[rows], j=self.j[rows], k=self.k[rows], counts=self.counts.compress(rows, axis=1))

    def on(self, competitor: int) -> NDArray[np.bool_]:
        """Which rows are on a competitor, shape (n_rows,)."""
        return np.asarray((self.i == competitor) | (self.j == competitor))

    def by_competitor(self, at_i: Floats, at_j: Floats) -> Floats:
        """Sum what rows say of their i and of their j, shape (n_competitors,)."""
        return sum_by(self.i, at_i, self.n_competitors) + sum_by(self.j, at_j, self.n_competitors)

    @property
    def n_competitors(self) -> int:
        """Number of competitors."""
        return len(self.competitors)

    @cached_property
    def votes(self) -> Floats:
        """Votes (summed weights) of every row."""
        return np.asarray(self.counts.sum(axis=0))

    @cached_property
    def by_annotator(self) -> Floats:
        """Votes of every annotator."""
        return sum_by(self.k, self.votes, self.n_annotators)

    @cached_property
    def first(self) -> Ints:
        """Where every annotator's rows begin, and the last ones end, shape (n_annotators + 1,)."""
        return np.searchsorted(self.k, np.arange(self.n_annotators + 1))

    @cached_property
    def pairs(self) -> Pairs:
        """Which pairs there are."""
        pair, place = np.unique(self.i * self.n_competitors + self.j, return_inverse=True)
        return Pairs(place, *np.divmod(pair, self.n_competitors))

    @cached_property
    def meetings(self) -> Meetings:
        """Who voted on whom."""
        met = Met.of(self.k, self.i, self.j)
        first = np.searchsorted(met.annotator, np.arange(self.n_annotators + 1))
        competitor, at_i, at_j = (part.astype(np.int32) for part in (met.competitor, met.of_i, met.of_j))
        return Meetings(first, competitor, at_i, at_j)
