"""Profile-likelihood intervals for Bradley-Terry.

The interval of a contrast c'r is where the best loss under c'r = t exceeds the minimum by no more than half the
chi-squared quantile q of one degree of freedom. Its two ends solve, together,

    grad l(r) = lambda c,      2 (l(r) - l_min) = q,

which Newton's method finds in a handful of steps from the Laplace interval (Venzon & Moolgavkar, 1988). With a Gaussian
prior l is the penalised loss.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, cast

import numpy as np

from bayes_arena.algebra.factor import Factor
from bayes_arena.algebra.factorising import factorise
from bayes_arena.arrays import Floats
from bayes_arena.errors import ConvergenceError, ModelError
from bayes_arena.fits.result import Fit
from bayes_arena.inference.mode.laplace import Laplace
from bayes_arena.inference.mode.newton import Gauge
from bayes_arena.likelihood.derivatives import value_and_derivatives
from bayes_arena.likelihood.objective import Objective
from bayes_arena.likelihood.point import Point
from bayes_arena.markup import percent
from bayes_arena.ratings.intervals.contract import Interval, Quantity, Summary, half_width

MAX_ITERATIONS = 50
TOLERANCE = 1e-11
"""Largest acceptable residual gradient, per vote."""


@dataclass(frozen=True)
class Profile(Interval):
    """Intervals that end where the profile likelihood has fallen by half a chi-squared quantile.

    For models with only strengths (theta = 1). Tables of strengths, their differences and scores accept it; it has no
    draws. The standard deviations shown with it are those of ``"laplace"``.

    References
    ----------
    Venzon, D. J. & Moolgavkar, S. H. (1988), "A method for computing profile-likelihood-based confidence
    intervals", Applied Statistics 37.
    """

    name: ClassVar[str] = "profile"

    def summarise(self, fit: Fit, quantity: Quantity, level: float) -> Summary:
        """Summarise functions linear in the strengths; raise ConvergenceError if an end is not found."""
        if fit.samples is not None:
            raise ModelError("A sampled fit has quantile intervals, not 'profile'. Use method='map' for 'profile'.")
        target, shifts = fit.target, fit.laplace.shifts
        if target.effects:
            raise ModelError(
                f"Profile-likelihood intervals are for models with only strengths, not {fit.model.name!r}. "
                "Use 'laplace', or such a model (bradley-terry with answers=False, --answers off)."
            )
        by_strength = quantity.by_head[:]
        contrasts = by_strength - (by_strength @ shifts) @ shifts.T
        ends = [
            profile_interval(target, fit.strength, fit.laplace, contrast, level) if contrast.any() else (0.0, 0.0)
            for contrast in contrasts
        ]
        variance = fit.laplace.variance(quantity.by_head, quantity.by_own)
        return Summary(quantity.value, np.sqrt(np.maximum(variance, 0.0)), *np.array(ends).T)


def profile_interval(
    target: Objective, strength: Floats, laplace: Laplace, contrast: Floats, level: float
) -> tuple[float, float]:
    """Return the ends, in logits, of the profile-likelihood interval of a contrast (n,) with sum zero.

    ``strength`` is the minimum of the ``target``, of a model with theta = 1. An end at infinity is a ConvergenceError.
    """
    lower, upper = (_end(target, strength, laplace, contrast, level, side) for side in (-1.0, 1.0))
    return lower, upper


def _end(target: Objective, strength: Floats, laplace: Laplace, contrast: Floats, level: float, side: float) -> float:
    quantile = half_width(level) ** 2
    lowest = target.value(_point(strength))
    gauge = Gauge(laplace.shifts, free_scale=False, held=np.zeros(0, dtype=bool))
    direction = cast(Factor, laplace.factor).solve_left(contrast)
    multiplier = side * np.sqrt(quantile / (contrast @ direction))
    r = strength + multiplier * direction
    for _ in range(MAX_ITERATIONS):
        point = _point(r)
        value, gradient, hessian = value_and_derivatives(target, point)
        try:
            factor = factorise(hessian, extra=gauge.extra(point, hessian), held=gauge.held)
        except np.linalg.LinAlgError:
            break
        excess = 2 * (value - lowest) - quantile
        residual = gradient.strength - multiplier * contrast
        if np.abs(residual).max() < TOLERANCE * target.n_votes and abs(excess) < max(1e-8, 1e-12 * abs(lowest)):
            return float(contrast @ r)
        toward, back = cast(Factor, factor).solve_left(np.column_stack([contrast, residual])).T
        slope = gradient.strength @ toward
        change = (gradient.strength @ back - excess / 2) / slope if slope else 0.0
        step = change * toward - back
        if not step.any():  # the likelihood is flat out here
            break
        step *= min(1.0, 2.0 / np.abs(step).max())  # at most two logits at once
        r, multiplier = r + step, multiplier + change
    raise ConvergenceError(
        f"No {'upper' if side > 0 else 'lower'} end of a {percent(level, 'g')} profile-likelihood interval was found: "
        "it may lie at infinity. Use interval='laplace', or prior='default'."
    )


def _point(strength: Floats) -> Point:
    return Point(strength, np.zeros(0), np.zeros((0, 0)))
