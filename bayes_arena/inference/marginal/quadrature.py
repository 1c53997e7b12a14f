"""Annotators integrated out: the marginal likelihood where each has cast a handful of votes.

The joint mode of strengths and annotators' numbers is biased where annotators are sparse: each theta_k is pulled to
what its few votes happen to say, strengths stretch, and annotators look too much alike (Neyman & Scott, 1948). The bias
is of the order of 1 / (votes per annotator) and the standard error of 1 / sqrt(votes), so what matters is their ratio,
M / sqrt(votes). Here the annotators are integrated out: Newton maximises the marginal likelihood of
:mod:`bayes_arena.inference.marginal.integral` by the strengths, the common numbers and the logarithms of the
annotators' spreads together.

The spread of the strengths, with posterior variances V, follows by the fixed point of MacKay (1992), of the evidence
times the hyperprior:

    sigma_r^4 / s^2 + (gamma - 1) sigma_r^2 - |r|^2 = 0,      gamma = (n - 1) - sum V / sigma_r^2.

The population sets the scale, theta_k ~ Normal(1, sigma), without a sum that is held. The covariance of the head is the
inverse of the observed information, the spreads' uncertainty included; given the head an annotator's numbers have their
posterior mean and covariance over the nodes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import cast

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_solve, cholesky

from bayes_arena.arrays import Floats
from bayes_arena.errors import ConvergenceError
from bayes_arena.inference.marginal.integral import COARSE, FINE, FINEST, Evaluation, Integral
from bayes_arena.inference.marginal.spreads import LARGEST, SMALLEST
from bayes_arena.inference.mode.laplace import Laplace
from bayes_arena.inference.mode.mode import Mode, find_mode, require_memory
from bayes_arena.likelihood.algebra.arrow import Factor
from bayes_arena.likelihood.point import Point
from bayes_arena.likelihood.priors import Prior, Spreads
from bayes_arena.likelihood.problem import Problem
from bayes_arena.likelihood.specification import Model, Position
from bayes_arena.votes.cells import Cells

SPARSE = 2.0
"""Annotators per square root of the number of votes above which the joint mode's bias shows in its intervals."""
TELLING = 100.0
"""Pairs of votes by the same annotator from which a spread can be told from noise.

A single vote per annotator says nothing of how annotators differ: that shows only in whether two votes of one agree
more than two of different ones. With information iota of a vote (about .2) the variance sigma^2 of a number around
sigma = 0 has the standard error 1 / (iota sqrt(pairs)) (the score test of a variance component), .5 with 100 pairs,
which is as much as the hyperpriors say without votes.
"""
RARELY = 0.1
"""Such pairs a vote below which hardly anybody voted twice; where few voted, but often enough, hyperpriors decide."""
ENOUGH = {COARSE: 1e-2, FINE: 1e-4, FINEST: 1e-4}
"""Half the squared Newton decrement, in nats, that ends the steps: 1e-4 is 1.4 percent of a standard error."""
STANDS_STILL = 1e-3
"""Relative change of the strengths' spread at which the steps end."""
LARGEST_STEP, SMALLEST_STEP = 1.0, 1e-6
SLACK = 0.1
"""Nats by which a step may raise F: the gradient is that of the integral, not of its approximation by few nodes."""
MAX_STEPS = {COARSE: 50, FINE: 100, FINEST: 200}
"""Few nodes can lead astray, as their sum is not what its derivatives say; more of them do not."""


def is_sparse(problem: Problem) -> bool:
    """Whether a model's annotators have so few votes that they have to be integrated out."""
    cells = problem.cells
    return problem.model.needs_annotators and cells.n_annotators > SPARSE * math.sqrt(cells.n_votes)


