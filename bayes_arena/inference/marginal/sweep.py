"""A sweep: the average over a Gaussian, and the Gaussian nearest to the posterior that follows from it.

The Gaussian N(m, S) with the least divergence from the posterior, KL(N || posterior), is where

    E[dU] = 0,      S^-1 = E[d2U],            expectations over N(m, S), U the negative log-posterior

(Opper & Archambeau, 2009). A row of votes enters through its coordinates alone, over which its loss is averaged
(:mod:`bayes_arena.likelihood.averaging`). The Hessian is taken without residuals, whose mean under the model is zero,
so that at fixed spreads and without width it is the Laplace approximation.

Let M_p parameters (less one where their sum is held) have spread sigma_p, with the hyperprior sigma_p / s_p ~ chi(d_p)
as a density of ln sigma_p. Where E[-U] + ln |S| / 2 plus the log hyperpriors is largest,

    f_p = (|m_p - mu_p|^2 + tr S_pp) / sigma_p^2 - M_p + d_p - sigma_p^2 / s_p^2 = 0                    (MacKay, 1992)

since there the terms in m and S do not change with the spreads to first order. With b_p = 2 (m_p - mu_p) / sigma_p^2,
the derivatives of dU by -ln sigma_p, m moves by S b_p and S_pq by 2 S_pq S_qp / sigma_q^2. So the slope of -f is

    J_pp = 2 (|m_p - mu_p|^2 + tr S_pp) / sigma_p^2 + 2 sigma_p^2 / s_p^2 - b_p' S b_p - 2 |S_pp|^2 / sigma_p^4
    J_pq = -b_p' S b_q - 2 |S_pq|^2 / (sigma_p sigma_q)^2                                               (Louis, 1982)

A sweep takes a Newton step in m and ln sigma together, with f and J evaluated where m moves to, and unavailable blocks
S_pq taken as zero. Where sigma is small, f is near sigma^2 (a - b sigma^2), and Newton's step for f / sigma^2, linear
in sigma^2, converges faster: a negative 2 f_p is added to J_pp, at most half of it.

Sources: Opper, M. & Archambeau, C. (2009), "The variational Gaussian approximation revisited", Neural Computation 21.
MacKay, D. J. C. (1992), "Bayesian interpolation", Neural Computation 4. Louis, T. A. (1982), "Finding the observed
information matrix when using the EM algorithm", JRSS B 44. Hutchinson, M. F. (1990), "A stochastic estimator of the
trace of the influence matrix for Laplacian smoothing splines", Communications in Statistics 19.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import cast

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from bayes_arena.algebra.factorising import AnyFactor, factorise
from bayes_arena.arrays import Floats
from bayes_arena.errors import ConvergenceError
from bayes_arena.inference.mode.newton import Gauge
from bayes_arena.likelihood.covariances import AnyCovariances, covariances
from bayes_arena.likelihood.derivatives import value_and_derivatives
from bayes_arena.likelihood.objective import Objective
from bayes_arena.likelihood.point import Point
from bayes_arena.likelihood.priors import Prior, Spreads, degrees

SMALLEST, AT_BOUND = 0.01, 1.01
"""Least spread, at which one that the votes turn off ends; up to so many times as much counts as the least."""
LONGEST_CHANGE, FURTHEST = 0.6, 1.5
"""Largest moves in a sweep: of the logarithm of a spread, and of an annotator's parameter."""
FLATTEST = 1.0
"""Least curvature in the logarithms of the spreads that a step uses: about that of a hyperprior alone."""
SIGNS = 8
"""Random vectors by which the overlap of the steps of a walk is estimated."""


