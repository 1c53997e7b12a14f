"""The common scale of :mod:`bayes_arena.inference.projection` where pairs are too many to go through one by one.

What a competitor has to do with all others is a sum of a smooth function of the lead, f_i = sum_j f(r_i - r_j). On the
Chebyshev nodes x_a of the range of the strengths, f(x - y) = l(x)' F l(y), where l are the Lagrange polynomials of the
nodes and F_ab = f(x_a - x_b). So all sums take as long as n times the nodes, and the matrices of all pairs are a
diagonal less a matrix whose rank is the number of nodes, which is how they are kept and solved.
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
"""Nodes of the strengths, and of the leads, whose range is twice as wide."""
NEGLIGIBLE = 1e-9
"""Singular values, relative to the largest, that a Jacobian does without."""
MAX_STEPS = 100
SETTLED, ROUNDING = 1e-10, 1e-6
"""Logits of a step that ends them, and of one that does if it is no shorter than the last one, as where somebody nearly
always wins."""
FARTHEST = 10.0
"""Logits from their mean at which strengths start: farther out, as where somebody is unbeaten, nothing is to be seen of
the curvature."""


@cache
def chebyshev(size: int) -> tuple[Floats, Floats]:
    """Chebyshev nodes in [-1, 1], and the matrix that carries values there to the coefficients of the polynomials."""
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
        """Leads at which functions are to be known."""
        return 2 * self._half_range * chebyshev(LEAD_NODES)[0]

    @cached_property
    def _to_grid(self) -> Floats:
        """What carries values at the leads to the grid."""
        _, to_coefficients = chebyshev(LEAD_NODES)
        return np.asarray(chebvander(self.grid / (2 * self._half_range), LEAD_NODES - 1) @ to_coefficients)

    def on_grid(self, at_leads: Floats) -> Floats:
        """Return a function on the grid, given at the leads."""
        return np.asarray(self._to_grid @ at_leads)

    @cached_property
    def to_competitors(self) -> Floats:
        """What carries a function at the leads to its sums over opponents, shape (n, leads)."""
        return np.asarray(self.at_nodes @ np.einsum("abl,b->al", self._to_grid, self.at_nodes.sum(axis=0)))


@dataclass(frozen=True, eq=False)
class AllPairs:
    """Bradley-Terry's strengths for the scores of all pairs, and the Laplacian of the weights P (1 - P) there.

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
        Score of every competitor against all, one half against themselves.
    start : ndarray, shape (n,)
        Strengths nearby, in logits.

    Raises
    ------
    ConvergenceError
        If Newton does not arrive.
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
    raise ConvergenceError(f"The Elo scale was not found in {MAX_STEPS} Newton steps.")


def _laplacian(opponents: Opponents, weights: Floats) -> AllPairs:
    diagonal, nodes = opponents.sums(weights), opponents.at_nodes
    n, size = nodes.shape
    wide = np.column_stack([nodes, np.full(n, 1 / np.sqrt(n))])
    inner = np.zeros((size + 1, size + 1))
    inner[:size, :size], inner[size, size] = weights, -float(diagonal.mean())  # the shift, which it does not see
    scaled = wide / diagonal[:, None]
    core: Floats = np.asarray(np.linalg.solve(np.eye(size + 1) - inner @ (wide.T @ scaled), inner), dtype=np.float64)
    return AllPairs(opponents.strength, diagonal, scaled, core)


def jacobian(opponents: Opponents, by_lead: Floats, by_common: Floats, projected: AllPairs) -> ThinJacobian:
    """Return how r* moves with strengths and common numbers, (D - A)^-1 [M, by_common].

    Parameters
    ----------
    opponents : Opponents
        At the model's strengths.
    by_lead : ndarray, shape (leads,)
        Derivative of the score by the lead, whose Laplacian is M.
    by_common : ndarray, shape (n, c)
        Derivatives of the scores against all by the common numbers.
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
    """Write a matrix as a product whose inner side is no longer than its rank."""
    u, size, vt = np.linalg.svd(matrix, full_matrices=False)
    kept = size > NEGLIGIBLE * size[0]
    return u[:, kept] * size[kept], vt[kept]
