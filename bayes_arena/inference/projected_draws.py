"""The common scale of :mod:`bayes_arena.inference.projection`, draw by draw."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy
from numpy.polynomial.chebyshev import chebval, chebvander

from bayes_arena.arrays import Floats, Ints
from bayes_arena.errors import ConvergenceError
from bayes_arena.inference.average_vote import CERTAIN, scattered
from bayes_arena.inference.crowd import kept
from bayes_arena.inference.curves import LEAD_NODES, NODES, TIE_NODES, shares, ties_of_pairs
from bayes_arena.inference.estimand import View, on_new_slices
from bayes_arena.inference.many_pairs import chebyshev
from bayes_arena.inference.projection import is_bradley_terry
from bayes_arena.likelihood.objective import Objective
from bayes_arena.likelihood.outcomes.likelihood import T
from bayes_arena.likelihood.point import Point
from bayes_arena.likelihood.predictor import lead
from bayes_arena.threads import in_blocks, one_thread

CHUNK = 250_000
"""Leads times annotators that a thread handles at once: bounds the memory, and fits a processor's cache."""
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
    interpolated: pairs times annotators would be too many. Along directions it depends on several leads, and the
    middle of the votes has kinks: both are evaluated for every pair.

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
    projected = np.empty_like(strength)
    slices = np.zeros((len(strength), 0)) if slices is None else slices
    scores = scores_of_draws(target, Point(strength, common, own, slices), votes, i, j, spreads, view)

    def project(part: slice) -> None:
        score = np.clip(scores(part), CERTAIN, 1 - CERTAIN)
        projected[part] = _bradley_terry_many(i, j, score, strength.shape[1])

    at_once = len(i) if _by_pairs(target, view) else NODES
    with one_thread():
        in_blocks(project, len(strength), of=max(1, CHUNK // (at_once * len(shares(target, votes, view)))))
    return projected


def scores_of_draws(
    target: Objective,
    draws: Point,
    votes: Floats,
    i: Ints,
    j: Ints,
    spreads: Floats | None = None,
    view: View | None = None,
) -> Callable[[slice], Floats]:
    """Return a function from a slice of the draws to the average score of i against j, shape (m, n_pairs).

    Parameters
    ----------
    target, votes, spreads, view
        As for :func:`project_draws`.
    draws : Point
        All draws, stacked.
    i, j : ndarray of int, shape (n_pairs,)
        The pairs.
    """
    seen = view or on_new_slices(target)
    if draws.slices.size or _by_pairs(target, view):
        average = _average_of_pairs if _by_pairs(target, view) else _average_over_slices

        def one_by_one(part: slice) -> Floats:
            found = np.empty((part.stop - part.start, len(i)))
            for row, index in enumerate(range(part.start, part.stop)):
                of_draw = target if spreads is None else _at(target, spreads[index])
                point = Point(draws.strength[index], draws.common[index], draws.own[index], draws.slices[index])
                found[row] = average(of_draw, point, i, j, votes, seen)
            return found

        return one_by_one
    leads = lead(draws.strength, i, j)
    reach = max(float(np.abs(leads).max()), 1e-12)
    nodes, to_coefficients = chebyshev(NODES)
    share = shares(target, votes, view)

    def interpolated(part: slice) -> Floats:
        shared, numbers = (np.moveaxis(numbers[part], -1, 0) for numbers in (draws.common, draws.own))
        everybody = reach * nodes[:, None] + np.zeros(len(share))
        z = target.predictor.coordinates([everybody], shared[..., None, None], numbers[:, :, None])
        score = 0.5 * (1 + target.likelihood.net_score(z) @ share)
        coefficients = (score @ to_coefficients.T).T[:, :, None]
        return np.asarray(chebval(leads[part] / reach, coefficients, tensor=False))

    return interpolated


def _by_pairs(target: Objective, view: View | None) -> bool:
    """Whether the average score is no smooth function of one lead."""
    return bool(target.directions) or (view is not None and view.crowd.middle)


def _at(target: Objective, spreads: Floats) -> Objective:
    """Return the target under other spreads, in the order of their names."""
    return target.with_spreads(float(spreads[0]), spreads[1:].tolist())


def _average_of_pairs(target: Objective, point: Point, i: Ints, j: Ints, votes: Floats, view: View) -> Floats:
    """Return what :func:`_average_over_slices` does, for leads along directions, or for the middle of the votes."""
    target = view.of(target, point.slices)
    d, share = lead(point.strength + view.slices @ point.slices, i, j)[:, None], shares(target, votes, view)
    along = [lead(point.slices[part], i, j)[:, None] for part in target.directions]
    ties = ties_of_pairs(target, view, point.slices, i, j)
    score = np.zeros((len(i), len(share)))
    for shift, tie, chance in scattered(target, view, roughly=True):
        z = target.predictor.coordinates([d + shift + np.zeros(len(share)), *along], point.common, point.own.T)
        if len(z) > T:
            z[T] += tie if ties is None else (tie + ties)[:, None]
        score += 0.5 * chance * (1 + target.likelihood.net_score(z))
    if not view.crowd.middle:
        return np.asarray(score @ share)
    return np.asarray((score * kept(score, share + np.zeros_like(score))).sum(axis=1))


def _average_over_slices(target: Objective, point: Point, i: Ints, j: Ints, votes: Floats, view: View) -> Floats:
    """Return the score that i is expected to take from j on a slice drawn at random, for every pair.

    The score is a polynomial in the lead and in what is added to ln nu, sum c_ab T_a T_b. On a slice drawn at random
    lead and ln nu are independent, so the mean of a product is the product of the means.
    """
    target = view.of(target, point.slices)
    d, share = lead(point.strength + view.slices @ point.slices, i, j), shares(target, votes, view)
    lead_sd, tie_sd = view.scatter(target)
    ties = ties_of_pairs(target, view, point.slices, i, j)
    offset = np.zeros_like(d) if ties is None else ties
    sides = []
    for center, sd, size, count in ((d, lead_sd, NODES, LEAD_NODES), (offset, tie_sd, TIES, TIE_NODES)):
        x, chance = np.polynomial.hermite_e.hermegauss(count if sd else 1)
        everywhere = center + sd * x[:, None]
        middle, reach = 0.5 * (everywhere.max() + everywhere.min()), max(0.5 * float(np.ptp(everywhere)), 1e-12)
        nodes, to_coefficients = chebyshev(size)
        terms = np.einsum("x,xpa->pa", chance / chance.sum(), chebvander((everywhere - middle) / reach, size - 1))
        sides.append((middle + reach * nodes, terms @ to_coefficients))
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