@dataclass(frozen=True, eq=False)
class Sweep:
    """The Gaussian as a sweep found it.

    Attributes
    ----------
    target : Objective
        Under the spreads as they are.
    point : Point
        Its mean.
    factor : Factor or ChainFactor
        Of its precision.
    around : Covariances or SliceCovariances
        Its covariances in the form that rows of votes need.
    value : float
        Its free energy E[U] - ln |S| / 2 - p ln(2 pi e) / 2 over p parameters, less the log hyperpriors, in nats.
    gradient : float
        Largest coordinate of E[dU], per vote.
    slope, by_spreads, moves : ndarray, shape (P,), (P, P) and (h, P)
        f and J of the module docstring, and the head of S b_p, all evaluated where m has moved.
    count : int
        Sweeps so far.
    unsettled : float
        Largest step that was left, in standard deviations, where the search went round in circles; 0 if it converged.
    """

    target: Objective
    point: Point
    factor: AnyFactor
    around: AnyCovariances
    value: float
    gradient: float
    slope: Floats
    by_spreads: Floats
    moves: Floats
    count: int
    unsettled: float = 0.0


def swept(
    target: Objective, prior: Prior, gauge: Gauge, point: Point, around: AnyCovariances | None, count: int
) -> tuple[Sweep, Floats, Floats]:
    """Average over the current Gaussian, and return the next one, the step at fixed spreads and S b_p.

    Steps come as head (h, 1 + P) and own (M, q, 1 + P), in the order of ``target.spreads``.

    Raises
    ------
    ConvergenceError
        If the votes have probability zero there, or the curvature is not positive definite.
    """
    try:
        value, gradient, factor, log_determinant = _factorised(target, gauge, point, around, made_convex=False)
    except np.linalg.LinAlgError:  # ties under Rao-Kupper are not convex
        try:
            value, gradient, factor, log_determinant = _factorised(target, gauge, point, around, made_convex=True)
        except np.linalg.LinAlgError as error:
            raise ConvergenceError(
                f"The posterior's curvature is not positive definite at the spreads {target.spread_values}. Start from "
                f"narrower ones, or {remedy(target)}"
            ) from error
    n, spreads, units = target.n_competitors, target.spread_values, target.units
    step, by_own = factor.solve(-gradient.head[:, None], -gradient.own[..., None])
    there = point.moved(step[:, 0], np.clip(by_own[..., 0], -FURTHEST / units, FURTHEST / units))
    deviations = (there.own - [effect.mean for effect in target.own]) * units
    head, own = np.zeros((len(point.head), len(spreads))), np.zeros((*point.own.shape, len(spreads)))
    head[:n, 0] = 2 * there.strength / spreads[0] ** 2
    for p in range(len(target.own)):
        own[:, p, p + 1] = 2 * deviations[:, p] * units[p] / spreads[p + 1] ** 2
    by_step = target.steps_between(there.slices)
    for p, part in enumerate(_parts(target), 1 + len(target.own)):
        of_part = np.zeros(len(by_step))
        of_part[part] = 2 * by_step[part] / spreads[p] ** 2
        head[len(head) - len(by_step) :, p] = target.numbering.steps.back(of_part)
    moved, moved_own = factor.solve(head, own)
    bent = head.T @ moved + np.einsum("kqs,kqt->st", own, moved_own)
    del own
    around = covariances(target, factor)
    squares, variance = moments(target, there, around)
    scales, freedom = _hyperpriors(target, prior)
    by_spreads = np.diag(2 * (squares + variance) / spreads**2 + 2 * spreads**2 / scales**2) - bent
    by_spreads -= 2 * _overlaps(target, around, factor) / np.outer(spreads, spreads) ** 2
    powers = sizes_of(target) - freedom
    free = value + 0.5 * float(np.sum(variance / spreads**2)) + 0.5 * log_determinant
    free += float(powers @ np.log(spreads) + 0.5 * np.sum((spreads / scales) ** 2)) + _constants(target, scales)
    of_common, sds = around.variances[n : n + len(target.common)], np.array([effect.sd for effect in target.common])
    free += float(np.sum(0.5 * of_common / sds**2 + np.log(sds)))
    by_common = gradient.common / [effect.unit for effect in target.common]
    pulls = (gradient.strength, by_common, gradient.slices, (gradient.own / units).ravel())
    largest = float(np.abs(np.concatenate(pulls)).max()) / max(target.n_votes, 1.0)
    slope = (squares + variance) / spreads**2 - sizes_of(target) + freedom - spreads**2 / scales**2
    sweep = Sweep(target, point, factor, around, free, largest, slope, by_spreads, moved, count)
    return sweep, np.append(step, moved, axis=1), np.append(by_own, moved_own, axis=2)


