"""Losses averaged over numbers that are Gaussian around a point.

A row of votes has the lead d = r_i - r_j and a number y_u of every kind u: what its annotator has in common with others
and their own deviation from it. Coordinates are z_c = sum_{u in c} x_u y_u, x_u the basis of u, which for the lead is
theta and for theta the lead. Where the numbers are Gaussian around a point, with small errors of their product
theta d, coordinates have to first order the covariances

    cov(z_c, z_e) = sum_{u in c, v in e} x_u x_v cov(y_u, y_v).

A row's loss and its derivatives by z are averaged over them by a rule of degree five: a polynomial of the fifth degree
is averaged exactly. In one dimension that takes three nodes; in two it takes seven, the centre and a hexagon (Stroud,
1971, "Approximate calculation of multiple integrals"). Rows that vary by more than 1.5 logits take the nodes of
Gauss-Hermite quadrature, many times as many.

The bases of lead and theta are numbers themselves, so that the average depends on them by the covariance as well as by
the mean. By Price's theorem, d E[l] / d cov(z_c, z_e) = E[l_ce] / (1 + [c = e]), and the gradients have the pulls

    by the lead  sum_c E[l_eta,c] cov(z_c, theta),        by theta  sum_c E[l_eta,c] cov(z_c, d).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from bayes_arena.arrays import Floats
from bayes_arena.likelihood.outcomes.likelihood import ETA, Likelihood, RowTerms
from bayes_arena.likelihood.predictor import times

LEAD, THETA = "lead", "theta"
type Rule = tuple[Floats, Floats]
"""Nodes (K, n_coordinates) and their weights (K,)."""
AT_ONCE = 16384
"""Rows times nodes that are averaged together."""
LEAST = 1e-12
"""Variance of a coordinate that counts as none."""
WIDE, MANY = 1.5, (15, 7, 5)
"""Standard deviation of a coordinate, in logits, from which few nodes are a staircase; nodes by coordinate there."""


@dataclass(frozen=True, eq=False)
class Scatter:
    """How the coordinates of rows vary.

    Attributes
    ----------
    root : list of list of ndarray
        Lower triangular root of their covariance, each entry (n_rows,).
    towards : mapping of str to list of ndarray
        Covariance of every coordinate with ``LEAD`` and with ``THETA``, as far as they vary.
    """

    root: list[list[Any]]
    towards: Mapping[str, list[Any]]

    @classmethod
    def of(
        cls,
        size: int,
        numbers: Sequence[tuple[int, Any]],
        covariance: Mapping[tuple[int, int], Any],
        named: Mapping[str, int],
    ) -> Self:
        """Return it for so many coordinates.

        Parameters
        ----------
        numbers : sequence of (int, ndarray)
            Coordinate and basis of every number.
        covariance : mapping
            Covariance of numbers u <= v, (n_rows,).
        named : mapping of str to int
            Which of the numbers are the lead and theta.
        """

        def with_number(c: int, v: int) -> Any:
            parts = (times(x, covariance[min(u, v), max(u, v)]) for u, (at, x) in enumerate(numbers) if at == c)
            return sum(parts, 0.0)

        towards = [[with_number(c, v) for v in range(len(numbers))] for c in range(size)]
        root: list[list[Any]] = []
        for c in range(size):
            line: list[Any] = []
            for e in range(c + 1):
                left = sum((times(x, towards[c][v]) for v, (at, x) in enumerate(numbers) if at == e), 0.0)
                for f in range(e):
                    left = left - line[f] * (root[e][f] if e < c else line[f])
                line.append(np.sqrt(np.maximum(left, LEAST)) if e == c else left / root[e][e])
            root.append(line)
        return cls(root, {name: [one[v] for one in towards] for name, v in named.items()})

    @property
    def is_wide(self) -> NDArray[np.bool_]:
        """Whether some coordinate of a row varies widely, shape (n_rows,)."""
        return np.asarray(np.max([sum(part**2 for part in line) for line in self.root], axis=0) > WIDE**2)

    def pull(self, terms: RowTerms, name: str) -> Any:
        """Return the gradient by the lead (``THETA``) or by theta (``LEAD``) that comes with the covariance."""
        return sum((terms.hessian[ETA, c] * one for c, one in enumerate(self.towards.get(name, ()))), 0.0)


class Surroundings(Protocol):
    """A Gaussian around a point, as rows of votes see it."""

    def rows(self, rows: slice, leads: Floats, theta: Any, features: Floats) -> Scatter:
        """Return how the coordinates of some rows vary, given their leads, thetas and features."""


def averaged(likelihood: Likelihood, counts: Floats, z: Floats, scatter: Scatter) -> RowTerms:
    """Return the losses of rows and their derivatives, averaged over coordinates that scatter around z."""
    found = _summed(likelihood, counts, z, scatter.root, *rule(len(z)))
    wide, nodes = np.flatnonzero(scatter.is_wide), fine_rule(len(z))
    step = max(1, AT_ONCE // len(nodes[1]))
    for first in range(0, len(wide), step):
        some = wide[first : first + step]
        root = [[part[some] if np.ndim(part) else part for part in line] for line in scatter.root]
        fine = _at_once(likelihood, counts[:, some], z[:, some], root, *nodes)
        found.value[some], found.gradient[:, some], found.hessian[:, :, some] = fine.value, fine.gradient, fine.hessian
    return found


def _summed(
    likelihood: Likelihood, counts: Floats, z: Floats, root: list[list[Any]], nodes: Floats, weights: Floats
) -> RowTerms:
    """Return averages of many rows, node after node."""
    totals: list[Floats] = []
    for node, weight in zip(nodes.tolist(), weights.tolist(), strict=True):
        there = z.copy()
        for c, line in enumerate(root):
            for length, part in zip(node, line, strict=False):
                if length:
                    there[c] += length * part
        terms = likelihood.rows(counts, there)
        parts = [terms.value, terms.gradient, terms.hessian]
        for part in parts:
            part *= weight
        if totals:
            for total, part in zip(totals, parts, strict=True):
                total += part
        else:
            totals = parts
    return RowTerms(*totals)


def _at_once(
    likelihood: Likelihood, counts: Floats, z: Floats, root: list[list[Any]], nodes: Floats, weights: Floats
) -> RowTerms:
    """Return averages of a few rows, all nodes together."""
    there = np.repeat(z[:, None], len(nodes), axis=1)
    for c, line in enumerate(root):
        for length, part in zip(nodes.T, line, strict=False):
            there[c] += length[:, None] * part
    seen = np.repeat(counts[:, None], len(nodes), axis=1).reshape(len(counts), -1)
    terms = likelihood.rows(seen, there.reshape(len(z), -1))
    return RowTerms(
        *(
            np.einsum("...nr,n->...r", part.reshape(*part.shape[:-1], *there.shape[1:]), weights)
            for part in (terms.value, terms.gradient, terms.hessian)
        )
    )


@cache
def rule(dimensions: int) -> Rule:
    """Nodes and weights of degree five for a standard Gaussian of so many dimensions."""
    line = ((0.0,), 2 / 3), ((3**0.5,), 1 / 6), ((-(3**0.5),), 1 / 6)
    angles = (np.arange(6) * np.pi / 3).tolist()
    circle = ((0.0, 0.0), 0.5), *(((2 * float(np.cos(one)), 2 * float(np.sin(one))), 1 / 12) for one in angles)
    pairs, single = divmod(dimensions, 2)
    return _product([*[circle] * pairs, *[line] * single])


@cache
def fine_rule(dimensions: int) -> Rule:
    """Nodes and weights of Gauss-Hermite quadrature, many along the first coordinate."""
    rules = []
    for x, weight in map(np.polynomial.hermite_e.hermegauss, MANY[:dimensions]):
        shares = (weight / weight.sum()).tolist()
        rules.append([((node,), share) for node, share in zip(x.tolist(), shares, strict=True)])
    return _product(rules)


def _product(rules: Sequence[Sequence[tuple[tuple[float, ...], float]]]) -> Rule:
    found = list(product(*rules))
    nodes = np.array([[x for part, _ in one for x in part] for one in found])
    return nodes, np.array([np.prod([weight for _, weight in one]) for one in found])
