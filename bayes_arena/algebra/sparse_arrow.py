"""An arrow matrix of many competitors, few pairs of whom met, and few annotators: offers what ``Factor`` does.

Systems are solved by conjugate gradients on S = A - B Q B', which is not formed: a product with it takes one with the
sparse A and two with B. Where they do not converge, S is formed after all, as a dense matrix. Everything else
eliminates the strengths first. With Z a basis of the plane of the held sums, own = Z y; then (r; common, y) has the
Hessian of :mod:`bayes_arena.algebra.sparse_factor`, with y beside the common numbers, and a Schur complement as
small as these are few.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from bayes_arena.algebra.arrow import Eliminated
from bayes_arena.algebra.border import Border
from bayes_arena.algebra.own_jacobian import OwnJacobian
from bayes_arena.algebra.solving.gradients import (
    NotSettledError,
    solve_by_gradients,
    solve_in_parts,
)
from bayes_arena.algebra.sparse_factor import EXACTLY, NEARLY, SparseFactor, require_room_for_dense
from bayes_arena.algebra.sparse_hessian import SparseHessian
from bayes_arena.algebra.thin_jacobian import ThinJacobian
from bayes_arena.arrays import Floats


@dataclass(frozen=True, eq=False)
class SparseArrowFactor(Eliminated):
    """A sparse arrow matrix ready to solve.

    Attributes
    ----------
    head : SparseHessian
        A.
    gauge : ndarray, shape (n, k)
        G: columns whose outer products are added to the strengths' part of A.
    border, inverse_tail, held
        As in :class:`Eliminated`.
    tail : ndarray, shape (M, q, q)
        D.
    """

    head: SparseHessian
    gauge: Floats
    border: Border
    inverse_tail: Floats
    tail: Floats
    held: NDArray[np.bool_]

    def __post_init__(self) -> None:
        somewhere = np.random.default_rng(0).normal(size=(self.shape[0], 1))
        try:  # raises where it is not positive definite
            solve_by_gradients(self._multiply, somewhere, self._diagonal, NEARLY)
        except NotSettledError:
            _ = self._lower

    def solve_schur(self, right: Floats) -> Floats:
        """Solve S x = right for (h,) or (h, m)."""
        wide = right.reshape(len(right), -1)
        if "_lower" not in self.__dict__:
            try:
                return solve_in_parts(self._multiply, wide, self._diagonal, EXACTLY).reshape(right.shape)
            except NotSettledError:  # for another right-hand side they converged, or nearly
                pass
        return np.asarray(scipy.linalg.cho_solve((self._lower, True), wide, check_finite=False).reshape(right.shape))

    def tail_covariance(self) -> Floats:
        """Return the covariance of every annotator's own numbers, shape (M, q, q)."""
        common = self.head.across.shape[1]
        by_own = self.strengths_first.common_covariance[common:, common:]
        count, width = self.inverse_tail.shape[:2]
        whole = (self._basis @ by_own @ self._basis.T).reshape(width, count, width, count)
        return np.asarray(np.einsum("pmqm->mpq", whole))

    def variance(self, head: ThinJacobian, own: Floats | OwnJacobian | None) -> Floats:
        """Return the diagonal of J H^-1 J', (n,), for derivatives J in the head and in own numbers (n, M, q)."""
        if own is None:
            return self.strengths_first.variance(head)
        by_own = np.asarray(own)
        flat = by_own.transpose(0, 2, 1).reshape(len(by_own), -1)
        return self.strengths_first.variance(head, flat @ self._basis)

    @property
    def strength_variance(self) -> Floats:
        """Variances of the strengths, on the plane where their sums are held, shape (n,)."""
        return self.strengths_first.strength_variance

    @property
    def variance_error(self) -> float:
        """Largest relative standard error of the standard deviations; 0 where these are exact."""
        return self.strengths_first.variance_error

    def log_determinant(self) -> float:
        """Return an estimate of ln |H| on the plane, up to a constant of the shapes."""
        return self.strengths_first.log_determinant()

    def draw_head(self, rng: np.random.Generator, size: int) -> Floats:
        """Draw the head from the Gaussian with this (constrained) precision, shape (size, h)."""
        return self.strengths_first.draw_head(rng, size)[:, : self.shape[0]]

    def rise_of_determinant(self, there: SparseArrowFactor) -> float:
        """Return how much larger ln |H| is for a nearby matrix."""
        return self.strengths_first.rise_of_determinant(there.head.strengths, *there._beside_strengths())

    @cached_property
    def strengths_first(self) -> SparseFactor:
        """The same matrix, in strengths and in common numbers and y."""
        return SparseFactor(self.head.strengths, *self._beside_strengths(), self.gauge)

    def _beside_strengths(self) -> tuple[Floats, Floats]:
        """Return its blocks B and C."""
        n, width = len(self.gauge), len(self.held)
        diagonal = np.block([[np.diag(self.tail[:, p, q]) for q in range(width)] for p in range(width)])
        by_own = self._basis.T @ diagonal @ self._basis
        towards = self._basis.T @ self._border[n:].toarray().T
        across = np.hstack([self.head.across, self._border[:n] @ self._basis])
        return across, np.block([[self.head.common, towards.T], [towards, by_own]])

    @cached_property
    def _border(self) -> Any:
        """B as a sparse matrix, (h, q M), with the first numbers of all annotators first."""
        from scipy.sparse import csr_array

        size, count, width = self.shape
        annotator = np.repeat(np.arange(count), np.diff(self.border.start))
        places = [(self.border.column, annotator + count * p) for p in range(width)]
        row, column = (np.concatenate(one) for one in zip(*places, strict=True))
        return csr_array((self.border.value.T.ravel(), (row, column)), shape=(size, count * width))

    @cached_property
    def _basis(self) -> Floats:
        """Z, shape (q M, y): a basis of the annotators' numbers on the plane where some sums are held."""
        count = self.inverse_tail.shape[0]
        return np.asarray(
            scipy.linalg.block_diag(*(scipy.linalg.helmert(count).T if held else np.eye(count) for held in self.held))
        )

    @cached_property
    def _lower(self) -> Floats:
        """Lower Cholesky factor of S, dense."""
        require_room_for_dense(len(self.gauge))
        return np.asarray(scipy.linalg.cholesky(self._multiply(np.eye(self.shape[0])), lower=True, check_finite=False))

    @cached_property
    def _diagonal(self) -> Floats:
        """Diagonal of A + G G'."""
        diagonal = self.head.diagonal()
        diagonal[: len(self.gauge)] += np.sum(self.gauge**2, axis=1)
        return diagonal

    def _multiply(self, x: Floats) -> Floats:
        """Return S x for x (h, m)."""
        n, (_, count, width) = len(self.gauge), self.shape
        r, common = x[:n], x[n:]
        by_strength = self.head.strengths @ r + self.head.across @ common + self.gauge @ (self.gauge.T @ r)
        by_common = self.head.across.T @ r + self.head.common @ common
        own = (self._border.T @ x).reshape(width, count, -1).transpose(1, 0, 2)
        moved = self.q_times(own).transpose(1, 0, 2).reshape(width * count, -1)
        return np.asarray(np.concatenate([by_strength, by_common]) - self._border @ moved)
