"""The rows of cells that a model distinguishes, summed over everything else."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Self

import numpy as np
from numpy.typing import NDArray

from bayes_arena.arrays import Floats, Ints, Places, present, sum_by
from bayes_arena.votes.outcomes import turned as turned_outcomes

TABLE, EMPTY = 1_000_000, 50
"""Entries of a table of annotators and competitors that are filled together, and those per row that are too many."""
AT_ONCE = 100_000
"""Cells whose counts are handled in one block."""


@dataclass(frozen=True, eq=False)
class Tally:
    """Votes per pair (i, j), annotator k and the requested features and slices, sorted by (k, i, j).

    Attributes
    ----------
    i, j, k : ndarray of int, shape (n_rows,)
        Competitors and annotator.
    counts : ndarray of float, shape (n_rows, K)
        Wins of i, wins of j, ties, both-bad, and wins by further grades.
    features : ndarray, shape (n_features, n_rows)
        Difference between i and j in each.
    slices : ndarray of int, shape (n_slices, n_rows)
        Index into the names of each slice.
    """

    i: Ints
    j: Ints
    k: Ints
    counts: Floats
    features: Floats
    slices: Ints

    @cached_property
    def votes(self) -> Floats:
        """Votes of every row, shape (n_rows,)."""
        return np.asarray(self.counts.sum(axis=1))

    @cached_property
    def pairs(self) -> Pairs:
        """Pairs of competitors that met."""
        size = int(max(self.i.max(initial=0), self.j.max(initial=0))) + 1
        met, row = present(self.i * size + self.j, size**2)
        return Pairs(met // size, met % size, row)

    @cached_property
    def met(self) -> Met:
        """Competitors that each annotator met."""
        return Met.of(self.k, self.i, self.j)


@dataclass(frozen=True, eq=False)
class Pairs:
    """Pairs (i, j) of competitors among the rows, each once, and the index of the pair of each row, ``of_row``."""

    i: Ints
    j: Ints
    of_row: Ints

    def by_competitor(self, values: Floats, size: int) -> Floats:
        """Sum values over the pairs where a competitor is i, less those where it is j, shape (size,)."""
        return sum_by(self.i, values, size) - sum_by(self.j, values, size)


@dataclass(frozen=True, eq=False)
class Met:
    """Annotators and the competitors that they met, sorted by both.

    Attributes
    ----------
    start : ndarray of int, shape (M + 1,)
        Where the combinations of every annotator begin.
    competitor : ndarray of int, shape (e,)
        Of every combination that occurs, once.
    of_i, of_j : ndarray of int, shape (n_rows,)
        Index of the combination of a row's annotator with its i, and with its j.
    """

    start: Ints
    competitor: Ints
    of_i: Places
    of_j: Places

    @property
    def annotator(self) -> Ints:
        """Annotator of every combination, shape (e,)."""
        return np.repeat(np.arange(len(self.start) - 1), np.diff(self.start))

    @classmethod
    def of(cls, k: Ints, i: Ints, j: Ints) -> Self:
        """Return those of rows of annotators k, in order, and competitors i and j.

        In a table of some annotators at a time and all competitors, unless it would be all but empty.
        """
        size, count = int(max(i.max(initial=0), j.max(initial=0))) + 1, int(k.max(initial=-1)) + 1
        if size * count > EMPTY * len(k):
            codes, row = np.unique(np.concatenate([k * size + i, k * size + j]), return_inverse=True)
            return cls(np.searchsorted(codes, size * np.arange(count + 1)), codes % size, *np.split(row, 2))
        kind = np.int32 if 2 * len(k) < np.iinfo(np.int32).max else np.int64
        of_i, of_j, met, total = *np.empty((2, len(k)), dtype=kind), [np.empty(0, dtype=np.int64)], 0
        step = min(max(1, TABLE // size), max(count, 1))
        ends = np.searchsorted(k, np.arange(0, count + step, step))
        for block, (first, last) in enumerate(pairwise(ends.tolist())):
            at_i, at_j = ((k[first:last] - block * step) * size + one[first:last] for one in (i, j))
            seen = np.zeros(step * size, dtype=bool)
            seen[at_i] = seen[at_j] = True
            place = np.cumsum(seen) + (total - 1)
            of_i[first:last], of_j[first:last] = place[at_i], place[at_j]
            met.append(np.flatnonzero(seen) + block * step * size)
            total += len(met[-1])
        codes = np.concatenate(met)
        start = np.searchsorted(codes, size * np.arange(count + 1))
        codes %= size
        return cls(start, codes, of_i, of_j)


def tally_of(rows: Tally, size: int, *, by_annotator: bool, by_side: bool) -> Tally:
    """Sum the rows of cells (i shown first) that a model does not distinguish; see ``Cells.tally``."""
    annotator = rows.k if by_annotator else np.zeros_like(rows.k)
    turned = np.zeros(len(rows.i), dtype=bool) if by_side else rows.i > rows.j
    i, j = np.where(turned, rows.j, rows.i), np.where(turned, rows.i, rows.j)
    key = (annotator * size + i) * size + j
    codes, differences = rows.slices, np.where(turned, -rows.features, rows.features)
    if (key[1:] > key[:-1]).all() and not turned.any():  # they are a tally already
        return replace(rows, k=annotator)
    if not by_annotator and not len(differences) and not len(codes) and size**2 <= len(key):
        return _of_pairs(key, rows.counts, turned, size)
    mixture = [_mixture(differences)] if len(differences) else []
    order = np.lexsort((*mixture, *codes[::-1], key))
    new = np.arange(len(key)) == 0
    for values in (key, *codes, *differences):
        new[1:] |= np.diff(values[order]) != 0
    row, first, turned = np.cumsum(new) - 1, order[new], turned[order]
    outcomes = rows.counts.shape[1]
    counts, mirror = np.empty((outcomes, len(order))), turned_outcomes(outcomes)
    for start in range(0, len(order), AT_ONCE):
        part = slice(start, start + AT_ONCE)
        of_rows, other = rows.counts.take(order[part], 0), turned[part]
        of_rows[other] = of_rows[other][:, mirror]
        counts[:, part] = of_rows.T
    if not new.all():
        counts = np.array([sum_by(row, column, len(first)) for column in counts])
    return Tally(
        i=i[first],
        j=j[first],
        k=annotator[first],
        counts=counts.T,
        features=differences.take(first, 1),
        slices=codes.take(first, 1),
    )


def _of_pairs(key: Ints, counts: Floats, turned: NDArray[np.bool_], size: int) -> Tally:
    """Sum the rows of every pair, of which there are few, without sorting them."""
    (met, row), mirror = present(key, size**2), turned_outcomes(counts.shape[1])
    sums = [
        sum_by(row, np.where(turned, counts[:, mirror[outcome]], column), len(met))
        for outcome, column in enumerate(counts.T)
    ]
    i, j = np.divmod(met, size)
    nothing = np.empty((0, len(met)))
    return Tally(i=i, j=j, k=np.zeros_like(i), counts=np.array(sums).T, features=nothing, slices=nothing.astype(int))


def _mixture(features: Floats) -> Floats:
    """Combine the features of every row into one number: sorting by it puts rows with equal features together."""
    mixture = np.zeros(features.shape[1])
    for place, values in enumerate(features):
        mixture += math.sqrt(place + 1.5) * values
    return mixture
