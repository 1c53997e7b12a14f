"""Numbers that a fit estimates: a board, a contrast, a slice; and what moves them.

Numbers v(x) of the parameters x, with derivatives J, have by the delta method the
covariance J S J', where S is that of x.  Votes whose loss has the gradient g move them by
g S J'.  In the terms of arrow.py, with a = J_s + J_l R,

    J S J' = a V a' + J_l D^-1 J_l',    g S J' = (g_s + g_l R) V a' + g_l D^-1 J_l'.

J is a dense matrix of few columns times a sparse one, and nothing of the size of
parameters x numbers is formed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy.sparse import csr_array, vstack

from bayes_arena.arrays import Array, Floats
from bayes_arena.inference.posterior import Posterior
from bayes_arena.model.arrow import Covariance, block_diagonal


@dataclass(frozen=True, eq=False)
class Estimate:
    """Numbers that depend on the parameters, and how certain the posterior is of them.

    Attributes
    ----------
    value : ndarray, shape (m,)
    covariance : ndarray, shape (m, m)
    moves : callable
        From gradients of the loss of clusters of votes, (clusters, parameters), to how far
        they move the numbers, (clusters, m).
    at : callable
        From vectors of all parameters, (draws, parameters), to the numbers there,
        (draws, m).
    samples : ndarray, shape (samples, m), optional
        Of the numbers, where the posterior was sampled.
    """

    value: Floats
    covariance: Floats
    moves: Callable[[csr_array], Floats]
    at: Callable[[Floats], Floats]
    samples: Floats | None = None

    @property
    def sd(self) -> Floats:
        """Standard deviations, (m,)."""
        return np.sqrt(np.maximum(np.diag(self.covariance), 0.0))

    def relative_to(self, mask: Array) -> Estimate:
        """Return the numbers less the mean of some of them, with all that goes with it."""
        if mask.all():
            return self  # strengths sum to zero already
        return Estimate(
            value=relative(mask, self.value),
            covariance=relative(mask, relative(mask, self.covariance).T).T,
            moves=partial(relative_result, mask, self.moves),
            at=partial(relative_result, mask, self.at),
            samples=None if self.samples is None else relative(mask, self.samples),
        )


def relative(mask: Array, numbers: Floats) -> Floats:
    """Return numbers, (..., m), less the mean of those in a mask."""
    return np.asarray(numbers - numbers[..., mask].mean(axis=-1, keepdims=True))


def relative_result(
    mask: Array, function: Callable[[Any], Floats], argument: Any
) -> Floats:
    """Return a function's numbers less the mean of those in a mask."""
    return relative(mask, function(argument))


@dataclass(frozen=True, eq=False)
class Linear:
    """Numbers, and their derivatives in the parameters: weights times a jacobian.

    ``value`` is (m,), ``weights`` (m, k), and ``jacobian``, which is sparse, (k,
    parameters).
    """

    value: Floats
    weights: Floats
    jacobian: csr_array

    def contrast(self, matrix: Floats) -> Linear:
        """Return other numbers, a matrix (n, m) times these."""
        return Linear(matrix @ self.value, matrix @ self.weights, self.jacobian)

    def less(self, other: Linear) -> Linear:
        """Return these numbers less others of the same parameters."""
        return Linear(
            self.value - other.value,
            np.hstack([self.weights, -other.weights]),
            csr_array(vstack([self.jacobian, other.jacobian])),
        )


def delta_method(
    posterior: Posterior, linear: Linear, at: Callable[[Floats], Floats]
) -> Estimate:
    """Return numbers with the covariance J S J' that their derivatives J give them.

    Local parameters follow the shared ones by R, and vary around that by C:

        J S J' = a S_ss a' + J_l C J_l',    a = J_s + J_l R.
    """
    S = posterior.covariance
    weights = linear.weights
    J_local = local_part(S, linear.jacobian)
    a = derivatives_onto_shared(S, linear)
    shared = S.shared @ a.T
    local = block_diagonal(S.layout, S.conditional) @ J_local.T
    covariance = a @ shared + weights @ (J_local @ local) @ weights.T
    moves = partial(moved_by, S, shared, local, weights)
    return Estimate(linear.value, covariance, moves, at)


def moved_by(
    S: Covariance, shared: Floats, local: csr_array, weights: Floats, g: csr_array
) -> Floats:
    """Return g S J', (clusters, m), of the shared part V a' and the local part C J_l'."""
    by_local = local_part(S, g) @ local @ weights.T
    return np.asarray(onto_shared(S, g) @ shared + by_local)


def local_part(S: Covariance, rows: csr_array) -> csr_array:
    """Return the entries of local parameters, (rows, local)."""
    return rows[:, S.layout.n_shared :]


def onto_shared(S: Covariance, rows: csr_array) -> Floats:
    """Return g_s + g_l R for rows g, (rows, w): local parameters follow the shared ones."""
    sums = local_part(S, rows) @ S.regression
    p = S.layout.n_shared
    sums[:, :p] += rows[:, :p].toarray()
    return np.asarray(sums)


def derivatives_onto_shared(S: Covariance, linear: Linear) -> Floats:
    """Return J_s + J_l R, (m, w)."""
    J_local = local_part(S, linear.jacobian)
    rows = np.flatnonzero(np.diff(J_local.indptr))  # most have no local parameter
    a = linear.weights[:, rows] @ (J_local[rows] @ S.regression)
    p = S.layout.n_shared
    a[:, :p] += linear.weights @ linear.jacobian[:, :p]
    return np.asarray(a)
