"""The Gaussian nearest to the posterior: annotators and slices, with the spreads of the prior estimated.

With few votes per annotator or answer the joint posterior mode is far from the mean: each parameter is pulled to what
its few votes happen to say, strengths stretch, and annotators look too much alike, or answers do, and strengths come
out too small (Neyman & Scott, 1948). Here the posterior is approximated by the Gaussian N(m, S) with the least
divergence from it, KL(N || posterior), which is where

    E[dU] = 0,      S^-1 = E[d2U],            expectations over N(m, S), U the negative log-posterior

(Opper & Archambeau, 2009). A row of votes enters through its coordinates alone, over which its loss is averaged
(:mod:`bayes_arena.likelihood.averaging`). The Hessian is taken without residuals, whose mean under the model is zero,
so that at fixed spreads and without width it is the Laplace approximation.

Spreads. Let M_p parameters (less one where their sum is held) have spread sigma_p, with the hyperprior sigma_p / s_p ~
chi(d_p) as a density of ln sigma_p. Where E[-U] + ln |S| / 2 plus the log hyperpriors is largest,

    f_p = (|m_p - mu_p|^2 + tr S_pp) / sigma_p^2 - M_p + d_p - sigma_p^2 / s_p^2 = 0                    (MacKay, 1992)

since there the terms in m and S do not change with the spreads to first order. With b_p = 2 (m_p - mu_p) / sigma_p^2,
the derivatives of dU by -ln sigma_p, m moves by S b_p and S_pq by 2 S_pq S_qp / sigma_q^2. So the slope of -f is

    J_pp = 2 (|m_p - mu_p|^2 + tr S_pp) / sigma_p^2 + 2 sigma_p^2 / s_p^2 - b_p' S b_p - 2 |S_pp|^2 / sigma_p^4
    J_pq = -b_p' S b_q - 2 |S_pq|^2 / (sigma_p sigma_q)^2                                               (Louis, 1982)

A sweep takes a Newton step in m and ln sigma together, with f and J evaluated where m moves to, and unavailable blocks
S_pq taken as zero. Where sigma is small, f is near sigma^2 (a - b sigma^2), and Newton's step for f / sigma^2, linear
in sigma^2, converges faster: a negative 2 f_p is added to J_pp, at most half of it. Sweeps ignore that S responds to m,
so they approach a fixed point geometrically; the ratio of successive steps gives the distance that remains, which is
at most the last step where steps turn back. Where a
step, in standard deviations, undoes much of the one before, the next are half as long, separately for the spreads and
for m, and S moves by the same share as m: for an outcome that is all but certain S and E[d2U] oscillate, as a wider S
covers more of the curve, and so is narrower next. With slices the spreads wait for the second sweep, as the first, at
no width, would lead them far astray.

Covariance. The information of the head that follows from E[d2U] holds the annotators' covariances S_k fixed. But these
respond to the head, and with m and S of all annotators at their optimum the information is smaller, by up to a tenth
where each has a handful of votes: the linear response of the Gaussian (Giordano, Broderick & Jordan, 2018). The ratio
hardly depends on the direction. So it is measured along one direction, by finite differences, and the head's
information is multiplied by it. The information lost to the spreads' uncertainty is subtracted before. With slices the
information is not corrected.

Where hardly any annotator voted twice the votes say nothing about how annotators differ: the hyperpriors decide.

Sources: Opper, M. & Archambeau, C. (2009), "The variational Gaussian approximation revisited", Neural Computation 21.
MacKay, D. J. C. (1992), "Bayesian interpolation", Neural Computation 4. Louis, T. A. (1982), "Finding the observed
information matrix when using the EM algorithm", JRSS B 44. Giordano, R., Broderick, T. & Jordan, M. I. (2018),
"Covariances, robustness, and variational Bayes", JMLR 19. Hutchinson, M. F. (1990), "A stochastic estimator of the
trace of the influence matrix for Laplacian smoothing splines", Communications in Statistics 19.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
import scipy
from numpy.typing import NDArray
from scipy.special import gammaln

from bayes_arena.algebra.arrow import Arrow
from bayes_arena.algebra.crossed_factor import CrossedFactor, solve_lower
from bayes_arena.algebra.factors import AnyFactor, Factor, factorise
from bayes_arena.arrays import Floats
from bayes_arena.errors import ConvergenceError
from bayes_arena.inference.marginal.axes import on_axes
from bayes_arena.inference.mode.disagreement import starts_along
from bayes_arena.inference.mode.laplace import Laplace
from bayes_arena.inference.mode.mode import Mode, Simpler, find_mode, require_memory
from bayes_arena.inference.mode.newton import Gauge
from bayes_arena.likelihood.covariances import Covariances, SliceCovariances, between, covariances
from bayes_arena.likelihood.derivatives import value_and_derivatives
from bayes_arena.likelihood.objective import Objective
from bayes_arena.likelihood.point import Point
from bayes_arena.likelihood.predictor import THETA
from bayes_arena.likelihood.priors import Prior, Spreads, degrees
from bayes_arena.likelihood.problem import MANY_ANNOTATORS, Problem
from bayes_arena.likelihood.specification import Model, Position
from bayes_arena.progress import report
from bayes_arena.votes.cells import Cells
from bayes_arena.votes.names import PROMPT

AnyCovariances = Covariances | SliceCovariances
MAX_SWEEPS = 300
NEAR = np.array([0.01, 0.02])
"""Largest estimated distance from convergence, in standard deviations, of a parameter of the head and of ln sigma."""
ROUGHLY = 20.0
"""Factor on ``NEAR`` for a quarter of many annotators, which only gives a start."""
RATES = 0.3, 0.98
"""Range of the ratio of a step's length to that of the one before."""
LEVEL = 1e-4
"""Largest coordinate of E[dU] at the end, per vote."""
SMALLEST, AT_BOUND = 0.01, 1.01
"""Least spread, at which one that the votes turn off ends; up to so many times as much counts as the least."""
LONGEST_STEP, LONGEST_CHANGE, FURTHEST = 1.0, 0.6, 1.5
"""Largest moves in a sweep: of a strength, of the logarithm of a spread, and of an annotator's parameter."""
FLATTEST = 1.0
"""Least curvature in the logarithms of the spreads that a step uses: about that of a hyperprior alone."""
TAKEN_BACK, FASTER = 0.5, (1.2, 1.1)
"""Share of the previous step that a step may undo before steps are halved, and factors by which they grow otherwise:
those of m, and those of the spreads, which S follows only gradually."""
NUDGE, FAR_BELOW = 0.1, 0.33
"""Change of ln sigma between the slopes of a finite difference, and share of ``doubtful`` below which a rough
uncertainty is enough."""
PROBE, NEWTON_STEPS = 0.25, 2
"""Move of the head that measures the annotators' response, in standard deviations, and the Newton steps they take."""
RESPONSES = 0.25, 1.0
"""Bounds of the ratio: it is close to zero at a saddle between two camps, and above one only by rounding."""
SPARSE = 2.0
"""Annotators per square root of the number of votes above which the mode is far from the mean: its bias is of the order
of 1 / (votes per annotator), the standard error of 1 / sqrt(votes)."""
TELLING = 100.0
"""Pairs of votes by the same annotator from which a spread can be told from noise.

A single vote per annotator says nothing about how annotators differ: that shows only in whether two votes by one agree
more than two by different ones. With information iota of a vote (about .2) the variance sigma^2 of a number around
sigma = 0 has the standard error 1 / (iota sqrt(pairs)) (the score test of a variance component), .5 with 100 pairs,
which is as much as the hyperpriors say without votes.
"""
RARELY = 0.1
"""Such pairs per vote below which hardly any annotator voted twice; for a few who voted often the hyperpriors
decide."""
WIDER = 2.0
"""Largest growth of the variance of annotators' parameters in a sweep with directions: beside a saddle the precision is
nearly singular."""
UNSETTLED = 0.25
"""Largest step, in standard deviations, after all sweeps, with which a model with slices is taken as found, and said to
be found only nearly."""
SETTLING = 60
"""Sweeps after which steps become shorter and shorter, so that a search that goes round in circles ends."""
EARLY = 20
"""Sweeps that are followed by a step to the axes of disagreement, which for two directions is not exact."""
UNPROMISING = 20
"""Sweeps after which a search for a further direction is given up unless its free energy is below that without."""
SIGNS = 8
"""Random vectors by which the overlap of the steps of a walk is estimated."""
PATIENCE = 8
"""Sweeps after which progress is shown."""


