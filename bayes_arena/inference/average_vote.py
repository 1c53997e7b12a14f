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
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, Self

import numpy as np

from bayes_arena.algebra.own_jacobian import OwnJacobian
from bayes_arena.arrays import Floats, Ints
from bayes_arena.inference.crowd import kept
from bayes_arena.inference.curves import (
    average_score,
    curves,
    deviations,
    grid_of_pairs,
    part_of_ties,
    shares,
    ties_of_pairs,
)
from bayes_arena.inference.estimand import View
from bayes_arena.likelihood.objective import Objective
from bayes_arena.likelihood.outcomes.likelihood import ETA, T
from bayes_arena.likelihood.point import Point
from bayes_arena.likelihood.predictor import lead

AT_ONCE = 200_000
"""Pairs times annotators whose middle is found at once: bounds the memory."""
CERTAIN = 1e-7
"""Expected scores are kept this far from 0 and 1, so that r* exists however sure the model is."""


@dataclass(frozen=True, eq=False)
class AverageVotes:
    """Expected scores of some pairs, and derivatives of r linear functions of them.

    Attributes
    ----------
    score : ndarray, shape (m,)
        W, of the first competitor of every pair.
    by_mean : ndarray, shape (r, n)
        Derivatives with respect to m, the strengths averaged over slices.
    by_common : ndarray, shape (r, c)
        With respect to the common parameters.
    by_slices : list of (slice, ndarray)
        With respect to those of slices that are in no strength: their place, and the derivatives.
    own : OwnJacobian, shape (r, M, q)
        With respect to the annotators' parameters.
    slices : array, shape (n, s)
        As in the view.
    """

    score: Floats
    by_mean: Floats
    by_common: Floats
    by_slices: list[tuple[slice, Floats]]
    own: OwnJacobian
    slices: Any

    @property
    def by_head(self) -> Floats:
        """Derivatives with respect to the strengths, the common parameters and those of slices, shape (r, h)."""
        by_slices = np.asarray((self.slices.T @ self.by_mean.T).T)
        for place, some in self.by_slices:
            by_slices[:, place] += some
        return np.column_stack([self.by_mean, self.by_common, by_slices])

    def mapped(self, of: Callable[[Floats], Floats]) -> Self:
        """Return the derivatives of linear functions ``of`` these functions, (r, k) to (r, k)."""

        def own(part: slice) -> Floats:
            some = self.own.of(part)
            return np.asarray(of(some.reshape(len(some), -1))).reshape(some.shape)

        return replace(
            self,
            by_mean=of(self.by_mean),
            by_common=of(self.by_common),
            by_slices=[(place, of(some)) for place, some in self.by_slices],
            own=OwnJacobian(self.own.shape, own),
        )


