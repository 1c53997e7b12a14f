"""Sums of rows of votes into matrices, units eliminated, and covariances back to the rows.

With J_u the entries of the rows of unit u and W their curvature, the unit's part of the Hessian is the small matrix

    J_u' W J_u + residuals = [[D, B'], [B, A]],

D (q, q) of its own numbers, prior included, A (t, t) of what its votes touch. Eliminating D leaves A - B X with
X = D^-1 B'. Rows are taken in blocks and units in batches of like size, so that NumPy's loops and BLAS do the work.
Matrices of units, (q, q) and (q, t), are kept flat, one after the other.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations_with_replacement, product

import numpy as np

from bayes_arena.algebra.crossed import MIXED, OF_FACTOR, OF_LEAD, Crossed
from bayes_arena.algebra.elimination import Elimination
from bayes_arena.arrays import Floats, Ints

ROWS, NUMBERS = 16_384, 500_000
"""Rows that are summed together, and numbers of units that are laid out together: few enough for a processor's
cache."""
ALIKE = 1.25
"""Units of one batch touch at most so many times as many numbers as the one that touches fewest."""
ADDED, SMALL = 200, 4
"""Multiplications of large matrices in the time of moving one number from or to a place of its own, and of one
multiplication of small matrices."""


@dataclass(frozen=True, eq=False)
class Eliminated:
    """What was eliminated, unit after unit.

    Attributes
    ----------
    inverse : ndarray
        D^-1 of every unit, flat.
    across : ndarray
        X of every unit, flat.
    log_determinant : float
        Sum of ln |D|.
    """

    inverse: Floats
    across: Floats
    log_determinant: float


def votes_of(hessian: Crossed, first: int, last: int) -> tuple[Floats, Floats, Floats]:
    """Return what the rows of units from ``first`` up to ``last`` add to A (d, d), and to all D and B', flat."""
    order, d = hessian.elimination, len(hessian.elimination.dense)
    left, between = np.zeros(d * d), np.zeros(d * d)
    own, across = np.zeros(order.inverse_start[-1]), np.zeros(order.across_start[-1])
    for rows in _blocks(order.start[first], order.start[last]):
        place = _Places.of(order, rows)
        for e, f, value in _products(hessian, rows):
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


def eliminated(
    order: Elimination, own: Floats, across: Floats, precision: Floats, dense: Floats, towards: Floats, held: Floats
) -> Eliminated:
    """Eliminate every unit, and subtract what it leaves from ``dense`` (d, d).

    Parameters
    ----------
    own, across : ndarray
        D without the prior, and B', of all units; overwritten by D^-1 and X.
    precision : ndarray, shape (s,)
        The prior's.
    dense, towards, held : ndarray, shapes (d, d), (d, n_own) and (n_own, n_own)
        Changed in place: the latter two get sum B D^-1 E and sum E' D^-1 E, where sums are held.

    Raises
    ------
    numpy.linalg.LinAlgError
        If some D is not positive definite.
    """
    total, d, m = 0.0, len(dense), order.n_own
    for batch in _batches(order):
        q, wide = batch.own.shape[1], batch.touched.shape[1]
        matrix = own[batch.own]
        matrix[:, np.arange(q), np.arange(q)] += precision[batch.tail]
        lower = np.linalg.cholesky(matrix)
        total += 2 * float(np.log(np.diagonal(lower, axis1=1, axis2=2)).sum())
        root = np.linalg.inv(lower)
        half = root @ batch.taken(across)
        solved = root.transpose(0, 2, 1) @ half
        own[batch.own] = root.transpose(0, 2, 1) @ root
        batch.put(across, solved)
        if q * d * d < (SMALL * q + ADDED) * wide * wide:
            laid = np.zeros((len(half), q, d + 1))
            np.put_along_axis(laid, np.broadcast_to(batch.touched[:, None], half.shape), half, axis=2)
            flat = laid.reshape(-1, d + 1)[:, :d]
            dense -= flat.T @ flat
        else:
            less, kept = half.transpose(0, 2, 1) @ half, batch.is_touched
            places = batch.touched[:, :, None] * d + batch.touched[:, None]
            if not kept.all():
                both = kept[:, :, None] & kept[:, None]
                less, places = less[both], places[both]
            np.subtract.at(dense.reshape(-1), places.ravel(), less.ravel())
        if m:
            held += own[batch.own[:, :m, :m]].sum(axis=0)
            for p in range(m):
                np.add.at(towards[:, p], batch.touched[batch.is_touched], solved[:, p][batch.is_touched])
    return Eliminated(own, across, total)


