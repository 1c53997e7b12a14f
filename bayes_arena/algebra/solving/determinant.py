"""The logarithm of the determinant of a sparse matrix, by stochastic Lanczos quadrature.

Scaled to a unit diagonal, a matrix A with diagonal d is 1 - N, and

    ln |A| = sum ln d + tr ln(1 - N) = sum ln d - tr N^2 / 2 + tr f(1 - N),      f(x) = ln x + (1 - x) + (1 - x)^2 / 2,

as N has a diagonal of zeros. The first two terms are known; the last, small where N is, is the mean of z' f(1 - N) z
over random signs z. Lanczos steps from z give a small tridiagonal matrix T with z' f(1 - N) z = |z|^2 (f(T))_11 for
every polynomial f of degree less than twice their number. The signs are the same every time, so the estimate is a
smooth function of the matrix, as the search for spreads requires.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bayes_arena.arrays import Floats

PROBES, STEPS = 64, (10, 15, 20, 40)
"""Vectors of random signs, and Lanczos steps after which the estimate is checked."""
STANDS = 1e-9
"""Change of the estimate, in nats, below which the steps end."""


def log_determinant(matrix: Any, directions: Floats) -> float:
    """Estimate ln |H| on the plane orthogonal to some directions U, with H U a multiple of U.

    Parameters
    ----------
    matrix : sparse array, shape (n, n)
        H, positive definite on the plane.
    directions : ndarray, shape (n, k)
        U, orthonormal.

    References
    ----------
    Ubaru, S., Chen, J. & Saad, Y. (2017), "Fast estimation of tr(f(A)) via stochastic Lanczos quadrature", SIAM Journal
    on Matrix Analysis and Applications 38.
    """
    from scipy.sparse import diags_array

    size = float(matrix.diagonal().mean())  # A = H + size U U', whose part along U is known
    along = np.log(np.einsum("nk,nk->k", directions, matrix @ directions) + size).sum()
    diagonal = matrix.diagonal() + size * np.sum(directions**2, axis=1)
    root = np.sqrt(diagonal)
    scaled, ends = (diags_array(1 / root) @ matrix @ diags_array(1 / root)).tocsr(), directions / root[:, None]
    squares = np.sum(scaled.data**2) - len(root) + size**2 * np.sum((ends.T @ ends) ** 2)
    squares += 2 * size * np.sum(ends * (scaled @ ends))
    return float(np.log(diagonal).sum() - 0.5 * squares + _trace(scaled, np.sqrt(size) * ends) - along)


def _trace(matrix: Any, ends: Floats) -> float:
    """Estimate tr f(1 - N), where 1 - N is a sparse matrix plus E E'."""
    n = len(ends)
    vector = np.random.default_rng(0).choice([-1.0, 1.0], size=(n, PROBES)) / np.sqrt(n)
    before, step = np.zeros_like(vector), np.zeros(PROBES)
    tridiagonal, estimate = np.zeros((PROBES, STEPS[-1], STEPS[-1])), np.inf
    for k in range(STEPS[-1]):
        moved = matrix @ vector + ends @ (ends.T @ vector) - step * before
        tridiagonal[:, k, k] = diagonal = np.einsum("nm,nm->m", moved, vector)
        moved -= diagonal * vector
        if k + 1 in STEPS:
            values, vectors = np.linalg.eigh(tridiagonal[:, : k + 1, : k + 1])
            values = np.maximum(values, np.finfo(float).tiny)  # zeros, without weight, where steps ended early
            terms = np.log(values) + (1 - values) + 0.5 * (1 - values) ** 2
            last, estimate = estimate, n * float(np.mean(np.sum(vectors[:, 0] ** 2 * terms, axis=1)))
            if abs(estimate - last) < STANDS:
                break
        step = np.linalg.norm(moved, axis=0)
        step[step < np.finfo(float).eps] = 0.0
        tridiagonal[:, k : k + 1, k + 1 : k + 2] = tridiagonal[:, k + 1 : k + 2, k : k + 1] = step[:, None, None]
        before, vector = vector, np.divide(moved, step, out=np.zeros_like(moved), where=step > 0)
    return estimate