def integrate_annotators(problem: Problem) -> Mode:
    """Maximise the marginal likelihood.

    Parameters
    ----------
    problem : Problem
        Its model has numbers of the annotators' own, its prior the spreads to start from and their hyperpriors
        (``hyper`` is not None).

    Returns
    -------
    Mode
        Of the problem with the estimated spreads in its prior: strengths and common numbers at the maximum, annotators
        at their posterior means.

    Raises
    ------
    ConvergenceError
        If Newton does not arrive.
    TooLargeError
        If the matrices need more memory than the machine has.

    References
    ----------
    Louis, T. A. (1982), "Finding the observed information matrix when using the EM algorithm", JRSS B 44. Liu, Q. &
    Pierce, D. A. (1994), "A note on Gauss-Hermite quadrature", Biometrika 81. MacKay, D. J. C. (1992), "Bayesian
    interpolation", Neural Computation 4.
    """
    require_memory(problem)  # the start takes less
    cells, prior, target = problem.cells, problem.prior, problem.objective
    start = find_mode(replace(problem, model=_without_annotators(problem.model)))
    alike = are_alike(cells)
    if alike:
        prior = replace(prior, discrimination=SMALLEST, tie_spread=SMALLEST, position_spread=SMALLEST)
    head, steps = start.point.head, 0
    for nodes in (COARSE, FINE, FINEST):
        integral = Integral(target, nodes)
        climb = _climb(integral, head, prior, nodes, alike=alike)
        head, prior, at, steps = climb.head, climb.prior, climb.at, steps + climb.steps
        if climb.arrived and nodes >= FINE:
            break
    if not climb.arrived:
        raise ConvergenceError(
            f"The marginal likelihood was not maximised in {steps} Newton steps (decrement {climb.decrement:.1e} nats, "
            f"the strengths' spread still changing by {climb.change:.1%}). Fix the spreads with a Prior whose hyper is "
            "None, or use method='map'."
        )
    size, n = len(head), cells.n_competitors
    spreads = size + np.flatnonzero(moving(integral.spreads_of(prior), at.gradient[size:], alike))
    by_spread = at.information[spreads, :size]
    schur = at.information[:size, :size]
    schur = schur - by_spread.T @ np.linalg.solve(at.information[np.ix_(spreads, spreads)], by_spread)
    free = np.zeros(len(target.own), dtype=bool)
    factor = Factor(schur, cholesky(schur, lower=True), integral.border, at.covariance, free)
    shifts = np.full((n, 1), 1 / math.sqrt(n))
    return Mode(
        problem=replace(problem, prior=prior),
        point=Point(head[:n] - head[:n].mean(), head[n:], at.mean),
        laplace=Laplace(factor, shifts, singular=False, log_determinant=factor.log_determinant()),
        gradient=float(np.abs(at.gradient[np.append(np.arange(size), spreads)]).max()) / max(target.n_votes, 1.0),
        iterations=steps,
        mirror=None,
        open_questions=(*start.open_questions, *(_taken_as_alike(cells) if alike else ())),
        at_infinity=(),
    )


def repeats(cells: Cells) -> float:
    """Pairs of votes that one annotator cast, summed over annotators."""
    votes = cells.votes_by_annotator()
    return float(np.maximum(votes * (votes - 1) / 2, 0.0).sum())


def are_alike(cells: Cells) -> bool:
    """Whether hardly anybody voted twice, so that annotators are taken to be alike."""
    return repeats(cells) < min(TELLING, RARELY * cells.n_votes)


def _taken_as_alike(cells: Cells) -> list[str]:
    """Say why annotators have no numbers of their own."""
    return [
        f"{cells.n_annotators:,} annotators cast {cells.n_votes:,.12g} votes, too few of them by the same annotator to "
        "tell annotators from noise: all are taken to be alike. If the column of annotators names sessions, read "
        "another one, or none (--no-annotator)."
    ]


def _without_annotators(model: Model) -> Model:
    """Return the same model of annotators who are all alike; it has the same common numbers."""
    position: Position = "none" if model.position == "none" else "common"
    return replace(model, discrimination="fixed", tie_propensity="common", position=position)


@dataclass(frozen=True, eq=False)
class _Climb:
    """Where Newton ended, in how many steps, and whether that is a maximum.

    Attributes
    ----------
    head : ndarray, shape (h,)
        Strengths and common numbers, in logits.
    prior : Prior
        With the spreads.
    at : Evaluation
        F there.
    steps : int
        Newton steps taken.
    arrived : bool
        Whether it is a maximum, to within ``ENOUGH`` and ``STANDS_STILL``.
    decrement : float
        Half the squared Newton decrement: what F would still fall by, in nats.
    change : float
        By how much the logarithm of the strengths' spread would still change.
    """

    head: Floats
    prior: Prior
    at: Evaluation
    steps: int
    arrived: bool
    decrement: float
    change: float


