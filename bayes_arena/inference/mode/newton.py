"""Damped Newton.

The likelihood does not change when all strengths shift (r + a) or, for free discriminations, when they are rescaled
(alpha r, theta / alpha). Along such directions the Hessian is singular; a rank-one term for each, added to the head,
picks one representative and leaves the optimum where it is. Where the Hessian is not positive definite the head is
damped until it is, so every step goes downhill; a point that is stationary but still not positive definite is a saddle,
and is left along its direction of negative curvature. Where only the prior determines the scale, a step would have to
follow it along a curve: every step ends at the best scale instead.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Self

import numpy as np

from bayes_arena.algebra.bordered import Bordered
from bayes_arena.algebra.factorising import AnyFactor, Hessian, factorise
from bayes_arena.algebra.sparse_hessian import SparseHessian
from bayes_arena.algebra.units import eliminated
from bayes_arena.arrays import Floats
from bayes_arena.likelihood.derivatives import bend, value_and_derivatives
from bayes_arena.likelihood.objective import Objective
from bayes_arena.likelihood.point import Point

GRADIENT_PER_VOTE = 1e-8
DECREMENT = 1e-10
"""Half the squared Newton decrement at which the last step is taken: the error after it is of the order of its
square."""
STALLS = 0.25
"""With so many votes that the objective shows no smaller gain, whole steps go on until the decrement, which the
gradient gives more exactly, no longer falls below this share of the last one."""
MAX_ITERATIONS = 500
PATIENCE = 100
"""Steps after which a vanishing gradient is enough: an optimum at infinity is approached ever more slowly."""
MAX_ESCAPES = 5
REMAINDER = 10.0
"""Squared decrements by which a descent may still fall, with a margin: 1/2 to an optimum, 2 to infinity along
f = c + 1 / x."""
MAX_DAMPING = 1e12
"""Relative to the Hessian's diagonal; what this leaves indefinite is not finite."""
ROUNDING = 1e-13
"""Accuracy of the objective, in nats per vote: a smaller gain of a step cannot be seen."""
MAX_CREEPS = 10
"""Steps in a row, all cut short, that rounding lets pass although the objective does not fall: it will not any more."""
STRAIGHT = 10
"""Steps that are taken straight; a mode farther away lies along a curved valley, which steps then follow."""
LONGEST_BEND = 0.75
"""Length of a step's curved part, relative to the straight one, beyond which it is not trusted."""

Curvature = tuple[Hessian, AnyFactor]
Reached = tuple[float, Point, Hessian]
"""Value, gradient and Hessian somewhere."""
Path = Callable[[float], Point]
"""The point that a step of some length, 1 for the whole step, leads to."""
HUGE = 20.0
"""A log-odds this large would take hundreds of millions of votes to see; without a maximum Newton stops beyond it."""


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
        Largest coordinate of the gradient (on the constraint plane) per vote, or in total if there is less than one.
    iterations : int
        Newton steps taken.
    converged : bool
        False where the gradient did not vanish: Newton was still on its way, perhaps to infinity.
    curvature : (Hessian, AnyFactor) or None
        The Hessian at the point, and its factor with the gauge; None where it is not positive definite.
    """

    point: Point
    value: float
    gradient: float
    iterations: int
    converged: bool = True
    curvature: Curvature | None = None


@dataclass(frozen=True, eq=False)
class Gauge:
    """Directions that leave the objective unchanged, and the constraints.

    Attributes
    ----------
    shifts : ndarray, shape (n, c)
        Orthonormal directions in which strengths shift freely, one per connected component.
    free_scale : bool
        Whether (alpha r, theta / alpha) is equally good for every alpha.
    held : ndarray of bool, shape (q,)
        Columns of the annotators' parameters whose sum is held at its initial value.
    slices : tuple of slice
        Where parameters of slices are whose sum is held.
    """

    shifts: Floats
    free_scale: bool
    held: np.ndarray
    slices: tuple[slice, ...] = ()

    @classmethod
    def of_all(cls, shifts: Floats, objective: Objective) -> Self:
        """Return the gauge that holds the sums of the strengths and of every kind of annotators' parameters."""
        held = np.ones(len(objective.own), dtype=bool)
        return cls(shifts, free_scale=False, held=held, slices=tuple(objective.numbering.held))

    def extra(self, point: Point, hessian: Hessian) -> Floats:
        """Return rank-one terms for the strengths' block, of the size of its diagonal; for a sparse one their columns.

        They are of shape (n, n), or (n, k).
        """
        size, norm = self.shift_size(hessian), float(point.strength @ point.strength)
        scale = point.strength if self.free_scale and norm > 0 else None
        if isinstance(hessian.left if isinstance(hessian, Bordered) else hessian, SparseHessian):
            columns = self.shifts if scale is None else np.column_stack([self.shifts, scale / math.sqrt(norm)])
            return math.sqrt(size) * columns
        terms = self._of_shifts
        if scale is not None:
            terms = terms + np.outer(scale, scale) / norm
        return np.asarray(size * terms)

    @cached_property
    def _of_shifts(self) -> Floats:
        return np.asarray(self.shifts @ self.shifts.T)

    def shift_size(self, hessian: Hessian) -> float:
        """Size of the rank-one terms."""
        return max(float(hessian.left_diagonal()[: len(self.shifts)].mean()), 1e-8)

    def on_plane(self, gradient: Point) -> Point:
        """Project a gradient to the plane of the constraints."""
        own, slices = gradient.own, gradient.slices.copy()
        for part in self.slices:
            slices[part] -= slices[part].mean()
        if self.held.any() and len(own):
            own = own - np.where(self.held, own.mean(axis=0), 0.0)
        return replace(gradient, own=own, slices=slices)


