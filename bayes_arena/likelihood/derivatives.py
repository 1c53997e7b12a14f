"""The gradient and the Hessian of the negative log-posterior.

With g_c and H_cd the derivatives of a row's loss in its coordinates
(:mod:`bayes_arena.likelihood.outcomes.likelihood`), c(p) the coordinate that number p enters and D_p its basis (the
lead for theta), the chain rule gives

    dl/dr_i = theta g_eta = -dl/dr_j,          dl/dp = D_p g_c(p)                     (paper, equations 3 and 6)
    d2l/dr2      : Laplacian with weights theta^2 H_eta,eta
    d2l/dr_i dp  = theta D_p H_eta,c(p) (+ g_eta for theta) = -d2l/dr_j dp
    d2l/dp dq    = D_p D_q H_c(p),c(q)

Without slices annotators are the units of the Hessian (:mod:`bayes_arena.algebra.units`), and it is summed block by
block of rows (:mod:`bayes_arena.likelihood.row_sums`); with slices it is summed by the entries of every row
(:mod:`bayes_arena.algebra.rows`).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from bayes_arena.algebra.bordered import Bordered
from bayes_arena.algebra.factorising import Hessian
from bayes_arena.algebra.rows import MIXED, OF_FACTOR, OF_LEAD, Rows, summed
from bayes_arena.algebra.sparse_hessian import SparseHessian
from bayes_arena.arrays import Floats, sum_by
from bayes_arena.likelihood.averaging import FACTOR, LEAD, RowCovariances, averaged, convex
from bayes_arena.likelihood.objective import Objective
from bayes_arena.likelihood.outcomes.likelihood import ETA, RowTerms
from bayes_arena.likelihood.point import Point
from bayes_arena.likelihood.predictor import times
from bayes_arena.likelihood.row_sums import RowSums, of_head, row_sums

MANY = 1500
"""Number of competitors from which sparse matrices pay: fewer are solved exactly in a tenth of a second."""
FULL = 0.05
"""Share of the pairs that met above which dense matrices are faster."""
FEW_OWN, OWN_SHARE = 1500, 0.25
"""Most numbers of annotators that are solved for together: in all, and relative to the competitors."""
CONVEX = ("half", "davidson", "both-bad")
"""Loops of likelihoods whose Hessian is positive definite everywhere, as conjugate gradients require."""


def gradient_and_hessian(target: Objective, point: Point, *, residuals: bool = True) -> tuple[Point, Hessian]:
    """Return gradient and Hessian of the objective, the latter with or without residuals.

    The residuals' part is d2 eta / (dr dtheta) times the slope in eta, of mean zero under the model. Without it the
    Hessian is positive definite wherever the rows are convex: everywhere except for ties under Rao-Kupper.
    """
    return value_and_derivatives(target, point, residuals=residuals)[1:]


def value_and_derivatives(
    target: Objective,
    point: Point,
    *,
    residuals: bool = True,
    around: RowCovariances | None = None,
    made_convex: bool = False,
) -> tuple[float, Point, Hessian]:
    """Return ``Objective.value`` and :func:`gradient_and_hessian`, in one pass over the rows.

    All are averaged over a Gaussian around the point, if one is given. ``made_convex`` makes the curvature of every row
    convex, which only that of ties under Rao-Kupper is not.
    """
    if target.slices:
        terms, pulls, products = _terms_of_slices(target, point, around)
        value = float(terms.value.sum()) + target.penalty(point)
        products = products * terms.hessian[ETA, ETA]
        if made_convex:
            terms = replace(terms, hessian=convex(terms.hessian))
        elif around is not None or residuals:
            products[:, MIXED] += terms.gradient[ETA]
        return value, *_hessian_of_slices(target, point, terms, products, residuals=residuals, pulls=pulls)
    sums = row_sums(target, point, residuals=residuals, around=around, made_convex=made_convex)
    alone = has_few_pairs(target) and not target.own
    found = (_sparse_hessian if alone else _hessian_of_annotators)(target, point, sums)
    return sums.loss + target.penalty(point), *found


def _terms_of_slices(
    target: Objective, point: Point, around: RowCovariances | None
) -> tuple[RowTerms, Floats | None, Floats]:
    """Return the terms of every row, and the gradients in leads and factors that averaging adds, (D, 2, n_rows).

    Also return how the factors of the leads along directions vary, the leads, and both, shape (D - 1, 3, n_rows).
    """
    if around is None:
        return target.row_terms(point), None, np.zeros((target.predictor.dimensions, 3, len(target.tally.i)))
    scatter = around.rows(slice(None), target.leads_at(point), target.factors(point), target.tally.features)
    terms = averaged(target.likelihood, target.counts, target.coordinates(point), scatter)
    pulls = np.zeros((1 + target.predictor.dimensions, 2, len(target.tally.i)))
    for one in target.free_factors:
        pulls[one] = scatter.pull(terms, FACTOR, one), scatter.pull(terms, LEAD, one)
    return terms, pulls, scatter.products[:, [OF_FACTOR, OF_LEAD, MIXED]]


def are_many(n: int) -> bool:
    """Whether there are so many competitors that matrices of all their pairs are avoided where possible."""
    return n >= MANY


def has_few_pairs(target: Objective) -> bool:
    """Whether the Hessian is sparse: many competitors, few pairs of whom met, and no slices.

    If annotators have numbers of their own, these must be few and have a prior: they are solved for together.
    """
    n, own = target.n_competitors, target.n_annotators * len(target.own)
    if not are_many(n) or target.slices or target.likelihood.loop not in CONVEX:
        return False
    if own and (own > min(FEW_OWN, OWN_SHARE * n) or not target.is_proper):
        return False
    return len(target.tally.pairs.i if own else target.tally.i) <= 0.5 * FULL * n * n


def _sparse_hessian(target: Objective, point: Point, sums: RowSums) -> tuple[Point, SparseHessian]:
    """Return gradient and Hessian in strengths and common numbers, given the sums over the rows."""
    from scipy.sparse import coo_array, diags_array

    n, pairs = target.n_competitors, target.tally.pairs
    weights = coo_array((sums.weight, (pairs.i, pairs.j)), shape=(n, n)).tocsr()
    weights = weights + weights.T
    laplacian = diags_array(target.strength_sd**-2 + weights.sum(axis=1), format="csr") - weights
    gradient, across, common = of_head(target, point, sums)
    return gradient, SparseHessian(laplacian.tocsr(), across, common)


def _hessian_of_annotators(target: Objective, point: Point, sums: RowSums) -> tuple[Point, Bordered]:
    """Return gradient and Hessian of a model without slices, given the sums over its rows."""
    gradient, left = (_sparse_hessian if has_few_pairs(target) else _dense_head)(target, point, sums)
    c, count, width = len(target.common), target.n_annotators, len(target.own)
    units, shape = target.numbering.units(target.tally), (target.numbering.n_head, count, width)
    if not (count and width):
        return gradient, Bordered(units, shape, left, np.zeros(0), np.zeros(0), ())
    own = sums.of_own
    mean, sd = (np.array([getattr(effect, name) for effect in target.own]) for name in ("mean", "sd"))
    g_own, tail = (point.own - mean) / sd**2, np.empty((count, width, width))
    for p, kind in enumerate(own):
        g_own[:, p] += sums.gradient[kind]
        for q, other in enumerate(own):
            tail[:, p, q] = sums.hessian[kind, other] + (sd[p] ** -2 if p == q else 0.0)
    across = sums.own_across
    for p, kind in enumerate(own):
        across[units.last_entries(p, c)] = sums.hessian[kind, sums.of_common]
    return replace(gradient, own=g_own), Bordered(units, shape, left, tail.ravel(), across, ())


def _dense_head(target: Objective, point: Point, sums: RowSums) -> tuple[Point, Floats]:
    """Return gradient and Hessian in strengths and common numbers."""
    n, pairs = target.n_competitors, target.tally.pairs
    gradient, across, common = of_head(target, point, sums)
    head = np.zeros((n + len(common), n + len(common)))
    laplacian = head[:n, :n]
    laplacian[pairs.i, pairs.j] = -sums.weight
    laplacian += laplacian.T
    laplacian[np.diag_indices(n)] = target.strength_sd**-2 - laplacian.sum(axis=1)
    head[:n, n:], head[n:, :n], head[n:, n:] = across, across.T, common
    return gradient, head


def bend(target: Objective, point: Point, head: Floats, own: Floats) -> Point:
    """Return J' W e: the change of the gradient, without residuals, for the second-order part of a step in eta.

    J has the derivatives of the coordinates in the parameters, W the curvature of the rows, and
    e = dtheta_k (dr_i - dr_j); only where theta is free, without slices.
    """
    tally, n, count = target.tally, target.n_competitors, len(own)
    bends = target.predictor.factors(target.own_numbers(own))[0] * target.leads(head[:n])
    pulls = target.row_terms(point).hessian[:, ETA] * bends
    by_lead = target.factors(point)[0] * pulls[ETA]
    by_common, by_own = (
        [times(one, pulls[effect.coordinate]) for one, effect in zip(bases, effects, strict=True)]
        for bases, effects in zip(target.bases(point), (target.common, target.own), strict=True)
    )
    return Point(
        sum_by(tally.i, by_lead, n) - sum_by(tally.j, by_lead, n),
        np.array([pull.sum() for pull in by_common]),
        np.column_stack([sum_by(tally.k, pull, count) for pull in by_own]),
    )


def _hessian_of_slices(
    target: Objective,
    point: Point,
    terms: RowTerms,
    products: Floats,
    *,
    residuals: bool,
    pulls: Floats | None = None,
) -> tuple[Point, Hessian]:
    """Return gradient and Hessian of a model with slices, given the terms of the rows.

    Further gradients of every row in its leads and their factors may be given, shape (D, 2, n_rows).
    """
    numbers: Any = target.numbering
    order, n, steps = numbers.elimination, target.n_competitors, numbers.steps
    ones = np.ones(len(target.tally.i))
    factors, leads = [factor * ones for factor in target.factors(point)], target.leads_at(point)
    common_basis, own_basis = ([one * ones for one in bases] for bases in target.bases(point))
    entries = [factors[0], -factors[0]]
    for effect, places in zip(target.slices, target.places, strict=True):
        factor = factors[effect.dimension]
        many = [leads[effect.dimension] if effect.basis == "lead" else ones] * len(places)
        entries += [factor, -factor] if effect.basis == "difference" else many
    entries += [*common_basis, *own_basis]
    size = numbers.n_head + target.n_annotators * len(target.own)
    gradient = np.zeros(size)
    layout = numbers.layout
    for column, coordinate, one in zip(layout.columns, layout.coordinate, entries, strict=True):
        gradient += sum_by(column, one * terms.gradient[coordinate], size)
    if pulls is not None:
        for e in np.flatnonzero(layout.sign):
            gradient += sum_by(layout.columns[e], layout.sign[e] * pulls[layout.dimension[e], 0], size)
        for e in np.flatnonzero(layout.factor >= 0):
            gradient += sum_by(layout.columns[e], pulls[layout.factor[e], 1], size)
    sizes = [len(keys) for keys in numbers.keys]
    of_steps = np.repeat([effect.sd**-2 for effect in target.slices], sizes)
    of_slices, between = steps.precision(of_steps)
    precision = np.concatenate(
        [
            np.full(n, target.strength_sd**-2),
            [effect.sd**-2 for effect in target.common],
            of_slices,
            np.tile([effect.sd**-2 for effect in target.own], target.n_annotators),
        ]
    )
    h = numbers.n_head
    first = h - numbers.n_slices
    center = np.concatenate([np.zeros(n), [effect.mean for effect in target.common], np.zeros(numbers.n_slices)])
    away = np.append(point.head - center, (point.own - target.start().own).ravel())
    away[first:h] = 0.0
    gradient += precision * away
    gradient[first:h] += steps.back(of_steps * steps.between(point.slices))
    by_own = gradient[h:].reshape(point.own.shape)
    found = Point(gradient[:n], gradient[n : h - numbers.n_slices], by_own, gradient[h - numbers.n_slices : h])
    weights = factors[0] ** 2 * terms.hessian[ETA, ETA]
    strengths = target.strength_sd**-2 + sum_by(target.tally.i, weights, n) + sum_by(target.tally.j, weights, n)
    rows = Rows(
        elimination=order,
        shape=(h, target.n_annotators, len(target.own)),
        entry=np.stack([entries[e] for e in order.kept]),
        curve=terms.hessian,
        slope=terms.gradient[ETA] if residuals else np.zeros(len(ones)),
        products=products,
        precision=precision,
        between=between,
        strengths=strengths,
    )
    return found, summed(rows)