def _climb(integral: Integral, head: Floats, prior: Prior, nodes: int, *, alike: bool) -> _Climb:
    """Newton steps until the decrement is small enough and the strengths' spread, kept from swinging, stands still.

    On the coarse grid that is enough; at the end the information has to be positive definite, too.
    """
    n, size, last = integral.target.n_competitors, len(head), nodes >= FINE
    taken, change, relaxation, stuck = 0, 0.0, 1.0, False
    at = integral(head, prior)
    while True:
        if not (math.isfinite(at.value) and np.isfinite(at.information).all()):
            raise ConvergenceError(
                f"The marginal likelihood has no value at the spreads {prior}. Start from narrower ones, or use "
                "method='map'."
            )
        free = np.append(np.ones(size, dtype=bool), moving(integral.spreads_of(prior), at.gradient[size:], alike))
        lower, damped = _damped_cholesky(at.information[np.ix_(free, free)])
        move = np.zeros(len(free))
        move[free] = -cho_solve((lower, True), at.gradient[free])
        decrement = -0.5 * float(at.gradient @ move)
        covariance = cho_solve((lower, True), np.eye(len(lower)))[:n, :n]
        variance = float(np.trace(covariance) - covariance.sum() / n)
        before, change = change, math.log(_strength_spread(prior, head[:n], variance) / prior.strength)
        arrived = not (damped and last) and decrement < ENOUGH[nodes] and abs(change) < STANDS_STILL
        if arrived or stuck or taken == MAX_STEPS[nodes]:
            return _Climb(head, prior, at, taken, arrived, decrement, abs(change))
        relaxation = 0.5 * relaxation if change * before < 0 else min(1.2 * relaxation, 1.0)
        strength = prior.strength * math.exp(relaxation * change)
        ceiling = at.value + 0.5 * float(head[:n] @ head[:n]) * (strength**-2 - prior.strength**-2) + SLACK
        prior = replace(prior, strength=strength)
        move *= min(1.0, LARGEST_STEP / np.abs(move).max())
        while True:
            trial_head = head + move[:size]
            widths = np.array(integral.spreads_of(prior)) * np.exp(move[size:])
            widths = np.clip(widths, SMALLEST, LARGEST)
            trial_prior = prior.with_spreads(dict(zip(integral.spreads, widths.tolist(), strict=True)))
            trial = integral(trial_head, trial_prior)
            stuck = trial.value > ceiling and bool(np.abs(move).max() < SMALLEST_STEP)
            if trial.value <= ceiling or stuck:
                break
            move = 0.5 * move
        head, prior, at, taken = trial_head, trial_prior, trial, taken + 1


def moving(spreads: Sequence[float], gradient: Floats, alike: bool) -> NDArray[np.bool_]:
    """Which spreads take part in a step: none of annotators taken to be alike, none that is pulled out of its range."""
    widths = np.array(spreads)
    outward = ((widths <= SMALLEST) & (gradient > 0)) | ((widths >= LARGEST) & (gradient < 0))
    return np.asarray(~outward & (not alike))


def _strength_spread(prior: Prior, strength: Floats, variance: float) -> float:
    """Solve the equation of the module for the spread of the strengths; ``variance`` is the sum V of theirs."""
    scale, size = cast(Spreads, prior.hyper).strength, float(strength @ strength)
    excess = max(len(strength) - 1 - variance / prior.strength**2, 0.0) - 1
    squared = 0.5 * scale**2 * (math.sqrt(excess**2 + 4 * size / scale**2) - excess)
    return max(math.sqrt(squared), SMALLEST)


def _damped_cholesky(information: Floats) -> tuple[Floats, bool]:
    """Cholesky factor of the information, or of the least damped one (of those tried) that is positive definite."""
    diagonal = np.abs(np.diag(information)) + 1e-8
    damping = 0.0
    while True:
        try:
            return cholesky(information + np.diag(damping * diagonal), lower=True, check_finite=False), damping > 0
        except np.linalg.LinAlgError:
            damping = max(4 * damping, 1e-2)