def _factorised(
    target: Objective, gauge: Gauge, point: Point, around: AnyCovariances | None, *, made_convex: bool
) -> tuple[float, Point, AnyFactor, float]:
    """Return E[U] but for the prior's share, E[dU] on the plane of the constraints, and E[d2U] factorised.

    Last is the logarithm of its determinant on the plane.

    Raises
    ------
    numpy.linalg.LinAlgError
        If that is not positive definite, or the votes have probability zero.
    """
    value, gradient, hessian = value_and_derivatives(
        target, point, residuals=False, around=around, made_convex=made_convex
    )
    if not math.isfinite(value):
        raise np.linalg.LinAlgError
    factor = factorise(hessian, extra=gauge.extra(point, hessian), held=gauge.held)
    off_plane = gauge.shifts.shape[1] * math.log(gauge.shift_size(hessian) + target.strength_sd**-2)
    sums = [max(target.n_annotators, 1)] * len(target.own) + [part.stop - part.start for part in gauge.slices]
    log_determinant = factor.log_determinant() - off_plane - float(np.log(sums).sum())
    return value, gauge.on_plane(gradient), factor, log_determinant


def change_of_spreads(sweep: Sweep, estimated: NDArray[np.bool_]) -> Floats:
    """Return the Newton step of the logarithms of the spreads, shape (P,), after the move of m."""
    slope = sweep.slope
    moving = np.flatnonzero(estimated & ((sweep.target.spread_values > AT_BOUND * SMALLEST) | (slope > 0)))
    change = np.zeros(len(slope))
    if len(moving):
        curved = sweep.by_spreads[np.ix_(moving, moving)]
        less = 2 * np.clip(slope[moving], -0.25 * np.maximum(np.diag(curved), 0.0), 0.0)
        values, vectors = np.linalg.eigh(curved + np.diag(less))
        size = np.maximum(np.abs(values), FLATTEST)
        change[moving] = vectors @ ((vectors.T @ slope[moving]) / size)
    return np.asarray(change * min(1.0, LONGEST_CHANGE / max(float(np.abs(change).max()), 1e-12)))


def free_energy(found: Sweep, prior: Prior) -> float:
    """Return the free energy with the spreads integrated out, and with directions of either sign counted together."""
    estimated = np.flatnonzero([prior.estimates(name) for name in found.target.spreads])
    curved = np.linalg.eigvalsh(found.by_spreads[np.ix_(estimated, estimated)])
    of_spreads = 0.5 * float(np.sum(np.log(np.maximum(curved, FLATTEST) / (2 * math.pi))))
    return found.value + of_spreads - found.target.predictor.dimensions * math.log(2)


def _constants(target: Objective, scales: Floats) -> float:
    """Return the part of the free energy that depends on shapes and hyperpriors alone."""
    freedom = np.array([degrees(name) for name in target.spreads], dtype=float)
    of_hyperpriors = freedom * np.log(scales) + (freedom / 2 - 1) * math.log(2) + gammaln(freedom / 2)
    estimated = np.array([bool(name) for name in target.spreads])
    return float(of_hyperpriors[estimated].sum()) - 0.5 * float(sizes_of(target).sum() + len(target.common))


