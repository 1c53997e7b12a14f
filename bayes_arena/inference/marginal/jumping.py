"""A jump from several sweeps, where they approach the fixed point slowly.

A sweep takes x = (m, ln sigma, S) to g(x). With residuals r_j = g(x_j) - x_j, of the last few sweeps, in standard
deviations, the next x is the combination of their ends that would leave the least of them if r were linear in x:

    x = sum_j c_j g(x_j),      c = argmin |sum_j c_j r_j|  with  sum_j c_j = 1                      (Anderson, 1965)

The residual of a variance is that of its logarithm over sqrt(2), so that all are of the same size in the divergence of
Gaussians. What an annotator's own numbers still move by is left out: there are too many of them.

Sources: Anderson, D. G. (1965), "Iterative procedures for nonlinear integral equations", Journal of the ACM 12. Walker,
H. F. & Ni, P. (2011), "Anderson acceleration for fixed-point iterations", SIAM Journal on Numerical Analysis 49.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bayes_arena.arrays import Floats
from bayes_arena.likelihood.covariances import AnyCovariances, SliceCovariances, mixed
from bayes_arena.likelihood.point import Point

MOST = 6
"""Sweeps that are combined."""
SLOW = 0.35
"""Share of the residual before that is left where a jump pays."""
LONGEST, ALONE = 8.0, 30.0
"""Largest sum of the absolute weights of a combination, with slices and without. Where sweeps leave .93 of the residual
it is nearly 30."""
WIDEST = math.log(2)
"""Largest change of the logarithm of a variance in a jump: beside a saddle the precision is nearly singular."""


@dataclass(frozen=True, eq=False)
class End:
    """Where a sweep leads: m, ln sigma and S, and how far that is."""

    point: Point
    log_spreads: Floats
    around: AnyCovariances
    residual: Floats


def residual(moves: Sequence[Floats], here: AnyCovariances, there: AnyCovariances) -> Floats:
    """Return what a sweep moves, in standard deviations: numbers and spreads, given so, and variances."""
    return np.concatenate([*moves, np.log(there.variances / here.variances) / np.sqrt(2)])


def jump(ends: Sequence[End], here: AnyCovariances) -> tuple[Point, Floats, AnyCovariances] | None:
    """Return the combination of ends, as m, ln sigma and S; None where sweeps are fast, or it would be too far."""
    residuals = np.array([end.residual for end in ends])
    left = (residuals[-2:] ** 2).sum(axis=1)
    if len(ends) < 2 or left[1] <= SLOW**2 * left[0]:
        return None
    steps = np.linalg.lstsq(np.diff(residuals, axis=0).T, residuals[-1], rcond=1e-6)[0]
    weights = np.append(np.zeros(len(steps)), 1.0) + np.append(steps, 0.0) - np.append(0.0, steps)
    if np.abs(weights).sum() > (LONGEST if isinstance(here, SliceCovariances) else ALONE):
        return None
    around = mixed([end.around for end in ends], weights)
    if min(around.variances.min(), _own(around).min(initial=np.inf)) <= 0:
        return None
    before, after = (np.append(one.variances, _own(one).max(axis=0, initial=1e-300)) for one in (here, around))
    if np.abs(np.log(after / before)).max() > WIDEST:
        return None
    parts = [(end.point.strength, end.point.common, end.point.own, end.point.slices, end.log_spreads) for end in ends]
    *numbers, log_spreads = [np.tensordot(weights, np.array(part), axes=1) for part in zip(*parts, strict=True)]
    return Point(*numbers), log_spreads, around


def _own(around: AnyCovariances) -> Floats:
    """Return the variances of the annotators' own numbers, shape (M, q)."""
    return np.asarray(around.own.diagonal(axis1=1, axis2=2))