class Unpromising(ConvergenceError):
    """A search was given up: its free energy is not below the one to beat."""


@dataclass(frozen=True, eq=False)
class Sweep:
    """The Gaussian as a sweep found it.

    Attributes
    ----------
    target : Objective
        Under the spreads as they are.
    point : Point
        Its mean.
    factor : Factor or CrossedFactor
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


def nearest_gaussian(
    problem: Problem, base: Mode | None = None, to_beat: float = math.inf, simpler: Simpler | None = None
) -> Mode:
    """Find the Gaussian nearest to the posterior, at estimated spreads.

    Parameters
    ----------
    problem : Problem
        Its prior has the spreads to start from and their hyperpriors (``hyper`` is not None).
    base : Mode, optional
        The result for fewer directions, if it is known: for one less, or with ``simpler`` for none.
    to_beat : float
        Give up once the free energy does not promise to fall below this.
    simpler : Simpler, optional
        The result of the model without answers, to start from.

    Returns
    -------
    Mode
        Of the problem with the estimated spreads in its prior: the mean of the Gaussian, and its precision.

    Raises
    ------
    ConvergenceError
        If it is not found.
    TooLargeError
        If the matrices need more memory than there is.
    """
    crossed = problem.model.is_crossed
    if not crossed:
        require_memory(problem, in_full=True)  # the start takes less
    unknown = bool(problem.objective.own) and hardly_any_voted_twice(problem.cells)
    if unknown:
        problem = problem.because(annotators="hardly any annotator voted twice, so the prior decides")
    along = problem.model.dimensions > 0
    if simpler is not None:
        known: list[Mode | Simpler] = [simpler, base] if base else [simpler]
        starts, questions = [_start_from(problem.objective, known)], known[-1].open_questions
    else:
        mode, starts = _starts(problem, base, by_evidence=math.isfinite(to_beat))
        known, questions = [mode] * along, mode.open_questions
    for one in known:
        problem = _with_spreads(problem, one.problem.objective)
    try:
        found, response = _find(problem, starts, to_beat=to_beat)
    finally:
        report("")
    factor = found.factor if crossed else _answered(found, cast(Factor, found.factor), response, problem.prior)
    untold = _untold(problem.cells) if unknown and not along else []
    return Mode(
        problem=_with_spreads(problem, found.target),
        point=found.point,
        laplace=Laplace(factor, problem.shifts, False, factor.log_determinant()),
        gradient=found.gradient,
        iterations=found.count,
        mirror=None,
        open_questions=(*questions, *untold, *_nearly(found)),
        at_infinity=(),
        free_energy=_free_energy(found, problem.prior),
    )


def _find(problem: Problem, starts: list[Point], near: float = 1.0, to_beat: float = math.inf) -> tuple[Sweep, float]:
    """Return the Gaussian and the annotators' response; with many annotators start from that of a quarter of them."""
    if problem.model.dimensions:
        return _along(problem, starts, to_beat), 1.0
    if problem.model.is_crossed or not problem.objective.own or problem.cells.n_annotators < MANY_ANNOTATORS:
        found = min((_sweeps(problem, start, near=near) for start in starts), key=lambda end: end.value)
        return found, 1.0 if problem.model.is_crossed else _response(found)
    few = problem.of_a_quarter()
    found, response = _find(few, [replace(starts[0], own=few.objective.start().own)], ROUGHLY)
    problem = _with_spreads(problem, found.target)
    return _sweeps(problem, *_joined(problem.objective, found), near), response


