"""The gradient and the Hessian of the negative log-posterior.

With g_c and H_cd the derivatives of a row's loss by its coordinates
(:mod:`bayes_arena.likelihood.outcomes.likelihood`), c(p) the coordinate that number p enters and D_p its basis (the
lead for theta), the chain rule gives

    dl/dr_i = theta g_eta = -dl/dr_j,          dl/dp = D_p g_c(p)                     (paper, equations 3 and 6)
    d2l/dr2      : Laplacian with weights theta^2 H_eta,eta
    d2l/dr_i dp  = theta D_p H_eta,c(p) (+ g_eta for theta) = -d2l/dr_j dp
    d2l/dp dq    = D_p D_q H_c(p),c(q)

A model without slices has an arrow (:mod:`bayes_arena.likelihood.algebra.arrow`), one with slices the rows of a sparse
matrix (:mod:`bayes_arena.likelihood.algebra.crossed`).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bayes_arena.arrays import Floats, sum_by, sum_runs
from bayes_arena.likelihood.algebra.crossed import Crossed
from bayes_arena.likelihood.algebra.features_pass import sums_by_block
from bayes_arena.likelihood.algebra.sparse.border import Border
from bayes_arena.likelihood.algebra.sparse.eliminated import Arrow
from bayes_arena.likelihood.algebra.sparse.hessian import has_few_pairs, sparse_hessian
from bayes_arena.likelihood.outcomes.likelihood import ETA, RowTerms
from bayes_arena.likelihood.point import Point
from bayes_arena.likelihood.predictor import times

if TYPE_CHECKING:
    from bayes_arena.likelihood.objective import Objective


def arrow_hessian(target: Objective, point: Point, *, residuals: bool) -> tuple[Point, Arrow]:
    """Return gradient and Hessian of a model without slices."""
    start = target.rows_of_annotators
    n, n_common, count, width = target.n_competitors, len(target.common), target.n_annotators, len(target.own)
    theta, terms = target.thetas(point), target.row_terms(point)
    slope, curve = terms.gradient, terms.hessian
    common_basis, own_basis = target.bases(point)

    of_head = sparse_hessian if has_few_pairs(target) else _dense_head
    gradient, head = of_head(target, point, terms)

    # every annotator's own
    if not width:
        return gradient, Arrow(head, Border.of(np.zeros((n + n_common, count, 0))), np.zeros((count, 0, 0)))
    g_own, tail = np.zeros((count, width)), np.zeros((count, width, width))
    met, border = target.tally.met, replace(target.border, value=np.zeros((len(target.border.column), width)))
    place, last = np.arange(len(met.annotator)) + n_common * met.annotator, border.start[1:] - n_common
    for p, effect in enumerate(target.own):
        c = effect.coordinate
        g_own[:, p] = sum_runs(start, times(own_basis[p], slope[c]))
        g_own[:, p] += (point.own[:, p] - effect.mean) / effect.sd**2
        mixed = theta * times(own_basis[p], curve[ETA, c])
        if effect.basis == "lead" and residuals:
            mixed = mixed + slope[ETA]
        border.value[place, p] = sum_by(met.of_i, mixed, len(place)) - sum_by(met.of_j, mixed, len(place))
        for s, other in enumerate(target.common):
            both = times(own_basis[p], times(common_basis[s], curve[other.coordinate, c]))
            border.value[last + s, p] = sum_runs(start, both)
        for q, other in enumerate(target.own[: p + 1]):
            both = times(own_basis[p], times(own_basis[q], curve[c, other.coordinate]))
            tail[:, p, q] = tail[:, q, p] = sum_runs(start, both)
        tail[:, p, p] += effect.sd**-2
    return replace(gradient, own=g_own), Arrow(head, border, tail)


def _dense_head(target: Objective, point: Point, terms: RowTerms) -> tuple[Point, Floats]:
    """Return gradient and Hessian by strengths and common numbers."""
    i, j, n, n_common = target.tally.i, target.tally.j, target.n_competitors, len(target.common)
    theta, (common_basis, _) = target.thetas(point), target.bases(point)
    slope, curve = terms.gradient, terms.hessian

    g_strength = target.by_competitor(theta * slope[ETA]) + point.strength / target.strength_sd**2
    off_diagonal = sum_by(i * n + j, theta * theta * curve[ETA, ETA], n * n).reshape(n, n)
    laplacian = -(off_diagonal + off_diagonal.T)
    laplacian[np.diag_indices(n)] = target.strength_sd**-2 - laplacian.sum(axis=1)
    head = np.zeros((n + n_common, n + n_common))
    head[:n, :n] = laplacian

    # what annotators have in common
    g_common = np.zeros(n_common)
    for s, effect in enumerate(target.common):
        c = effect.coordinate
        g_common[s] = times(common_basis[s], slope[c]).sum() + (point.common[s] - effect.mean) / effect.sd**2
        head[:n, n + s] = head[n + s, :n] = target.by_competitor(theta * times(common_basis[s], curve[ETA, c]))
        for t, other in enumerate(target.common):
            both = times(common_basis[s], times(common_basis[t], curve[c, other.coordinate]))
            head[n + s, n + t] = both.sum()
        head[n + s, n + s] += effect.sd**-2

    return Point(g_strength, g_common, np.zeros((target.n_annotators, 0))), head


def empty_border(target: Objective) -> Border:
    """Return a border without numbers: the competitors that an annotator met, then what all have in common."""
    met, n, common = target.tally.met, target.n_competitors, np.arange(len(target.common))
    count = target.n_annotators
    start = np.searchsorted(met.annotator, np.arange(count + 1)) + len(common) * np.arange(count + 1)
    column = np.empty(start[-1], dtype=np.int32)
    column[np.arange(len(met.annotator)) + len(common) * met.annotator] = met.competitor
    column[start[1:, None] - len(common) + common] = n + common
    return Border(n + len(common), start, column, np.zeros((len(column), 0)))


def summed_by_block(target: Objective, point: Point) -> tuple[Point, Arrow]:
    """Return gradient and Hessian where nobody has numbers of their own, from compiled sums over many rows."""
    strength, common, head = sums_by_block(target, point)
    n, sd = target.n_competitors, np.array([effect.sd for effect in target.common])
    head[np.diag_indices(len(head))] += np.append(np.full(n, target.strength_sd**-2), sd**-2)
    mean = [effect.mean for effect in target.common]
    pulls = strength + point.strength / target.strength_sd**2, common + (point.common - mean) / sd**2
    gradient = Point(*pulls, np.zeros((0, 0)))
    return gradient, Arrow(head, Border.of(np.zeros((len(head), 0, 0))), np.zeros((0, 0, 0)))


def crossed_hessian(
    target: Objective, point: Point, terms: RowTerms, *, residuals: bool, pulls: Floats | None = None
) -> tuple[Point, Crossed]:
    """Return gradient and Hessian of a model with slices, given the terms of the rows.

    Further gradients by the lead and by theta of every row may be given, shape (2, n_rows).
    """
    numbers: Any = target.numbering
    order, n = numbers.elimination, target.n_competitors
    theta, ones = target.thetas(point) * np.ones(len(target.tally.i)), np.ones(len(target.tally.i))
    common_basis, own_basis = ([one * ones for one in bases] for bases in target.bases(point))
    entries = [theta, -theta]
    for effect, places in zip(target.slices, target.places, strict=True):
        entries += [theta, -theta] if effect.basis == "difference" else [ones] * len(places)
    entry = np.stack([*entries, *common_basis, *own_basis], axis=1)[order.rows]
    slope = terms.gradient[:, order.rows]
    size = numbers.n_head + target.n_annotators * len(target.own)
    gradient = np.zeros(size)
    for e, coordinate in enumerate(order.coordinate):
        gradient += sum_by(numbers.columns[e][order.rows], entry[:, e] * slope[coordinate], size)
    if pulls is not None:
        for e in np.flatnonzero(order.sign):
            gradient += sum_by(numbers.columns[e], order.sign[e] * pulls[0], size)
        gradient += sum_by(numbers.columns[order.theta], pulls[1], size)
    precision = np.concatenate(
        [
            np.full(n, target.strength_sd**-2),
            [effect.sd**-2 for effect in target.common],
            *(np.full(len(keys), effect.sd**-2) for effect, keys in zip(target.slices, numbers.keys, strict=True)),
            np.tile([effect.sd**-2 for effect in target.own], target.n_annotators),
        ]
    )
    center = np.concatenate(
        [np.zeros(n), [effect.mean for effect in target.common], np.zeros(numbers.n_slices), target.start().own.ravel()]
    )
    gradient += precision * (np.append(point.head, point.own.ravel()) - center)
    h = numbers.n_head
    by_own = gradient[h:].reshape(point.own.shape)
    found = Point(gradient[:n], gradient[n : h - numbers.n_slices], by_own, gradient[h - numbers.n_slices : h])
    off_diagonal = sum_by(target.tally.i * n + target.tally.j, theta**2 * terms.hessian[ETA, ETA], n * n).reshape(n, n)
    head = -(off_diagonal + off_diagonal.T)
    head[np.diag_indices(n)] = target.strength_sd**-2 - head.sum(axis=1)
    curve = np.ascontiguousarray(terms.hessian[:, :, order.rows].transpose(2, 0, 1))
    return found, Crossed(
        numbering=numbers,
        entry=entry,
        curve=curve,
        slope=np.ascontiguousarray(slope[ETA]) if residuals else np.zeros(len(entry)),
        precision=precision,
        head=head,
    )