def _hyperpriors(target: Objective, prior: Prior) -> tuple[Floats, Floats]:
    """Return the scales and the degrees of freedom of the spreads' hyperpriors, each (P,)."""
    scales = [cast(Spreads, prior.hyper).spread(name) for name in target.spreads]
    return np.array(scales), np.array([degrees(name) for name in target.spreads], dtype=float)


def sizes_of(target: Objective) -> Floats:
    """Return how many parameters have each spread, less one where their sum is held, shape (P,)."""
    held = [target.n_competitors, *[target.n_annotators] * len(target.own)]
    slices = zip(target.slices, _parts(target), strict=True)
    free = [part.stop - part.start - effect.is_held for effect, part in slices]
    return np.array([*(size - 1 for size in held), *free], dtype=float)


def moments(target: Objective, point: Point, around: AnyCovariances) -> tuple[Floats, Floats]:
    """Return, for every spread, the sums of squared means and of variances of its parameters, each (P,)."""
    deviations = (point.own - [effect.mean for effect in target.own]) * target.units
    steps = target.steps_between(point.slices)
    slices = [(steps[part], _of_slices(target, around)[part]) for part in _parts(target)]
    squares = [point.strength @ point.strength, *(deviations**2).sum(axis=0), *(one @ one for one, _ in slices)]
    own = np.einsum("kqq->q", around.own) * target.units**2
    return np.array(squares), np.array([np.trace(around.of_strengths), *own, *(one.sum() for _, one in slices)])


def _of_slices(target: Objective, around: AnyCovariances) -> Floats:
    """Return the variances of the parameters of slices, or of their steps."""
    return around.variances[target.n_competitors + len(target.common) :]


def _overlaps(target: Objective, around: AnyCovariances, factor: AnyFactor) -> Floats:
    """Return |S_pq|^2 for spreads p and q, shape (P, P); zero where a block of S is unavailable.

    Of the numbers of slices S is taken as diagonal; but the steps of a walk depend on each other far too much for that,
    and |S z|^2, of mean |S|^2 over random signs z, takes one solution a sign (Hutchinson, 1990).
    """
    parts, q = _parts(target), len(target.own)
    found = np.zeros((1 + q + len(parts),) * 2)
    found[0, 0] = np.sum(around.of_strengths**2)
    found[1 : 1 + q, 1 : 1 + q] = np.einsum("kpq,kpq->pq", around.own, around.own) * np.outer(*[target.units] * 2) ** 2
    for p, part in enumerate(parts, 1 + q):
        found[p, p] = np.sum(_of_slices(target, around)[part] ** 2)
        if target.slices[p - 1 - q].walks:
            found[p, p] = _overlap_of_steps(target, factor, part)
    return found


def _overlap_of_steps(target: Objective, factor: AnyFactor, part: slice) -> float:
    """Estimate the sum of the squared covariances of the steps of a walk, by random signs."""
    numbering = target.numbering
    signs = np.zeros((SIGNS, numbering.n_slices))
    signs[:, part] = np.where(np.random.default_rng(0).random((SIGNS, part.stop - part.start)) < 0.5, -1.0, 1.0)
    right = np.zeros((numbering.n_head, SIGNS))
    first = numbering.n_head - numbering.n_slices
    right[first:] = numbering.steps.back(signs).T
    head, _ = factor.solve(right, np.zeros((target.n_annotators, len(target.own), SIGNS)))
    return float(np.sum(numbering.steps.between(head[first:].T)[:, part] ** 2)) / SIGNS


def _parts(target: Objective) -> list[slice]:
    """Return the place of every kind of slice among the parameters of slices."""
    return list(target.numbering.parts)


def remedy(target: Objective) -> str:
    """Return what to do where a model is not found."""
    if target.predictor.dimensions:
        return "use method='nuts', or fewer directions (dimensions=0)."
    return (
        "use method='nuts', or leave slices out (answers=False, or a Model without them)."
        if target.slices
        else "fix the spreads with a Prior whose hyper is None, or use method='map'."
    )