def _along(problem: Problem, starts: list[Point], to_beat: float) -> Sweep:
    """Return the Gaussian found from the first start that leads anywhere.

    Raises
    ------
    ConvergenceError
        If none does.
    """
    for start in starts[:-1]:
        with suppress(ConvergenceError):
            return _sweeps(problem, start, to_beat=to_beat)
    return _sweeps(problem, starts[-1], to_beat=to_beat)


def _with_spreads(problem: Problem, target: Objective) -> Problem:
    """Return the problem with those spreads of a target that are estimated."""
    spreads = dict(zip(target.spreads, target.spread_values.tolist(), strict=True))
    estimated = {name: value for name, value in spreads.items() if problem.prior.estimates(name)}
    return replace(problem, prior=problem.prior.with_spreads(estimated))


def _starts(problem: Problem, base: Mode | None, *, by_evidence: bool) -> tuple[Mode, list[Point]]:
    """Return the mode that says what the votes leave open, and the starting points.

    Starts are the mode, and the reversed one if it is a rival; where annotators are many, or have few votes, so that
    the mode is far from the mean, the mode with identical annotators; with slices the mode without them, and where
    annotators are turned round there, the same with all upright: a group that ranks otherwise seems turned round as
    long as it has no strengths of its own, which prompts do not do; with directions the Gaussian with one less.
    """
    cells = problem.cells
    if problem.model.dimensions:
        fewer = replace(problem.model, dimensions=problem.model.dimensions - 1)
        base = base or nearest_gaussian(replace(problem, model=fewer))
        starts = starts_along(base.problem, base.point, beyond_noise=by_evidence)
        if not starts:
            raise Unpromising("All disagreement may be noise.")
        return base, starts
    if problem.model.is_crossed:
        base, start = find_mode(replace(problem, model=problem.model.without_slices())), problem.objective.start()
        own = base.point.own if problem.objective.own else start.own  # of no width: annotators may have slices
        first = replace(start, strength=base.point.strength, common=base.point.common, own=own)
        groups = set(problem.model.strength_by) - {PROMPT}
        if not groups or not problem.objective.free_discrimination or (own[:, THETA] > 0).all():
            return base, [first]
        upright = own.copy()
        upright[:, THETA] = np.abs(own[:, THETA])
        return base, [first, replace(first, own=upright)]
    if problem.objective.own and cells.n_annotators > min(SPARSE * math.sqrt(cells.n_votes), MANY_ANNOTATORS - 1):
        pooled = find_mode(replace(problem, model=_without_annotators(problem.model)))
        return pooled, [replace(pooled.point, own=problem.objective.start().own)]
    mode = find_mode(problem)
    return mode, [mode.point, *([mode.mirror] if mode.mirror else [])]


