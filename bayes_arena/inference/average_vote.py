"""The average vote of a crowd on some pairs of competitors, and how it moves with the parameters.

On the pair i, j the crowd is expected to give i the score

    W_ij = sum_k c_k P_k,      P_k = E[score of i | theta_k (q_i - q_j) + sum_l v_kl (w_li - w_lj), ln nu_k],

a tie counting 1/2, without a position effect, averaged over slices as in :mod:`bayes_arena.inference.projection`. The
weights c_k are the annotators' shares in the average (:mod:`bayes_arena.inference.crowd`), or those of its middle: in
every pair c_k is zero for the annotators who expect least and most. The middle moves with the parameters as a mean with
these weights does, since at the ends of the middle an annotator who enters expects what the one who leaves does.

Where estimates are posterior means, W is averaged over the posterior of each annotator's parameters. For the middle,
P_k has the distribution that this gives it: estimates of annotators lie closer together than the annotators
themselves, and so would the ends of the middle. With f_k the leads that multiply k's parameters x_k, and C_k their
covariance, it is taken at z = 0 and -sqrt 3, sqrt 3 standard deviations of the lead theta_k (q_i - q_j) + ...,

    x_k + z C_k f_k / sqrt(f_k' C_k f_k),

with the weights 2/3, 1/6 and 1/6.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayes_arena.arrays import Floats, Ints
from bayes_arena.inference.crowd import Crowd, kept
from bayes_arena.inference.views import View
from bayes_arena.likelihood.objective import Objective
from bayes_arena.likelihood.outcomes.likelihood import ETA, T
from bayes_arena.likelihood.point import Point
from bayes_arena.likelihood.predictor import lead
from bayes_arena.votes.names import COMPETITOR

AT_ONCE = 200_000
"""Pairs times annotators that are averaged at once: bounds the memory."""
LEAD_NODES, TIE_NODES = 9, 5
"""Gauss-Hermite nodes for the scatter of lead and ln nu over slices."""
ROUGHLY = 5, 2
"""The same for a draw: errors of a thousandth are small beside the scatter of draws."""
WIDE, MANY_LEAD_NODES = 3.0, 121
"""Standard deviation of leads, in logits, above which nine nodes would give a staircase, and the number of nodes used
there."""
CERTAIN = 1e-7
"""Expected scores are kept this far from 0 and 1, so that r* exists however sure the model is."""


@dataclass(frozen=True, eq=False)
class AverageVotes:
    """Expected scores, and their derivatives.

    Attributes
    ----------
    score : ndarray, shape (m,)
        W, of the first competitor of every pair.
    by_mean : sparse array, shape (m, n)
        Derivatives with respect to m, the strengths averaged over slices.
    by_head : sparse array, shape (m, h)
        With respect to the strengths, the common parameters and those of slices.
    by_own : ndarray, shape (m, M, q)
        With respect to the annotators' parameters.
    """

    score: Floats
    by_mean: Any
    by_head: Any
    by_own: Floats


def in_parts(target: Objective, pairs: int) -> Iterator[slice]:
    """Yield slices of the pairs, small enough for :func:`average_votes`."""
    numbers = 0 if target.numbering is None else target.numbering.n_slices
    step = max(1, AT_ONCE // max(target.n_annotators, target.n_competitors + numbers))
    return (slice(first, min(first + step, pairs)) for first in range(0, pairs, step))


def average_votes(target: Objective, point: Point, votes: Floats, view: View, i: Ints, j: Ints) -> AverageVotes:
    """Return the average vote of the crowd of a view on pairs of competitors.

    Parameters
    ----------
    target : Objective
        What was fitted.
    point : Point
        Its parameters.
    votes : ndarray, shape (M,)
        Votes of every annotator.
    view : View
        The slices over which strengths are averaged, and the crowd.
    i, j : ndarray of int, shape (m,)
        The pairs.
    """
    from scipy.sparse import csr_array, hstack  # slow to import

    predictor, size = target.predictor, len(i)
    mean, ties = point.strength + view.slices @ point.slices, ties_of_competitors(target, point.slices)
    leads = [lead(mean, i, j)[:, None], *(lead(point.slices[part], i, j)[:, None] for part in target.directions)]
    offset = 0.0 if ties is None else (ties[i] + ties[j])[:, None]
    share = shares(target, votes, view)
    points = list(_points_of_pairs(target, point.own, view, leads))
    shape = len(points), size, len(share)
    values, turned = np.zeros(shape), np.zeros(shape)
    slopes = np.zeros((target.likelihood.n_coordinates, *shape))
    for place, (own, _) in enumerate(points):
        for shift, tie, chance in scattered(target, view):
            shifted = [leads[0] + shift + np.zeros(len(share)), *leads[1:]]
            z = predictor.coordinates(shifted, point.common, own)
            if target.slices and len(z) > T:
                z[T] += tie + offset
            score, slope = target.likelihood.expected_score(z)
            values[place] += chance * score
            slopes[:, place] += chance * slope
            turned[place] += chance * slope[ETA] * shifted[0]
    weights = np.array([weight for _, weight in points])[:, None, None] * share + np.zeros(shape)
    if view.crowd.middle:
        rows = [np.moveaxis(one, 0, 1).reshape(size, -1) for one in (values, weights)]
        weights = np.moveaxis(kept(*rows).reshape(size, len(points), -1), 1, 0)
    slopes *= weights
    by_place = slopes.sum(axis=(1, 3))
    factors = [predictor.factors(own) for own, _ in points]
    row = np.tile(np.arange(size), 2)

    def by_lead(dimension: int) -> Any:
        slope = sum((part * of[dimension]).sum(axis=1) for part, of in zip(slopes[ETA], factors, strict=True))
        return csr_array((np.append(slope, -slope), (row, np.append(i, j))), shape=(size, target.n_competitors))

    common = [by_place[one.coordinate] * (not one.belongs_to_vote) for one in target.common]
    by_mean = by_lead(0)
    parts = [by_mean, csr_array(np.array(common).reshape(len(common), size).T)]
    if target.slices:
        by_slices = csr_array(by_mean @ csr_array(view.slices))
        for dimension, part in enumerate(target.directions, 1):
            by_slices = by_slices + _placed(by_lead(dimension), part, by_slices.shape)
        if ties is not None:
            both = csr_array((np.tile(by_place[T], 2), (row, np.append(i, j))), shape=(size, target.n_competitors))
            by_slices = by_slices + _placed(both, part_of_ties(target), by_slices.shape)
        parts.append(by_slices)
    by_own = np.zeros((size, target.n_annotators, len(target.own)))
    for column, effect in enumerate(target.own):
        if effect.basis == "lead":
            moved = slopes[ETA] * leads[effect.dimension] if effect.dimension else weights * turned
            by_own[:, :, column] = moved.sum(axis=0)
        elif not effect.belongs_to_vote:
            by_own[:, :, column] = slopes[effect.coordinate].sum(axis=0)
    return AverageVotes((weights * values).sum(axis=(0, 2)), by_mean, csr_array(hstack(parts)), by_own)


def _points_of_pairs(target: Objective, own: Floats, view: View, leads: list[Floats]) -> Iterator[tuple[Floats, float]]:
    """Yield points of the annotators' posterior, shape (q, m or 1, M), and their weights; for the middle by pair."""
    if not view.crowd.middle or view.annotators is None:
        for points, weight in around(own, view, slice(None)):
            yield points.T[:, None], weight
        return
    one = np.zeros_like(leads[0])
    gradient = np.hstack([leads[effect.dimension] if effect.basis == "lead" else one for effect in target.own])
    moved = np.einsum("kqr,pr->qpk", view.annotators, gradient)
    variance = np.einsum("qpk,pq->pk", moved, gradient)
    step = moved / np.sqrt(np.where(variance > 0, variance, np.inf))
    for z, weight in ((-math.sqrt(3.0), 1 / 6), (0.0, 2 / 3), (math.sqrt(3.0), 1 / 6)):
        yield own.T[:, None] + z * step, weight


