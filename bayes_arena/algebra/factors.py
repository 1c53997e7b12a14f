"""Factors of arrow matrices: annotators are eliminated first, and what is left is a dense matrix.

See :mod:`bayes_arena.algebra.arrow` for the formulas.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations_with_replacement
from typing import overload

import numpy as np
import scipy
from numpy.typing import NDArray

from bayes_arena.algebra.arrow import Arrow, Eliminated, times_q, towards_plane
from bayes_arena.algebra.border import Border
from bayes_arena.algebra.crossed import Crossed
from bayes_arena.algebra.crossed_factor import CrossedFactor, factorise_crossed, solve_lower, solved
from bayes_arena.algebra.own_jacobian import OwnJacobian
from bayes_arena.algebra.sparse_arrow import SparseArrowFactor
from bayes_arena.algebra.sparse_factor import SparseFactor
from bayes_arena.algebra.sparse_hessian import SparseHessian
from bayes_arena.arrays import Floats
from bayes_arena.threads import each

TAIL_FLOOR = 1e-12
"""Added to the annotators' curvature: keeps D invertible for one who saw only equal competitors."""


@dataclass(frozen=True, eq=False)
class Factor(Eliminated):
    """An arrow matrix whose Schur complement is a dense matrix.

    Attributes
    ----------
    schur : ndarray, shape (h, h)
        S, with whatever was added to the head.
    lower : ndarray, shape (h, h)
        Its lower Cholesky factor.
    border, inverse_tail, held
        As in :class:`Eliminated`.
    """

    schur: Floats
    lower: Floats
    border: Border
    inverse_tail: Floats
    held: NDArray[np.bool_]

    def solve_schur(self, right: Floats) -> Floats:
        """Solve S x = right for (h,) or (h, m)."""
        return solved(self.lower, right)

    def tail_covariance(self) -> Floats:
        """Return the annotators' blocks of the (constrained) inverse, Q + Q B' S^-1 B Q, (M, q, q)."""
        blocks = self.q_blocks()
        for part, border in self.border.parts():
            moved = times_q(border, self.inverse_tail[part], self.held, self.towards)
            half = scipy.linalg.solve_triangular(
                self.lower, moved.reshape(len(moved), -1), lower=True, check_finite=False
            )
            planes = np.ascontiguousarray(np.moveaxis(half.reshape(moved.shape), 2, 0))
            for p, q in combinations_with_replacement(range(len(planes)), 2):
                both = np.einsum("hm,hm->m", planes[p], planes[q])
                blocks[part, p, q] += both
                blocks[part, q, p] += both if p < q else 0.0
        return blocks

    def variance(self, head: Floats, own: OwnJacobian) -> Floats:
        """Return the diagonal of J H^-1 J', (m,), for derivatives J in the head (m, h) and the annotators' numbers."""
        variance = np.zeros(len(head))

        def add(by_own: Floats, inverse: Floats) -> None:
            planes = np.ascontiguousarray(np.moveaxis(by_own, 2, 0))
            for p, q in combinations_with_replacement(range(len(planes)), 2):
                variance[:] += (planes[p] * planes[q]) @ inverse[:, p, q] * (1 if p == q else 2)

        half, held = self._through(head, own, add)
        if self.held.any():
            variance -= np.einsum("fs,sf->f", held, np.linalg.solve(self.held_total(), held.T))
        return np.asarray(variance + np.einsum("hf,hf->f", half, half))

    def covariance(self, head: Floats, own: OwnJacobian) -> Floats:
        """Return J H^-1 J', (m, m), for derivatives J in the head (m, h) and the annotators' numbers."""
        covariance = np.zeros((len(head), len(head)))

        def add(by_own: Floats, inverse: Floats) -> None:
            root = np.einsum("fkp,kpq->fkq", by_own, np.linalg.cholesky(inverse)).reshape(len(head), -1)
            covariance[:] += root @ root.T

        half, held = self._through(head, own, add)
        if self.held.any():
            covariance -= held @ np.linalg.solve(self.held_total(), held.T)
        return np.asarray(covariance + half.T @ half)

    def _through(self, head: Floats, own: OwnJacobian, add: Callable[[Floats, Floats], None]) -> tuple[Floats, Floats]:
        """Carry derivatives J through the annotators, whose numbers and D^-1 ``add`` sees block by block.

        Returns
        -------
        half : ndarray, shape (h, m)
            L^-1 (J_head - J_own Q B')', with L L' = S.
        held : ndarray, shape (m, s)
            J_own D^-1 E.
        """
        left, held = head.copy(), np.zeros((len(head), int(self.held.sum())))
        for part, by_own in own.blocks():
            inverse, flat = self.inverse_tail[part], by_own.reshape(len(head), -1)
            add(by_own, inverse)
            border = self.border.between(part).times_tail(inverse).dense()
            left -= flat @ border.reshape(len(border), -1).T
            held += flat @ inverse[:, :, self.held].reshape(flat.shape[1], -1)
        if self.held.any():
            left += held @ self.towards.T
        return solve_lower(self.lower, left.T), held

    def log_determinant(self) -> float:
        """Return ln |H| on the plane, up to a constant of the shapes."""
        log_det = 2 * np.log(np.diag(self.lower)).sum() - np.linalg.slogdet(self.inverse_tail)[1].sum()
        if self.held.any():
            log_det += np.linalg.slogdet(self.held_total())[1]
        return float(log_det)

    def draw_head(self, rng: np.random.Generator, size: int) -> Floats:
        """Draw the head from the Gaussian with this (constrained) precision, shape (size, h)."""
        noise = rng.normal(size=(len(self.lower), size))
        return solve_lower(self.lower, noise, transposed=True).T