@dataclass(frozen=True, eq=False)
class Joint:
    """Covariances among the numbers of every unit, and with those that its votes touch.

    Attributes
    ----------
    own, across : ndarray
        Of every unit (q, q) and (q, t), flat.
    left : ndarray, shape (d, d)
        Of what is left.
    """

    own: Floats
    across: Floats
    left: Floats


def joint(order: Elimination, found: Eliminated, left: Floats, towards: Floats, held: Floats) -> Joint:
    """Return the covariances of the numbers that were eliminated, given C (d, d) of what is left.

    Where sums are held, with G = sum B D^-1 E and T = sum E' D^-1 E, x = -(X - F G') y + noise, y what is left and
    F = D^-1 E T^-1, and the noise has the covariance D^-1 - F T F'.
    """
    own, across, m = found.inverse.copy(), found.across.copy(), order.n_own
    moved, shared = left @ towards, np.linalg.inv(held)  # C G and T^-1
    excess = towards.T @ moved - held
    for batch in _batches(order):
        x, inverse = batch.taken(found.across), found.inverse[batch.own]
        q, wide, d = x.shape[1], x.shape[2], len(left)
        if 2 * q * d * d < (SMALL * q + ADDED) * wide * wide:
            laid = np.zeros((len(x), q, d + 1))
            np.put_along_axis(laid, np.broadcast_to(batch.touched[:, None], x.shape), x, axis=2)
            every = laid.reshape(-1, d + 1)[:, :d] @ left
            at = np.broadcast_to(np.minimum(batch.touched, d - 1)[:, None], x.shape)
            with_left = -np.take_along_axis(every.reshape(len(x), q, d), at, axis=2)
        else:
            near = np.minimum(batch.touched, d - 1)
            with_left = -(x @ left[near[:, :, None], near[:, None]])
        block = inverse.copy()
        if m:
            pull, near = inverse[:, :, :m] @ shared, moved[np.minimum(batch.touched, d - 1)]
            with_left += pull @ near.transpose(0, 2, 1)
            block += (pull @ excess - x @ near) @ pull.transpose(0, 2, 1)
        block -= with_left @ x.transpose(0, 2, 1)
        own[batch.own] = block
        batch.put(across, with_left)
    return Joint(own, across, left)


