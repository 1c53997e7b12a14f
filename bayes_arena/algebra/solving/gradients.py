"""Conjugate gradients for many right-hand sides at once, preconditioned by the diagonal."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from bayes_arena.arrays import Floats

MAX_STEPS = 3000
"""Steps after which a matrix counts as too nearly singular for the tolerance."""
AT_ONCE = 32
"""Right-hand sides, or draws, that are solved for at once: few enough for a processor's cache."""


class NotSettledError(ArithmeticError):
    """The steps were not enough."""


def solve_by_gradients(
    multiply: Callable[[Floats], Floats], right: Floats, diagonal: Floats, tolerance: float
) -> Floats:
    """Solve H x = g.

    Parameters
    ----------
    multiply : callable
        Maps x, shape (n, m), to H x.
    right : ndarray, shape (n, m)
        m right-hand sides g.
    diagonal : ndarray, shape (n,)
        The diagonal of H: the preconditioner.
    tolerance : float
        Largest norm of the residual, in the metric of the preconditioner, relative to that of g.

    Returns
    -------
    ndarray, shape (n, m)

    Raises
    ------
    NotSettledError
        If ``MAX_STEPS`` are not enough.
    numpy.linalg.LinAlgError
        If H is not positive definite.

    References
    ----------
    Hestenes, M. R. & Stiefel, E. (1952), "Methods of conjugate gradients for solving linear systems".
    """
    scale = 1 / diagonal[:, None]
    x, rest = np.zeros_like(right), right.copy()
    ahead = scale * rest
    direction = ahead.copy()
    left = np.einsum("nm,nm->m", rest, ahead)
    enough = tolerance**2 * left
    for _ in range(MAX_STEPS):
        if (left <= enough).all():
            return x
        moved = multiply(direction)
        bend = np.einsum("nm,nm->m", direction, moved)
        if ((bend <= 0) & (left > enough)).any():
            raise np.linalg.LinAlgError("the matrix is not positive definite")
        length = np.divide(left, bend, out=np.zeros_like(left), where=left > enough)
        x += length * direction
        rest -= length * moved
        np.multiply(scale, rest, out=ahead)
        before, left = left, np.einsum("nm,nm->m", rest, ahead)
        direction *= np.divide(left, before, out=np.zeros_like(left), where=before > 0)
        direction += ahead
    raise NotSettledError


def solve_in_parts(multiply: Callable[[Floats], Floats], right: Floats, diagonal: Floats, tolerance: float) -> Floats:
    """Solve H x = g as :func:`solve_by_gradients` does, ``AT_ONCE`` right-hand sides at a time."""
    found = np.empty_like(right)
    for first in range(0, right.shape[1], AT_ONCE):
        part = slice(first, first + AT_ONCE)
        found[:, part] = solve_by_gradients(multiply, right[:, part], diagonal, tolerance)
    return found
