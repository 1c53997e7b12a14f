"""The common scale of :mod:`bayes_arena.inference.projection` for too many pairs to enumerate.

All that is needed of the opponents of a competitor are sums f_i = sum_j f(r_i - r_j) of smooth functions of the lead.
On the Chebyshev nodes x_a of the range of the strengths, f(x - y) = l(x)' F l(y), where l are the Lagrange polynomials
of the nodes and F_ab = f(x_a - x_b). So the cost of all sums is n times the number of nodes, and a matrix over all
pairs is a diagonal minus a matrix whose rank is the number of nodes; it is stored and solved in this form.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
import scipy
from numpy.polynomial.chebyshev import chebvander

from bayes_arena.algebra.thin_jacobian import ThinJacobian
from bayes_arena.arrays import Floats
from bayes_arena.errors import ConvergenceError

NODES, LEAD_NODES = 128, 256
"""Nodes for the strengths, and for the leads, whose range is twice as wide."""
NEGLIGIBLE = 1e-9
"""Singular values of a Jacobian, relative to the largest, that are dropped."""
MAX_STEPS = 100
SETTLED, ROUNDING = 1e-10, 1e-6
"""Length of the last step in logits, and of a step that is the last if it is no shorter than the one before, as where a
competitor nearly always wins."""
FARTHEST = 10.0
"""Largest distance from the mean at which strengths start, in logits: farther out, as for an unbeaten competitor, the
curvature vanishes."""


@cache
def chebyshev(size: int) -> tuple[Floats, Floats]:
    """Return Chebyshev nodes in [-1, 1], and the matrix from values there to coefficients of the polynomials."""
    nodes = np.cos(np.pi * (np.arange(size) + 0.5) / size)
    return nodes, np.linalg.inv(chebvander(nodes, size - 1))


@dataclass(frozen=True, eq=False)
class Opponents:
    """Sums over all opponents, at some strengths.

    Attributes
    ----------
    strength : ndarray, shape (n,)
        In logits.
    """

    strength: Floats

    @cached_property
    def _half_range(self) -> float:
        return max(0.5 * float(np.ptp(self.strength)), 1e-9)

    @cached_property
    def at_nodes(self) -> Floats:
        """L(r): Lagrange polynomials of the nodes, shape (n, nodes)."""
        middle = 0.5 * (self.strength.min() + self.strength.max())
        _, to_coefficients = chebyshev(NODES)
        scaled = np.clip((self.strength - middle) / self._half_range, -1.0, 1.0)
        return np.asarray(chebvander(scaled, NODES - 1) @ to_coefficients)

    @property
    def grid(self) -> Floats:
        """Leads between nodes, x_a - x_b."""
        nodes, _ = chebyshev(NODES)
        return self._half_range * (nodes[:, None] - nodes)

    def sums(self, at_grid: Floats) -> Floats:
        """Return sum_j f(r_i - r_j) for f at the grid, shape (n,)."""
        return np.asarray(self.at_nodes @ (at_grid @ self.at_nodes.sum(axis=0)))

    @property
    def leads(self) -> Floats:
        """Leads at which functions must be given."""
        return 2 * self._half_range * chebyshev(LEAD_NODES)[0]

    @cached_property
    def _to_grid(self) -> Floats:
        """The matrix from values at the leads to values on the grid."""
        _, to_coefficients = chebyshev(LEAD_NODES)
        return np.asarray(chebvander(self.grid / (2 * self._half_range), LEAD_NODES - 1) @ to_coefficients)

    def on_grid(self, at_leads: Floats) -> Floats:
        """Return a function on the grid, given at the leads."""
        return np.asarray(self._to_grid @ at_leads)

    @cached_property
    def to_competitors(self) -> Floats:
        """The matrix from a function at the leads to its sums over opponents, shape (n, leads)."""
        return np.asarray(self.at_nodes @ np.einsum("abl,b->al", self._to_grid, self.at_nodes.sum(axis=0)))


@dataclass(frozen=True, eq=False)
class AllPairs:
    """Bradley-Terry strengths for the scores of all pairs, and the Laplacian of the weights P (1 - P) there.

    Attributes
    ----------
    strength : ndarray, shape (n,)
        r*, sum zero.
    diagonal : ndarray, shape (n,)
        D of the Laplacian D - A.
    scaled, core : ndarray, shapes (n, k) and (k, k)
        D^-1 U and X of its inverse D^-1 + D^-1 U X U' D^-1 on the plane.
    """

    strength: Floats
    diagonal: Floats
    scaled: Floats
    core: Floats

    def solve(self, right: Floats) -> Floats:
        """Solve (D - A) x = right, (n,) or (n, m), on the plane."""
        plain = (right.T / self.diagonal).T
        return np.asarray(plain + self.scaled @ (self.core @ (self.scaled.T @ right)))


def fit_all_pairs(total: Floats, start: Floats) -> AllPairs:
    """Find the strengths with sum_j P(r*_i - r*_j) = total_i, j = i included.

    Parameters
    ----------
    total : ndarray, shape (n,)
        Score of every competitor against all, including one half against itself.
    start : ndarray, shape (n,)
        Strengths nearby, in logits.

    Raises
    ------
    ConvergenceError
        If Newton's method does not converge.
    """
    r = np.clip(start - start.mean(), -FARTHEST, FARTHEST)
    before = np.inf
    for _ in range(MAX_STEPS):
        opponents = Opponents(r)
        p = scipy.special.expit(opponents.grid)
        found = _laplacian(opponents, p * (1 - p))
        step = found.solve(opponents.sums(p) - total)
        length = float(np.abs(step).max())
        if length < SETTLED or before <= length < ROUNDING:
            return found
        r, before = r - step / max(1.0, length), length
        r -= r.mean()
    raise ConvergenceError(f"The strengths could not be put on the Elo scale in {MAX_STEPS} Newton steps.")


def _laplacian(opponents: Opponents, weights: Floats) -> AllPairs:
    diagonal, nodes = opponents.sums(weights), opponents.at_nodes
    n, size = nodes.shape
    wide = np.column_stack([nodes, np.full(n, 1 / np.sqrt(n))])
    inner = np.zeros((size + 1, size + 1))
    inner[:size, :size], inner[size, size] = weights, -float(diagonal.mean())  # the shift, its null direction
    scaled = wide / diagonal[:, None]
    core: Floats = np.asarray(np.linalg.solve(np.eye(size + 1) - inner @ (wide.T @ scaled), inner), dtype=np.float64)
    return AllPairs(opponents.strength, diagonal, scaled, core)


def jacobian(opponents: Opponents, by_lead: Floats, by_common: Floats, projected: AllPairs) -> ThinJacobian:
    """Return the Jacobian of r* with respect to strengths and common parameters, (D - A)^-1 [M, by_common].

    Parameters
    ----------
    opponents : Opponents
        At the model's strengths.
    by_lead : ndarray, shape (leads,)
        Derivative of the score by the lead, whose Laplacian is M.
    by_common : ndarray, shape (n, c)
        Derivatives of the scores against all by the common parameters.
    projected : AllPairs
        r*.
    """
    weights, nodes = opponents.on_grid(by_lead), opponents.at_nodes
    diagonal = opponents.sums(weights)
    (core, back), (weights, other) = _split(projected.core), _split(weights)
    left = np.column_stack([projected.scaled @ core, -projected.solve(nodes @ weights)])
    right = np.column_stack([(projected.scaled * diagonal[:, None]) @ back.T, nodes @ other.T])
    (left, upper), (right, lower) = np.linalg.qr(left), np.linalg.qr(right)
    upper, back = _split(upper @ lower.T)
    n, c, k = len(diagonal), by_common.shape[1], len(back)
    across = np.zeros((k + c, n + c))
    across[:k, :n], across[k:, n:] = back @ right.T, np.eye(c)
    along = np.column_stack([left @ upper, projected.solve(by_common)])
    return ThinJacobian(diagonal / projected.diagonal, along, across)


def _split(matrix: Floats) -> tuple[Floats, Floats]:
    """Write a matrix as a product whose inner dimension is at most its rank."""
    u, size, vt = np.linalg.svd(matrix, full_matrices=False)
    kept = size > NEGLIGIBLE * size[0]
    return u[:, kept] * size[kept], vt[kept]
