"""The factor of a sparse Hessian; offers what ``Factor`` of :mod:`bayes_arena.algebra.factor` does.

With W = (L + G G')^-1 B and S = C - B' W, the common numbers are eliminated,

    x_c = S^-1 (g_c - W' g_r),    x_r = (L + G G')^-1 g_r - W x_c,        V_rr = (L + G G')^-1 + W S^-1 W',

and the rest is L alone. A draw from N(0, L^-1) is L^-1 g with g ~ N(0, L): every pair adds sqrt(w_ij) times noise of
its own, with opposite signs for its two competitors, and the prior adds noise to each. Where conjugate gradients or the
probes for the variances do not converge, L is factorised as a dense matrix; so it is for draws when competitors are not
very many.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy

from bayes_arena.algebra.solving.determinant import log_determinant
from bayes_arena.algebra.solving.gradients import (
    AT_ONCE,
    NotSettledError,
    solve_by_gradients,
    solve_in_parts,
)
from bayes_arena.algebra.solving.variances import inverse_diagonal
from bayes_arena.algebra.thin_jacobian import ThinJacobian
from bayes_arena.arrays import Floats, Ints
from bayes_arena.errors import TooLargeError
from bayes_arena.memory import gib, shortage

EXACTLY, NEARLY, ROUGHLY = 1e-10, 1e-6, 1e-4
"""Tolerance of solutions, of solutions that are only averaged, and of draws."""
DENSE = 5000
"""Number of competitors up to which thousands of draws are faster from a dense matrix."""
POWER_STEPS = 4


@dataclass(frozen=True, eq=False)
class SparseFactor:
    """A sparse Hessian ready to solve.

    Attributes
    ----------
    strengths : sparse array, shape (n, n)
        L.
    across, common : ndarray, shapes (n, c) and (c, c)
        B and C.
    gauge : ndarray, shape (n, k)
        G: orthogonal eigenvectors of L.
    """

    strengths: Any
    across: Floats
    common: Floats
    gauge: Floats

    def __post_init__(self) -> None:
        _ = self._common_lower  # raises where the matrix is not positive definite

    @property
    def shape(self) -> tuple[int, int, int]:
        """Numbers of the head; zero annotators with numbers of their own."""
        n, c = self.across.shape
        return n + c, 0, 0

    def solve(self, head: Floats, tail: Floats) -> tuple[Floats, Floats]:
        """Solve H x = g for head (h,) or (h, m); the tail is empty."""
        return self.solve_left(head), tail

    def solve_left(self, right: Floats, tolerance: float = EXACTLY) -> Floats:
        """Solve H x = right for (h,) or (h, m)."""
        n = len(self.across)
        wide = right.reshape(len(right), -1)
        by_pairs = self._solve_pairs(wide[:n], tolerance)
        common = scipy.linalg.cho_solve((self._common_lower, True), wide[n:] - self._towards.T @ wide[:n])
        return np.asarray(np.concatenate([by_pairs - self._towards @ common, common]).reshape(right.shape))

    @cached_property
    def strength_variance(self) -> Floats:
        """Variances of the strengths, on the plane where their sums are held, shape (n,)."""
        return self.variance(ThinJacobian.identity(len(self.across), len(self.across)))

    def variance(self, head: ThinJacobian, beside: Floats | None = None) -> Floats:
        """Return the diagonal of J V J', (n,), for J = diag(s) + P Q in the strengths and the first common numbers.

        ``beside`` (n, b) has the derivatives in the last b common numbers.
        """
        n, c = self.across.shape
        by_strength, first = self._on_plane(head.right[:, :n].T), head.right.shape[1] - n
        by_common = np.zeros((n, c))
        by_common[:, :first] = head.left @ head.right[:, n:]
        if beside is not None:
            by_common[:, c - beside.shape[1] :] = beside
        along = self._on_plane(self._solve_pairs(by_strength, EXACTLY))
        both = head.scale * along.T + 0.5 * (by_strength.T @ along).T @ head.left.T
        by_pairs = head.scale**2 * self._pairs_variance[0] + 2 * np.einsum("nk,kn->n", head.left, both)
        towards = self._on_plane(self._towards)
        by_common -= head.scale[:, None] * towards + head.left @ (by_strength.T @ towards)
        half = scipy.linalg.solve_triangular(self._common_lower, by_common.T, lower=True, check_finite=False)
        return np.asarray(by_pairs + np.sum(half**2, axis=0))

    @cached_property
    def common_covariance(self) -> Floats:
        """Covariance of the common numbers, S^-1, shape (c, c)."""
        return np.asarray(scipy.linalg.cho_solve((self._common_lower, True), np.eye(len(self.common))))

    @property
    def variance_error(self) -> float:
        """Largest relative standard error of the standard deviations; 0 where these are exact."""
        return self._pairs_variance[1]

    def draw_head(self, rng: np.random.Generator, size: int) -> Floats:
        """Draw the head from the Gaussian with this precision, shape (size, h)."""
        n, c = self.across.shape
        common = scipy.linalg.solve_triangular(self._common_lower, rng.normal(size=(c, size)), lower=True, trans=1)
        drawn = np.empty((size, n + c))
        drawn[:, n:] = common.T
        for first in range(0, size, AT_ONCE):
            part = slice(first, min(first + AT_ONCE, size))
            drawn[part, :n] = (self._draw_pairs(rng, part.stop - first) - self._towards @ common[:, part]).T
        return drawn

    def _draw_pairs(self, rng: np.random.Generator, size: int) -> Floats:
        """Draw from N(0, (L + G G')^-1), shape (n, size), right on the plane, where alone it matters."""
        n = len(self.across)
        if n <= DENSE or not self._settles:
            noise = rng.normal(size=(n, size))
            return np.asarray(
                scipy.linalg.solve_triangular(self._lower, noise, lower=True, trans=1, check_finite=False)
            )
        apart, own = self._pulls
        pull = apart @ rng.normal(size=(apart.shape[1], size)) + own * rng.normal(size=(n, size))
        return self._solve_pairs(pull, ROUGHLY)

    @cached_property
    def _pulls(self) -> tuple[Any, Floats]:
        """Roots of the weights of all pairs, (n, pairs), and of what the prior adds, (n, 1): their squares sum to L."""
        from scipy.sparse import coo_array, triu

        pairs = triu(self.strengths, k=1).tocoo()
        root, place = np.sqrt(np.maximum(-pairs.data, 0.0)), np.arange(pairs.nnz)
        ends = np.append(pairs.coords[0], pairs.coords[1]), np.append(place, place)
        apart = coo_array((np.append(root, -root), ends), shape=(len(self.across), pairs.nnz))
        return apart.tocsr(), np.sqrt(np.maximum(np.asarray(self.strengths.sum(axis=1)), 0.0))[:, None]

    def draw_own(
        self, rng: np.random.Generator, left: Floats, at_once: int = 0, of: Ints | None = None
    ) -> Iterator[tuple[Ints, Floats]]:
        """Yield nothing: no annotator has numbers of their own."""
        return iter(())

    def tail_covariance(self) -> Floats:
        """Return an empty array."""
        return np.zeros((0, 0, 0))

    def log_determinant(self) -> float:
        """Return an estimate of ln |H| on the plane, up to a constant of the shapes."""
        return self._log_of_pairs + float(2 * np.log(np.diag(self._common_lower)).sum())

    def rise_of_determinant(self, strengths: Any, across: Floats, common: Floats) -> float:
        """Return how much larger ln |H| is for other blocks that are near these.

        What their C - B' (L + G G')^-1 B subtracts is the maximum of X'B + B'X - X'(L + G G')X over all X. W is near
        that X, so the error is of second order in the change.
        """
        towards = self._towards
        pull = across.T @ towards
        schur = common - pull - pull.T + towards.T @ (strengths @ towards)
        by_common = np.linalg.slogdet(schur)[1] - 2 * np.log(np.diag(self._common_lower)).sum()
        return float(by_common) + log_determinant(strengths, self._directions) - self._log_of_pairs

    @cached_property
    def _log_of_pairs(self) -> float:
        """Logarithm of the determinant of L on the plane."""
        return log_determinant(self.strengths, self._directions)

    def smallest_eigenvalue(self) -> float:
        """Return the smallest eigenvalue of the matrix scaled to a unit diagonal.

        Inverse iteration from a random vector gives at most a little too much. Where a prior holds every strength
        and there are no common numbers, a lower bound is returned instead.
        """
        bound = float(np.min(np.asarray(self.strengths.sum(axis=1)) / self._diagonal))
        if bound > 0 and not self.common.size:
            return bound
        scale = np.sqrt(np.append(self._diagonal, np.diag(self.common)))
        vector = np.random.default_rng(0).normal(size=len(scale))
        size = 1.0
        for _ in range(POWER_STEPS):
            vector = scale * self.solve_left(scale * vector / np.linalg.norm(vector))
            size = float(np.linalg.norm(vector))
        return 1 / size

    def _on_plane(self, x: Floats) -> Floats:
        """Project x (n, m) onto the plane."""
        return np.asarray(x - self._directions @ (self._directions.T @ x))

    def _multiply(self, x: Floats) -> Floats:
        return np.asarray(self.strengths @ x + self.gauge @ (self.gauge.T @ x))

    def _solve_pairs(self, right: Floats, tolerance: float) -> Floats:
        """Solve (L + G G') x = right, (n, m), in batches of right-hand sides."""
        if self._settles:
            try:
                return solve_in_parts(self._multiply, right, self._diagonal, tolerance)
            except NotSettledError:  # for another right-hand side they converged
                self.__dict__["_settles"] = False
        return np.asarray(scipy.linalg.cho_solve((self._lower, True), right, check_finite=False))

    @cached_property
    def _settles(self) -> bool:
        """Whether conjugate gradients converge, for a random right-hand side."""
        try:
            somewhere = np.random.default_rng(0).normal(size=(len(self.across), 1))
            solve_by_gradients(self._multiply, somewhere, self._diagonal, EXACTLY)
        except NotSettledError:
            return False
        return True

    @cached_property
    def _diagonal(self) -> Floats:
        """Diagonal of L + G G'."""
        return np.asarray(self.strengths.diagonal() + np.sum(self.gauge**2, axis=1))

    @cached_property
    def _directions(self) -> Floats:
        return np.asarray(self.gauge / np.linalg.norm(self.gauge, axis=0))

    @cached_property
    def _towards(self) -> Floats:
        """W."""
        return self._solve_pairs(self.across, EXACTLY) if self.across.shape[1] else np.zeros_like(self.across)

    @cached_property
    def _common_lower(self) -> Floats:
        """Lower Cholesky factor of S."""
        left = self.common - self.across.T @ self._towards
        return np.asarray(scipy.linalg.cholesky(left, lower=True)) if len(left) else np.zeros((0, 0))

    @cached_property
    def _pairs_variance(self) -> tuple[Floats, float]:
        """Diagonal of (L + G G')^-1 on the plane, and its relative error."""
        try:
            return inverse_diagonal(self.strengths, self._directions, lambda right: self._solve_pairs(right, NEARLY))
        except NotSettledError:
            inverse, _ = scipy.linalg.lapack.dpotri(self._lower, lower=1)
            held = np.sum(self._directions * self._multiply(self._directions), axis=0)
            return np.diag(inverse) - np.sum(self._directions**2 / held, axis=1), 0.0

    @cached_property
    def _lower(self) -> Floats:
        """Lower Cholesky factor of L + G G', dense."""
        require_room_for_dense(len(self.across))
        dense = self.strengths.toarray(order="F")
        dense += self.gauge @ self.gauge.T
        return np.asarray(scipy.linalg.cholesky(dense, lower=True, overwrite_a=True, check_finite=False))


def require_room_for_dense(n: int) -> None:
    """Raise TooLargeError where there is too little memory for a dense matrix of n competitors."""
    needed = 3 * 8 * n * n
    if short := shortage(needed, now=True):
        raise TooLargeError(
            f"The graph of comparisons of these {n:,} competitors is so loosely connected that it has to be solved as "
            f"a dense matrix, which takes about {gib(needed)} of memory; {short}. "
            "Rate separately the groups whose competitors were compared with each other."
        )
