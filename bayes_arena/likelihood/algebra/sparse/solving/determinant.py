"""The logarithm of the determinant of a sparse matrix, by stochastic Lanczos quadrature.

ln |H| is the trace of ln H, and that is the mean of z' (ln H) z over random signs z. Lanczos' steps from z make a small
tridiagonal matrix T with z' f(H) z = |z|^2 (f(T))_11 for every polynomial f up to twice their number. The signs are the
same every time, so that the estimate is a smooth function of the matrix, as the search for spreads needs it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bayes_arena.arrays import Floats

PROBES, STEPS = 64, (10, 15, 20, 40)
"""Random signs, and Lanczos' steps after which the estimate is looked at."""
STANDS = 1e-9
"""Change of the estimate, in nats, at which the steps end."""


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
    n, rng = matrix.shape[0], np.random.default_rng(0)
    vector = rng.choice([-1.0, 1.0], size=(n, PROBES))
    vector -= directions @ (directions.T @ vector)
    size = np.linalg.norm(vector, axis=0)
    vector, before, step = vector / size, np.zeros_like(vector), np.zeros(PROBES)
    tridiagonal, estimate = np.zeros((PROBES, STEPS[-1], STEPS[-1])), np.inf
    for k in range(STEPS[-1]):
        moved = matrix @ vector - step * before
        tridiagonal[:, k, k] = diagonal = np.einsum("nm,nm->m", moved, vector)
        moved -= diagonal * vector
        moved -= directions @ (directions.T @ moved)
        if k + 1 in STEPS:
            values, vectors = np.linalg.eigh(tridiagonal[:, : k + 1, : k + 1])
            last, estimate = estimate, float(np.mean(size**2 * np.sum(vectors[:, 0] ** 2 * np.log(values), axis=1)))
            if abs(estimate - last) < STANDS:
                break
        step = np.linalg.norm(moved, axis=0)
        tridiagonal[:, k : k + 1, k + 1 : k + 2] = tridiagonal[:, k + 1 : k + 2, k : k + 1] = step[:, None, None]
        before, vector = vector, moved / np.maximum(step, np.finfo(float).tiny)
    return estimate
