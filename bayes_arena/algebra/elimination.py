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

import numpy as np

from bayes_arena.algebra.units import Units
from bayes_arena.arrays import Ints, Places


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
    units : Units
        What is eliminated, and what is left.
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
    walk : (ndarray of int, ndarray of int), each of shape (w,)
        Places in (head, own) of numbers that walk, and of those before them.
    kept : ndarray of int, shape (K,)
        Which of the entries of rows these are: with a chain, all but those of its numbers.
    is_left : ndarray of bool, shape (K,)
        Whether an entry's number is left, in every row.
    held : tuple of ndarray of int
        Places in ``units.dense`` of numbers of slices whose sum is held.
    chain : Chain or None
        What is eliminated if it is the numbers of periods, which no unit has; units are periods.
    """

    by: str
    rows: Ints
    start: Ints
    units: Units
    local: Ints
    coordinate: Ints
    sign: np.ndarray
    dimension: Ints
    factor: Ints
    pieces: tuple[Ints, Ints, np.ndarray]
    walk: tuple[Ints, Ints]
    kept: Ints
    is_left: np.ndarray
    held: tuple[Ints, ...] = ()
    chain: Chain | None = None

    @property
    def places(self) -> tuple[Ints, Ints, tuple[Ints, Ints, Ints, Ints, Places], Ints]:
        """The rows by unit, where those of a unit begin, where units begin, and the places of the rows' entries."""
        return self.rows, self.start, self.units.starts, self.local