def _start_from(target: Objective, known: Sequence[Mode | Simpler]) -> Point:
    """Return the point at which numbers of the same name have their value in known results, the last that has it."""
    start, numbers = target.start(), dict[str, Floats]()
    for mode in known:
        there, point = mode.problem.objective, mode.point
        numbers |= {effect.name: column for effect, column in zip(there.own, point.own.T, strict=True)}
        by_slice = there.numbers_by_slice(point.slices)
        numbers |= {effect.name: one for effect, one in zip(there.slices, by_slice, strict=True)}
    own = [numbers.get(effect.name, column) for effect, column in zip(target.own, start.own.T, strict=True)]
    by_slice = target.numbers_by_slice(start.slices)
    slices = [numbers.get(effect.name, zero) for effect, zero in zip(target.slices, by_slice, strict=True)]
    return Point(
        point.strength, point.common, np.stack(own, axis=1) if own else start.own, np.concatenate([*slices, []])
    )


def _joined(target: Objective, few: Sweep) -> tuple[Point, Covariances]:
    """Return the Gaussian of all annotators at the head found from few of them."""
    start, size = target.start().own, len(few.point.head)
    head = cast(Covariances, few.around).head * (few.target.n_annotators / target.n_annotators)
    width, n_common = start.shape[1], size - target.n_competitors
    met, common = np.zeros((width, len(target.tally.met.annotator))), np.zeros((len(start), n_common, width))
    near = Covariances(target, head, met, common, np.zeros((len(start), width, width)))
    return _at_their_best(target, replace(few.point, own=start), near, 0.0)


def _at_their_best(
    target: Objective, point: Point, around: Covariances, beside: Floats | float
) -> tuple[Point, Covariances]:
    """Return the Gaussian with annotators at their optimum given the head.

    Their covariances are those given the head, D^-1, plus ``beside``.
    """
    for _ in range(NEWTON_STEPS):
        _, gradient, hessian = value_and_derivatives(target, point, residuals=False, around=around)
        tail: Floats = np.asarray(np.linalg.inv(cast(Arrow, hessian).tail), dtype=np.float64)
        moved = tail @ gradient.own[..., None]
        moved -= tail @ np.linalg.solve(tail.sum(axis=0), moved.sum(axis=0))
        point, around = point.moved(np.zeros(len(point.head)), moved[..., 0], -1.0), replace(around, own=tail + beside)
    return point, around


