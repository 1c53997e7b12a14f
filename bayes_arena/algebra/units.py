"""Matrices with independent blocks: the numbers of every unit, eliminated, and what follows for them.

Order the numbers as (left, units). Given what is left, units such as annotators are independent, so a Hessian is

    H = [[A, B], [B', D]],        A (d, d), D block-diagonal with a small block (q, q) for every unit,

and everything follows from S = A - sum_u B_u D_u^-1 B_u': solutions, positive definiteness, the inverse, the
determinant and draws. B_u is zero but for the t numbers among those left that the votes of u touch, so D_u^-1 (q, q)
and X_u = D_u^-1 B_u' (q, t) are all that is kept of a unit. They are kept flat, one after the other, and worked on in
compiled loops (:mod:`bayes_arena.algebra.loops`).

Holding the sum over annotators of some of their own numbers confines x to the plane E'x = 0, where E has a one for
every annotator in each held column. With G = B D^-1 E and T = E' D^-1 E the same formulas then hold with

    D^-1 - D^-1 E T^-1 E' D^-1  in place of D^-1,    so    S = A - B D^-1 B' + G T^-1 G',

the limit of (D + rho E E')^-1 for large rho.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from bayes_arena.arrays import Floats, Ints, Places
from bayes_arena.compiled import called
from bayes_arena.threads import BLOCK, each

TOGETHER = 500_000
"""Entries of arrays for the numbers of units that are eliminated together: few enough for a processor's cache."""
PARTS = 4
"""In which units are worked on where memory is no limit: the same on any number of cores."""
JOINED = 50_000
"""Numbers of units times those that are left whose covariances are worth a thread."""
ADDED = 25
"""Multiplications of large matrices in the time of one of which the product is added to a place of its own."""
DRAWN_AT_ONCE = 250_000
"""Draws times annotators that are drawn together."""


@dataclass(frozen=True, eq=False)
class Units:
    """Which numbers are left, which belong to every unit, and which of those left its votes touch.

    Attributes
    ----------
    dense, tail : ndarray of int, shapes (d,) and (s,)
        Numbers that are left and those of units, as places in (head, own); the latter sorted by unit.
    tail_start : ndarray of int, shape (n_units + 1,)
        Where the numbers of a unit begin in ``tail``.
    touched, touched_start : ndarray of int32, ndarray of int
        Places in ``dense`` that the votes of a unit involve, sorted, unit after unit, and where those of a unit begin.
    n_own : int
        Own numbers of an annotator if annotators are units, the first of their unit; else 0.
    """

    dense: Ints
    tail: Ints
    tail_start: Ints
    touched: Places
    touched_start: Ints
    n_own: int

    @cached_property
    def sizes(self) -> Ints:
        """Numbers of every unit, q."""
        return np.diff(self.tail_start)

    @cached_property
    def touches(self) -> Ints:
        """Numbers that the votes of every unit touch, t."""
        return np.diff(self.touched_start)

    @property
    def starts(self) -> tuple[Ints, Ints, Ints, Ints, Places]:
        """Where units begin among numbers, touched numbers, and in the flat matrices; then what they touch."""
        return self.tail_start, self.touched_start, self.inverse_start, self.across_start, self.touched

    @cached_property
    def inverse_start(self) -> Ints:
        """Where the matrices (q, q) of the units begin, one after the other."""
        return np.append(0, np.cumsum(self.sizes**2))

    @cached_property
    def across_start(self) -> Ints:
        """Where the matrices (q, t) of the units begin."""
        return np.append(0, np.cumsum(self.sizes * self.touches))

    @cached_property
    def diagonal(self) -> Ints:
        """Where the diagonals of the matrices (q, q) are, shape (s,)."""
        unit = np.repeat(np.arange(len(self.sizes)), self.sizes)
        inside = np.arange(len(self.tail)) - self.tail_start[unit]
        return np.asarray(self.inverse_start[unit] + inside * (self.sizes[unit] + 1))

    def own_blocks(self, count: int) -> Ints:
        """Where the blocks of the first ``n_own`` numbers of the first units are in them, (count, n_own, n_own)."""
        count = count if self.n_own else 0
        inside, sizes = np.arange(self.n_own), self.sizes[:count, None, None]
        return np.asarray(self.inverse_start[:count, None, None] + inside[:, None] * sizes + inside)

    def last_entries(self, number: int, count: int) -> Ints:
        """Where every unit's own number and the last ``count`` that it touches meet in them, shape (count, n_units)."""
        end = self.across_start[:-1] + (number + 1) * self.touches
        return np.asarray(end - count + np.arange(count)[:, None])

    def own_places(self, count: int) -> Ints:
        """Where the own numbers of annotators are in ``tail``, shape (count, n_own)."""
        if not self.n_own:
            return np.zeros((0, 0), dtype=np.int64)
        return np.asarray(self.tail_start[:count, None] + np.arange(self.n_own))

    def blocks(self, values: Floats) -> Any:
        """Return the matrices (q, q) as a sparse matrix (s, s)."""
        return _sparse(values, self._inverse_pattern, len(self.tail))

    def towards(self, values: Floats) -> Any:
        """Return the matrices (q, t) as a sparse matrix (s, d)."""
        return _sparse(values, self._across_pattern, len(self.dense))

    @cached_property
    def _inverse_pattern(self) -> tuple[np.ndarray, np.ndarray]:
        return _pattern(self.tail_start, self.tail_start, np.arange(len(self.tail)))

    @cached_property
    def _across_pattern(self) -> tuple[np.ndarray, np.ndarray]:
        return _pattern(self.tail_start, self.touched_start, self.touched)


