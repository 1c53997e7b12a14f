"""Rows of votes summed into the Hessian of a model with slices, and covariances back to the rows.

The numbers of slices cross those of the annotators, and the Hessian H = J' W J + residuals + prior is sparse: a vote
fills the entries of K numbers. With J_u the entries of the rows of unit u and W their curvature, the unit's part is the
small matrix

    J_u' W J_u + residuals = [[D, B'], [B, A]],

D (q, q) of its own numbers, A (t, t) of what its votes touch. Rows are taken in blocks, so that NumPy's loops do the
work. Own numbers come as (M, q), everything else as the head: strengths, common numbers, numbers of slices.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import combinations_with_replacement, product
from typing import Self

import numpy as np

from bayes_arena.algebra.bordered import Bordered
from bayes_arena.algebra.elimination import Elimination
from bayes_arena.algebra.units import Joint
from bayes_arena.arrays import Floats, Ints

OF_LEAD, OF_FACTOR, MIXED = range(3)
"""Places in ``products``: of a lead along a direction, of its factor, and of both."""
AT_ONCE = 16_384
"""Rows that are summed together: few enough for a processor's cache."""


@dataclass(frozen=True, eq=False)
class Rows:
    """The Hessian of a model with slices, row by row.

    Attributes
    ----------
    elimination : Elimination
        The units, and the entries of every row.
    shape : (int, int, int)
        Numbers of the head, annotators, and own numbers of each.
    entry : ndarray, shape (n_rows, K)
        Entries of J, rows in the order of the elimination.
    curve : ndarray, shape (n_rows, C, C)
        Curvature of the rows in their coordinates.
    slope : ndarray, shape (n_rows,)
        Gradient in eta where residuals count, else zero: curvature in the lead in dimension 0 and its factor.
    products : ndarray, shape (n_rows, D - 1, 3)
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
    order, d = votes.elimination, len(votes.elimination.units.dense)
    left, between = np.zeros(d * d), np.zeros(d * d)
    own, across = np.zeros(order.units.inverse_start[-1]), np.zeros(order.units.across_start[-1])
    for rows in _blocks(order.start[first], order.start[last]):
        place = _Places.of(order, rows)
        for e, f, value in _products(votes, rows):
            if order.is_left[e] and order.is_left[f]:
                np.add.at(left if e == f else between, place.number[e] * d + place.number[f], value)
            elif order.is_left[e] != order.is_left[f]:
                a, b = (f, e) if order.is_left[e] else (e, f)
                np.add.at(across, place.across(a, b), value)
            else:
                np.add.at(own, place.own(e, f), value)
                if e != f:
                    np.add.at(own, place.own(f, e), value)
    among = between.reshape(d, d)
    return left.reshape(d, d) + among + among.T, own, across


def of_rows(votes: Rows, among: Joint, first: int, last: int) -> Floats:
    """Return the covariance of the pieces of every row of units from ``first`` up to ``last``.

    Pieces are sums of entries, each times its weight, or times its value in J where that is zero.

    Returns
    -------
    ndarray, shape (U (U + 1) / 2, m)
        The lower triangle, line by line.
    """
    order, d = votes.elimination, len(votes.elimination.units.dense)
    begin, end = order.start[first], order.start[last]
    parts: list[list[tuple[int, float]]] = [[] for _ in order.coordinate]
    for e, piece, weight in zip(*(one.tolist() for one in order.pieces), strict=True):
        parts[e].append((piece, weight))
    size = 1 + max(order.pieces[1])
    pieces, flat = np.zeros((size * (size + 1) // 2, end - begin)), among.left.reshape(-1)
    for rows in _blocks(begin, end):
        place, entry = _Places.of(order, rows), np.ascontiguousarray(votes.entry[rows].T)
        into = pieces[:, rows.start - begin : rows.stop - begin]
        for e, f in combinations_with_replacement(range(len(parts)), 2):
            if order.is_left[e] and order.is_left[f]:
                covariance = flat[place.number[e] * d + place.number[f]]
            elif order.is_left[e] != order.is_left[f]:
                covariance = among.across[place.across(*((f, e) if order.is_left[e] else (e, f)))]
            else:
                covariance = among.own[place.own(e, f)]
            carried = covariance * entry[e] if any(not weight for _, weight in parts[e]) else covariance
            for (u, x), (v, y) in product(parts[e], parts[f]):
                if e == f and u < v:
                    continue
                high, low = max(u, v), min(u, v)
                weight = (x or 1.0) * (y or 1.0) * (2.0 if high == low and e != f else 1.0)
                value = covariance if x else carried
                value = value if y else value * entry[f]
                into[high * (high + 1) // 2 + low] += value if weight == 1.0 else weight * value
    return pieces


def _products(votes: Rows, rows: slice) -> Iterator[tuple[int, int, Floats]]:
    """Yield, for every two entries, the curvature of some rows in their numbers, shape (m,)."""
    order, extra = votes.elimination, dict[tuple[int, int], Floats]()
    entry, curve, between = (
        np.ascontiguousarray(np.moveaxis(one[rows], 0, -1)) for one in (votes.entry, votes.curve, votes.products)
    )
    signs, dimensions = order.sign.tolist(), order.dimension.tolist()
    factors = [(f, one) for f, one in enumerate(order.factor.tolist()) if one >= 0]

    def add(e: int, f: int, value: Floats) -> None:
        pair = min(e, f), max(e, f)
        extra[pair] = extra[pair] + value if pair in extra else value

    for e, (sign, dimension) in enumerate(zip(signs, dimensions, strict=True)):
        for f, one in factors if sign else ():
            if one == dimension:
                add(e, f, sign * (between[dimension - 1, MIXED] if dimension else votes.slope[rows]))
        for f in range(e, len(signs)) if dimension else ():
            if dimensions[f] == dimension:
                add(e, f, sign * signs[f] * between[dimension - 1, OF_LEAD])
    for f, one in factors:
        if one:
            add(f, f, between[one - 1, OF_FACTOR])
    coordinates = order.coordinate.tolist()
    for e in range(len(signs)):
        bent = curve[coordinates[e]] * entry[e]
        for f in range(e, len(signs)):
            value = bent[coordinates[f]] * entry[f]
            yield e, f, value + extra[e, f] if (e, f) in extra else value


@dataclass(frozen=True, eq=False)
class _Places:
    """Where the numbers of some rows are in the matrices of their units.

    Attributes
    ----------
    local : ndarray of int, shape (K, m)
        Place of every entry among its unit's numbers followed by those the unit touches.
    number : ndarray of int, shape (K, m)
        Place in what is left, of entries that are left.
    of_own, of_across : ndarray of int, shape (m,)
        Where the matrices of the rows' units begin.
    own, touches : ndarray of int, shape (m,)
        q and t of the rows' units.
    """

    local: Ints
    number: Ints
    of_own: Ints
    of_across: Ints
    size: Ints
    touches: Ints

    @classmethod
    def of(cls, order: Elimination, rows: slice) -> _Places:
        unit = np.searchsorted(order.start, np.arange(rows.start, rows.stop), side="right") - 1
        units, local = order.units, np.ascontiguousarray(order.local[rows].T)
        size, number = units.sizes[unit], local.copy()
        for e in np.flatnonzero(order.is_left):
            number[e] = units.touched[units.touched_start[unit] - size + local[e]]
        return cls(local, number, units.inverse_start[unit], units.across_start[unit], size, units.touches[unit])

    def own(self, e: int, f: int) -> Ints:
        """Return the places of two own numbers in the matrices (q, q)."""
        return np.asarray(self.of_own + self.local[e] * self.size + self.local[f])

    def across(self, e: int, f: int) -> Ints:
        """Return the places of an own number and one that is left in the matrices (q, t)."""
        return np.asarray(self.of_across + self.local[e] * self.touches + self.local[f] - self.size)


def _blocks(first: int, last: int) -> Iterator[slice]:
    for start in range(int(first), int(last), AT_ONCE):
        yield slice(start, min(start + AT_ONCE, int(last)))