def _sweeps(
    problem: Problem,
    start: Point,
    around: AnyCovariances | None = None,
    near: float = 1.0,
    to_beat: float = math.inf,
) -> Sweep:
    """Sweep until strengths and spreads converge, from a point and, if it is known, the Gaussian around it.

    ``near`` multiplies the tolerance ``NEAR``. Sweeps end where the free energy is not below ``to_beat`` after
    ``UNPROMISING`` of them.

    Raises
    ------
    ConvergenceError
        If they do not.
    """
    target, prior, names = problem.objective, problem.prior, problem.objective.spreads
    estimated = np.array([prior.estimates(name) for name in names])
    gauge = Gauge.of_all(problem.shifts, target)
    point, lengths, steps = start, [1.0, 1.0], np.full(2, np.inf)
    moves = [np.zeros(len(start.head)), np.zeros(len(names))]
    for count in range(1, MAX_SWEEPS + 1):
        if count > PATIENCE:
            report(f"sweep {count} over the votes")
        sweep, head, own = _sweep(target, prior, gauge, point, around, count)
        change = _change(sweep, estimated) * (around is not None or target.numbering is None)
        of_spreads = change * np.sqrt(np.where(estimated, np.maximum(np.diag(sweep.by_spreads), FLATTEST), 0.0))
        first = len(head) - len(point.slices)
        in_steps = np.append(head[:first, 0], target.steps_between(head[first:, 0]))
        moves, last = [in_steps / np.sqrt(sweep.around.variances), of_spreads], moves
        if count > UNPROMISING and sweep.value > to_beat:
            raise Unpromising("The votes do not show a further direction.")
        steps, before = np.array([np.abs(move).max(initial=0.0) for move in moves]), steps
        rate = np.clip(steps / np.maximum(before, 1e-12), *RATES)
        onward = np.array([move @ before_it > 0 for move, before_it in zip(moves, last, strict=True)])
        distance = np.where(onward, steps * rate / (1 - rate), steps)
        lengths = [length_of_step(*of) for of in zip(lengths, FASTER, moves, last, strict=True)]
        lengths = [min(length, SETTLING / count) for length in lengths]
        length, of_change = lengths
        if isinstance(around, SliceCovariances) and target.predictor.dimensions:
            wider = sweep.around.own.max(axis=0).diagonal() / around.own.max(axis=0).diagonal()
            length = min(length, WIDER / float(wider.max()))
        values, ratio = target.spread_values, np.exp(of_change * change)
        off = estimated & (values * ratio <= AT_BOUND * SMALLEST)
        ratio[off] = SMALLEST / values[off]
        change = np.log(ratio)
        step, by_own = head[:, 0] + head[:, 1:] @ change, own[..., 0] + own[..., 1:] @ change
        furthest, furthest_own = float(np.abs(step).max()), float(np.abs(by_own * target.units).max(initial=0.0))
        size = min(length, LONGEST_STEP / max(furthest, 1e-12), FURTHEST / max(furthest_own, 1e-12))
        point = point.moved(step, by_own, size)
        around = sweep.around if around is None or length == 1 else between(around, sweep.around, length)
        target = target.with_spreads(float(values[0] * ratio[0]), (values * ratio)[1:].tolist())
        if count > 2 and np.all(distance < near * NEAR) and sweep.gradient < LEVEL:
            return replace(sweep, target=target, point=point)
        if isinstance(around, SliceCovariances) and target.predictor.dimensions and count <= EARLY:
            target, point, around = on_axes(target, point, cast(CrossedFactor, sweep.factor), around)
        if count < MAX_SWEEPS:
            del sweep, head, own  # with many annotators a second factor would take as much memory again
    if target.slices and not target.predictor.dimensions and steps.max() < UNSETTLED:
        return replace(sweep, target=target, point=point, unsettled=float(steps.max()))
    raise ConvergenceError(
        f"The posterior was not found in {MAX_SWEEPS} sweeps (strengths still move by {steps[0]:.2g} standard "
        f"deviations, spreads by {steps[1]:.2g}). To go on, {_remedy(target)}"
    )


