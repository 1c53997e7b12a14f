"""Damped Newton with an arrow-shaped Hessian.

The likelihood does not change when all strengths shift (r + a) or, for free discriminations, when they are
rescaled (alpha r, theta / alpha). Along such directions the Hessian is singular; a rank-one term for each, added
to the head, picks one representative and leaves the optimum where it is. Where the Hessian is not positive
definite the head is damped until it is, so every step goes downhill; a point that is stationary but still not
positive definite is a saddle, and is left along its direction of negative curvature.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bayes_arena.arrow import Arrow, Factor, factorise
from bayes_arena.cells import Floats
from bayes_arena.errors import ConvergenceError
from bayes_arena.likelihood import Objective, Point

GRADIENT_PER_VOTE = 1e-8
DECREMENT = 1e-10
"""Half the squared Newton decrement at which the last step is taken: the next error is of its square."""
MAX_ITERATIONS = 500
PATIENCE = 100
"""Steps after which a vanishing gradient is enough: an optimum at infinity is approached ever more slowly."""
MAX_ESCAPES = 5


@dataclass(frozen=True, eq=False)
class Optimum:
    """Where Newton ended.

    Attributes
    ----------
    point : Point
        The parameters.
    value : float
        Objective at the point.
    gradient : float
        Largest coordinate of the gradient (on the constraint plane) per vote.
    iterations : int
        Newton steps taken.
    """

    point: Point
    value: float
    gradient: float
    iterations: int


@dataclass(frozen=True, eq=False)
class Gauge:
    """Directions the objective does not see, and the constraint.

    Attributes
    ----------
    shifts : ndarray, shape (n, c)
        Orthonormal directions in which strengths shift freely, one per connected component.
    free_scale : bool
        Whether (alpha r, theta / alpha) is equally good for every alpha.
    hold_sum : bool
        Whether the sum of the discriminations is held where it starts.
    """

    shifts: Floats
    free_scale: bool
    hold_sum: bool

    def extra(self, point: Point, arrow: Arrow) -> Floats:
        """Rank-one terms for the head of the Hessian, of the size of its diagonal."""
        size = max(float(np.diag(arrow.head).mean()), 1e-8)
        terms = self.shifts @ self.shifts.T
        norm = float(point.strength @ point.strength)
        if self.free_scale and norm > 0:
            terms = terms + np.outer(point.strength, point.strength) / norm
        return size * terms


def minimise(objective: Objective, start: Point, gauge: Gauge) -> Optimum:
    """Minimise the objective from a start, leaving saddle points on the way.

    Returns
    -------
    Optimum
        A local minimum with gradient below ``GRADIENT_PER_VOTE``.

    Raises
    ------
    ConvergenceError
        If the gradient does not vanish within ``MAX_ITERATIONS`` steps, or saddle follows saddle.
    """
    iterations = 0
    for _ in range(MAX_ESCAPES):
        optimum, arrow = _descend(objective, start, gauge)
        iterations += optimum.iterations
        try:
            factorise(arrow, extra=gauge.extra(optimum.point, arrow), hold_sum=gauge.hold_sum)
            return Optimum(optimum.point, optimum.value, optimum.gradient, iterations)
        except np.linalg.LinAlgError:
            start = _leave_saddle(objective, optimum.point, arrow, gauge)
    raise ConvergenceError(
        f"Every one of {MAX_ESCAPES} stationary points found was a saddle. "
        "The votes hardly inform the model: use a prior (prior='default') or model='bradley-terry'."
    )


def _descend(objective: Objective, point: Point, gauge: Gauge) -> tuple[Optimum, Arrow]:
    """Newton steps until the gradient vanishes; the Hessian returned is that of the last point."""
    n_votes = float(objective.tally.n.sum())
    value = objective.value(point)
    damping = 0.0
    for iteration in range(MAX_ITERATIONS):
        gradient, arrow = objective.gradient_and_hessian(point)
        gradient = _on_plane(gradient, gauge)
        extra = gauge.extra(point, arrow)
        factor, damping = _factorise_damped(arrow, extra, damping, gauge)
        step = Point(*factor.solve(-gradient.strength, -gradient.discrimination))
        slope = gradient.dot(step)
        sharp = -0.5 * slope < DECREMENT or iteration >= PATIENCE
        done = sharp and gradient.largest() < GRADIENT_PER_VOTE * n_votes
        length = 1.0 if done else _step_length(objective, point, step, value, slope)
        point = point.moved(step, length)
        value = objective.value(point)
        damping = damping / 10 if length == 1.0 else damping
        if done:
            gradient, arrow = objective.gradient_and_hessian(point)
            largest = _on_plane(gradient, gauge).largest() / n_votes
            return Optimum(point, value, largest, iteration + 1), arrow
    raise ConvergenceError(
        f"No convergence in {MAX_ITERATIONS} Newton steps: the largest gradient is "
        f"{gradient.largest() / n_votes:.1e} a vote (aim {GRADIENT_PER_VOTE:g}). "
        "Use a prior (prior='default'), or leave out annotators with few votes (delta)."
    )


def _on_plane(gradient: Point, gauge: Gauge) -> Point:
    tail = gradient.discrimination
    if gauge.hold_sum and len(tail):
        tail = tail - tail.mean()
    return Point(gradient.strength, tail)


def _factorise_damped(arrow: Arrow, extra: Floats, damping: float, gauge: Gauge) -> tuple[Factor, float]:
    """Factorise with the least damping (of those tried) that makes the Hessian positive definite."""
    diagonal = np.diag(arrow.head).mean() + 1e-8
    damping = 0.0 if damping < 1e-6 * diagonal else damping
    while True:
        try:
            damped = extra + damping * np.eye(len(arrow.head))
            return factorise(arrow, extra=damped, hold_sum=gauge.hold_sum), damping
        except np.linalg.LinAlgError:
            damping = max(4 * damping, 1e-3 * diagonal)


def _step_length(objective: Objective, point: Point, step: Point, value: float, slope: float) -> float:
    """Halve the step until the objective falls (Armijo), within rounding."""
    rounding = 1e-13 * max(abs(value), 1.0)
    length = 1.0
    while length > 1e-10:
        if objective.value(point.moved(step, length)) <= value + 1e-4 * length * slope + rounding:
            return length
        length /= 2
    raise ConvergenceError(
        "The line search found no lower point. Use a prior (prior='default'), or check extreme vote weights."
    )


def _leave_saddle(objective: Objective, point: Point, arrow: Arrow, gauge: Gauge) -> Point:
    """Move along the direction of most negative curvature, to the lower side."""
    inverse_tail = 1 / np.maximum(arrow.tail, 1e-6)
    schur = arrow.head + gauge.extra(point, arrow) - (arrow.border * inverse_tail) @ arrow.border.T
    direction = np.linalg.eigh(schur)[1][:, 0]
    direction = direction * (0.5 / np.abs(direction).max())
    pulls = arrow.border.T @ direction
    swing = -pulls / max(np.abs(pulls).max(initial=0.0), 1e-12)
    candidates = [
        point.moved(Point(sign * direction, sign * swing - (sign * swing).mean() if gauge.hold_sum else sign * swing))
        for sign in (1.0, -1.0)
    ]
    return min(candidates, key=objective.value)