@dataclass(frozen=True, eq=False)
class Eliminated:
    """Units eliminated.

    Attributes
    ----------
    units : Units
    shape : (int, int, int)
        Numbers of the head, annotators, and own numbers of each.
    inverse, across : ndarray
        D^-1 and X of every unit, flat.
    held : ndarray of int, shape (m,)
        Columns of the annotators' own numbers whose sum is held; none unless annotators are units.
    log_of_units : float
        Sum of ln |D|.
    """

    units: Units
    shape: tuple[int, int, int]
    inverse: Floats
    across: Floats
    held: Ints
    log_of_units: float

    @cached_property
    def towards(self) -> Floats:
        """G, shape (d, m)."""
        found = np.zeros((len(self.units.dense), len(self.held)))
        if len(self.held):
            from bayes_arena.algebra import loops  # numba is slow to import

            called(loops.add_towards, self.units.starts, self.held, self.across, found)
        return found

    @cached_property
    def total(self) -> Floats:
        """T, shape (m, m)."""
        return np.asarray(self.own_blocks.sum(axis=0)[np.ix_(self.held, self.held)])

    @cached_property
    def own_blocks(self) -> Floats:
        """D^-1 of the annotators' own numbers, (M, q, q); with other numbers in their units, its part for these."""
        return np.asarray(self.inverse[self.units.own_blocks(self.shape[1])])

    def following(self, left: Floats) -> Floats:
        """Return how own numbers follow what is left (d,), shape (M, q)."""
        whole = np.zeros((len(self.units.tail), 1))
        return self.whole(left[:, None], whole, np.zeros((len(self.held), 1)))[1][..., 0]

    def log_determinant(self) -> float:
        """Return what units and held sums add to ln |H| on the plane."""
        return self.log_of_units + (float(np.linalg.slogdet(self.total)[1]) if len(self.held) else 0.0)

    def less(self, right: Floats) -> tuple[Floats, tuple[Floats, Floats, Floats, Floats]]:
        """Eliminate the units from right-hand sides g (p, m), given in (head, own).

        Returns
        -------
        left : ndarray, shape (d, m)
            What is left of g.
        of_units : (ndarray, ndarray, ndarray, ndarray)
            g of the units, a, and D^-1 a, E' D^-1 a and T^-1 E' D^-1 a.
        """
        given = right[self.units.tail]
        moved, left = self._inverse @ given, right[self.units.dense] - self.answers.T @ given
        sums = self._summed(moved)
        excess = np.asarray(np.linalg.solve(self.total, sums), dtype=np.float64) if len(sums) else sums
        return left + self.towards @ excess, (given, moved, sums, excess)

    def whole(self, left: Floats, moved: Floats, excess: Floats) -> tuple[Floats, Floats]:
        """Return head (h, m) and own numbers (M, q, m), given what is left, D^-1 a, or noise, and T^-1 E' of that."""
        free = moved - self.answers @ left
        if len(self.held):
            free -= self._held_columns @ (excess - np.linalg.solve(self.total, self.towards.T @ left))
        h, count, width = self.shape
        x = np.empty((h + count * width, left.shape[1]))
        x[self.units.dense], x[self.units.tail] = left, free
        return x[:h], x[h:].reshape(count, width, left.shape[1])

    def noise(self, rng: np.random.Generator, size: int) -> tuple[Floats, Floats]:
        """Draw noise with covariance D^-1, shape (s, size), and return it with T^-1 E' of it."""
        free = self._roots @ rng.normal(size=(len(self.units.tail), size))
        sums = self._summed(free)
        return free, np.asarray(np.linalg.solve(self.total, sums), dtype=np.float64) if len(sums) else sums

    def draw_own(
        self, rng: np.random.Generator, left: Floats, at_once: int = DRAWN_AT_ONCE, of: Ints | None = None
    ) -> Iterator[tuple[Ints, Floats]]:
        """Draw the annotators' numbers given draws of what is left, in batches of annotators.

        Parameters
        ----------
        rng : numpy.random.Generator
            The same state gives the same draws, whatever ``at_once``.
        left : ndarray, shape (size, d)
        at_once : int
            Draws times annotators per batch; bounds the memory.
        of : ndarray of int, optional
            Only these annotators. The others' share of the held sums is drawn as one total, so the draws have the same
            distribution as without ``of``, but other values.

        Yields
        ------
        part : ndarray of int, shape (m,)
            Which annotators.
        own : ndarray, shape (size, m, q)
            Their numbers.
        """
        size, count = len(left), self.shape[1]
        parts, excess = batches_of(size, count, of, at_once), np.zeros((len(self.held), size))
        if len(self.held):
            others = self._noise_of_others(rng, np.arange(count) if of is None else of, size)
            ahead = deepcopy(rng)  # the same noise, seen once before it is used
            total = sum((self._noise_of(ahead, part, size).sum(axis=0) for part in parts), others)
            excess = np.linalg.solve(self.total, total[self.held] - self.towards.T @ left.T)
        places = self.units.own_places(count)
        for part in parts:
            own = self._noise_of(rng, part, size)
            own -= (self.answers[places[part].ravel()] @ left.T).reshape(own.shape)
            if len(self.held):
                own -= self.own_blocks[part][:, :, self.held] @ excess
            yield part, own.transpose(2, 0, 1)

    def _noise_of(self, rng: np.random.Generator, part: Ints, size: int) -> Floats:
        """Draw noise of some annotators, shape (m, q, size)."""
        roots = np.linalg.cholesky(self.own_blocks[part])
        return np.asarray(roots @ rng.normal(size=(*roots.shape[:2], size)))

    def _noise_of_others(self, rng: np.random.Generator, chosen: Ints, size: int) -> Floats:
        """Draw the sum of such noise over all but the chosen annotators, shape (q, size)."""
        _, count, width = self.shape
        if len(chosen) == count:
            return np.zeros((width, size))
        root = np.linalg.cholesky(np.delete(self.own_blocks, chosen, axis=0).sum(axis=0))
        return np.asarray(root @ rng.normal(size=(width, size)))

    def _summed(self, of_units: Floats) -> Floats:
        """Return E' x, shape (m, size)."""
        if not len(self.held):
            return np.zeros((0, of_units.shape[1]))
        return np.asarray(of_units[self._places[:, self.held]].sum(axis=0))

    @cached_property
    def _places(self) -> Ints:
        return self.units.own_places(self.shape[1])

    @cached_property
    def _held_columns(self) -> Any:
        """D^-1 E, shape (s, m)."""
        columns = np.zeros((len(self.units.tail), len(self.held)))
        columns[self._places[:, self.held], np.arange(len(self.held))] = 1.0
        return self._inverse @ columns

    @cached_property
    def _inverse(self) -> Any:
        return self.units.blocks(self.inverse)

    @cached_property
    def answers(self) -> Any:
        """X of all units as a sparse matrix, (s, d)."""
        return self.units.towards(self.across)

    @cached_property
    def _roots(self) -> Any:
        """Lower Cholesky factors of D^-1, block by block."""
        units, values = self.units, np.empty_like(self.inverse)
        for size in np.unique(units.sizes[units.sizes > 0]).tolist():
            at = units.inverse_start[:-1][units.sizes == size][:, None] + np.arange(size * size)
            values[at] = np.linalg.cholesky(self.inverse[at].reshape(-1, size, size)).reshape(len(at), -1)
        return units.blocks(values)


