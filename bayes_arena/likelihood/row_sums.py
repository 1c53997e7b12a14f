"""Sums over the rows of votes, of which loss, gradient and Hessian of a model without slices consist.

With g_c and H_cd the derivatives of a row's loss in its coordinates, numbers are grouped into kinds u of equal basis
D_u and coordinate c(u): what annotators have in common and their deviations from it are of one kind. The sums are

    over the rows of a pair         theta g_eta,     theta^2 H_eta,eta,     theta D_u H_eta,c(u)
    of an annotator                 D_u g_c(u),      D_u D_v H_c(u),c(v)
    of an annotator and competitor  +-(theta D_u H_eta,c(u) (+ g_eta for theta)),      + as i, - as j

Rows are added in blocks that fit a processor's cache. Arrays over all rows would take several times as long, mostly for
fetching memory.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from bayes_arena.arrays import Floats
from bayes_arena.compiled import called
from bayes_arena.likelihood.averaging import FACTOR, LEAD, RowCovariances, convex
from bayes_arena.likelihood.objective import Objective
from bayes_arena.likelihood.point import Point
from bayes_arena.likelihood.predictor import basis, kinds
from bayes_arena.threads import each


@dataclass(frozen=True, eq=False)
class RowSums:
    """Sums over the rows of votes, by kind of number.

    Where annotators have no numbers of their own, all rows count as one annotator's.

    Attributes
    ----------
    loss : float
        Negative log-likelihood, in nats.
    lead, weight : ndarray, shape (n_pairs,)
        For every pair in ``Tally.pairs``: the gradient in its lead, and the curvature.
    of_common, of_own : list of int
        Kinds of the common numbers, and of every annotator's own.
    across : ndarray, shape (U, n_pairs)
        The mixed curvature in the lead and a common number; zero for kinds that have none.
    gradient : ndarray, shape (U, M)
        In the numbers of every kind, by annotator.
    hessian : ndarray, shape (U, U, M)
    own_across : ndarray
        Mixed curvature in the annotators' own numbers and those that their votes touch: B' of the annotators as units,
        flat, as yet without the common numbers.
    """

    loss: float
    lead: Floats
    weight: Floats
    of_common: list[int]
    of_own: list[int]
    across: Floats
    gradient: Floats
    hessian: Floats
    own_across: Floats


def row_sums(
    target: Objective,
    point: Point,
    *,
    residuals: bool,
    around: RowCovariances | None = None,
    made_convex: bool = False,
) -> RowSums:
    """Return the sums over all rows.

    Parameters
    ----------
    target : Objective
        Of a model without slices.
    point : Point
        Where to evaluate.
    residuals : bool
        Whether ``own_across`` includes the gradient in the lead.
    around : RowCovariances, optional
        A Gaussian around the point, over which losses and their derivatives are averaged.
    made_convex : bool
        Whether curvature of a row that is not convex is replaced by the nearest that is.
    """
    from bayes_arena.likelihood import loops  # numba is slow to import

    tally, units = target.tally, target.numbering.units(target.tally)
    effects, of_common, of_own = kinds(target.common, target.own)
    n_pairs, count = len(tally.pairs.i), target.n_annotators if target.own else 1
    sums = by_lead, weight, across, gradient, hessian, own_across = (
        np.zeros(n_pairs),
        np.zeros(n_pairs),
        np.zeros((len(effects), n_pairs)),
        np.zeros((len(effects), count)),
        np.zeros((len(effects), len(effects), count)),
        np.zeros(units.across_start[-1]),
    )
    slopes = np.array([float(residuals and effect.basis == "lead") for effect in effects])
    total, blocks = 0.0, list(target.blocks())
    found = each(partial(target.terms_of, point=point, around=around), blocks)
    for rows, (leads, theta, terms, scatter) in zip(blocks, found, strict=True):
        total += float(terms.value.sum())
        x, pulls = np.ones((2, 1 + len(effects), len(leads[0])))
        x[0], pulls[:] = theta, 0.0
        for place, effect in enumerate(effects, 1):
            x[place] = basis(effect, leads, tally.features[:, rows])
            if scatter and effect.basis == "lead":
                pulls[0], pulls[place] = scatter.pull(terms, FACTOR), scatter.pull(terms, LEAD)
        curves = convex(terms.hessian) if made_convex else terms.hessian
        given = target.votes(rows), tally.pairs.of_row[rows], x, target.kinds, terms.gradient, curves, pulls, slopes
        called(loops.add_rows, *given, units.across_start, units.touches, sums)
    for u in range(len(effects)):
        hessian[:u, u] = hessian[u, :u]
    return RowSums(total, by_lead, weight, of_common, of_own, across, gradient, hessian, own_across)


def of_head(target: Objective, point: Point, sums: RowSums) -> tuple[Point, Floats, Floats]:
    """Return gradient and Hessian of the head, prior included, without the strengths' block.

    Returns
    -------
    gradient : Point
        In strengths and common numbers.
    across, common : ndarray, shapes (n, c) and (c, c)
        Hessian in strengths and common numbers, and in two of the latter.
    """
    n, c, pairs = target.n_competitors, len(target.common), target.tally.pairs
    mean, sd = (np.array([getattr(effect, name) for effect in target.common]) for name in ("mean", "sd"))
    across, common = np.empty((n, c)), sums.hessian.sum(axis=2)[np.ix_(sums.of_common, sums.of_common)]
    for s, kind in enumerate(sums.of_common):
        across[:, s] = pairs.by_competitor(sums.across[kind], n)
        common[s, s] += sd[s] ** -2
    by_strength = pairs.by_competitor(sums.lead, n) + point.strength / target.strength_sd**2
    by_common = sums.gradient.sum(axis=1)[sums.of_common] + (point.common - mean) / sd**2
    return Point(by_strength, by_common, np.zeros((target.n_annotators, 0))), across, common
