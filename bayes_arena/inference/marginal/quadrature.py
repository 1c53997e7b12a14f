"""Annotators integrated out: the marginal likelihood where each has cast a handful of votes.

The joint mode of strengths and annotators' numbers is biased where annotators are sparse: each theta_k is pulled to
what its few votes happen to say, strengths stretch, and annotators look too much alike (Neyman & Scott, 1948). The bias
is of the order of 1 / (votes per annotator) and the standard error of 1 / sqrt(votes), so what matters is their ratio,
M / sqrt(votes). Here the annotators are integrated out: Newton (:mod:`bayes_arena.inference.marginal.climb`) maximises
the marginal likelihood of :mod:`bayes_arena.inference.marginal.integral` by the strengths, the common numbers and the
logarithms of the annotators' spreads together.

The population sets the scale, theta_k ~ Normal(1, sigma), without a sum that is held. The covariance of the head is the
inverse of the observed information, the spreads' uncertainty included; given the head an annotator's numbers have their
posterior mean and covariance over the nodes.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import scipy

from bayes_arena.errors import ConvergenceError
from bayes_arena.inference.marginal.climb import climb, moving
from bayes_arena.inference.marginal.integral import FINE, Integral, stages
from bayes_arena.inference.marginal.spreads import SMALLEST
from bayes_arena.inference.mode.laplace import Laplace
from bayes_arena.inference.mode.mode import Mode, find_mode, require_memory
from bayes_arena.likelihood.algebra.arrow import Factor
from bayes_arena.likelihood.point import Point
from bayes_arena.likelihood.problem import Problem
from bayes_arena.likelihood.specification import Model, Position
from bayes_arena.progress import report
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
    require_memory(problem, in_full=True)  # the start takes less
    cells, prior, target = problem.cells, problem.prior, problem.objective
    start = find_mode(replace(problem, model=_without_annotators(problem.model)))
    alike = are_alike(cells)
    if alike:
        prior = replace(prior, discrimination=SMALLEST, tie_spread=SMALLEST, position_spread=SMALLEST)
    head, steps = start.point.head, 0
    try:
        for nodes, quarter in stages(target):
            integral = Integral(target, nodes, quarter=quarter)
            held = [alike or not prior.estimates(name) for name in integral.spreads]
            end = climb(integral, head, prior, nodes, held=held)
            head, prior, at, steps = end.head, end.prior, end.at, steps + end.steps
            if end.arrived and nodes >= FINE:
                break
    finally:
        report("")
    if not end.arrived:
        raise ConvergenceError(
            f"The marginal likelihood was not maximised in {steps} Newton steps (decrement {end.decrement:.1e} nats, "
            f"the strengths' spread still changing by {end.change:.1%}). Fix the spreads with a Prior whose hyper is "
            "None, or use method='map'."
        )
    size, n = len(head), cells.n_competitors
    spreads = size + np.flatnonzero(moving(integral.spreads_of(prior), at.gradient[size:], held))
    by_spread = at.information[spreads, :size]
    schur = at.information[:size, :size]
    schur = schur - by_spread.T @ np.linalg.solve(at.information[np.ix_(spreads, spreads)], by_spread)
    free = np.zeros(len(target.own), dtype=bool)
    factor = Factor(schur, scipy.linalg.cholesky(schur, lower=True), integral.border, at.covariance, free)
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