def of_rows(hessian: Crossed, among: Joint, first: int, last: int) -> Floats:
    """Return the covariance of the pieces of every row of units from ``first`` up to ``last``.

    Pieces are sums of entries, each times its weight, or times its value in J where that is zero.

    Returns
    -------
    ndarray, shape (U (U + 1) / 2, m)
        The lower triangle, line by line.
    """
    order, d = hessian.elimination, len(hessian.elimination.dense)
    begin, end = order.start[first], order.start[last]
    parts: list[list[tuple[int, float]]] = [[] for _ in order.coordinate]
    for e, piece, weight in zip(*(one.tolist() for one in order.pieces), strict=True):
        parts[e].append((piece, weight))
    size = 1 + max(order.pieces[1])
    pieces, flat = np.zeros((size * (size + 1) // 2, end - begin)), among.left.reshape(-1)
    for rows in _blocks(begin, end):
        place, entry = _Places.of(order, rows), np.ascontiguousarray(hessian.entry[rows].T)
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


def _products(hessian: Crossed, rows: slice) -> Iterator[tuple[int, int, Floats]]:
    """Yield, for every two entries, the curvature of some rows in their numbers, shape (m,)."""
    order, extra = hessian.elimination, dict[tuple[int, int], Floats]()
    entry, curve, between = (
        np.ascontiguousarray(np.moveaxis(one[rows], 0, -1)) for one in (hessian.entry, hessian.curve, hessian.products)
    )
    signs, dimensions = order.sign.tolist(), order.dimension.tolist()
    factors = [(f, one) for f, one in enumerate(order.factor.tolist()) if one >= 0]

    def add(e: int, f: int, value: Floats) -> None:
        pair = min(e, f), max(e, f)
        extra[pair] = extra[pair] + value if pair in extra else value

    for e, (sign, dimension) in enumerate(zip(signs, dimensions, strict=True)):
        for f, one in factors if sign else ():
            if one == dimension:
                add(e, f, sign * (between[dimension - 1, MIXED] if dimension else hessian.slope[rows]))
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
        size, local = order.sizes[unit], np.ascontiguousarray(order.local[rows].T)
        number, first = local.copy(), order.touched_start[unit] - size
        for e in np.flatnonzero(order.is_left):
            number[e] = order.touched[first + local[e]]
        return cls(local, number, order.inverse_start[unit], order.across_start[unit], size, order.touches[unit])

    def own(self, e: int, f: int) -> Ints:
        """Return the places of two own numbers in the matrices (q, q)."""
        return np.asarray(self.of_own + self.local[e] * self.size + self.local[f])

    def across(self, e: int, f: int) -> Ints:
        """Return the places of an own number and one that is left in the matrices (q, t)."""
        return np.asarray(self.of_across + self.local[e] * self.touches + self.local[f] - self.size)


@dataclass(frozen=True, eq=False)
class _Batch:
    """Units with as many own numbers, which touch about as many others.

    Attributes
    ----------
    tail : ndarray of int, shape (m, q)
        Places of the own numbers in ``Elimination.tail``.
    own : ndarray of int, shape (m, q, q)
        Places of their matrices.
    across : ndarray of int, shape (m, q, t)
    touched : ndarray of int, shape (m, t)
        Places in what is left; d, one too many, where a unit touches fewer.
    is_touched : ndarray of bool, shape (m, t)
    """

    tail: Ints
    own: Ints
    across: Ints
    touched: Ints
    is_touched: np.ndarray

    def taken(self, across: Floats) -> Floats:
        """Return the matrices (m, q, t), zero where a unit touches fewer."""
        return np.where(self.is_touched[:, None], across[self.across], 0.0)

    def put(self, across: Floats, values: Floats) -> None:
        """Write the matrices (m, q, t)."""
        if self.is_touched.all():
            across[self.across] = values
        else:
            there = np.broadcast_to(self.is_touched[:, None], values.shape)
            across[self.across[there]] = values[there]


def _batches(order: Elimination) -> Iterator[_Batch]:
    """Yield units with own numbers, in batches."""
    for q in np.unique(order.sizes[order.sizes > 0]).tolist():
        units = np.flatnonzero(order.sizes == q)
        units = units[np.argsort(order.touches[units], kind="stable")]
        touches, first = order.touches[units], 0
        while first < len(units):
            alike = int(np.searchsorted(touches, ALIKE * touches[first], side="right"))
            wide = int(touches[alike - 1])
            last = min(alike, first + max(1, NUMBERS // max(q * wide, 1)))
            yield _batch(order, units[first:last], q)
            first = last


def _batch(order: Elimination, units: Ints, q: int) -> _Batch:
    touches, numbers = order.touches[units][:, None], np.arange(q)
    along = np.arange(int(touches.max()))
    is_touched = along < touches
    near = np.where(is_touched, along, 0)
    across = order.across_start[units][:, None, None] + numbers[:, None] * touches[:, None] + near[:, None]
    own = order.inverse_start[units][:, None, None] + numbers[:, None] * q + numbers
    touched = np.full(is_touched.shape, len(order.dense))
    touched[is_touched] = order.touched[(order.touched_start[units][:, None] + along)[is_touched]]
    return _Batch(order.tail_start[units][:, None] + numbers, own, across, touched, is_touched)


def _blocks(first: int, last: int) -> Iterator[slice]:
    for start in range(int(first), int(last), ROWS):
        yield slice(start, min(start + ROWS, int(last)))
