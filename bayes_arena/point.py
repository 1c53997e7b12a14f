"""The posterior mode, which under a flat prior is the paper's maximum-likelihood estimate.

Models with theta = 1 are concave (Rao-Kupper nearly so) and start from the prior means. Where theta is free the start
is the mode of the same model with theta = 1. Under a flat prior theta then runs **free**, and is divided by its mean
afterwards (r multiplied by it): holding the mean inside the objective puts a wall between the two halves of the space
and hides the better optimum. Under a Gaussian prior the mean is held at 1, as the prior says, and the free optimum
serves as a second start whenever some theta is small or negative.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from bayes_arena.cells import Cells, Floats, Ints
from bayes_arena.checks import components
from bayes_arena.errors import NotIdentifiedError, NoVotesError
from bayes_arena.identification import at_infinity, disconnected, unsettled_direction
from bayes_arena.laplace import Laplace, laplace_at
from bayes_arena.likelihood import Objective, Point, objective
from bayes_arena.newton import Gauge, Optimum, minimise
from bayes_arena.priors import Prior
from bayes_arena.specification import Model

DOUBTFUL = 0.5
"""An annotator with less discrimination than this may stand for a second optimum: the free one is tried too."""
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
    open_questions, at_infinity : tuple of str
        What the votes leave open, and what has no finite estimate.
    """

    target: Objective
    point: Point
    laplace: Laplace
    gradient: float
    iterations: int
    open_questions: tuple[str, ...]
    at_infinity: tuple[str, ...]


def find_mode(cells: Cells, model: Model, prior: Prior, start: Point | None = None) -> Mode:
    """Find the posterior mode.

    Parameters
    ----------
    cells : Cells
        Votes.
    model : Model
    prior : Prior
        Its spreads are used as they are.
    start : Point, optional
        The mode of the same model under a similar Gaussian prior, to go on from; no other start is tried then.

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
        If the votes do not determine the parameters.
    """
    if cells.n_competitors < 2:
        raise NoVotesError("Rating takes at least two competitors.")
    target = objective(cells, model, prior)
    if not target.n_votes:
        raise NoVotesError(f"Every vote is one that the model leaves out (ties={model.ties!r}).")
    labels = components(cells)
    shifts = _indicators(labels if math.isinf(prior.strength) else np.zeros_like(labels))
    optimum, point, unshrunk = _search(target, cells, model, prior, shifts, start)
    infinite = at_infinity(target, point, cells, model) if prior.is_flat else []
    messages = disconnected(labels, prior)
    if not infinite:
        messages += unsettled_direction(unshrunk)
    laplace = laplace_at(target, point, shifts)
    if laplace.singular and not infinite:
        raise NotIdentifiedError(
            "The votes do not determine the parameters: other values fit exactly as well, with another ranking "
            "(for instance when annotators hardly share a pair). Use a prior (prior='default') or model='m-elo'."
        )
    return Mode(
        target, point, laplace, optimum.gradient, optimum.iterations, open_questions=tuple(messages),
        at_infinity=tuple(infinite),
    )  # fmt: skip


def _search(
    target: Objective, cells: Cells, model: Model, prior: Prior, shifts: Floats, start: Point | None
) -> tuple[Optimum, Point, Floats]:
    """Return the best optimum found, its normalised point, and discriminations that no prior shrinks.

    The last serve to judge the direction of the ranking; they are empty where it is not in question.
    """
    nothing = np.zeros(0)
    held = Gauge(shifts, free_scale=False, held=np.ones(len(target.own), dtype=bool))
    if not target.free_discrimination:
        best = minimise(target, start or target.start(), held)
        return best, best.point, nothing
    if start is not None:
        best = minimise(target, start, held)
        return best, best.point, nothing
    concave = _fixed_mode(cells, replace(model, discrimination="fixed"), prior, shifts)
    own = target.start().own
    own[:, 1:] = concave.own if len(concave.own) else 0.0
    start = Point(concave.strength, concave.common, own)
    theta_free = held.held.copy()
    theta_free[0] = False
    if math.isinf(target.strength_sd) and math.isinf(target.own[0].sd):
        best = minimise(target, start, Gauge(shifts, free_scale=True, held=theta_free))
        return best, _normalise(best.point, shifts), best.point.own[:, 0]
    best = minimise(target, start, held)
    if best.point.own[:, 0].min() > DOUBTFUL:
        return best, best.point, nothing
    loose = replace(target.own[0], mean=0.0, sd=START_RIDGE)
    ridge = replace(target, strength_sd=START_RIDGE, own=(loose, *target.own[1:]))
    free = minimise(ridge, start, Gauge(shifts, free_scale=False, held=theta_free)).point
    theta = free.own[:, 0]
    if abs(theta.mean()) > 0.1 * np.abs(theta).mean():
        other = minimise(target, _normalise(free, shifts), held)
        best = min(best, other, key=lambda optimum: optimum.value)
    return best, best.point, theta


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
