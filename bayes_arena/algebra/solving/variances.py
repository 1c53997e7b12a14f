"""An estimate of the diagonal of the inverse of a sparse matrix, with its error.

Let H be L of :mod:`bayes_arena.algebra.sparse_hessian`, V its inverse on the plane where the sums of the
strengths are held (P = 1 - U U', U (n, k) orthonormal and H U a multiple of U), K any approximation to V and
E = 1 - K H. As V = P K + V E' and V = K P + E V,

    V = K P + E P K + E V E'.

With D the diagonal, N = D^-1/2 (D - H) D^-1/2 without the rows of a few competitors who met very many, and
K = D^-1/2 (1 + N + ... + N^(p-1)) D^-1/2, the diagonal of K + E K = 2 K - K H K is that of
D^-1/2 (1 + N + ... + N^(2p-1)) D^-1/2: sums of products of sparse matrices. Only the diagonal of E V E' is unknown. It
falls with the power 2 p of the eigenvalues of N (.44 for a random graph of 20 opponents each), and Hutchinson's
estimate, the mean of z * (E V E' z) over random signs z, is off by a fraction of that. Where N has eigenvalues near 1
(groups joined by few votes, chains), these probes say where: with Q a basis of the solutions V E' z found so far,

    V = Q (Q' H Q)^-1 Q' + R,

the first part is known exactly, and fresh probes estimate the diagonal of E R E' (Meyer et al., 2021, do so for
traces). The few that stay uncertain are solved for one by one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from bayes_arena.algebra.solving.gradients import NotSettledError
from bayes_arena.arrays import Floats

PROBES = (32, 64, 128, 256)
"""Random vectors in each round, until the error is small enough."""
CHEAP = 16
"""Competitors per probe from which probes take less time than a dense matrix."""
ACCURACY = 0.01
"""Relative error of the standard deviations, at three standard errors."""
ONE_BY_ONE = 64
"""Variances that may be solved for one by one."""
ROWS = 500
"""Rows of a product of sparse matrices that are held at once."""
PRODUCTS, MOST_POWERS = 1e7, 8
"""Multiplications that powers of N may take, and the highest of them."""
MET_MANY, AT_MOST = 8, 64
"""Opponents, in multiples of the mean, above which a competitor is left out of N; the most who are left out."""


def inverse_diagonal(matrix: Any, directions: Floats, solve: Callable[[Floats], Floats]) -> tuple[Floats, float]:
    """Estimate the diagonal of the inverse on the plane orthogonal to some directions.

    Parameters
    ----------
    matrix : sparse array, shape (n, n)
        H.
    directions : ndarray, shape (n, k)
        U.
    solve : callable
        Maps right-hand sides on the plane, (n, m), to V times them.

    Returns
    -------
    diagonal : ndarray, shape (n,)
    error : float
        Largest relative standard error of the square roots of the diagonal.

    Raises
    ------
    NotSettledError
        If the probes are too few for this graph.

    References
    ----------
    Hutchinson, M. F. (1990), "A stochastic estimator of the trace of the influence matrix", Communications in
    Statistics 19. Meyer, R. A. et al. (2021), "Hutch++: optimal stochastic trace estimation", SOSA.
    """
    n, rng = len(directions), np.random.default_rng(0)
    steps, powers = _steps(matrix)
    root = np.sqrt(matrix.diagonal())[:, None]

    def near(x: Floats) -> Floats:  # K x
        total = ahead = x / root
        for _ in range(powers - 1):
            ahead = steps @ ahead
            total = total + ahead
        return np.asarray(total / root)

    def rest(x: Floats) -> Floats:  # E x
        return np.asarray(x - near(matrix @ x))

    def on_plane(x: Floats) -> Floats:
        return np.asarray(x - directions @ (directions.T @ x))

    known = _returns(steps, powers) / root[:, 0] ** 2
    known -= np.sum(near(directions) * (directions + rest(directions)), axis=1)
    basis = np.zeros((n, 0))
    for size in PROBES:
        if (basis.shape[1] + size) * CHEAP > n:
            break
        signs = rng.choice([-1.0, 1.0], size=(n, size))
        right = on_plane(signs - matrix @ near(signs))
        found = on_plane(solve(right))
        inner, moved = basis.T @ (matrix @ basis), rest(basis)
        exact = np.einsum("nk,kn->n", moved, np.linalg.solve(inner, moved.T))
        samples = signs * rest(found - basis @ np.linalg.solve(inner, basis.T @ right))
        diagonal = known + exact + samples.mean(axis=1)
        spread = 0.5 * samples.std(axis=1, ddof=1) / np.sqrt(size)
        uncertain = np.flatnonzero(3 * spread >= ACCURACY * diagonal)
        if len(uncertain) <= ONE_BY_ONE:
            units = np.zeros((n, len(uncertain)))
            units[uncertain, np.arange(len(uncertain))] = 1.0
            diagonal[uncertain] = on_plane(solve(on_plane(units)))[uncertain, np.arange(len(uncertain))]
            spread[uncertain] = 0.0
            return diagonal, float(np.max(spread / diagonal))
        basis = np.linalg.qr(np.column_stack([basis, found]))[0]
    raise NotSettledError


def _steps(matrix: Any) -> tuple[Any, int]:
    """Return N, and how many of its powers are worth computing."""
    from scipy.sparse import diags_array

    n = matrix.shape[0]
    opponents = np.diff(matrix.indptr) - 1.0
    most = np.argsort(-opponents, kind="stable")[:AT_MOST]
    kept = np.ones(n)
    kept[most[opponents[most] > MET_MANY * max(opponents.mean(), 1.0)]] = 0.0
    scaled = diags_array(kept / np.sqrt(matrix.diagonal()))
    steps = (diags_array(kept) - scaled @ matrix @ scaled).tocsr()
    steps.setdiag(0.0)
    steps.eliminate_zeros()
    opponents = np.diff(steps.indptr).astype(np.float64)
    ahead, powers = max(float(opponents @ opponents / max(opponents.sum(), 1.0)), 1.0), 2
    while powers < MOST_POWERS and n * min(ahead**powers, n) * ahead < PRODUCTS:
        powers += 1
    return steps, powers


def _returns(steps: Any, powers: int) -> Floats:
    """Return the diagonal of 1 + N + ... + N^(2p-1), computed in batches of rows."""
    found = np.ones(steps.shape[0])
    for first in range(0, len(found), ROWS):
        part = slice(first, first + ROWS)
        ahead = steps[part]
        for power in range(1, powers):
            before, ahead = ahead, ahead @ steps if power > 1 else ahead
            if power > 1:
                found[part] += before.multiply(ahead).sum(axis=1)
            found[part] += ahead.multiply(ahead).sum(axis=1)
        found[part] += ahead.multiply(ahead @ steps).sum(axis=1)
    return found
