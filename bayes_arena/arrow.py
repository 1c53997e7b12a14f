"""Linear algebra of arrow-shaped matrices, with the annotators' mean free or held.

Order the parameters as (strengths, discriminations). Given the strengths the annotators are independent, so
the Hessian is an arrow,

    H = [[A, B], [B', D]],   A (n, n), B (n, M), D (M,) the diagonal,

and everything follows from the Schur complement S = A - B Q B' (n, n) with Q = D^-1: solutions of H x = g,
positive definiteness (D > 0 and S > 0) and the inverse. Nothing of size M x M is formed.

Holding the sum of the discriminations fixed confines x to the plane where its tail sums to zero. The same
formulas then give the constrained solution and covariance with

    Q = D^-1 - D^-1 1 1' D^-1 / (1' D^-1 1),

the limit of (D + rho 1 1')^-1 for large rho.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import cholesky, solve_triangular

from bayes_arena.cells import Floats

TAIL_FLOOR = 1e-12
"""Smallest curvature of an annotator: keeps D invertible for one who saw equal competitors only."""


@dataclass(frozen=True, eq=False)
class Arrow:
    """The blocks A (n, n), B (n, M) and the diagonal D (M,) of an arrow matrix."""

    head: Floats
    border: Floats
    tail: Floats


@dataclass(frozen=True, eq=False)
class Factor:
    """An arrow matrix ready to solve.

    Attributes
    ----------
    schur : ndarray, shape (n, n)
        S, with whatever was added to the head.
    lower : ndarray, shape (n, n)
        Its lower Cholesky factor.
    border_q : ndarray, shape (n, M)
        B Q.
    inverse_tail : ndarray, shape (M,)
        1 / D.
    held : bool
        Whether the sum of the tail is held fixed.
    """

    schur: Floats
    lower: Floats
    border_q: Floats
    inverse_tail: Floats
    held: bool

    def solve(self, head: Floats, tail: Floats) -> tuple[Floats, Floats]:
        """Solve H x = g for g given as (n,) and (M,), or as (n, m) and (M, m) for m right-hand sides.

        With the sum held, x is the constrained solution, whose tail sums to zero.
        """
        # Q is symmetric, so B Q applied to the raw tail gives B (Q tail).
        x = self.solve_schur(head - self.border_q @ tail)
        return x, self._times_q(tail) - self.border_q.T @ x

    def solve_schur(self, right: Floats) -> Floats:
        """Solve S x = right for (n,) or (n, m)."""
        x = solve_triangular(self.lower, right, lower=True, check_finite=False)
        return np.asarray(solve_triangular(self.lower, x, lower=True, trans=1, check_finite=False))

    def tail_variances(self) -> Floats:
        """Diagonal of the lower right block of the (constrained) inverse, Q + Q B' S^-1 B Q, shape (M,)."""
        half = solve_triangular(self.lower, self.border_q, lower=True, check_finite=False)
        diagonal = self.inverse_tail
        if self.held:
            diagonal = diagonal - diagonal**2 / diagonal.sum()
        return np.asarray(diagonal + (half**2).sum(axis=0))

    def _times_q(self, tail: Floats) -> Floats:
        weight = self.inverse_tail if tail.ndim == 1 else self.inverse_tail[:, None]
        product = weight * tail
        if self.held and len(tail):
            product = product - weight * (product.sum(axis=0) / self.inverse_tail.sum())
        return np.asarray(product)


def factorise(arrow: Arrow, *, extra: Floats | float = 0.0, hold_sum: bool) -> Factor:
    """Factorise an arrow matrix.

    Parameters
    ----------
    arrow : Arrow
        The matrix.
    extra : float or ndarray, shape (n, n)
        Added to the head: gauge terms and damping.
    hold_sum : bool
        Whether the sum of the tail is held fixed.

    Raises
    ------
    numpy.linalg.LinAlgError
        If the matrix (on the plane, where the sum is held) is not positive definite.
    """
    inverse_tail = 1 / np.maximum(arrow.tail, TAIL_FLOOR)
    border_q = arrow.border * inverse_tail
    held = hold_sum and len(inverse_tail) > 0
    if held:
        border_q -= np.outer(border_q.sum(axis=1), inverse_tail / inverse_tail.sum())
    schur = arrow.head + extra - border_q @ arrow.border.T
    return Factor(schur, cholesky(schur, lower=True, check_finite=False), border_q, inverse_tail, held)
