"""The common scale of :mod:`bayes_arena.inference.projection`, draw by draw."""

from __future__ import annotations

import numpy as np
import scipy
from numpy.polynomial.chebyshev import chebval, chebvander

from bayes_arena.arrays import Floats, Ints
from bayes_arena.errors import ConvergenceError
from bayes_arena.inference.many_pairs import chebyshev
from bayes_arena.inference.projection import (
    CERTAIN,
    CHUNK,
    LEAD_NODES,
    NODES,
    TIE_NODES,
    is_bradley_terry,
    scattered,
    shares,
    ties_of_competitors,
)
from bayes_arena.inference.views import View, on_new_slices
from bayes_arena.likelihood.objective import Objective
from bayes_arena.likelihood.outcomes.likelihood import T
from bayes_arena.likelihood.point import Point
from bayes_arena.likelihood.predictor import lead
from bayes_arena.threads import in_blocks, one_thread

TIES = 5
"""Chebyshev nodes for what slices and competitors add to ln nu, which hardly changes the score."""
MAX_STEPS = 100
LAST_STEP = 1e-6
"""Length of the last Newton step: the remaining error is of the order of its square."""


def project_draws(
    target: Objective,
    strength: Floats,
    common: Floats,
    own: Floats,
    votes: Floats,
    slices: Floats | None = None,
    spreads: Floats | None = None,
    view: View | None = None,
) -> Floats:
    """Put every draw of a model's strengths on the Bradley-Terry scale.

    The average score W depends on a pair only through its lead d, so it is evaluated at Chebyshev nodes and
    interpolated: pairs times annotators would be too many. Along directions it depends on several leads, and is
    evaluated for every pair.

    Parameters
    ----------
    target : Objective
        What was fitted.
    strength, common, own : ndarray, shapes (n_draws, n), (n_draws, c) and (n_draws, M, q)
        Draws.
    votes : ndarray, shape (M,)
        Votes of every annotator.
    slices : ndarray, shape (n_draws, s), optional
        Draws of the parameters of slices, if the model has them.
    spreads : ndarray, shape (n_draws, n_spreads), optional
        Draws of its spreads, in the order of ``target.spreads``; by default those of the target.
    view : View, optional
        As for :func:`project`.

    Returns
    -------
    ndarray, shape (n_draws, n)
        r*, sum zero, in logits.
    """
    if is_bradley_terry(target):
        return np.asarray(strength - strength.mean(axis=1, keepdims=True))
    i, j = np.triu_indices(strength.shape[1], k=1)
    if slices is not None and target.directions:
        points = list(map(Point, strength, common, own, slices))
        score = np.empty((len(points), len(i)))

        def average(part: slice) -> None:
            for index in range(part.start, part.stop):
                of_draw = target if spreads is None else _at(target, spreads[index])
                score[index] = _average_of_pairs(of_draw, points[index], i, j, votes, view or on_new_slices(target))

        with one_thread():
            in_blocks(average, len(points), of=max(1, CHUNK // (len(i) * len(votes))))
        return _bradley_terry_many(i, j, np.clip(score, CERTAIN, 1 - CERTAIN), strength.shape[1])
    if slices is not None and target.slices:
        score = np.empty((len(strength), len(i)))
        for index, point in enumerate(map(Point, strength, common, own, slices)):
            of_draw = target if spreads is None else _at(target, spreads[index])
            score[index] = _average_over_slices(of_draw, point, i, j, votes, view or on_new_slices(target))
        return _bradley_terry_many(i, j, np.clip(score, CERTAIN, 1 - CERTAIN), strength.shape[1])
    leads = lead(strength, i, j)
    reach = float(np.abs(leads).max())
    nodes, to_coefficients = chebyshev(NODES)
    share = shares(target, votes, view)
    projected = np.empty_like(strength)

    def project(part: slice) -> None:
        shared, numbers = (np.moveaxis(draws[part], -1, 0) for draws in (common, own))
        everybody = reach * nodes[:, None] + np.zeros(len(share))
        z = target.predictor.coordinates([everybody], shared[..., None, None], numbers[:, :, None])
        score = 0.5 * (1 + target.likelihood.net_score(z) @ share)
        coefficients = (score @ to_coefficients.T).T[:, :, None]
        average = chebval(leads[part] / reach, coefficients, tensor=False)
        projected[part] = _bradley_terry_many(i, j, np.clip(average, CERTAIN, 1 - CERTAIN), strength.shape[1])

    with one_thread():
        in_blocks(project, len(strength), of=max(1, CHUNK // (NODES * len(share))))
    return projected


def _at(target: Objective, spreads: Floats) -> Objective:
    """Return the target under other spreads, in the order of their names."""
    return target.with_spreads(float(spreads[0]), spreads[1:].tolist())


def _average_of_pairs(target: Objective, point: Point, i: Ints, j: Ints, votes: Floats, view: View) -> Floats:
    """Return what :func:`_average_over_slices` does, for leads along directions."""
    d, share = lead(point.strength + view.slices @ point.slices, i, j)[:, None], shares(target, votes, view)
    along = [lead(point.slices[part], i, j)[:, None] for part in target.directions]
    ties = ties_of_competitors(target, point.slices)
    score = np.zeros(len(i))
    for shift, tie, chance in scattered(target, view):
        z = target.predictor.coordinates([d + shift, *along], point.common, point.own.T)
        if len(z) > T:
            z[T] += tie if ties is None else (tie + ties[i] + ties[j])[:, None]
        score += chance * (0.5 * (1 + target.likelihood.net_score(z) @ share))
    return score


def _average_over_slices(target: Objective, point: Point, i: Ints, j: Ints, votes: Floats, view: View) -> Floats:
    """Return the score that i is expected to take from j on a slice drawn at random, for every pair.

    The score is a polynomial in the lead and in what is added to ln nu, sum c_ab T_a T_b. On a slice drawn at random
    lead and ln nu are independent, so the mean of a product is the product of the means.
    """
    d, share = lead(point.strength + view.slices @ point.slices, i, j), shares(target, votes, view)
    lead_sd, tie_sd = view.scatter(target)
    ties = ties_of_competitors(target, point.slices)
    offset = np.zeros_like(d) if ties is None else ties[i] + ties[j]
    sides = []
    for center, sd, size, count in ((d, lead_sd, NODES, LEAD_NODES), (offset, tie_sd, TIES, TIE_NODES)):
        x, chance = np.polynomial.hermite_e.hermegauss(count if sd else 1)
        everywhere = center + sd * x[:, None]
        reach = max(float(np.abs(everywhere).max()), 1e-12)
        nodes, to_coefficients = chebyshev(size)
        terms = np.einsum("x,xpa->pa", chance / chance.sum(), chebvander(everywhere / reach, size - 1))
        sides.append((reach * nodes, terms @ to_coefficients))
    (leads, by_lead), (shifts, by_shift) = sides
    everybody = leads[:, None, None] + np.zeros((len(shifts), len(share)))
    z = target.predictor.coordinates([everybody], point.common, point.own.T)
    if len(z) > T:
        z[T] += shifts[:, None]
    score = target.likelihood.expected_score(z)[0] @ share
    return np.asarray(np.einsum("pa,ab,pb->p", by_lead, score, by_shift, optimize=True))


def _bradley_terry_many(i: Ints, j: Ints, score: Floats, n: int) -> Floats:
    """Fit strengths to the scores of all pairs, many draws at once, shape (n_draws, n)."""
    odds = np.zeros((len(score), n, n))
    odds[:, i, j] = scipy.special.logit(score)
    odds[:, j, i] = -odds[:, i, j]
    r = odds.sum(axis=2) / n  # the solution where all pairs agree
    taken = np.zeros((len(score), n, n))
    taken[:, i, j], taken[:, j, i] = score, 1 - score
    total = taken.sum(axis=2)
    for _ in range(MAX_STEPS):
        weight = np.exp(r)
        p = weight[:, :, None] / (weight[:, :, None] + weight[:, None, :])
        curve = p * (1 - p)
        gradient = p.sum(axis=2) - 0.5 - total
        hessian = 1.0 / n - curve
        hessian[:, np.arange(n), np.arange(n)] += curve.sum(axis=2)
        step = np.linalg.solve(hessian, gradient[:, :, None])[:, :, 0]
        step /= np.maximum(1.0, np.abs(step).max(axis=1, keepdims=True))
        r -= step
        if np.abs(step).max() < LAST_STEP:
            return np.asarray(r - r.mean(axis=1, keepdims=True))
    raise ConvergenceError(f"Some draws could not be put on the Elo scale in {MAX_STEPS} Newton steps.")
