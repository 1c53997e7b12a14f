"""The search for the minimum of a negative log-posterior: starts, and the best optimum that they lead to.

Models with theta = 1 are concave (Rao-Kupper nearly so) and start from the prior means. Where theta is free the start
is the mode of the same model with theta = 1. Under a flat prior theta then runs **free**, and is divided by its mean
afterwards (r multiplied by it): holding the mean inside the objective puts a wall between the two halves of the space
and hides the better optimum; random starts join in where annotators differ much or votes are few, and starts towards
infinity (:mod:`bayes_arena.inference.mode.recession`) where an optimum there may be better. Under a Gaussian prior the
mean is held at 1, as the prior says, and the reversed ranking and the optimum under vague priors with a free mean, in
both directions, are tried too.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from bayes_arena.arrays import Floats
from bayes_arena.errors import ConvergenceError, NotIdentifiedError
from bayes_arena.inference.mode.direction import vague_objective
from bayes_arena.inference.mode.disagreement import start_along
from bayes_arena.inference.mode.identification import NEGLIGIBLE
from bayes_arena.inference.mode.newton import Gauge, Optimum, minimise, runs_to_infinity
from bayes_arena.inference.mode.recession import starts_towards_infinity
from bayes_arena.likelihood.objective import Objective
from bayes_arena.likelihood.point import Point
from bayes_arena.likelihood.predictor import THETA
from bayes_arena.likelihood.problem import Problem

RANDOM_STARTS = 6
"""Further starts for a flat fit in which annotators differ much, or votes are few."""
FEW_VOTES = 25
"""Votes per parameter below which a flat likelihood may well have several optima."""
GAIN = 1e-8
"""Nats by which a further start of a flat fit must end lower to count."""
EQUAL = 1e-6
"""Largest log-odds of competitors that count as equal."""


def search(problem: Problem, start: Point | None, thorough: bool) -> tuple[Optimum, Point, list[Optimum]]:
    """Find the lowest of the optima that the starts lead to.

    Parameters
    ----------
    problem : Problem
        Its objective is minimised.
    start : Point, optional
        The only start to try; the mean of theta is held at its value there.
    thorough : bool
        Try further starts under a Gaussian prior too.

    Returns
    -------
    best : Optimum
    point : Point
        Its point, under a flat prior scaled to mean theta = 1.
    others : list of Optimum
        All optima found where the reversed ranking was tried, else empty.

    Raises
    ------
    NotIdentifiedError
        If under a flat prior all competitors come out equal, or the discriminations sum to zero.
    ConvergenceError
        If no start along a direction leads to an optimum.
    """
    target, shifts = problem.objective, problem.shifts
    held = Gauge.of_all(shifts, target)
    if problem.model.dimensions and start is None:
        fewer = replace(problem, model=replace(problem.model, dimensions=problem.model.dimensions - 1))
        _, point, _ = search(fewer, None, thorough)
        along = start_along(fewer, point)
        if along is not None and (best := minimise(target, along, held)).converged:
            return best, best.point, []
        raise ConvergenceError(
            "No mode was found in which annotators disagree along a direction: the votes hardly show one. Use a "
            "Model with fewer dimensions, or sample the posterior (method='nuts')."
        )
    if not target.free_discrimination or start is not None:
        best = minimise(target, start or target.start(), held)
        return best, best.point, []
    concave = _mode_of_fixed_discrimination(problem)
    own = target.start().own
    own[:, THETA + 1 :] = concave.own if len(concave.own) else 0.0
    start = replace(concave, own=own)
    theta_free = held.held.copy()
    theta_free[THETA] = False
    if is_flat(target):
        loose = Gauge(shifts, free_scale=True, held=theta_free)
        best = minimise(target, start, loose)
        finite = best.converged and not runs_to_infinity(target, best.point)
        few = target.n_votes < FEW_VOTES * (len(start.head) + start.own.size)
        further = _random_starts(start) if far_apart(best.point.own[:, THETA]) or (few and finite) else []
        further += starts_towards_infinity(target, best.point) if finite else []
        for one in further:
            other = minimise(target, one, loose, to_beat=best.value - GAIN)
            best = other if other.value < best.value - GAIN else best
        if np.abs(best.point.strength).max() * np.abs(best.point.own[:, THETA]).max() < EQUAL:
            raise NotIdentifiedError(
                "All competitors come out equal, so nothing can be said about the annotators' discriminations. "
                "Use a prior (prior='default') or model='m-elo'."
            )
        return best, _normalise(best.point, shifts), []
    best = minimise(target, start, held)
    if not thorough or target.slices:
        return best, best.point, []
    free = _attempts(vague_objective(target), [start], Gauge(shifts, free_scale=False, held=theta_free))
    starts = [_turned(start, -1.0), *(_turned(one.point, sign) for one in free for sign in (1.0, -1.0))]
    found = [best, *_attempts(target, starts, held, to_beat=best.value + NEGLIGIBLE)]
    best = min(found, key=lambda one: one.value)
    return best, best.point, found


def is_flat(target: Objective) -> bool:
    """Whether no prior determines the scale of theta relative to that of r."""
    return math.isinf(target.strength_sd) and math.isinf(target.own[THETA].sd)


def far_apart(theta: Floats) -> bool:
    """Whether the annotators differ so much that their mean is within four standard errors of zero."""
    return len(theta) > 1 and abs(theta.mean()) < 4 * theta.std(ddof=1) / math.sqrt(len(theta))


def _attempts(target: Objective, starts: list[Point], gauge: Gauge, to_beat: float = math.inf) -> list[Optimum]:
    """Return the optima from further starts, without those that do not converge or do not fall below a value."""
    found = [replace(minimise(target, start, gauge, to_beat), curvature=None) for start in starts]
    return [optimum for optimum in found if optimum.converged]


def _turned(point: Point, sign: float) -> Point:
    """Return the same point or its mirror image, theta shifted to mean 1."""
    own = point.own.copy()
    own[:, THETA] = 1 + sign * (own[:, THETA] - own[:, THETA].mean())
    return Point(sign * point.strength, point.common, own)


def _random_starts(start: Point) -> list[Point]:
    """Return random starts, the same every time."""
    rng = np.random.default_rng(0)
    starts = []
    for _ in range(RANDOM_STARTS):
        own = start.own.copy()
        own[:, THETA] = rng.normal(size=len(own))
        strength = rng.normal(size=len(start.strength))
        starts.append(Point(strength - strength.mean(), start.common, own))
    return starts


def _mode_of_fixed_discrimination(problem: Problem) -> Point:
    """Return the mode of the same model with theta = 1: where a model with free theta starts."""
    target = replace(problem, model=replace(problem.model, discrimination="fixed")).objective
    return minimise(target, target.start(), Gauge.of_all(problem.shifts, target)).point


def _normalise(point: Point, shifts: Floats) -> Point:
    """Scale to mean theta = 1 and shift to sum r = 0, which changes no prediction."""
    theta = point.own[:, THETA]
    mean = float(theta.mean())
    if abs(mean) < 1e-6 * np.abs(theta).mean():
        raise NotIdentifiedError(
            "The annotators' discriminations sum to zero: as many contradict the ranking as support it, so neither "
            "its direction nor its scale is determined. Use model='m-elo', or look at the annotators first."
        )
    strength = point.strength * mean
    own = point.own.copy()
    own[:, THETA] /= mean
    return Point(strength - shifts @ (shifts.T @ strength), point.common, own)
