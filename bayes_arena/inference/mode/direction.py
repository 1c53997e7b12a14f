"""The direction of a ranking: the probability that it is reversed.

theta_k (r_i - r_j) is the same for (-r, -theta), so the votes cannot say which of two contradicting camps of annotators
is right; the assumption that theta is positive on average does. How sure the votes are of its sign is assessed where
nothing else favours either: under vague priors that are symmetric about zero, r_i ~ Normal(0, 3) and theta_k ~
Normal(0, 3), with the mean of theta free. By the Laplace approximation at the mode nearest to the fit, with the scale
(alpha r, theta / alpha) held,

    P(reversed) = Phi(-|mean theta| / sd(mean theta)),

the mean over annotators who have a vote that counts.

(The Laplace evidences of a mode and its mirror image under the fit's own prior are far too sure: the prior rules out
the large spreads, relative to a mean of 1, that nearly balanced camps have, and pushes both modes away from balance.)
"""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np
import scipy

from bayes_arena.algebra.factorising import factorise
from bayes_arena.arrays import Floats
from bayes_arena.errors import ConvergenceError
from bayes_arena.inference.mode.newton import Gauge, minimise
from bayes_arena.likelihood.derivatives import gradient_and_hessian
from bayes_arena.likelihood.objective import Objective
from bayes_arena.likelihood.point import Point
from bayes_arena.likelihood.predictor import THETA
from bayes_arena.likelihood.problem import MANY_ANNOTATORS, Problem

VAGUE = 3.0
"""Standard deviation of r and theta, in logits and without unit."""
AGAINST = 0.1
"""Share of the discrimination against the ranking below which its direction is not in question."""
SERIOUS = 0.01
"""Probability of the reversed ranking from which the user is warned."""
SURE = 1e-6
"""Probability below which a quarter of many annotators settles the direction, and the others are not used."""


@dataclass(frozen=True)
class Direction:
    """How sure the direction of a ranking is.

    Attributes
    ----------
    mirror_probability : float
        Probability that the ranking is the reverse of the one found, at most one half.
    against : float
        Share of the discrimination, sum of |theta_k|, whose sign is not that of the mean.
    """

    mirror_probability: float
    against: float


def vague_objective(target: Objective) -> Objective:
    """Return an objective with free theta under vague priors that are symmetric about zero."""
    theta, *others = target.own
    return replace(target, strength_sd=VAGUE, own=(replace(theta, mean=0.0, sd=VAGUE), *others))


def direction(problem: Problem, point: Point) -> Direction | None:
    """Assess how sure the votes alone are of a ranking's direction.

    Parameters
    ----------
    problem : Problem
        Its slices are left out: a ranking is of competitors overall.
    point : Point
        Its mode.

    Returns
    -------
    Direction or None
        None where theta is not free, or for a single annotator.

    Raises
    ------
    ConvergenceError
        If the mode under vague priors is not found.
    """
    if not problem.objective.free_discrimination or problem.objective.n_annotators < 2:
        return None
    if problem.model.is_crossed:
        problem = replace(problem, model=problem.model.without_slices())
        point = replace(point, own=point.own[:, : len(problem.objective.own)], slices=np.zeros(0))
    if problem.objective.n_annotators >= MANY_ANNOTATORS:
        with suppress(ConvergenceError):
            few = direction(problem.of_a_quarter(), replace(point, own=point.own[::4]))
            if few is not None and few.mirror_probability < SURE:
                return few
    target, shifts = problem.objective, problem.shifts
    vague = vague_objective(target)
    held = np.arange(len(target.own)) != THETA
    free = minimise(vague, _balanced(point, shifts), Gauge(shifts, free_scale=False, held=held))
    if not free.converged:
        raise ConvergenceError(
            f"The direction of the ranking was not settled in {free.iterations} Newton steps. Use a tighter prior, or "
            "check extreme vote weights."
        )
    _, hessian = gradient_and_hessian(vague, free.point)
    gauge = Gauge(shifts, free_scale=True, held=held)
    factor = factorise(hessian, extra=gauge.extra(free.point, hessian), held=held)
    heard = np.minimum(problem.cells.votes_by_annotator(), 1.0)  # some may have next to no vote that counts
    mean = np.zeros((target.n_annotators, len(held)))
    mean[:, THETA] = heard / heard.sum()
    _, along = factor.solve(np.zeros(factor.shape[0]), mean)
    variance = float(np.sum(mean * along))
    theta = free.point.own[:, THETA]
    average = float(mean[:, THETA] @ theta)
    against = np.abs(theta[np.sign(theta) != np.sign(average)]).sum()
    return Direction(
        mirror_probability=float(scipy.special.ndtr(-abs(average) / math.sqrt(variance))),
        against=float(against / max(np.abs(theta).sum(), np.finfo(float).tiny)),
    )


def unsettled(found: Direction) -> list[str]:
    """Report that annotators contradict each other and the reversed ranking has a probability that matters."""
    if found.mirror_probability < SERIOUS or found.against < AGAINST:
        return []
    return [
        "The direction of the ranking is not settled: annotators contradict each other, and by the votes alone the "
        f"reversed ranking has a probability of {found.mirror_probability:.2f}. Look at the annotators first "
        "(`bayes-arena annotators`)."
    ]


def _balanced(point: Point, shifts: Floats) -> Point:
    """Scale r and theta to the same size, as the vague priors do, and keep both within reach."""
    theta = point.own[:, THETA]
    scale = math.sqrt((1e-3 + np.abs(theta).max()) / (1e-3 + np.abs(point.strength).max()))
    strength = np.clip(point.strength * scale, -VAGUE, VAGUE)
    own = point.own.copy()
    own[:, THETA] = np.clip(theta / scale, -VAGUE, VAGUE)
    return Point(strength - shifts @ (shifts.T @ strength), point.common, own)