def length_of_step(length: float, faster: float, move: Floats, last: Floats) -> float:
    """Return the share of a step to take, halved where it undoes much of the one before."""
    return 0.5 * length if move @ last < -TAKEN_BACK * (last @ last) else min(faster * length, 1.0)


def _sweep(
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
                f"narrower ones, or {_remedy(target)}"
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
        head[len(head) - len(by_step) :, p] = target.numbering.steps.back(of_part) if target.numbering else of_part
    moved, moved_own = factor.solve(head, own)
    bent = head.T @ moved + np.einsum("kqs,kqt->st", own, moved_own)
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
    log_determinant = factor.log_determinant() - off_plane - len(target.own) * math.log(max(target.n_annotators, 1))
    return value, gauge.on_plane(gradient), factor, log_determinant


def _constants(target: Objective, scales: Floats) -> float:
    """Return the part of the free energy that depends on shapes and hyperpriors alone."""
    freedom = np.array([degrees(name) for name in target.spreads], dtype=float)
    of_hyperpriors = freedom * np.log(scales) + (freedom / 2 - 1) * math.log(2) + gammaln(freedom / 2)
    estimated = np.array([bool(name) for name in target.spreads])
    return float(of_hyperpriors[estimated].sum()) - 0.5 * float(sizes_of(target).sum() + len(target.common))


def _free_energy(found: Sweep, prior: Prior) -> float:
    """Return the free energy with the spreads integrated out, and with directions of either sign counted together."""
    estimated = np.flatnonzero([prior.estimates(name) for name in found.target.spreads])
    curved = np.linalg.eigvalsh(found.by_spreads[np.ix_(estimated, estimated)])
    of_spreads = 0.5 * float(np.sum(np.log(np.maximum(curved, FLATTEST) / (2 * math.pi))))
    return found.value + of_spreads - found.target.predictor.dimensions * math.log(2)


def _parts(target: Objective) -> list[slice]:
    """Return the place of every kind of slice among the parameters of slices."""
    return list(target.numbering.parts) if target.numbering else []


def _change(sweep: Sweep, estimated: NDArray[np.bool_]) -> Floats:
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


def _hyperpriors(target: Objective, prior: Prior) -> tuple[Floats, Floats]:
    """Return the scales and the degrees of freedom of the spreads' hyperpriors, each (P,)."""
    scales = [cast(Spreads, prior.hyper).spread(name) for name in target.spreads]
    return np.array(scales), np.array([degrees(name) for name in target.spreads], dtype=float)


def sizes_of(target: Objective) -> Floats:
    """Return how many parameters have each spread, less one where their sum is held, shape (P,)."""
    held = [target.n_competitors, *[target.n_annotators] * len(target.own)]
    return np.array([*(size - 1 for size in held), *(part.stop - part.start for part in _parts(target))], dtype=float)


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
    numbering: Any = target.numbering
    signs = np.zeros((SIGNS, numbering.n_slices))
    signs[:, part] = np.where(np.random.default_rng(0).random((SIGNS, part.stop - part.start)) < 0.5, -1.0, 1.0)
    right = np.zeros((numbering.n_head, SIGNS))
    first = numbering.n_head - numbering.n_slices
    right[first:] = numbering.steps.back(signs).T
    head, _ = factor.solve(right, np.zeros((target.n_annotators, len(target.own), SIGNS)))
    return float(np.sum(numbering.steps.between(head[first:].T)[:, part] ** 2)) / SIGNS


def _remedy(target: Objective) -> str:
    if target.predictor.dimensions:
        return "use method='nuts', or fewer directions (dimensions=0)."
    return (
        "use method='nuts', or leave slices out (answers=False, or a Model without them)."
        if target.numbering
        else "fix the spreads with a Prior whose hyper is None, or use method='map'."
    )


def spread_uncertainty(mode: Mode, name: str, doubtful: float = 0.0) -> float:
    """Return the posterior standard deviation of the logarithm of a spread, the other spreads fixed.

    Parameters
    ----------
    mode : Mode
        By :func:`nearest_gaussian`, with slices.
    name : str
        Of the spread.
    doubtful : float
        What it will be compared with: far below that it is 1 / sqrt(J_pp), which is too small, by up to a third in
        simulated arenas.
    """
    problem, target = mode.problem, mode.problem.objective
    place = target.spreads.index(name)
    gauge, around = Gauge.of_all(problem.shifts, target), covariances(target, mode.laplace.factor)
    here = _sweep(target, problem.prior, gauge, mode.point, around, 1)[0]
    roughly = float(max(here.by_spreads[place, place], 1e-12) ** -0.5)
    if roughly < FAR_BELOW * doubtful:
        return roughly
    prior = problem.prior.with_spreads({name: problem.prior.spread(name) * math.exp(NUDGE)})
    there = _sweeps(replace(problem, prior=replace(prior, known=target.spreads)), mode.point, around)
    return float(max((here.slope[place] - there.slope[place]) / NUDGE, 1e-12) ** -0.5)


def _answered(found: Sweep, factor: Factor, response: float, prior: Prior) -> Factor:
    """Return the factor, its information of the head corrected for the response of annotators and spreads."""
    estimated = np.flatnonzero([prior.estimates(name) for name in found.target.spreads])
    moves, size = found.moves[:, estimated], len(factor.lower)
    values, vectors = np.linalg.eigh(found.by_spreads[np.ix_(estimated, estimated)])
    sure = values > FLATTEST
    loose = moves @ vectors[:, sure] / np.sqrt(values[sure])  # the spreads' uncertainty adds loose loose'
    seen = factor.schur @ loose
    schur = factor.schur - seen @ np.linalg.solve(np.eye(seen.shape[1]) + loose.T @ seen, seen.T)
    schur = float(np.clip(response, *RESPONSES)) * schur
    lower = scipy.linalg.cholesky(0.5 * (schur + schur.T), lower=True) if size else factor.lower
    return replace(factor, schur=schur, lower=lower)


def _response(found: Sweep) -> float:
    """Return the information with annotators at their optimum over that with fixed S, along one direction."""
    target, factor, point, around = (
        found.target,
        cast(Factor, found.factor),
        found.point,
        cast(Covariances, found.around),
    )
    signs = np.where(np.random.default_rng(0).random(len(factor.lower)) < 0.5, -1.0, 1.0)
    probe = PROBE * solve_lower(factor.lower, signs, transposed=True)
    probe[: target.n_competitors] -= probe[: target.n_competitors].mean()
    own = -factor.q_times(factor.border.transposed_times(probe[:, None]))[..., 0]
    pulls = []
    for side in (1.0, -1.0):
        there, near = _at_their_best(target, point.moved(probe, own, side), around, around.own - factor.inverse_tail)
        gradient = value_and_derivatives(target, there, residuals=False, around=near)[1]
        pulls.append(float(gradient.head @ probe))
    return (pulls[0] - pulls[1]) / (2 * float(probe @ factor.schur @ probe))


def repeats(cells: Cells) -> float:
    """Return the number of pairs of votes by the same annotator."""
    votes = cells.votes_by_annotator()
    return float(np.maximum(votes * (votes - 1) / 2, 0.0).sum())


def hardly_any_voted_twice(cells: Cells) -> bool:
    """Whether hardly any annotator voted twice, so that the votes do not say how annotators differ."""
    return cells.n_annotators > 1 and repeats(cells) < min(TELLING, RARELY * cells.n_votes)


def _untold(cells: Cells) -> list[str]:
    """Say that the prior decides how much annotators differ."""
    return [
        f"{cells.n_annotators:,} annotators cast {cells.n_votes:,.12g} votes, too few of them by the same annotator to "
        "tell annotators from noise: how much they differ is what the prior expects. If the column of annotators holds "
        "sessions, read another column, or none (--no-annotator)."
    ]


def _nearly(found: Sweep) -> list[str]:
    """Say that the search did not settle."""
    if not found.unsettled:
        return []
    return [
        f"The search for the posterior did not settle: after {found.count} sweeps scores or spreads still moved by "
        f"{found.unsettled:.2g} standard deviations. The votes hardly determine this model: try a smaller one, or "
        "method='nuts'."
    ]


def _without_annotators(model: Model) -> Model:
    """Return the same model with identical annotators; it has the same common parameters."""
    position: Position = "none" if model.position == "none" else "common"
    return replace(model, discrimination="fixed", tie_propensity="common", position=position, style_slopes="common")
