"""The order in which the numbers of a model with slices are eliminated.

A vote involves few numbers, so its row of the Jacobian J of the coordinates has K entries, the same K for every row:

    strengths of i and j; numbers of the slices; what annotators share; the annotator's own.

One kind of slice (annotators count as one) is eliminated first, unit by unit: a vote involves only one unit of it, so
units are independent given the rest. It is the kind that leaves the least work: the smallest
dense rest, with the kinds whose every unit lies within one unit of it (:mod:`bayes_arena.likelihood.numbering`).

Periods are not independent, where strengths walk from one to the next: they are eliminated in order, as a chain
(:mod:`bayes_arena.algebra.chain`).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from bayes_arena.arrays import Ints


@dataclass(frozen=True, eq=False)
class Chain:
    """Numbers of periods that are eliminated in order, each walking on to the next one of the same competitor.

    Attributes
    ----------
    numbers : ndarray of int, shape (s,)
        Their places in (head, own), sorted by period and competitor.
    competitor : ndarray of int, shape (s,)
    start : ndarray of int, shape (n_periods,)
        Where the numbers of a period begin; the last period, now, has none.
    """

    numbers: Ints
    competitor: Ints
    start: Ints


@dataclass(frozen=True, eq=False)
class Elimination:
    """What is eliminated, and the entries of every row.

    Attributes
    ----------
    by : str
        The kind of slice that is eliminated, such as ``"annotator"``.
    rows : ndarray of int, shape (n_rows,)
        Rows of the tally, sorted by unit.
    start : ndarray of int, shape (n_units + 1,)
        Where the rows of a unit begin.
    dense, tail : ndarray of int, shapes (d,) and (s,)
        Numbers that are left and those that are eliminated, as places in (head, own); the latter sorted by unit.
    tail_start : ndarray of int, shape (n_units + 1,)
        Where the numbers of a unit begin in ``tail``.
    touched, touched_start : ndarray of int
        Places in ``dense`` that the votes of a unit involve, sorted, unit after unit.
    local : ndarray of int, shape (n_rows, K)
        Entries of every sorted row: place among its unit's numbers followed by those the unit touches.
    coordinate : ndarray of int, shape (K,)
        The coordinate that an entry belongs to.
    sign : ndarray, shape (K,)
        1 or -1 for an entry that is the factor of a lead times this, else 0.
    dimension : ndarray of int, shape (K,)
        Of that lead.
    factor : ndarray of int, shape (K,)
        The dimension of the lead that an entry is the factor of, or part of it; -1 for all others.
    pieces : (ndarray of int, ndarray of int, ndarray), each of shape (P,)
        Entries, the piece that each is added to, and its weight there (zero for its value in J). Pieces are the lead in
        every dimension, its factor where that is free, and then what else each coordinate is the sum of.
    n_own : int
        Own numbers of an annotator if annotators are eliminated, the first of their unit; else 0.
    walk : (ndarray of int, ndarray of int), each of shape (w,)
        Places in (head, own) of numbers that walk, and of those before them.
    kept : ndarray of int, shape (K,)
        Which of the entries of rows these are: with a chain, all but those of its numbers.
    is_left : ndarray of bool, shape (K,)
        Whether an entry's number is left, in every row.
    held : tuple of ndarray of int
        Places in ``dense`` of numbers of slices whose sum is held.
    chain : Chain or None
        What is eliminated if it is the numbers of periods, which are then in neither ``dense`` nor ``tail``; units are
        periods.
    """

    by: str
    rows: Ints
    start: Ints
    dense: Ints
    tail: Ints
    tail_start: Ints
    touched: Ints
    touched_start: Ints
    local: Ints
    coordinate: Ints
    sign: np.ndarray
    dimension: Ints
    factor: Ints
    pieces: tuple[Ints, Ints, np.ndarray]
    n_own: int
    walk: tuple[Ints, Ints]
    kept: Ints
    is_left: np.ndarray
    held: tuple[Ints, ...] = ()
    chain: Chain | None = None

    @cached_property
    def back(self) -> Ints:
        """Place of every row of the tally among those sorted by unit."""
        return np.argsort(self.rows)

    @cached_property
    def sizes(self) -> Ints:
        """Numbers of every unit, q."""
        return np.diff(self.tail_start)

    @cached_property
    def touches(self) -> Ints:
        """Numbers that the votes of every unit involve among those that are left, t."""
        return np.diff(self.touched_start)

    @cached_property
    def inverse_start(self) -> Ints:
        """Where the matrices (q, q) of the units begin, one after the other."""
        return np.append(0, np.cumsum(self.sizes**2))

    @cached_property
    def across_start(self) -> Ints:
        """Where the matrices (q, t) of the units begin."""
        return np.append(0, np.cumsum(self.sizes * self.touches))

    @property
    def own_diagonal(self) -> Ints:
        """Where the diagonals of the matrices (q, q) are, shape (s,)."""
        unit = np.repeat(np.arange(len(self.sizes)), self.sizes)
        return self.inverse_start[unit] + (np.arange(len(self.tail)) - self.tail_start[unit]) * (self.sizes[unit] + 1)

    def own_blocks(self, count: int) -> Ints:
        """Where the blocks of the first ``n_own`` numbers of the first units are in them, (count, n_own, n_own)."""
        inside, sizes = np.arange(self.n_own), self.sizes[:count, None, None]
        return np.asarray(self.inverse_start[:count, None, None] + inside[:, None] * sizes + inside)

    @cached_property
    def inverse_pattern(self) -> tuple[Ints, Ints]:
        """Columns and row starts of a sparse matrix with, for every unit, a block of own by own numbers."""
        return _pattern(self.tail_start, self.tail_start, np.arange(len(self.tail)))

    @cached_property
    def across_pattern(self) -> tuple[Ints, Ints]:
        """The same for own by touched numbers."""
        return _pattern(self.tail_start, self.touched_start, self.touched)


def _pattern(row_start: Ints, column_start: Ints, columns: Ints) -> tuple[Ints, Ints]:
    """Return columns and row starts of a sparse matrix of one dense block per unit, with columns listed by unit."""
    rows, wide = np.diff(row_start), np.diff(column_start)
    unit = np.repeat(np.arange(len(rows)), rows)
    length = wide[unit]
    starts = np.append(0, np.cumsum(length))
    places = np.arange(starts[-1]) - np.repeat(starts[:-1], length) + np.repeat(column_start[:-1][unit], length)
    return columns[places], starts