def average_votes(
    target: Objective, point: Point, votes: Floats, view: View, i: Ints, j: Ints, functions: Any = None
) -> AverageVotes:
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
    functions : sparse array, shape (r, m), optional
        Coefficients of linear functions of their scores; by default the scores themselves.
    """
    from scipy.sparse import csr_array, diags_array, eye_array  # slow to import

    functions = eye_array(len(i), format="csr") if functions is None else functions
    target = view.of(target, point.slices)
    if view.crowd.middle:
        score, by_lead, by_theta, by_coordinate, own = _of_middle(target, point, votes, view, i, j, functions)
    else:
        grid = grid_of_pairs(target, point, view, i, j)
        found = curves(target, point, votes, view, grid)
        score, own = grid.at_pairs @ found.score, found.own(functions @ grid.at_pairs)
        by_lead, by_theta, by_coordinate = (
            (grid.at_pairs @ some.T).T for some in (found.by_lead, found.by_theta, found.by_coordinate)
        )
    pair = np.arange(len(i))
    of_i, of_j = (csr_array((np.ones(len(i)), (pair, one)), shape=(len(i), target.n_competitors)) for one in (i, j))

    def by_competitors(slope: Floats, moved: Any) -> Floats:
        return np.asarray((functions @ diags_array(slope) @ moved).toarray())

    common = [by_coordinate[one.coordinate] * (not one.belongs_to_vote) for one in target.common]
    by_slices = [
        (part, by_competitors(by_lead[dimension], of_i - of_j)) for dimension, part in enumerate(target.directions, 1)
    ]
    if (ties := part_of_ties(target)) is not None:
        by_slices.append((ties, by_competitors(by_coordinate[T], of_i + of_j)))
    if view.ties is not None:
        by_slices.append((slice(0, len(view.ties)), np.outer(functions @ by_coordinate[T], view.ties)))
    if view.sharper is not None:
        by_slices.append((slice(0, len(view.sharper)), np.outer(functions @ by_theta, view.sharper)))
    by_common = functions @ np.array(common).reshape(len(common), len(i)).T
    return AverageVotes(score, by_competitors(by_lead[0], of_i - of_j), by_common, by_slices, own, view.slices)


def _of_middle(
    target: Objective, point: Point, votes: Floats, view: View, i: Ints, j: Ints, functions: Any
) -> tuple[Floats, Floats, Floats, Floats, OwnJacobian]:
    """Return scores (m,) and the Jacobian of the functions.

    Between them come slopes by leads (1 + D, m), by what is added to all thetas (m,), and by coordinates (C, m).
    """
    by_lead, by_coordinate = (
        np.empty((1 + len(target.directions), len(i))),
        np.empty((target.likelihood.n_coordinates, len(i))),
    )
    score, by_theta = np.empty((2, len(i)))
    own = np.zeros((functions.shape[0], target.n_annotators, len(target.own)))
    step = max(1, AT_ONCE // max(target.n_annotators, 1))
    for first in range(0, len(i), step):
        part = slice(first, min(first + step, len(i)))
        score[part], by_lead[:, part], by_theta[part], by_coordinate[:, part], by_own = _middle_of_pairs(
            target, point, votes, view, i[part], j[part]
        )
        own += (functions[:, part] @ by_own.reshape(len(by_own), -1)).reshape(own.shape)
    return score, by_lead, by_theta, by_coordinate, OwnJacobian(own.shape, lambda some: own[:, some])


def _middle_of_pairs(
    target: Objective, point: Point, votes: Floats, view: View, i: Ints, j: Ints
) -> tuple[Floats, Floats, Floats, Floats, Floats]:
    """Return what :func:`_of_middle` does for a few pairs, with derivatives by the annotators' parameters (m, M, q)."""
    predictor, size = target.predictor, len(i)
    mean, ties = point.strength + view.slices @ point.slices, ties_of_pairs(target, view, point.slices, i, j)
    leads = [lead(mean, i, j)[:, None], *(lead(point.slices[part], i, j)[:, None] for part in target.directions)]
    offset = 0.0 if ties is None else ties[:, None]
    share = shares(target, votes, view)
    points = list(_points_of_pairs(target, point.own, view, leads))
    shape = len(points), size, len(share)
    values, turned = np.zeros(shape), np.zeros(shape)
    slopes = np.zeros((target.likelihood.n_coordinates, *shape))
    noise, ties_of_slices = (list(zip(*map(np.ndarray.tolist, one), strict=True)) for one in deviations(target, view))
    for place, (own, _) in enumerate(points):
        for shift, chance in noise:
            shifted = [leads[0] + shift + np.zeros(len(share)), *leads[1:]]
            z = predictor.coordinates(shifted, point.common, own)
            if len(z) > T:
                z[T] += offset
            score, slope = average_score(target.likelihood, z, ties_of_slices)
            values[place] += chance * score
            slopes[:, place] += chance * slope
            turned[place] += chance * slope[ETA] * shifted[0]
    weights = np.array([weight for _, weight in points])[:, None, None] * share + np.zeros(shape)
    rows = [np.moveaxis(one, 0, 1).reshape(size, -1) for one in (values, weights)]
    weights = np.moveaxis(kept(*rows).reshape(size, len(points), -1), 1, 0)
    slopes *= weights
    factors = zip(*(predictor.factors(own) for own, _ in points), strict=True)
    by_lead = [sum((part * factor).sum(axis=1) for part, factor in zip(slopes[ETA], of, strict=True)) for of in factors]
    by_own = np.zeros((size, target.n_annotators, len(target.own)))
    for column, effect in enumerate(target.own):
        if effect.basis == "lead":
            moved = slopes[ETA] * leads[effect.dimension] if effect.dimension else weights * turned
            by_own[:, :, column] = moved.sum(axis=0)
        elif not effect.belongs_to_vote:
            by_own[:, :, column] = slopes[effect.coordinate].sum(axis=0)
    score, by_theta = ((weights * one).sum(axis=(0, 2)) for one in (values, turned))
    return score, np.array(by_lead), by_theta, slopes.sum(axis=(1, 3)), by_own


def _points_of_pairs(target: Objective, own: Floats, view: View, leads: list[Floats]) -> Iterator[tuple[Floats, float]]:
    """Yield points of the annotators' posterior, shape (q, m or 1, M), and their weights."""
    if view.annotators is None:
        yield own.T[:, None], 1.0
        return
    one = np.zeros_like(leads[0])
    gradient = np.hstack([leads[effect.dimension] if effect.basis == "lead" else one for effect in target.own])
    moved = np.einsum("kqr,pr->qpk", view.annotators, gradient)
    variance = np.einsum("qpk,pq->pk", moved, gradient)
    step = moved / np.sqrt(np.where(variance > 0, variance, np.inf))
    for z, weight in ((-math.sqrt(3.0), 1 / 6), (0.0, 2 / 3), (math.sqrt(3.0), 1 / 6)):
        yield own.T[:, None] + z * step, weight


def scattered(target: Objective, view: View, *, roughly: bool = False) -> list[tuple[float, float, float]]:
    """Return deviations of leads and ln nu from their means, and their probabilities."""
    found = (zip(*map(np.ndarray.tolist, one), strict=True) for one in deviations(target, view, roughly=roughly))
    return [(shift, tie, p * q) for (shift, p), (tie, q) in product(*found)]
