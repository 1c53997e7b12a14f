"""The factor of a Hessian with slices; :mod:`bayes_arena.algebra.crossed` has the formulas."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy

from bayes_arena.algebra.chain import Link, backward, covariances, forward, linked
from bayes_arena.algebra.crossed import Crossed
from bayes_arena.algebra.elimination import Elimination
from bayes_arena.algebra.units import Eliminated, Joint, eliminated, joint, of_rows, votes_of
from bayes_arena.arrays import Floats, Ints

SMALL = 250
"""Size up to which solving with NumPy takes less time than importing SciPy."""


def solve_lower(lower: Floats, right: Floats, *, transposed: bool = False) -> Floats:
    """Solve L x = right or L' x = right, for a lower triangular L (h, h) and right (h,) or (h, m)."""
    if len(lower) <= SMALL:
        return np.asarray(np.linalg.solve(lower.T if transposed else lower, right), dtype=np.float64)
    x = scipy.linalg.solve_triangular(lower, right, lower=True, trans=1 if transposed else 0, check_finite=False)
    return np.asarray(x)


def solved(lower: Floats, right: Floats) -> Floats:
    """Solve S x = right, given the lower Cholesky factor of S."""
    return solve_lower(lower, solve_lower(lower, right), transposed=True)


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
class CrossedFactor:
    """A Hessian with slices, ready to solve.

    Attributes
    ----------
    hessian : Crossed
        The matrix.
    lower : ndarray, shape (d, d)
        Cholesky factor of what is left.
    columns, back : ndarray, shape (d, w)
        E of numbers that are left, and S^-1 E; without columns for own numbers where these are eliminated.
    towards, held : ndarray, shapes (d, q) and (q, q)
        G and T where own numbers are eliminated; empty otherwise.
    units : Eliminated
        What was eliminated.
    log_of_determinant : float
        ln |H| on the plane.
    rho : float
        As in rho E E'; zero where there is no such E.
    links : list of Link
        The numbers of periods, where these are eliminated.
    """

    hessian: Crossed
    lower: Floats
    columns: Floats
    back: Floats
    towards: Floats
    held: Floats
    units: Eliminated
    log_of_determinant: float
    links: list[Link]
    rho: float = 0.0

    @property
    def shape(self) -> tuple[int, int, int]:
        """Numbers of the head, annotators, and own numbers of each."""
        return self.hessian.shape

    def log_determinant(self) -> float:
        """Return ln |H| on the plane, up to a constant of the shapes."""
        return self.log_of_determinant

    def solve(self, head: Floats, tail: Floats) -> tuple[Floats, Floats]:
        """Solve H x = g, on the plane.

        Parameters
        ----------
        head, tail : ndarray, shapes (h, m) and (M, q, m), or (h,) and (M, q)
            m right-hand sides g, or one.

        Returns
        -------
        head, tail : ndarray
            x in the same shapes.
        """
        if head.ndim == 1:
            x, own = self.solve(head[:, None], tail[..., None])
            return x[:, 0], own[..., 0]
        order, right = self._order, np.concatenate([head, tail.reshape(-1, head.shape[1])])
        if order.chain is not None:
            dense = right[order.dense]
            free = forward(self.links, right, dense)
            return self._along(self._on_plane(solved(self.lower, dense)), free)
        _, eliminated, _, excess, dense = self._reduced(right)
        y = self._on_plane(solved(self.lower, dense))
        return self._split(y, eliminated - self._across @ y, excess)

    def form(self, head: Floats, tail: Floats) -> list[tuple[Floats, Floats]]:
        """Return matrices (k, m) in pairs whose products, A' B, add up to g' H^-1 g, on the plane.

        Parameters
        ----------
        head, tail : ndarray, shapes (h, m) and (M, q, m)
            g.
        """
        right = np.concatenate([head, tail.reshape(-1, head.shape[1])])
        if self._order.chain is not None:
            x, own = self.solve(head, tail)
            return [(right, np.concatenate([x, own.reshape(-1, x.shape[1])]))]
        given, eliminated, sums, excess, dense = self._reduced(right)
        return [(given, eliminated), (sums, -excess), (dense, self._on_plane(solved(self.lower, dense)))]

    def _reduced(self, right: Floats) -> tuple[Floats, Floats, Floats, Floats, Floats]:
        """Return what of g is eliminated, a, and D^-1 a, E' D^-1 a and T^-1 E' D^-1 a, and what is left of g."""
        given, sums = right[self._order.tail], np.zeros((len(self.held), right.shape[1]))
        eliminated, dense = self._inverse @ given, right[self._order.dense] - self._across.T @ given
        if len(self.held) and len(self._own_places):
            sums = eliminated[self._own_places].sum(axis=0)
        excess = np.asarray(np.linalg.solve(self.held, sums), dtype=np.float64)
        return given, eliminated, sums, excess, dense + self.towards @ excess

    def _along(self, dense: Floats, free: list[Floats]) -> tuple[Floats, Floats]:
        """Assemble head and own numbers, with the numbers of periods that follow from what is left."""
        h, count, width = self.shape
        x = np.empty((h + count * width, dense.shape[1]))
        x[self._order.dense] = dense
        backward(self.links, free, dense, x)
        return x[:h], x[h:].reshape(count, width, dense.shape[1])

    def _split(self, dense: Floats, eliminated: Floats, excess: Floats) -> tuple[Floats, Floats]:
        """Assemble head and own numbers, with what was eliminated moved to the plane."""
        order = self._order
        if len(self.held) and len(self._own_places):
            excess = excess - np.linalg.solve(self.held, self.towards.T @ dense)
            eliminated = eliminated - self._held_columns @ excess
        x = np.empty((len(order.dense) + len(order.tail), dense.shape[1]))
        x[order.dense], x[order.tail] = dense, eliminated
        h, count, width = self.shape
        return x[:h], x[h:].reshape(count, width, dense.shape[1])

    def _on_plane(self, y: Floats) -> Floats:
        """Move numbers that are left to the plane."""
        if not self.columns.any():
            return y
        moved = np.linalg.solve(self.columns.T @ self.back, self.columns.T @ y)
        return np.asarray(y - self.back @ moved)

    @cached_property
    def covariance_left(self) -> Floats:
        """Covariance of what is left, on the plane, shape (d, d)."""
        inverse, _ = scipy.linalg.lapack.dpotri(self.lower, lower=1)
        inverse += np.tril(inverse, -1).T  # above the diagonal it has the zeros of the factor
        if self.columns.any():
            inverse -= self.back @ np.linalg.solve(self.columns.T @ self.back, self.back.T)
        return np.asarray(inverse)

    @cached_property
    def spread(self) -> Spread:
        """The parts of the inverse for the rows, and for single numbers."""
        order, covariance, (h, count, width) = self._order, self.covariance_left, self.shape
        every, last = np.empty(h + count * width), len(order.start) - 1
        every[order.dense] = np.diag(covariance)
        if order.chain is None:
            among = joint(order, self.units, covariance, self.towards, self.held)
            pieces = of_rows(self.hessian, among, 0, last)
            every[order.tail] = among.own[order.own_diagonal]
            later, earlier = order.walk
            at = [np.searchsorted(order.dense, one) for one in (later, earlier)]
            every[earlier] += np.diag(covariance)[at[0]] - 2 * covariance[at[0], at[1]]
        else:
            nothing = np.zeros(0)
            found = [of_rows(self.hessian, Joint(nothing, nothing, covariance), last - 1, last)]
            for link, left, steps in covariances(self.links, covariance):
                every[link.numbers] = steps
                found.append(of_rows(self.hessian, Joint(nothing, nothing, left), link.period, link.period + 1))
            pieces = np.concatenate(found[::-1], axis=1)
        if order.n_own:
            own = among.own[order.own_blocks(count)]
        else:
            places = np.searchsorted(order.dense, h + np.arange(count * width)).reshape(count, width)
            own = covariance[places[:, :, None], places[:, None, :]]
        return Spread(
            pieces=np.take(pieces, order.back, axis=1),
            head=every[: self.shape[0]],
            own=own,
        )

    @cached_property
    def inverse_tail(self) -> Floats:
        """Covariance of every annotator's own numbers given the head but for slices, (M, q, q).

        These are given, too, unless they are eliminated before the annotators, or with them.
        """
        h, count, width = self.shape
        if not self._order.n_own:
            rows = self.lower[np.searchsorted(self._order.dense, h + np.arange(count * width))]
            rows = rows.reshape(count, width, len(self.lower))
            left = rows @ rows.transpose(0, 2, 1) - self.rho * np.eye(width)
            return np.asarray(np.linalg.inv(left), dtype=np.float64)
        return np.asarray(self.units.inverse[self._order.own_blocks(count)])

    def tail_covariance(self) -> Floats:
        """Return the covariance of every annotator's own numbers, shape (M, q, q)."""
        return self.spread.own

    def draw(self, rng: np.random.Generator, size: int) -> tuple[Floats, Floats]:
        """Draw the head (size, h) and own numbers (size, M, q) from the Gaussian with this precision on the plane."""
        noise = rng.normal(size=(len(self.lower), size))
        y = self._on_plane(solve_lower(self.lower, noise, transposed=True))
        if self._order.chain is not None:
            roots = (np.linalg.cholesky(link.inverse) for link in self.links)
            head, own = self._along(y, [root @ rng.normal(size=(len(root), size)) for root in roots])
            return head.T, own.transpose(2, 0, 1)
        free, excess = self._roots @ rng.normal(size=(len(self._order.tail), size)), np.zeros((len(self.held), size))
        if len(self.held) and len(self._own_places):
            excess = np.linalg.solve(self.held, free[self._own_places].sum(axis=0))
        head, own = self._split(y, free - self._across @ y, excess)
        return head.T, own.transpose(2, 0, 1)

    def draw_own(self, rng: np.random.Generator, size: int) -> tuple[Floats, Floats]:
        """Draw as :meth:`draw` does, but of the head at least the strengths and what is common, and other values."""
        rows, (_, count, width) = self._own_places.ravel(), self.shape
        if not len(rows):
            return self.draw(rng, size)
        y = self._on_plane(solve_lower(self.lower, rng.normal(size=(len(self.lower), size)), transposed=True))
        own = self._roots[rows][:, rows] @ rng.normal(size=(len(rows), size))  # own numbers are the first of their unit
        own -= self._across[rows] @ y
        if len(self.held):
            excess = own.reshape(count, width, size).sum(axis=0)
            own -= self._held_columns[rows] @ np.linalg.solve(self.held, excess)
        return y.T, own.reshape(count, width, size).transpose(2, 0, 1)

    @property
    def _order(self) -> Elimination:
        return self.hessian.elimination

    @cached_property
    def _own_places(self) -> np.ndarray:
        """Where the own numbers of every annotator are among what is eliminated, shape (M, q)."""
        order, (_, count, width) = self._order, self.shape
        return (
            order.tail_start[:count, None] + np.arange(width) if order.n_own else np.zeros((0, width), dtype=np.int64)
        )

    @cached_property
    def _held_columns(self) -> Any:
        """D^-1 E, shape (s, q)."""
        columns = np.zeros((len(self._order.tail), len(self.held)))
        rows = self._own_places
        columns[rows, np.arange(rows.shape[1])] = 1.0
        return self._inverse @ columns

    @cached_property
    def _inverse(self) -> Any:
        order = self._order
        return _blocks(self.units.inverse, order.inverse_pattern, len(order.tail))

    @cached_property
    def _across(self) -> Any:
        order = self._order
        return _blocks(self.units.across, order.across_pattern, len(order.dense))

    @cached_property
    def _roots(self) -> Any:
        """Lower Cholesky factors of D^-1, block by block."""
        order, inverse = self._order, self.units.inverse
        values = np.empty_like(inverse)
        for size in np.unique(order.sizes[order.sizes > 0]).tolist():
            at = order.inverse_start[:-1][order.sizes == size][:, None] + np.arange(size * size)
            values[at] = np.linalg.cholesky(inverse[at].reshape(-1, size, size)).reshape(len(at), -1)
        return _blocks(values, order.inverse_pattern, len(order.tail))