def _placed(block: Any, place: slice | None, shape: tuple[int, int]) -> Any:
    """Return columns at their place among all parameters of slices."""
    from scipy.sparse import csr_array

    found, start = block.tocoo(), 0 if place is None else place.start
    return csr_array((found.data, (found.row, start + found.col)), shape=shape)


def scattered(target: Objective, view: View, *, roughly: bool = False) -> list[tuple[float, float, float]]:
    """Return deviations of leads and ln nu from their means, and their probabilities."""
    lead_sd, tie_sd = view.scatter(target)
    lead_nodes = MANY_LEAD_NODES if lead_sd > WIDE else LEAD_NODES
    lead_nodes, tie_nodes = ROUGHLY if roughly else (lead_nodes, TIE_NODES)
    counts = (lead_nodes if lead_sd else 1), (tie_nodes if tie_sd else 1)
    (x, p), (y, q) = map(np.polynomial.hermite_e.hermegauss, counts)
    chances = np.outer(p / p.sum(), q / q.sum()).tolist()
    return [
        (float(lead_sd * lead), float(tie_sd * tie), chances[row][column])
        for row, lead in enumerate(x)
        for column, tie in enumerate(y)
    ]


def around(own: Floats, view: View, part: slice) -> list[tuple[Floats, float]]:
    """Return points of some annotators' posterior, shape (m, q), and their weights.

    Three points along each axis of a Gaussian reproduce its moments up to the third, and the fourth along the axes
    (Julier, S. J. & Uhlmann, J. K., 1997, "A new extension of the Kalman filter to nonlinear systems").
    """
    if view.annotators is None:
        return [(own[part], 1.0)]
    moves = math.sqrt(3.0) * np.moveaxis(np.linalg.cholesky(view.annotators[part]), 2, 0)
    center = 1.0 - len(moves) / 3
    points = [(own[part] + side * move, 1 / 6) for move in moves for side in (1, -1)]
    return [(own[part], center), *points] if center else points


def part_of_ties(target: Objective) -> slice | None:
    """Return the place of competitors' tie propensities among the parameters of slices, if the model has them."""
    parts = target.numbering.parts if target.numbering else ()
    mine = [one.by == COMPETITOR and one.coordinate == T for one in target.slices]
    return next((part for part, is_mine in zip(parts, mine, strict=True) if is_mine), None)


def ties_of_competitors(target: Objective, slices: Floats) -> Floats | None:
    """Return what every competitor adds to ln nu, (..., n), if the model has such effects."""
    part = part_of_ties(target)
    return None if part is None else slices[..., part]


def shares(target: Objective, votes: Floats, view: View | None) -> Floats:
    """Return every annotator's share in the average vote, shape (M,); a single 1 where they have no parameters."""
    if not target.n_annotators:
        return np.ones(1)
    return (Crowd() if view is None else view.crowd).shares(votes)