def eliminated(
    units: Units, shape: tuple[int, int, int], own: Floats, across: Floats, held: Ints, left: Floats | None
) -> Eliminated:
    """Eliminate every unit, and subtract what it leaves from ``left`` (d, d), in place, if there is any.

    Parameters
    ----------
    units : Units
    shape : (int, int, int)
        Numbers of the head, annotators, and own numbers of each.
    own, across : ndarray
        D and B' of all units, flat.
    held : ndarray of int
        Columns of the annotators' own numbers whose sum is held.
    left : ndarray, shape (d, d), optional
        A; becomes S.

    Raises
    ------
    numpy.linalg.LinAlgError
        If some D is not positive definite.
    """
    d, numbers = len(units.dense), len(units.tail)
    inverse, solutions = np.empty_like(own), np.empty_like(across)
    is_laid = left is not None and numbers * d * d < ADDED * float(np.sum(units.sizes * units.touches**2.0))

    def work(some: slice) -> tuple[float, Floats]:
        """Return ln |D| of some units, and what they leave."""
        from bayes_arena.algebra import loops  # numba is slow to import

        rows = units.tail_start[some.stop] - units.tail_start[some.start]
        laid = np.zeros((rows if is_laid else 0, d))
        less = np.zeros((0, 0) if is_laid or left is None else (d, d))
        given = some.start, some.stop, units.starts, own, across, inverse, solutions, laid, less
        size = called(loops.eliminate, *given)
        if not math.isfinite(size):
            raise np.linalg.LinAlgError("a unit's matrix is not positive definite")
        return size, laid.T @ laid if is_laid else np.triu(less) + np.triu(less, 1).T

    total = 0.0
    for size, less in each(work, _parts(units, TOGETHER // d if is_laid else max(numbers // PARTS, BLOCK))):
        total += size
        if left is not None:
            left -= less
    found = Eliminated(units, shape, inverse, solutions, held, total)
    if left is not None and len(held):
        left += found.towards @ np.linalg.solve(found.total, found.towards.T)
    return found


def batches_of(size: int, count: int, of: Ints | None, at_once: int = DRAWN_AT_ONCE) -> list[Ints]:
    """Return annotators, all or some, in batches of those of whom ``size`` draws are handled together."""
    step, chosen = max(1, at_once // max(size, 1)), np.arange(count) if of is None else of
    return [chosen[first : first + step] for first in range(0, len(chosen), step)]


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


def joint(found: Eliminated, left: Floats) -> Joint:
    """Return the covariances of the numbers of units, given C (d, d) of what is left.

    Where sums are held, with F = D^-1 E T^-1, x = -(X - F G') y + noise, y what is left, and the noise has the
    covariance D^-1 - F T F'.
    """
    units, held = found.units, found.held
    own, across = np.empty_like(found.inverse), np.empty_like(found.across)
    moved, shared = left @ found.towards, np.linalg.inv(found.total)  # C G and T^-1
    excess = found.towards.T @ moved - found.total

    def work(some: slice) -> None:
        from bayes_arena.algebra import loops  # numba is slow to import

        given = units.starts, found.inverse, found.across, left, held, shared, moved, excess, own, across
        called(loops.join, some.start, some.stop, *given)

    for _ in each(work, _parts(units, max(len(units.tail) // PARTS, JOINED // len(left)))):
        pass
    return Joint(own, across, left)


def _parts(units: Units, numbers: int) -> list[slice]:
    """Return units in parts of about so many numbers; none where they have none."""
    ends = np.searchsorted(units.tail_start, np.arange(0, len(units.tail), max(numbers, 1)), side="right") - 1
    ends = np.unique(np.append(ends, len(units.sizes)))
    return [slice(first, last) for first, last in pairwise(ends.tolist())] if len(units.tail) else []


def _pattern(row_start: Ints, column_start: Ints, columns: Places) -> tuple[np.ndarray, np.ndarray]:
    """Return columns and row starts of a sparse matrix of one dense block per unit, with columns listed by unit."""
    rows, wide = np.diff(row_start), np.diff(column_start)
    unit = np.repeat(np.arange(len(rows)), rows)
    length = wide[unit]
    starts = np.append(0, np.cumsum(length))
    kind = np.int32 if starts[-1] < np.iinfo(np.int32).max else np.int64  # what SciPy would make of it every time
    places = np.repeat((column_start[:-1][unit] - starts[:-1]).astype(kind), length)
    places += np.arange(starts[-1], dtype=kind)
    return columns.astype(kind, copy=False)[places], starts.astype(kind)


def _sparse(values: Floats, pattern: tuple[np.ndarray, np.ndarray], width: int) -> Any:
    """Return a sparse matrix of one dense block per unit, given flat; without units an empty dense one."""
    columns, starts = pattern
    if len(starts) == 1:
        return np.zeros((0, width))
    from scipy.sparse import csr_array  # slow to import

    return csr_array((values, columns, starts), shape=(len(starts) - 1, width))