def minimise(objective: Objective, start: Point, gauge: Gauge, to_beat: float = math.inf, near: float = 0.0) -> Optimum:
    """Minimise the objective from a start, escaping saddle points on the way.

    A start that cannot be expected to lead below ``to_beat`` is given up, and not converged. With ``near`` the search
    ends, as if it had converged, where a step would gain less than that, in nats.

    Returns
    -------
    Optimum
        A local minimum with gradient below ``GRADIENT_PER_VOTE``; or, marked as not converged, a point from which
        ``MAX_ITERATIONS`` steps were not enough, as happens where the optimum lies at infinity.
    """
    iterations = 0
    for _ in range(MAX_ESCAPES):
        optimum, hessian = _descend(objective, start, gauge, to_beat, near)
        iterations += optimum.iterations
        optimum = replace(optimum, iterations=iterations)
        try:
            factor = factorise(hessian, extra=gauge.extra(optimum.point, hessian), held=gauge.held)
            return replace(optimum, curvature=(hessian, factor))
        except np.linalg.LinAlgError:
            if not optimum.converged or runs_to_infinity(objective, optimum.point):
                return replace(optimum, converged=False)
            if objective.slices or not isinstance(hessian, Bordered):
                return replace(optimum, converged=False)
            start = _leave_saddle(objective, optimum.point, hessian, gauge)
    return optimum  # no saddle but a direction without information, which the Laplace approximation will name


def runs_to_infinity(objective: Objective, point: Point) -> bool:
    """Whether some log-odds is beyond what any number of votes could show."""
    return bool(np.abs(objective.coordinates(point)).max(initial=0.0) > HUGE)


def _descend(objective: Objective, point: Point, gauge: Gauge, to_beat: float, near: float) -> tuple[Optimum, Hessian]:
    """Take Newton steps until the gradient vanishes; the Hessian returned is that of the last point."""
    n_votes = max(objective.n_votes, 1.0)
    point = objective.at_best_scale(point)
    value, gradient, hessian = value_and_derivatives(objective, point)
    damping, before, crept = 0.0, math.inf, 0
    for iteration in range(MAX_ITERATIONS):
        gradient = gauge.on_plane(gradient)
        factor, damping = factorise_damped(hessian, gauge.extra(point, hessian), damping, gauge)
        if factor is None:
            break
        head, own = factor.solve(-gradient.head, -gradient.own)
        slope = float(gradient.head @ head + np.sum(gradient.own * own))
        if not damping and value + REMAINDER * slope > to_beat:
            break
        rounding = ROUNDING * max(abs(value), n_votes)
        decrement = -0.5 * slope
        sharp = decrement < max(DECREMENT, 0.1 * rounding)
        flat = _largest(gradient) < GRADIENT_PER_VOTE * n_votes
        impatient = flat and not sharp and iteration >= PATIENCE and not objective.is_proper
        if impatient or (near and decrement < near and not damping):
            return Optimum(point, value, _largest(gradient) / n_votes, iteration), hessian
        settled = flat and sharp
        done = settled and (decrement < DECREMENT or decrement > STALLS * before)
        path: Path = partial(point.moved, head, own)
        if iteration >= STRAIGHT and objective.free_discrimination and not (settled or objective.slices):
            path = _bent(objective, point, factor, gauge, head, own)
        path = _at_best_scale(objective, path)
        length, reached = _step(objective, path, value, slope, rounding, whole=settled)
        if reached is None:
            break
        crept = crept + 1 if length < 1.0 and reached[0] >= value else 0
        if crept > MAX_CREEPS:
            break
        point, (value, gradient, hessian) = path(length), reached
        damping = damping / 10 if length == 1.0 else damping
        before = decrement if settled else math.inf
        if done:
            largest = _largest(gauge.on_plane(gradient)) / n_votes
            return Optimum(point, value, largest, iteration + 1), hessian
    largest = _largest(gauge.on_plane(gradient)) / n_votes
    return Optimum(point, value, largest, iteration + 1, converged=False), hessian


