"""Linear algebra of models with slices, whose numbers cross those of the annotators.

The Hessian H = J' W J + residuals + prior is sparse: a vote fills the entries of K numbers. One kind of slice, the
annotators among them, is eliminated unit by unit (:mod:`bayes_arena.likelihood.algebra.numbering` says which), each on
the numbers that its votes touch; what is left is dense,

    S = A - sum_u B_u D_u^-1 B_u'.

The sums of the annotators' own numbers are held, E'x = 0. Where annotators are eliminated, S + G T^-1 G' takes the
place of S, with G = sum_u B_u D_u^-1 E_u and T = sum_u E_u' D_u^-1 E_u, as in the ``arrow`` beside this module. Where
they are left, rho E E' is added, which changes nothing on the plane, and solutions x are moved there,

    x - S^-1 E (E' S^-1 E)^-1 E' x,        ln |H| on the plane = ln |S| + ln |E' S^-1 E| + sum_u ln |D_u|.

Own numbers come as (M, q), everything else as the head: strengths, common numbers, numbers of slices.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.linalg import cholesky, solve_triangular
from scipy.linalg.lapack import dpotri
from scipy.sparse import csr_array

from bayes_arena.arrays import Floats
from bayes_arena.compiled import made_ready
from bayes_arena.likelihood.algebra.numbering import Elimination, Numbering

COMPILING = "the elimination of slices"


@dataclass(frozen=True, eq=False)
class Crossed:
    """The Hessian of a model with slices, row by row.

    Attributes
    ----------
    numbering : Numbering
        What the numbers are of.
    entry : ndarray, shape (n_rows, K)
        Entries of J, rows in the order of the elimination.
    curve : ndarray, shape (n_rows, C, C)
        Curvature of the rows by their coordinates.
    slope : ndarray, shape (n_rows,)
        Gradient by eta where residuals count, else zero.
    precision : ndarray, shape (p,)
        Of the prior, for (head, own).
    head : ndarray, shape (n, n)
        The strengths' block.
    """

    numbering: Numbering
    entry: Floats
    curve: Floats
    slope: Floats
    precision: Floats
    head: Floats

    def factorise(self, extra: Floats | float, damping: float) -> CrossedFactor:
        """Factorise on the plane where the annotators' numbers keep their sums.

        Parameters
        ----------
        extra : ndarray, shape (n, n)
            Added to the strengths' block.
        damping : float
            Added to the diagonal.

        Raises
        ------
        numpy.linalg.LinAlgError
            If the matrix is not positive definite.
        """
        from bayes_arena.likelihood.algebra import kernels

        numbers, order = self.numbering, self.numbering.elimination
        n, d, m = numbers.n_competitors, len(order.dense), order.n_own
        precision = self.precision + damping
        dense = np.zeros((d, d))
        dense[np.diag_indices(d)] = precision[order.dense]
        dense[:n, :n] += extra
        counts, touches = np.diff(order.tail_start), np.diff(order.touched_start)
        inverse_start, across_start = (np.append(0, np.cumsum(counts * size)) for size in (counts, touches))
        inverse, across = np.empty(inverse_start[-1]), np.empty(across_start[-1])
        towards, held = np.zeros((d, m)), np.zeros((m, m))

        def eliminate() -> float:
            value: float = kernels.eliminate(
                order.start, order.local, self.entry, order.coordinate, order.sign, order.theta, self.curve, self.slope,
                order.tail_start, order.touched, order.touched_start, precision[order.tail], m, dense, towards, held,
                inverse, inverse_start, across, across_start,
            )  # fmt: skip
            return value

        log_determinant = made_ready(kernels.eliminate, eliminate, COMPILING)
        columns = np.zeros((d, 0 if m else len(numbers.own)))
        if m and numbers.n_annotators:
            dense += towards @ np.linalg.solve(held, towards.T)
            log_determinant += np.linalg.slogdet(held)[1]
        elif numbers.n_annotators:
            own = np.searchsorted(order.dense, numbers.n_head + np.arange(numbers.n_annotators * columns.shape[1]))
            columns[own, np.tile(np.arange(columns.shape[1]), numbers.n_annotators)] = 1.0
            dense += np.diag(dense).mean() / numbers.n_annotators * columns @ columns.T
        lower = cholesky(dense, lower=True, check_finite=False)
        back = _solve(lower, columns)
        if columns.any():
            log_determinant += np.linalg.slogdet(columns.T @ back)[1]
        log_determinant += 2 * np.log(np.diag(lower)).sum()
        return CrossedFactor(
            self, lower, columns, back, towards, held, inverse, inverse_start, across, across_start, log_determinant
        )


def _solve(lower: Floats, right: Floats) -> Floats:
    x = solve_triangular(lower, right, lower=True, check_finite=False)
    return np.asarray(solve_triangular(lower, x, lower=True, trans=1, check_finite=False))


@dataclass(frozen=True, eq=False)
class Spread:
    """Parts of the inverse of a Hessian with slices, on the plane.

    Attributes
    ----------
    rows : ndarray, shape (C, C, n_rows)
        Covariance of the coordinates of every row of the tally.
    with_lead, with_theta : ndarray, shape (C, n_rows)
        Covariance of the coordinates with the lead, and with theta where it is free.
    head : ndarray, shape (h,)
        Variances of the head.
    own : ndarray, shape (M, q, q)
        Covariance of every annotator's own numbers.
    """

    rows: Floats
    with_lead: Floats
    with_theta: Floats
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
    columns, back : ndarray, shape (d, q)
        E of own numbers that are left, and S^-1 E; of no column where they are eliminated.
    towards, held : ndarray, shapes (d, q) and (q, q)
        G and T where own numbers are eliminated; empty otherwise.
    inverse, inverse_start, across, across_start : ndarray
        D^-1 and D^-1 B' of every unit, flat.
    log_of_determinant : float
        On the plane.
    """

    hessian: Crossed
    lower: Floats
    columns: Floats
    back: Floats
    towards: Floats
    held: Floats
    inverse: Floats
    inverse_start: np.ndarray
    across: Floats
    across_start: np.ndarray
    log_of_determinant: float

    @property
    def shape(self) -> tuple[int, int, int]:
        """Numbers of the head, annotators, and own numbers of each."""
        numbers = self.hessian.numbering
        return numbers.n_head, numbers.n_annotators, len(numbers.own)

    def log_determinant(self) -> float:
        """Logarithm of the determinant of H on the plane, up to a constant of the shapes."""
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
        order, m = self._order, head.shape[1]
        right = np.concatenate([head, tail.reshape(-1, m)])
        given = right[order.tail]
        eliminated, excess = self._inverse @ given, np.zeros((len(self.held), m))
        dense = right[order.dense] - self._across.T @ given
        if len(self.held) and len(self._own_places):
            excess = np.linalg.solve(self.held, eliminated[self._own_places].sum(axis=0))
            dense += self.towards @ excess
        y = self._on_plane(_solve(self.lower, dense))
        return self._split(y, eliminated - self._across @ y, excess)

    def _split(self, dense: Floats, eliminated: Floats, excess: Floats) -> tuple[Floats, Floats]:
        """Put head and own numbers together, what was eliminated moved to the plane."""
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
        inverse, _ = dpotri(self.lower, lower=1)
        inverse = np.tril(inverse) + np.tril(inverse, -1).T
        if self.columns.any():
            inverse -= self.back @ np.linalg.solve(self.columns.T @ self.back, self.back.T)
        return np.asarray(inverse)

    @cached_property
    def spread(self) -> Spread:
        """What the inverse says of the rows, and of numbers one by one."""
        from bayes_arena.likelihood.algebra import kernels

        hessian, order, m = self.hessian, self._order, self._order.n_own
        _, count, width = self.shape
        n_units, covariance = len(order.start) - 1, self.covariance_left
        variance = np.zeros_like(hessian.curve)
        with_lead, with_theta = np.zeros(variance.shape[:2]), np.zeros(variance.shape[:2])
        tail_variance, own = np.empty(len(order.tail)), np.empty((n_units, m, m))
        moved = covariance @ self.towards
        shared = np.linalg.inv(self.held) if count else np.zeros((m, m))
        excess = self.towards.T @ moved - self.held

        def spread() -> None:
            kernels.spread(
                order.start, order.local, hessian.entry, order.coordinate, order.sign, order.theta, order.tail_start,
                order.touched, order.touched_start, covariance, moved, shared, excess, m, self.inverse,
                self.inverse_start, self.across, self.across_start, variance, with_lead, with_theta, tail_variance,
                own,
            )  # fmt: skip

        made_ready(kernels.spread, spread, COMPILING)
        back = np.argsort(order.rows)
        if not m:
            places = np.searchsorted(order.dense, self.shape[0] + np.arange(count * width)).reshape(count, width)
            own = covariance[places[:, :, None], places[:, None, :]]
        every = np.empty(len(order.dense) + len(order.tail))
        every[order.dense], every[order.tail] = np.diag(covariance), tail_variance
        return Spread(
            rows=np.ascontiguousarray(variance[back].transpose(1, 2, 0)),
            with_lead=with_lead[back].T,
            with_theta=with_theta[back].T,
            head=every[: self.shape[0]],
            own=own,
        )

    def tail_covariance(self) -> Floats:
        """Covariance of every annotator's own numbers, shape (M, q, q)."""
        return self.spread.own

    def draw(self, rng: np.random.Generator, size: int) -> tuple[Floats, Floats]:
        """Draw the head (size, h) and own numbers (size, M, q) from the Gaussian with this precision on the plane."""
        noise = rng.normal(size=(len(self.lower), size))
        y = self._on_plane(solve_triangular(self.lower, noise, lower=True, trans=1, check_finite=False))
        free, excess = self._roots @ rng.normal(size=(len(self._order.tail), size)), np.zeros((len(self.held), size))
        if len(self.held) and len(self._own_places):
            excess = np.linalg.solve(self.held, free[self._own_places].sum(axis=0))
        head, own = self._split(y, free - self._across @ y, excess)
        return head.T, own.transpose(2, 0, 1)

    @property
    def _order(self) -> Elimination:
        return self.hessian.numbering.elimination

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
        return _blocks(self.inverse, order.tail_start, order.tail_start, np.arange(len(order.tail)), len(order.tail))

    @cached_property
    def _across(self) -> Any:
        order = self._order
        return _blocks(self.across, order.tail_start, order.touched_start, order.touched, len(order.dense))

    @cached_property
    def _roots(self) -> Any:
        """Lower Cholesky factors of D^-1, block by block."""
        order, values = self._order, np.empty_like(self.inverse)
        counts = np.diff(order.tail_start)
        for size in np.unique(counts[counts > 0]):
            units = np.flatnonzero(counts == size)
            at = self.inverse_start[units][:, None] + np.arange(size * size)
            values[at] = np.linalg.cholesky(self.inverse[at].reshape(-1, size, size)).reshape(len(units), -1)
        return _blocks(values, order.tail_start, order.tail_start, np.arange(len(order.tail)), len(order.tail))


def _blocks(values: Floats, row_start: np.ndarray, column_start: np.ndarray, columns: np.ndarray, width: int) -> Any:
    """Return a sparse matrix of one dense block a unit, given flat, whose columns are listed unit by unit."""
    rows, wide = np.diff(row_start), np.diff(column_start)
    unit = np.repeat(np.arange(len(rows)), rows)
    length = wide[unit]
    indptr = np.append(0, np.cumsum(length))
    indices = columns[
        np.arange(indptr[-1]) - np.repeat(indptr[:-1], length) + np.repeat(column_start[:-1][unit], length)
    ]
    return csr_array((values, indices, indptr), shape=(len(unit), width))
