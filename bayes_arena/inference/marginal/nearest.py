"""The Gaussian nearest to the posterior: models with slices, whose answers have few votes each.

With few votes an answer the posterior mode of everything together is far from the mean: every answer is pulled to what
its few votes happen to say, and strengths and spreads come out too small (Neyman & Scott, 1948). Here the posterior is
approximated by the Gaussian N(m, S) with the least divergence from it, KL(N || posterior), which is where

    E[dU] = 0,      S^-1 = E[d2U],            expectations over N(m, S), U the negative log-posterior

(Opper & Archambeau, 2009). A row of votes enters through its coordinates z alone. They are taken as Gaussian with mean
z(m) and covariance V = J S J', J their derivatives at m, and their loss is averaged by Gauss-Hermite quadrature in one
to three dimensions. J itself moves with m where theta is free, since eta has the product theta (q_i - q_j): with W the
averaged curvature, the gradient by theta and by the lead of a row gets sum_c W_eta,c cov(z_c, lead) and
sum_c W_eta,c cov(z_c, theta) besides. Newton steps in m alternate with V and with a fixed point for the spreads
(MacKay, 1992), each the maximum of E[-U] + ln |S| / 2 plus the log hyperprior, sigma_p / s_p ~ chi(d_p), as a density
of ln sigma_p:

    sigma_p^4 / s_p^2 + (gamma_p - d_p) sigma_p^2 - |m_p - mu_p|^2 = 0,     gamma_p = M_p - sum S_pp / sigma_p^2,

for the M_p numbers (less one where their sum is held) of hyperprior scale s_p. At the maximum over m and S nothing of
what depends on them moves with the spreads to first order, so these are all the terms there are. The fixed point is
approached geometrically, so a spread that goes on in one direction goes faster, and one that swings, as that of few
numbers can, halves its steps. Where two steps in m point against each other, as they do where V answers them, the next
is half as long, and W goes that part of the way only: of an outcome that is all but certain W and V swing, as a wider V
sees more of the curve, and so is narrower next.

The Hessian is taken without residuals, of mean zero under the model.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from itertools import product
from typing import cast

import numpy as np

from bayes_arena.arrays import Floats
from bayes_arena.errors import ConvergenceError
from bayes_arena.inference.mode.laplace import Laplace
from bayes_arena.inference.mode.mode import Mode, find_mode
from bayes_arena.inference.mode.newton import Gauge
from bayes_arena.likelihood.algebra.arrow import factorise
from bayes_arena.likelihood.algebra.derivatives import crossed_hessian
from bayes_arena.likelihood.algebra.factor import CrossedFactor
from bayes_arena.likelihood.objective import Objective
from bayes_arena.likelihood.outcomes.likelihood import ETA, RowTerms
from bayes_arena.likelihood.point import Point
from bayes_arena.likelihood.priors import Spreads, degrees
from bayes_arena.likelihood.problem import Problem

NODES = (7, 3, 3)
"""Gauss-Hermite nodes by coordinate."""
MAX_STEPS = 200
SETTLED, SETTLED_SPREAD = 1e-3, 2e-3
"""Largest change of a strength in logits, and of the logarithm of a spread, at the end."""
SMALLEST = 0.01
"""Least spread: one that the votes turn off ends here."""
LONGEST_STEP = 2.0
"""Largest move of a number in a step."""
LONGEST_CHANGE = 0.5
"""Largest change of the logarithm of a spread in a step."""
REVERSED = -0.5
"""Cosine of two steps below which they point against each other."""
FASTER, FASTEST, SLOWEST = 1.15, 2.0, 1e-4
"""By how much more than the fixed point says a spread changes, as long as it goes on in one direction; half as much
whenever it turns round, as where gamma_p is near one and the fixed point leaps from side to side."""
REMEDY = "Use method='nuts', or leave slices out (answers=False)."
NUDGE = 0.1
"""Change of ln sigma over which the slope of its density is taken."""
STEADY, FAR_BELOW = 0.1, 0.5
"""Relative change in a step, and share of what it is compared with, below which an uncertainty is found roughly: the
first steps find it too small, by a half where it changes by more."""


@dataclass(frozen=True, eq=False)
class Nearest:
    """The Gaussian nearest to a posterior.

    Attributes
    ----------
    target : Objective
        Under the spreads found.
    point : Point
        Its mean.
    factor : CrossedFactor
        Of its precision.
    gradient : float
        Largest coordinate of E[dU], per vote.
    steps : int
        Newton steps taken.
    """

    target: Objective
    point: Point
    factor: CrossedFactor
    gradient: float
    steps: int


def integrate_slices(problem: Problem) -> Mode:
    """Find the Gaussian nearest to the posterior, at spreads that are estimated.

    Parameters
    ----------
    problem : Problem
        Its model has slices, its prior the spreads to start from and their hyperpriors (``hyper`` is not None).

    Returns
    -------
    Mode
        Of the problem with the estimated spreads in its prior: the mean of the Gaussian, and its precision.

    Raises
    ------
    ConvergenceError
        If it is not found.
    TooLargeError
        If slices and annotators are too many to be solved for together.

    References
    ----------
    Opper, M. & Archambeau, C. (2009), "The variational Gaussian approximation revisited", Neural Computation 21.
    MacKay, D. J. C. (1992), "Bayesian interpolation", Neural Computation 4.
    """
    base = find_mode(replace(problem, model=problem.model.without_slices()))
    start = problem.objective.start()
    own = base.point.own if problem.objective.own else start.own  # of no width: annotators may have numbers of slices
    start = replace(start, strength=base.point.strength, common=base.point.common, own=own)
    found = nearest(problem, start)
    spreads = dict(zip(found.target.spreads, found.target.spread_values.tolist(), strict=True))
    return Mode(
        problem=replace(problem, prior=problem.prior.with_spreads(spreads)),
        point=found.point,
        laplace=Laplace(found.factor, problem.shifts, False, found.factor.log_determinant()),
        gradient=found.gradient,
        iterations=found.steps,
        mirror=None,
        open_questions=base.open_questions,
        at_infinity=(),
    )


def spread_uncertainty(mode: Mode, name: str, doubtful: float = 0.0) -> float:
    """Return the posterior standard deviation of the logarithm of a spread, the other spreads held.

    Parameters
    ----------
    mode : Mode
        By :func:`integrate_slices`.
    name : str
        Of the spread.
    doubtful : float
        What it is to be compared with: where it is far below that, it is found roughly.
    """
    problem = mode.problem
    target, scale = problem.objective, cast(Spreads, problem.prior.hyper).spread(name)
    place = target.spreads.index(name)
    sigma = problem.prior.spread(name) * np.exp(NUDGE)
    found: list[float] = []

    def beyond_doubt(moved: Nearest) -> bool:
        size, squares, variance = (part[place] for part in _moments(moved))
        slope = (squares + variance) / sigma**2 - size + degrees(name) - sigma**2 / scale**2  # zero at the mode
        found.append(float(max(-slope / NUDGE, 1e-12) ** -0.5))
        steady = len(found) > 1 and abs(found[-1] / found[-2] - 1) < STEADY
        return steady and found[-1] < FAR_BELOW * doubtful

    nearest(
        replace(problem, prior=problem.prior.with_spreads({name: sigma})),
        mode.point,
        cast(CrossedFactor, mode.laplace.factor),
        estimate=False,
        enough=beyond_doubt,
    )
    return found[-1]


def nearest(
    problem: Problem,
    start: Point,
    factor: CrossedFactor | None = None,
    *,
    estimate: bool = True,
    enough: Callable[[Nearest], bool] = lambda now: False,
) -> Nearest:
    """Find the Gaussian, with the spreads estimated or as they are, from a mean and, where it is known, a precision.

    ``enough`` sees every step, and may say that no more are needed.

    Raises
    ------
    ConvergenceError
        If it is not found.
    """
    target, names = problem.objective, problem.objective.spreads
    gauge = Gauge(problem.shifts, free_scale=False, held=np.ones(len(target.own), dtype=bool))
    scales = np.array([cast(Spreads, problem.prior.hyper).spread(name) for name in names]) if estimate else np.ones(1)
    point, relaxation, before = start, 1.0, np.zeros(len(start.head) + start.own.size)
    estimated = [problem.prior.estimates(name) for name in names]
    pace, last = np.ones(len(names)), np.zeros(len(names))
    curve: Floats | None = None
    for step in range(MAX_STEPS):
        terms, pulls = _averaged(target, point, factor)
        if curve is not None and relaxation < 1:
            terms = replace(terms, hessian=curve + relaxation * (terms.hessian - curve))
        curve = terms.hessian
        try:
            gradient, factor = _factorised(target, point, terms, pulls, gauge)
        except np.linalg.LinAlgError:  # ties under Rao-Kupper are not convex
            terms = replace(terms, hessian=_convex(terms.hessian))
            try:
                gradient, factor = _factorised(target, point, terms, pulls, gauge)
            except np.linalg.LinAlgError as error:
                raise ConvergenceError(
                    f"The posterior of slices and annotators is not curved everywhere. {REMEDY}"
                ) from error
        head, own = factor.solve(-gradient.head, -gradient.own)
        move = np.append(head, own.ravel())
        back = move @ before < REVERSED * np.linalg.norm(move) * np.linalg.norm(before)
        relaxation = 0.5 * relaxation if back else min(1.5 * relaxation, 1.0)
        longest = LONGEST_STEP / max(np.abs(move).max(), LONGEST_STEP)
        point, before = point.moved(head, own, min(relaxation, longest)), move
        now = Nearest(target, point, factor, _largest(gradient) / max(target.n_votes, 1.0), step + 1)
        change = np.zeros(1)
        if estimate:
            logs = np.log(target.spread_values)
            change = np.where(estimated, np.log(np.maximum(_fixed_point(now, scales), SMALLEST)) - logs, 0.0)
            pace = np.clip(np.where(change * last < 0, 0.5, FASTER) * pace, SLOWEST, FASTEST)
            last = change
            spreads = target.spread_values * np.exp(np.clip(pace * change, -LONGEST_CHANGE, LONGEST_CHANGE))
        settled = np.abs(head[: target.n_competitors]).max() < SETTLED and np.abs(change).max() < SETTLED_SPREAD
        if enough(now) or (step and settled):
            return now
        if estimate:
            target = target.with_spreads(float(spreads[0]), spreads[1:].tolist())
    raise ConvergenceError(
        f"The posterior of slices and annotators was not found in {MAX_STEPS} steps (the strengths still move by "
        f"{np.abs(head[: target.n_competitors]).max():.1e} logits, the spreads by {np.abs(change).max():.0%}). {REMEDY}"
    )


def _factorised(
    target: Objective, point: Point, terms: RowTerms, pulls: Floats | None, gauge: Gauge
) -> tuple[Point, CrossedFactor]:
    """Return the gradient on the plane of the constraints, and the Hessian without residuals, factorised.

    Raises
    ------
    numpy.linalg.LinAlgError
        If the Hessian is not positive definite.
    """
    gradient, hessian = crossed_hessian(target, point, terms, residuals=False, pulls=pulls)
    return gauge.on_plane(gradient), factorise(hessian, extra=gauge.extra(point, hessian), held=gauge.held)


def _convex(curves: Floats) -> Floats:
    """Return the positive semidefinite matrices nearest to the curvatures of rows, (C, C, n_rows)."""
    values, vectors = np.linalg.eigh(curves.transpose(2, 0, 1))
    found = (vectors * np.maximum(values, 0.0)[:, None]) @ vectors.transpose(0, 2, 1)
    return np.ascontiguousarray(found.transpose(1, 2, 0))


def _averaged(target: Objective, point: Point, factor: CrossedFactor | None) -> tuple[RowTerms, Floats | None]:
    """Return the averaged terms of every row, and the gradients by lead and theta that come with J."""
    z = target.coordinates(point)
    if factor is None:
        return target.likelihood.rows(target.counts, z), None
    spread = factor.spread
    terms = _smoothed(target, z, spread.rows)
    if not target.free_discrimination:
        return terms, None
    pulls = [np.einsum("cr,cr->r", terms.hessian[ETA], one) for one in (spread.with_theta, spread.with_lead)]
    return terms, np.array(pulls)


def _smoothed(target: Objective, z: Floats, variance: Floats) -> RowTerms:
    """Average the terms of every row over Gaussian coordinates with means z (C, n_rows), covariances (C, C, n_rows)."""
    size, n_rows = z.shape
    roots = np.linalg.cholesky(variance.transpose(2, 0, 1) + 1e-12 * np.eye(size))
    root = np.ascontiguousarray(roots.transpose(1, 2, 0))
    value, gradient, hessian = np.zeros(n_rows), np.zeros_like(z), np.zeros((size, *z.shape))
    for node, weight in zip(*_rule(size), strict=True):
        terms = target.likelihood.rows(target.counts, z + np.einsum("abr,b->ar", root, node))
        value += weight * terms.value
        gradient += weight * terms.gradient
        hessian += weight * terms.hessian
    return RowTerms(value, gradient, hessian)


@cache
def _rule(size: int) -> tuple[Floats, Floats]:
    """Nodes (m, C) and weights (m,) of Gauss-Hermite quadrature in so many dimensions."""
    rules = [np.polynomial.hermite_e.hermegauss(count) for count in NODES[:size]]
    weights = np.prod(list(product(*(w / w.sum() for _, w in rules))), axis=1)
    return np.array(list(product(*(x for x, _ in rules)))), weights


def _moments(found: Nearest) -> tuple[Floats, Floats, Floats]:
    """Return of every spread how many numbers have it, the squares of their means, and the sum of their variances."""
    target, point, spread = found.target, found.point, found.factor.spread
    n, c, count = target.n_competitors, len(target.common), target.n_annotators
    deviations = (point.own - [effect.mean for effect in target.own]) * target.units
    slices, variances = (target.numbers_by_slice(one) for one in (point.slices, spread.head[n + c :]))
    sizes = [n - 1, *[count - 1] * len(target.own), *map(len, slices)]
    squares = [point.strength @ point.strength, *(deviations**2).sum(axis=0), *(one @ one for one in slices)]
    gauge = 1 / (np.diag(found.factor.hessian.head).mean() + target.strength_sd**-2)  # variance of the sum, held
    variance = [
        spread.head[:n].sum() - gauge,
        *np.einsum("mqq->q", spread.own) * target.units**2,
        *map(np.sum, variances),
    ]
    return np.array(sizes, dtype=float), np.array(squares), np.array(variance)


def _fixed_point(found: Nearest, scales: Floats) -> Floats:
    """Return the spreads that solve the equation of the module."""
    sizes, squares, variance = _moments(found)
    excess = sizes - variance / found.target.spread_values**2 - [degrees(name) for name in found.target.spreads]
    return np.sqrt(0.5 * scales**2 * (np.sqrt(excess**2 + 4 * squares / scales**2) - excess))


def _largest(gradient: Point) -> float:
    return float(max(np.abs(gradient.head).max(), np.abs(gradient.own).max(initial=0.0)))
