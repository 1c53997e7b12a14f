"""The posterior mode, which under a flat prior is the paper's maximum-likelihood estimate.

Models with theta = 1 are concave (Rao-Kupper nearly so) and start from the prior means. Where theta is free the start
is the mode of the same model with theta = 1. Under a flat prior theta then runs **free**, and is divided by its mean
afterwards (r multiplied by it): holding the mean inside the objective puts a wall between the two halves of the space
and hides the better optimum; random starts join in where annotators differ much. Under a Gaussian prior the
mean is held at 1, as the prior says, and the reversed ranking and the free optimum in both directions are tried too.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import expit

from bayes_arena.cells import Cells, Floats, Ints
from bayes_arena.checks import components
from bayes_arena.errors import ConvergenceError, NotIdentifiedError, NoVotesError, listing
from bayes_arena.identification import (
    at_infinity,
    disconnected,
    reversed_mode,
    unsettled_by_votes,
)
from bayes_arena.laplace import Laplace, laplace_at
from bayes_arena.likelihood import Objective, Point, objective
from bayes_arena.newton import GRADIENT_PER_VOTE, Gauge, Optimum, minimise
from bayes_arena.priors import Prior
from bayes_arena.specification import Model

RANDOM_STARTS = 6
"""Further starts of a flat fit in which annotators differ much."""
EQUAL = 1e-6
"""Largest log-odds of competitors that count as equal."""
START_RIDGE = 3.0
"""Standard deviation of r and theta in the free start of a Gaussian-prior fit, which keeps it finite."""


@dataclass(frozen=True, eq=False)
class Mode:
    """A posterior mode and what surrounds it.

    Attributes
    ----------
    target : Objective
        What was minimised.
    point : Point
        The mode, with sum r = 0 and mean theta = 1.
    laplace : Laplace
        Gaussian approximation there.
    gradient : float
        Largest coordinate of the gradient, per vote.
    iterations : int
        Newton steps.
    mirror : Point or None
        The best mode with the reversed ranking, unless there is none or it is out of the question.
    mirror_probability : float or None
        Its posterior probability at these spreads, where it was looked for.
    open_questions, at_infinity : tuple of str
        What the votes leave open, and what has no finite estimate.
    """

    target: Objective
    point: Point
    laplace: Laplace
    gradient: float
    iterations: int
    mirror: Point | None
    mirror_probability: float | None
    open_questions: tuple[str, ...]
    at_infinity: tuple[str, ...]


def find_mode(cells: Cells, model: Model, prior: Prior, *, start: Point | None = None, thorough: bool = True) -> Mode:
    """Find the posterior mode.

    Parameters
    ----------
    cells : Cells
        Votes.
    model : Model
    prior : Prior
        Its spreads are used as they are.
    start : Point, optional
        The mode of the same model under a similar prior, or of similar votes, to go on from; no other start is tried
        then, and the mean of theta stays what it is there.
    thorough : bool
        Try further starts where the mode may not be the best one.

    Returns
    -------
    Mode

    Raises
    ------
    NoVotesError
        If fewer than two competitors, or no vote that the model sees, are left.
    ConvergenceError
        If the gradient does not vanish.
    NotIdentifiedError
        If the votes do not determine the parameters, or under a flat prior an annotator has none.
    """
    if cells.n_competitors < 2:
        raise NoVotesError("Rating takes at least two competitors.")
    target = objective(cells, model, prior)
    if not target.n_votes:
        raise NoVotesError(f"Every vote is one that the model leaves out (ties={model.ties!r}).")
    _require_votes_of_all(cells, target)
    labels = components(cells)
    shifts = _indicators(labels if math.isinf(prior.strength) else np.zeros_like(labels))
    optimum, point, others = _search(target, cells, model, prior, shifts, start, thorough)
    flat = target.free_discrimination and _is_flat(target)
    unbounded = math.isinf(prior.strength) or (target.free_discrimination and math.isinf(prior.discrimination))
    infinite = at_infinity(target, optimum, cells, model) if unbounded else []
    if not optimum.converged and not infinite:
        raise ConvergenceError(
            f"No convergence in {optimum.iterations} Newton steps: the largest gradient is {optimum.gradient:.1e} a "
            f"vote (aim {GRADIENT_PER_VOTE:g}). Use a tighter prior, or check extreme vote weights."
        )
    laplace = laplace_at(target, point, shifts, at_infinity=bool(infinite))
    if laplace.singular and not infinite:
        raise NotIdentifiedError(
            "The votes do not determine the parameters: other values fit exactly as well, with another ranking "
            "(for instance when annotators hardly share a pair). Use a prior (prior='default') or model='m-elo'."
        )
    mirror = reversed_mode(optimum, others) if others and not infinite else None
    probability = 0.0 if others and not infinite else None
    if mirror is not None:
        probability = float(expit(_log_evidence(target, mirror.point, shifts) - _log_evidence(target, point, shifts)))
    votes_leave_open = unsettled_by_votes(optimum.point.own[:, 0]) if flat and not infinite else []
    return Mode(
        target=target,
        point=point,
        laplace=laplace,
        gradient=optimum.gradient,
        iterations=optimum.iterations,
        mirror=mirror.point if mirror else None,
        mirror_probability=probability,
        open_questions=(*disconnected(labels, prior), *votes_leave_open),
        at_infinity=tuple(infinite),
    )


def _require_votes_of_all(cells: Cells, target: Objective) -> None:
    """Refuse an annotator without votes whose numbers no prior holds."""
    if not any(math.isinf(term.sd) for term in target.own):
        return
    silent = np.flatnonzero(cells.votes_by_annotator() == 0)
    if len(silent):
        raise NotIdentifiedError(
            f"No vote says anything of annotator(s) {listing(cells.annotators[k] for k in silent)}. Use a prior "
            "(prior='default'), or leave out annotators with few votes (keep_annotators)."
        )


def _search(
    target: Objective, cells: Cells, model: Model, prior: Prior, shifts: Floats, start: Point | None, thorough: bool
) -> tuple[Optimum, Point, list[Optimum]]:
    """Return the best optimum found, its normalised point, and the others where the reversed ranking was tried."""
    held = Gauge(shifts, free_scale=False, held=np.ones(len(target.own), dtype=bool))
    if not target.free_discrimination or start is not None:
        best = minimise(target, start or target.start(), held)
        return best, best.point, []
    concave = _fixed_mode(cells, replace(model, discrimination="fixed"), prior, shifts)
    own = target.start().own
    own[:, 1:] = concave.own if len(concave.own) else 0.0
    start = Point(concave.strength, concave.common, own)
    theta_free = held.held.copy()
    theta_free[0] = False
    if _is_flat(target):
        loose = Gauge(shifts, free_scale=True, held=theta_free)
        best = minimise(target, start, loose)
        if _far_apart(best.point.own[:, 0]):
            best = min([best, *_attempts(target, _random_starts(start), loose)], key=lambda one: one.value)
        if np.abs(best.point.strength).max() * np.abs(best.point.own[:, 0]).max() < EQUAL:
            raise NotIdentifiedError(
                "All competitors come out equal, so nothing can be said of the annotators' discriminations. "
                "Use a prior (prior='default') or model='m-elo'."
            )
        return best, _normalise(best.point, shifts), []
    best = minimise(target, start, held)
    if not thorough:
        return best, best.point, []
    vague = replace(target.own[0], mean=0.0, sd=START_RIDGE)
    ridge = replace(target, strength_sd=START_RIDGE, own=(vague, *target.own[1:]))
    free = _attempts(ridge, [start], Gauge(shifts, free_scale=False, held=theta_free))
    starts = [_turned(start, -1.0), *(_turned(one.point, sign) for one in free for sign in (1.0, -1.0))]
    found = [best, *_attempts(target, starts, held)]
    best = min(found, key=lambda one: one.value)
    return best, best.point, found


def _log_evidence(target: Objective, point: Point, shifts: Floats) -> float:
    """Logarithm of the Laplace evidence of a mode, up to a constant; minus infinity at a saddle, which is no mode."""
    try:
        return -target.value(point) - 0.5 * laplace_at(target, point, shifts).log_determinant
    except NotIdentifiedError:
        return -math.inf


def _is_flat(target: Objective) -> bool:
    """Whether nothing holds the scale of theta against that of r."""
    return math.isinf(target.strength_sd) and math.isinf(target.own[0].sd)


def _far_apart(theta: Floats) -> bool:
    """Whether the annotators differ so much that their mean is within four standard errors of zero."""
    return len(theta) > 1 and abs(theta.mean()) < 4 * theta.std(ddof=1) / math.sqrt(len(theta))


def _attempts(target: Objective, starts: list[Point], gauge: Gauge) -> list[Optimum]:
    """Optima from further starts; one that leads nowhere is no loss."""
    found = [minimise(target, start, gauge) for start in starts]
    return [optimum for optimum in found if optimum.converged]


def _turned(point: Point, sign: float) -> Point:
    """Return the same point or its mirror image, theta shifted to mean 1."""
    own = point.own.copy()
    own[:, 0] = 1 + sign * (own[:, 0] - own[:, 0].mean())
    return Point(sign * point.strength, point.common, own)


def _random_starts(start: Point) -> list[Point]:
    """Return starts away from the first one, the same every time."""
    rng = np.random.default_rng(0)
    starts = []
    for _ in range(RANDOM_STARTS):
        own = start.own.copy()
        own[:, 0] = rng.normal(size=len(own))
        strength = rng.normal(size=len(start.strength))
        starts.append(Point(strength - strength.mean(), start.common, own))
    return starts


def _fixed_mode(cells: Cells, model: Model, prior: Prior, shifts: Floats) -> Point:
    """Return the mode of a model with theta = 1: where a model with free theta starts."""
    target = objective(cells, model, prior)
    gauge = Gauge(shifts, free_scale=False, held=np.ones(len(target.own), dtype=bool))
    return minimise(target, target.start(), gauge).point


def _indicators(labels: Ints) -> Floats:
    """Orthonormal indicator vectors of components, shape (n, c)."""
    indicator = (labels[:, None] == np.unique(labels)).astype(float)
    return np.asarray(indicator / np.sqrt(indicator.sum(axis=0)))


def _normalise(point: Point, shifts: Floats) -> Point:
    """Scale to mean theta = 1 and shift to sum r = 0, which changes no prediction."""
    theta = point.own[:, 0]
    mean = float(theta.mean())
    if abs(mean) < 1e-6 * np.abs(theta).mean():
        raise NotIdentifiedError(
            "The annotators' discriminations sum to zero: as many contradict the ranking as support it, so neither "
            "its direction nor its scale is determined. Use model='m-elo', or look at the annotators first."
        )
    strength = point.strength * mean
    own = point.own.copy()
    own[:, 0] /= mean
    return Point(strength - shifts @ (shifts.T @ strength), point.common, own)
