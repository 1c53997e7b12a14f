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

from bayes_arena.arrays import Floats, Ints
from bayes_arena.likelihood.averaging import FACTOR, LEAD, RowCovariances, convex
from bayes_arena.likelihood.objective import Objective
from bayes_arena.likelihood.outcomes.likelihood import ETA
from bayes_arena.likelihood.point import Point
from bayes_arena.likelihood.predictor import basis, kinds, times
from bayes_arena.threads import each
from bayes_arena.votes.tally import Tally

_OF_ONE = np.array([0]), np.array([0])


@dataclass(frozen=True, eq=False)
class RowSums:
    """Sums over the rows of votes, with c common numbers and q for every annotator.

    Where annotators have no numbers of their own, all rows count as one annotator's.

    Attributes
    ----------
    loss : float
        Negative log-likelihood, in nats.
    lead, weight : ndarray, shape (n_pairs,)
        For every pair in ``Tally.pairs``: the gradient in its lead, and the curvature.
    across : ndarray, shape (c, n_pairs)
        The mixed curvature in the lead and a common number.
    gradient : ndarray, shape (c + q, M)
        In all numbers, by annotator.
    hessian : ndarray, shape (c + q, c + q, M)
    own_across : ndarray
        Mixed curvature in the annotators' own numbers and those that their votes touch: B' of the annotators as units,
        flat, as yet without the common numbers.
    """

    loss: float
    lead: Floats
    weight: Floats
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
    tally, own = target.tally, target.own
    effects, of_common, of_own = kinds(target.common, target.own)
    every, n_pairs = [*of_common, *of_own], len(tally.pairs.i)
    count, units = target.n_annotators if own else 1, target.numbering.units(tally)
    gradient, hessian = np.zeros((len(effects), count)), np.zeros((len(effects), len(effects), count))
    by_lead, weight, across = np.zeros(n_pairs), np.zeros(n_pairs), np.zeros((len(effects), n_pairs))
    own_across, total = np.zeros(units.across_start[-1]), 0.0
    blocks = list(target.blocks())
    found = each(partial(target.terms_of, point=point, around=around), blocks)
    for rows, (leads, theta, terms, scatter) in zip(blocks, found, strict=True):
        features, pair = tally.features[:, rows], tally.pairs.of_row[rows]
        who, first = _runs(tally, rows) if own else _OF_ONE
        k, of_i, of_j = target.touched(rows)
        slope, curve = terms.gradient, convex(terms.hessian) if made_convex else terms.hessian
        moved = times(theta, curve[ETA])
        total += float(terms.value.sum())
        np.add.at(by_lead, pair, times(theta, slope[ETA]) + (scatter.pull(terms, FACTOR) if scatter else 0.0))
        np.add.at(weight, pair, times(theta, moved[ETA]))
        for u, effect in enumerate(effects):
            x, c = basis(effect, leads, features), effect.coordinate
            by_number = times(x, slope[c])
            if scatter and effect.basis == "lead":
                by_number = by_number + scatter.pull(terms, LEAD)
            gradient[u, who] += np.add.reduceat(by_number, first)
            for v, other in enumerate(effects[: u + 1]):
                both = times(x, times(basis(other, leads, features), curve[c, other.coordinate]))
                hessian[u, v, who] += np.add.reduceat(both, first)
            mixed = times(x, moved[c])
            if u in of_common:
                np.add.at(across[u], pair, mixed)
            if u in of_own:
                mixed = mixed + slope[ETA] if effect.basis == "lead" and residuals else mixed
                entry = units.first_entry(k, of_own.index(u))
                np.add.at(own_across, entry + of_i, mixed)
                np.subtract.at(own_across, entry + of_j, mixed)
    for u in range(len(effects)):
        hessian[:u, u] = hessian[u, :u]
    by_two = hessian[every][:, every]
    return RowSums(total, by_lead, weight, across[of_common], gradient[every], by_two, own_across)


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
    across, common = np.empty((n, c)), sums.hessian[:c, :c].sum(axis=2)
    for s in range(c):
        across[:, s] = pairs.by_competitor(sums.across[s], n)
        common[s, s] += sd[s] ** -2
    by_strength = pairs.by_competitor(sums.lead, n) + point.strength / target.strength_sd**2
    by_common = sums.gradient[:c].sum(axis=1) + (point.common - mean) / sd**2
    return Point(by_strength, by_common, np.zeros((target.n_annotators, 0))), across, common


def _runs(tally: Tally, rows: slice) -> tuple[Ints, Ints]:
    """Return the annotators of these rows, and where the rows of each begin."""
    head, tail = np.searchsorted(tally.runs, [rows.start + 1, rows.stop])
    first = tally.runs[max(head - 1, 0) : tail] - rows.start
    first[0] = 0
    return tally.k[rows][first], first