AnyFactor = Factor | CrossedFactor | SparseFactor | SparseArrowFactor


@overload
def factorise(
    arrow: Arrow, *, extra: Floats | float = ..., held: np.ndarray, damping: float = ...
) -> Factor | SparseArrowFactor: ...
@overload
def factorise(
    arrow: Crossed, *, extra: Floats | float = ..., held: np.ndarray, damping: float = ...
) -> CrossedFactor: ...
@overload
def factorise(
    arrow: Arrow | Crossed | SparseHessian, *, extra: Floats | float = ..., held: np.ndarray, damping: float = ...
) -> AnyFactor: ...
def factorise(
    arrow: Arrow | Crossed | SparseHessian, *, extra: Floats | float = 0.0, held: np.ndarray, damping: float = 0.0
) -> AnyFactor:
    """Factorise an arrow matrix, or the Hessian of a model with slices or of many competitors.

    Parameters
    ----------
    arrow : Arrow, Crossed or SparseHessian
        The matrix.
    extra : float or ndarray, shape (h, h)
        Gauge terms, added to its ``head``; for a sparse one, the columns (n, k) whose outer products they are.
    held : ndarray of bool, shape (q,)
        Columns of the annotators whose sum is held; with slices, all are.
    damping : float
        Added to the diagonal.

    Raises
    ------
    numpy.linalg.LinAlgError
        If the matrix (on the plane, where sums are held) is not positive definite.
    """
    if isinstance(arrow, Crossed):
        return factorise_crossed(arrow, extra, damping)
    if not isinstance(arrow, Arrow):
        return arrow.factorise(extra, damping)
    size, count, width = arrow.border.shape
    if damping:
        arrow = Arrow(arrow.head, arrow.border, arrow.tail + damping * np.eye(width))
    if isinstance(arrow.head, SparseHessian):
        gauge = extra if isinstance(extra, np.ndarray) else np.zeros((len(arrow.head.across), 0))
        head = arrow.head.damped(damping)
        return SparseArrowFactor(head, gauge, arrow.border, _inverse_tail(arrow), arrow.tail, held)
    if damping:
        extra = extra + damping * np.eye(size)
    if not count or not width:  # no annotator has numbers of their own
        schur = arrow.head_in_full() + extra
        return Factor(schur, _lower(schur), arrow.border, arrow.tail, np.zeros_like(held))
    inverse_tail = _inverse_tail(arrow)
    schur = schur_complement(arrow, inverse_tail, held) + extra
    return Factor(schur, _lower(schur), arrow.border, inverse_tail, held)


def _lower(schur: Floats) -> Floats:
    return np.asarray(np.linalg.cholesky(schur), dtype=np.float64)


def _inverse_tail(arrow: Arrow) -> Floats:
    """D^-1, positive definite."""
    width = arrow.tail.shape[1]
    inverse: Floats = np.asarray(np.linalg.inv(arrow.tail + TAIL_FLOOR * np.eye(width)), dtype=np.float64)
    np.linalg.cholesky(inverse)
    return inverse


def schur_complement(arrow: Arrow, inverse_tail: Floats, held: NDArray[np.bool_]) -> Floats:
    """Return A - B Q B', given D^-1.

    With T = B D^-1 E (E' D^-1 E)^-1 it is A - sum_k X_k D_k^-1 X_k', X_k = B_k - T E', so that no rounding error is
    left where the held sums fix the numbers, as they do for a single annotator.
    """
    schur = arrow.head_in_full()
    towards = towards_plane(arrow.border, inverse_tail, held) if held.any() else None

    def answered(part: tuple[slice, Border]) -> Floats:
        block = part[1].dense().transpose(1, 2, 0)
        if towards is not None:
            block[:, held] -= towards.T
        return (inverse_tail[part[0]] @ block).reshape(-1, len(schur)).T @ block.reshape(-1, len(schur))

    for answer in each(answered, list(arrow.border.parts())):
        schur -= answer
    return schur
