"""Losses averaged over a Gaussian around a point.

A row of votes has the lead d = r_i - r_j and for every kind u a number y_u: what its annotator has in common with
others plus their own deviation from it. Coordinates are z_c = sum_{u in c} x_u y_u, with x_u the basis of u: theta for
the lead, and the lead for theta. Where the numbers are Gaussian around a point, and the product theta d has small
errors, coordinates have to first order the covariances

    cov(z_c, z_e) = sum_{u in c, v in e} x_u x_v cov(y_u, y_v).

A row's loss and its derivatives in z are averaged by a quadrature rule of degree five, exact for polynomials of the
fifth degree. It takes three nodes in one dimension; in two it takes seven, the centre and a hexagon (Stroud, 1971,
"Approximate calculation of multiple integrals"). Rows that vary by more than 1.5 logits take the nodes of Gauss-Hermite
quadrature, many times as many.

The bases of lead and theta are numbers themselves, so the average depends on them through the covariance as well as the
mean. By Price's theorem, d E[l] / d cov(z_c, z_e) = E[l_ce] / (1 + [c = e]), and the gradients gain the pulls

    in the lead  sum_c E[l_eta,c] cov(z_c, theta),        in theta  sum_c E[l_eta,c] cov(z_c, d).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from itertools import product
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from bayes_arena.algebra.rows import MIXED
from bayes_arena.arrays import Floats
from bayes_arena.compiled import called
from bayes_arena.likelihood.outcomes.likelihood import ETA, Likelihood, RowTerms
from bayes_arena.likelihood.predictor import times

LEAD, FACTOR = 0, 1
"""Numbers of a dimension whose product is a part of eta."""
type Rule = tuple[Floats, Floats]
"""Nodes (K, n_coordinates) and their weights (K,)."""
LEAST = 1e-12
"""Smallest variance of a coordinate, in place of zero."""
WIDE, MANY, FEW = 1.5, (15, 7, 5, 5), 3
"""Standard deviation of a coordinate, in logits, above which the rule's few nodes are too coarse; in rows of such
coordinates, the nodes of each of them, and of every other coordinate."""


@dataclass(frozen=True, eq=False)
class Scatter:
    """How the coordinates of rows vary.

    Attributes
    ----------
    root : ndarray, shape (n_coordinates, n_coordinates, n_rows)
        Lower triangular root of their covariance.
    towards : ndarray, shape (D, 2, n_coordinates, n_rows)
        Covariance of every coordinate with the ``LEAD`` and with the ``FACTOR`` of every dimension; zero where these do
        not vary.
    products : ndarray, shape (D - 1, 3, n_rows)
        Variances of the lead along every direction and of its factor, and their covariance. Products of the two vary
        by the product of the variances beyond the first order, and their means differ by the covariance.
    """

    root: Floats
    towards: Floats
    products: Floats = field(default_factory=partial(np.zeros, (0, 3, 1)))

    @classmethod
    def of(
        cls,
        size: int,
        numbers: Sequence[tuple[int, Any]],
        covariance: Floats,
        named: Mapping[tuple[int, int], int],
    ) -> Self:
        """Return the scatter of ``size`` coordinates.

        Parameters
        ----------
        numbers : sequence of (int, ndarray)
            Coordinate and basis of every number.
        covariance : ndarray, shape (U, U, n_rows)
            Of the numbers.
        named : mapping of (int, int) to int
            Which of the numbers are the leads and their factors, by dimension and ``LEAD`` or ``FACTOR``.
        """

        def with_number(c: int, v: int) -> Any:
            parts = (times(x, covariance[u, v]) for u, (at, x) in enumerate(numbers) if at == c)
            return sum(parts, 0.0)

        towards = [[with_number(c, v) for v in range(len(numbers))] for c in range(size)]
        of_rows = [
            [sum((times(x, one[v]) for v, (at, x) in enumerate(numbers) if at == e), 0.0) for e in range(c + 1)]
            for c, one in enumerate(towards)
        ]
        pairs = [(named[dimension, LEAD], v) for (dimension, what), v in named.items() if what == FACTOR and dimension]
        products = [[covariance[u, u], covariance[v, v], covariance[u, v]] for u, v in pairs]
        for of_lead, of_factor, mixed in products:
            of_rows[ETA][ETA] = of_rows[ETA][ETA] + of_lead * of_factor + mixed**2
        root = np.zeros((size, size, covariance.shape[2]))
        for c, of_row in enumerate(of_rows):
            for e in range(c + 1):
                root[c, e] = of_row[e]
                for f in range(e):
                    root[c, e] -= root[c, f] * root[e, f]
                root[c, e] = np.sqrt(np.maximum(root[c, c], LEAST)) if e == c else root[c, e] / root[e, e]
        by_name = np.zeros((1 + max((dimension for dimension, _ in named), default=0), 2, *root.shape[1:]))
        for name, v in named.items():
            by_name[name] = [one[v] for one in towards]
        return cls(root, by_name, *([np.array(products)] if products else []))

    @property
    def wide(self) -> NDArray[np.bool_]:
        """Whether coordinates vary widely, shape (n_coordinates, n_rows)."""
        return np.asarray(np.einsum("cen,cen->cn", self.root, self.root) > WIDE**2)

    def pull(self, terms: RowTerms, number: int, dimension: int = 0) -> Floats:
        """Return the gradient in a lead or its factor that comes from the covariance with the other, ``number``."""
        return np.asarray(np.einsum("cn,cn->n", terms.hessian[ETA], self.towards[dimension, number]))


class RowCovariances(Protocol):
    """A Gaussian around a point, as rows of votes see it."""

    def rows(self, rows: slice, leads: Sequence[Any], factors: Sequence[Any], features: Floats) -> Scatter:
        """Return how the coordinates of some rows vary, given their leads with factors, and their features."""


def averaged(likelihood: Likelihood, counts: Floats, z: Floats, scatter: Scatter) -> RowTerms:
    """Return the losses of rows and their derivatives, averaged over coordinates that scatter around z.

    Coordinates of grades after the emphasis are common to all votes, and vary with those before them only.
    """
    if len(scatter.products):
        z = z.copy()
        z[ETA] += scatter.products[:, MIXED].sum(axis=0)
    free = min(len(z), likelihood.emphasis + 1)
    found = over_nodes(likelihood, counts, z, scatter.root, *rule(free))
    wide = scatter.wide[:free]
    kinds = (1 << np.arange(free)) @ wide
    for kind in np.flatnonzero(np.bincount(kinds)[1:]) + 1:
        some = np.flatnonzero(kinds == kind)
        nodes = fine_rule(
            tuple(many if one else FEW for many, one in zip(MANY, wide[:, some[0]].tolist(), strict=False))
        )
        fine = over_nodes(likelihood, counts[:, some], z[:, some], scatter.root[:, :, some], *nodes)
        found.value[some], found.gradient[:, some] = fine.value, fine.gradient
        found.hessian[:, :, some] = fine.hessian
    return found


def convex(curves: Floats) -> Floats:
    """Return the positive semidefinite matrices nearest to the curvatures of rows, (C, C, n_rows)."""
    values, vectors = np.linalg.eigh(curves.transpose(2, 0, 1))
    found = (vectors * np.maximum(values, 0.0)[:, None]) @ vectors.transpose(0, 2, 1)
    return np.ascontiguousarray(found.transpose(1, 2, 0))


def over_nodes(
    likelihood: Likelihood, counts: Floats, z: Floats, root: Floats, nodes: Floats, weights: Floats
) -> RowTerms:
    """Return averages over nodes: compiled, or by NumPy for a likelihood without loops."""
    if likelihood.loop:
        from bayes_arena.likelihood import loops  # numba is slow to import

        return RowTerms(*called(loops.averaged, loops.LOOPS[likelihood.loop], counts, z, root, nodes, weights))
    totals: list[Floats] = []
    for node, weight in zip(nodes, weights.tolist(), strict=True):
        terms = likelihood.rows(counts, z + np.einsum("cer,e->cr", root[:, : len(node)], node))
        parts = [weight * part for part in (terms.value, terms.gradient, terms.hessian)]
        totals = [total + part for total, part in zip(totals, parts, strict=True)] if totals else parts
    return RowTerms(*totals)


def at_point(likelihood: Likelihood, counts: Floats, z: Floats) -> RowTerms:
    """Return the losses of rows and their derivatives at z."""
    if not likelihood.loop:
        return likelihood.rows(counts, z)
    return over_nodes(likelihood, counts, z, np.empty((len(z), len(z), 0)), np.zeros((1, len(z))), np.ones(1))


@cache
def rule(dimensions: int) -> Rule:
    """Return nodes and weights of degree five for a standard Gaussian of this dimension."""
    line = ((0.0,), 2 / 3), ((3**0.5,), 1 / 6), ((-(3**0.5),), 1 / 6)
    angles = (np.arange(6) * np.pi / 3).tolist()
    circle = ((0.0, 0.0), 0.5), *(((2 * float(np.cos(one)), 2 * float(np.sin(one))), 1 / 12) for one in angles)
    pairs, single = divmod(dimensions, 2)
    return _product([*[circle] * pairs, *[line] * single])


@cache
def fine_rule(counts: tuple[int, ...]) -> Rule:
    """Return nodes and weights of Gauss-Hermite quadrature, with a count of nodes for every coordinate."""
    rules = []
    for x, weight in map(np.polynomial.hermite_e.hermegauss, counts):
        shares = (weight / weight.sum()).tolist()
        rules.append([((node,), share) for node, share in zip(x.tolist(), shares, strict=True)])
    return _product(rules)


def _product(rules: Sequence[Sequence[tuple[tuple[float, ...], float]]]) -> Rule:
    found = list(product(*rules))
    nodes = np.array([[x for part, _ in one for x in part] for one in found])
    return nodes, np.array([np.prod([weight for _, weight in one]) for one in found])
