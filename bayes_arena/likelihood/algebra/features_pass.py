"""Objective, gradient and Hessian where every vote is a row of its own, as features of the votes make it.

The sums are those of :mod:`bayes_arena.likelihood.objective` for theta = 1 and nobody's own numbers. With X the bases
of the common numbers (a feature, or one), L the signs with which strengths enter the lead of a row, g and H the
derivatives of its loss by the coordinates,

    gradient = (L' g_eta,  X' g_c),        Hessian = [[L' H_eta,eta L,  L' H_eta,c X], [.,  X' H_c,d X]].

The likelihood works on blocks of rows that fit the processor's cache, and a compiled loop then adds a block to the sums
in one pass. Rows of a pair follow one another, so what strengths get is summed by pair first.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from bayes_arena.arrays import Floats
from bayes_arena.compiled import compiled, made_ready
from bayes_arena.likelihood.outcomes.likelihood import RowTerms
from bayes_arena.likelihood.predictor import lead

if TYPE_CHECKING:
    from bayes_arena.likelihood.objective import Objective
from bayes_arena.likelihood.point import Point

BLOCK = 8192
"""Rows at a time."""
MANY = 200_000
"""Rows from which this is worth the compiling."""


def has_many_rows(target: Objective) -> bool:
    """Whether a model is one for these sums, with rows enough."""
    return not (target.own or target.slices) and len(target.tally.features) > 0 and len(target.tally.i) >= MANY


def loss_by_block(target: Objective, point: Point) -> float:
    """Return the negative log-likelihood in nats."""
    return sum(float(terms.value.sum()) for _, terms in _blocks(target, point))


def sums_by_block(target: Objective, point: Point) -> tuple[Floats, Floats, Floats]:
    """Gradient and Hessian of the loss.

    Parameters
    ----------
    target : Objective
        Of a model without numbers of annotators' own.
    point : Point
        Where.

    Returns
    -------
    strength : ndarray, shape (n,)
        Gradient by the strengths.
    common : ndarray, shape (c,)
        Gradient by the common numbers.
    hessian : ndarray, shape (n + c, n + c)
    """
    n, tally, add = target.n_competitors, target.tally, _compiled_pass()
    coordinates = np.array([effect.coordinate for effect in target.common])
    features = np.array([effect.feature if effect.basis == "feature" else -1 for effect in target.common])
    gradient, hessian = np.zeros(n + len(coordinates)), np.zeros((n + len(coordinates),) * 2)
    for rows, terms in _blocks(target, point):
        columns = tally.i[rows], tally.j[rows], tally.features[:, rows]
        add(*columns, terms.gradient, terms.hessian, coordinates, features, gradient, hessian)
    hessian += np.tril(hessian, -1).T
    return gradient[:n], gradient[n:], hessian


def _blocks(target: Objective, point: Point) -> Iterator[tuple[slice, RowTerms]]:
    tally = target.tally
    for start in range(0, len(tally.i), BLOCK):
        rows = slice(start, start + BLOCK)
        leads = lead(point.strength, tally.i[rows], tally.j[rows])
        z = target.predictor.coordinates(leads, point.common, (), tally.features[:, rows])
        yield rows, target.likelihood.rows(target.counts[:, rows], z)


@cache
def _compiled_pass() -> Any:
    """Compile the loop on first use."""
    add = compiled(add_block)
    nothing = np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64), np.zeros((1, 0))
    terms = np.zeros((1, 0)), np.zeros((1, 1, 0)), nothing[0], nothing[0], np.zeros(0), np.zeros((0, 0))
    made_ready(add, lambda: add(*nothing, *terms), "the sums over votes")
    return add


def add_block(i, j, features, slope, curve, coordinates, rows, gradient, hessian):  # type: ignore[no-untyped-def]
    """Add a block of rows to the gradient (n + c,) and the lower triangle of the Hessian (n + c, n + c).

    ``coordinates`` and ``rows`` (c,) say which coordinate a common number enters, and which feature it multiplies: -1
    for none.
    """
    width = len(coordinates)
    n = len(gradient) - width
    basis, pair = np.ones(width), np.zeros(2 + width)  # pair: sums of g_eta, H_eta,eta and H_eta,c X over its rows
    common, both = np.zeros(width), np.zeros((width, width))
    for row in range(len(i)):
        pair[0] += slope[0, row]
        pair[1] += curve[0, 0, row]
        for s in range(width):
            if rows[s] >= 0:
                basis[s] = features[rows[s], row]
        for s in range(width):
            c, x = coordinates[s], basis[s]
            common[s] += x * slope[c, row]
            pair[2 + s] += x * curve[0, c, row]
            for t in range(s + 1):
                both[s, t] += x * basis[t] * curve[c, coordinates[t], row]
        if row + 1 == len(i) or i[row + 1] != i[row] or j[row + 1] != j[row]:
            a, b = i[row], j[row]
            gradient[a] += pair[0]
            gradient[b] -= pair[0]
            hessian[a, a] += pair[1]
            hessian[b, b] += pair[1]
            hessian[max(a, b), min(a, b)] -= pair[1]
            for s in range(width):
                hessian[n + s, a] += pair[2 + s]
                hessian[n + s, b] -= pair[2 + s]
            pair[:] = 0.0
    gradient[n:] += common
    hessian[n:, n:] += both