def _largest(gradient: Point) -> float:
    return float(max(np.abs(gradient.head).max(), np.abs(gradient.own).max(initial=0.0)))


def factorise_damped(hessian: Hessian, extra: Floats, damping: float, gauge: Gauge) -> tuple[AnyFactor | None, float]:
    """Factorise with the least damping (of those tried) that makes the Hessian positive definite; None if none does."""
    size = float(np.abs(hessian.left_diagonal()).mean()) + 1e-8
    damping = 0.0 if damping < 1e-9 * size else damping
    while damping <= MAX_DAMPING * size:
        try:
            return factorise(hessian, extra=extra, held=gauge.held, damping=damping), damping
        except np.linalg.LinAlgError:
            damping = 4 * damping or 1e-3 * size
    return None, damping


def _bent(
    objective: Objective,
    point: Point,
    factor: AnyFactor,
    gauge: Gauge,
    head: Floats,
    own: Floats,
) -> Path:
    """Return the path of a step that follows a curved valley, such as theta_k (r_i - r_j) = constant.

    While the parameters move by t dx, eta moves by its derivative and by t^2 e, e = dtheta_k (dr_i - dr_j). The path
    t dx + t^2 a with H a = -J' W e, W the curvature of the rows, compensates for it (geodesic acceleration; Transtrum &
    Sethna, 2012, arXiv:1207.4999). Where a is not small beside dx the expansion does not hold: the path is straight.
    """
    pull = gauge.on_plane(bend(objective, point, head, own))
    bent_head, bent_own = factor.solve(-pull.head, -pull.own)
    if bent_head @ bent_head + np.sum(bent_own**2) > LONGEST_BEND**2 * (head @ head + np.sum(own**2)):
        return partial(point.moved, head, own)
    return lambda length: point.moved(head + length * bent_head, own + length * bent_own, length)


def _at_best_scale(objective: Objective, path: Path) -> Path:
    """Return the path along which the prior, not the next steps, sets the scale (alpha r, theta / alpha)."""
    return lambda length: objective.at_best_scale(path(length))


def _step(
    objective: Objective, path: Path, value: float, slope: float, rounding: float, *, whole: bool
) -> tuple[float, Reached | None]:
    """Halve the step until the objective falls (Armijo), within rounding; length 0 if it never does.

    Returns the length, and value, gradient and Hessian there. With ``whole``, the full step is taken in any case.
    """

    def falls(length: float, moved: float) -> bool:
        return whole or moved <= value + 1e-4 * length * slope + rounding

    with np.errstate(over="ignore", invalid="ignore"):  # a step too long may lead to infinity
        reached = value_and_derivatives(objective, path(1.0))  # nearly always far enough
    if falls(1.0, reached[0]):
        return 1.0, reached
    length = 0.5
    while length > 1e-10:
        if falls(length, objective.value(path(length))):
            return length, value_and_derivatives(objective, path(length))
        length /= 2
    return 0.0, None


def _leave_saddle(objective: Objective, point: Point, hessian: Bordered, gauge: Gauge) -> Point:
    """Move along the direction of most negative curvature, to the lower side."""
    blocks = hessian.own_blocks()
    sizes = np.linalg.eigvalsh(blocks)[:, 0] if blocks.size else np.zeros(len(blocks))
    lifted = blocks + (1e-6 - np.minimum(sizes, 0.0))[:, None, None] * np.eye(blocks.shape[2])
    hessian, n = replace(hessian, left=hessian.in_full()), len(point.strength)
    left = hessian.in_full()
    eliminated(hessian.units, hessian.shape, lifted.ravel(), hessian.across, np.zeros(0, dtype=np.int64), left)
    left[:n, :n] += gauge.extra(point, hessian)
    direction = np.linalg.eigh(left)[1][:, 0]
    direction = direction * (0.5 / np.abs(direction).max())
    pulls = (hessian.units.towards(hessian.across) @ direction).reshape(point.own.shape)
    swing = -pulls / max(np.abs(pulls).max(initial=0.0), 1e-12)
    if gauge.held.any() and len(swing):
        swing = swing - np.where(gauge.held, swing.mean(axis=0), 0.0)
    candidates = [point.moved(direction, swing, length) for length in (1.0, -1.0)]
    return min(candidates, key=objective.value)
