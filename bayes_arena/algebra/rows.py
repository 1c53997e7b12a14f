"""Rows of votes summed into the Hessian of a model with slices, and covariances back to the rows.

The numbers of slices cross those of the annotators, and the Hessian H = J' W J + residuals + prior is sparse: a vote
fills the entries of K numbers. With J_u the entries of the rows of unit u and W their curvature, the unit's part is the
small matrix

    J_u' W J_u + residuals = [[D, B'], [B, A]],

D (q, q) of its own numbers, A (t, t) of what its votes touch. Own numbers come as (M, q), everything else as the head:
strengths, common numbers, numbers of slices.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import combinations_with_replacement, pairwise, product
from typing import Self

import numpy as np

from bayes_arena.algebra.bordered import Bordered
from bayes_arena.algebra.elimination import Elimination
from bayes_arena.algebra.units import PARTS, Joint
from bayes_arena.arrays import Floats, Ints
from bayes_arena.compiled import called
from bayes_arena.threads import each

OF_LEAD, OF_FACTOR, MIXED = range(3)
"""Places in ``products``: of a lead along a direction, of its factor, and of both."""
ROWS = 2000
"""Rows for which a thread pays."""


@dataclass(frozen=True, eq=False)
class Rows:
    """The Hessian of a model with slices, row by row.

    Attributes
    ----------
    elimination : Elimination
        The units, and which of their numbers every row involves.
    shape : (int, int, int)
        Numbers of the head, annotators, and own numbers of each.
    entry : ndarray, shape (K, n_rows)
        Entries of J, for the rows of the tally.
    curve : ndarray, shape (C, C, n_rows)
        Curvature of the rows in their coordinates.
    slope : ndarray, shape (n_rows,)
        Gradient in eta where residuals count, else zero: curvature in the lead in dimension 0 and its factor.
    products : ndarray, shape (D - 1, 3, n_rows)
        Curvature in the lead along every direction, in its factor, and in both, beyond J' W J.
    precision : ndarray, shape (p,)
        The diagonal of the prior's, for (head, own).
    between : ndarray, shape (w,)
        The prior's precision off the diagonal, between numbers that walk: ``Elimination.walk`` says which.
    strengths : ndarray, shape (n,)
        The diagonal of the Hessian in the strengths.
    """

    elimination: Elimination
    shape: tuple[int, int, int]
    entry: Floats
    curve: Floats
    slope: Floats
    products: Floats
    precision: Floats
    between: Floats
    strengths: Floats

    def left_diagonal(self) -> Floats:
        """Return the diagonal in the strengths, shape (n,)."""
        return self.strengths

    def stiffened(self, more: Floats) -> Rows:
        """Return it with more on its diagonal, (p,), in the order (head, own)."""
        return replace(self, precision=self.precision + more, strengths=self.strengths + more[: len(self.strengths)])


@dataclass(frozen=True, eq=False)
class Spread:
    """Parts of the inverse of a Hessian with slices, on the plane.

    Attributes
    ----------
    pieces : ndarray, shape (U (U + 1) / 2, n_rows)
        Covariance of the U pieces of the coordinates of every row of the tally, the lower triangle line by line.
    head : ndarray, shape (h,)
        Variances of the head; for numbers that walk, of their differences from the next one.
    own : ndarray, shape (M, q, q)
        Covariance of every annotator's own numbers.
    """

    pieces: Floats
    head: Floats
    own: Floats


@dataclass(frozen=True, eq=False)
class Summed(Bordered):
    """The Hessian of a model with slices, its units apart; ``rows`` are those that it was summed from."""

    rows: Rows

    def stiffened(self, more: Floats) -> Self:
        """Return it with more on its diagonal, (p,), in the order (head, own)."""
        return replace(super().stiffened(more), rows=self.rows.stiffened(more))


def summed(rows: Rows) -> Summed | Rows:
    """Sum all rows, and the prior, into one matrix; rows stay as they are where periods are eliminated one by one."""
    order = rows.elimination
    if order.chain:
        return rows
    units, (later, earlier) = order.units, order.walk
    left, own, across = votes_of(rows, 0, len(order.start) - 1)
    left[np.diag_indices(len(left))] += rows.precision[units.dense]
    left[np.searchsorted(units.dense, later), np.searchsorted(units.dense, earlier)] += rows.between
    own[units.diagonal] += rows.precision[units.tail]
    return Summed(units, rows.shape, left, own, across, order.held, rows)


def votes_of(votes: Rows, first: int, last: int) -> tuple[Floats, Floats, Floats]:
    """Return what the rows of units from ``first`` up to ``last`` add to A (d, d), and to all D and B', flat."""
    from bayes_arena.algebra import loops  # numba is slow to import

    order, d = votes.elimination, len(votes.elimination.units.dense)
    own, across = np.zeros(order.units.inverse_start[-1]), np.zeros(order.units.across_start[-1])
    further = np.vstack([votes.slope, *votes.products])
    of_rows = order.places, order.is_left, order.coordinate, votes.entry, votes.curve
    extra = _further(order)

    def work(units: tuple[int, int]) -> Floats:
        left = np.zeros((d, d))
        called(loops.add_entries, *units, *of_rows, further, extra, left, own, across)
        return left

    total, *others = each(work, _parts(order, first, last, max(ROWS, d * d // 8)))
    for left in others:
        total += left
    total += total.T.copy()
    return total, own, across


def _parts(order: Elimination, first: int, last: int, rows: int = ROWS) -> list[tuple[int, int]]:
    """Return units from ``first`` up to ``last``, in parts of about as many rows each, at least so many on average."""
    begin, end = int(order.start[first]), int(order.start[last])
    parts = int(np.clip((end - begin) // rows, 1, PARTS))
    ends = np.searchsorted(order.start, begin + (end - begin) * np.arange(1, parts) // parts)
    found = np.unique([first, *np.clip(ends, first, last).tolist(), last]).tolist()
    return list(pairwise(found)) or [(first, last)]


def _further(order: Elimination) -> tuple[Ints, Floats]:
    """Return pairs of entries with the row of slope and products that is curvature in both, and its sign."""
    found, signs, dimensions = list[tuple[int, int, int, float]](), order.sign.tolist(), order.dimension.tolist()
    factors = [(f, one) for f, one in enumerate(order.factor.tolist()) if one >= 0]
    for e, (sign, dimension) in enumerate(zip(signs, dimensions, strict=True)):
        begin = 1 + 3 * (dimension - 1)
        for f, one in factors if sign else ():
            if one == dimension:
                found.append((min(e, f), max(e, f), begin + MIXED if dimension else 0, sign))
        for f in range(e, len(signs)) if dimension else ():
            if dimensions[f] == dimension:
                found.append((e, f, begin + OF_LEAD, sign * signs[f]))
    found += [(f, f, 1 + 3 * (one - 1) + OF_FACTOR, 1.0) for f, one in factors if one]
    places, weights = [one[:3] for one in found], [one[3] for one in found]
    return np.array(places, dtype=np.int64).reshape(-1, 3), np.array(weights, dtype=np.float64)


def of_rows(votes: Rows, joints: Iterable[tuple[int, int, Joint]]) -> Floats:
    """Return the covariance of the pieces of every row.

    Pieces are sums of entries, each times its weight, or times its value in J where that is zero.

    Parameters
    ----------
    votes : Rows
    joints : iterable of (int, int, Joint)
        The covariances of the numbers of units from one up to another.

    Returns
    -------
    ndarray, shape (U (U + 1) / 2, n_rows)
        The lower triangle, line by line.
    """
    from bayes_arena.algebra import loops  # numba is slow to import

    order, found, weights = votes.elimination, list[tuple[int, int, int, bool, bool]](), list[float]()
    parts: list[list[tuple[int, float]]] = [[] for _ in order.coordinate]
    for e, piece, weight in zip(*(one.tolist() for one in order.pieces), strict=True):
        parts[e].append((piece, weight))
    for e, f in combinations_with_replacement(range(len(parts)), 2):
        for (u, x), (v, y) in product(parts[e], parts[f]):
            if e == f and u < v:
                continue
            high, low = max(u, v), min(u, v)
            found.append((e, f, high * (high + 1) // 2 + low, not x, not y))
            weights.append((x or 1.0) * (y or 1.0) * (2.0 if high == low and e != f else 1.0))
    of_entries = np.array(found, dtype=np.int64).reshape(-1, 5), np.array(weights)
    size = 1 + int(max(order.pieces[1]))
    pieces = np.zeros((size * (size + 1) // 2, votes.entry.shape[1]))

    def work(of: tuple[int, int, Joint]) -> None:
        given = order.places, order.is_left, votes.entry, *of_entries
        called(loops.spread_rows, *of[:2], *given, of[2].left, of[2].own, of[2].across, pieces)

    for _ in each(work, ((*part, among) for first, last, among in joints for part in _parts(order, first, last))):
        pass
    return pieces