def factorise_crossed(hessian: Crossed, extra: Floats | float, damping: float) -> CrossedFactor:
    """Factorise on the plane where the sums of the annotators' numbers are held.

    Parameters
    ----------
    hessian : Crossed
    extra : ndarray, shape (n, n)
        Added to the strengths' block.
    damping : float
        Added to the diagonal.

    Raises
    ------
    numpy.linalg.LinAlgError
        If the matrix is not positive definite.
    """
    order, (n_head, count, width) = hessian.elimination, hessian.shape
    n, d, m, last = len(hessian.head), len(order.dense), order.n_own, len(order.start) - 1
    precision = hessian.precision + damping
    towards, held, links = np.zeros((d, m)), np.zeros((m, m)), list[Link]()
    later, earlier = order.walk
    if order.chain is None:
        dense, own, across = votes_of(hessian, 0, last)
        units = eliminated(order, own, across, precision[order.tail], dense, towards, held)
        at = [np.searchsorted(order.dense, one) for one in (later, earlier)]
        dense[at[0], at[1]] += hessian.between
        log_determinant = units.log_determinant
    else:
        weights = precision.copy()
        np.add.at(weights, later, hessian.between)
        links, rest, log_determinant = linked(
            order.chain, weights[order.chain.numbers], d, lambda period: votes_of(hessian, period, period + 1)[0]
        )
        dense, own, across = votes_of(hessian, last - 1, last)
        dense += rest
        units = Eliminated(own, across, 0.0)
    dense[np.diag_indices(d)] += precision[order.dense]
    dense[:n, :n] += extra
    own_left = 0 if m else width
    columns, rho = np.zeros((d, own_left + len(order.held))), 0.0
    if m and count:
        dense += towards @ np.linalg.solve(held, towards.T)
        log_determinant += np.linalg.slogdet(held)[1]
    elif count:
        places = np.searchsorted(order.dense, n_head + np.arange(count * own_left))
        columns[places, np.tile(np.arange(own_left), count)] = 1.0
    for column, places in enumerate(order.held, own_left):
        columns[places, column] = 1.0
    if columns.any():
        rho = float(np.diag(dense).mean() / columns.sum(axis=0).max())
        dense += rho * columns @ columns.T
    lower = scipy.linalg.cholesky(dense, lower=True, check_finite=False)
    back = solved(lower, columns)
    if columns.any():
        log_determinant += np.linalg.slogdet(columns.T @ back)[1]
    log_determinant += 2 * np.log(np.diag(lower)).sum()
    return CrossedFactor(hessian, lower, columns, back, towards, held, units, log_determinant, links, rho)


def _blocks(values: Floats, pattern: tuple[Ints, Ints], width: int) -> Any:
    """Return a sparse matrix of one dense block per unit, given flat."""
    from scipy.sparse import csr_array  # not needed without slices

    columns, starts = pattern
    return csr_array((values, columns, starts), shape=(len(starts) - 1, width))
