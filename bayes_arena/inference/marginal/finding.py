"""How spreads are estimated: by the Gaussian nearest to the posterior wherever its covariances can be held."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from bayes_arena.errors import ConvergenceError
from bayes_arena.inference.marginal.gaussian import nearest_gaussian
from bayes_arena.inference.marginal.spreads import estimate_spreads, information
from bayes_arena.inference.mode.mode import Mode, Simpler
from bayes_arena.inference.order import in_own_order
from bayes_arena.likelihood.derivatives import has_few_pairs
from bayes_arena.likelihood.problem import Problem

Evidence = Literal["laplace", "variational"]
LAPLACE = (
    "The Gaussian nearest to the posterior was not found, as happens where some votes weigh millions of times as much "
    "as others, or where many annotators vote against the rest. The estimates are the posterior mode, at the spreads "
    "with the largest Laplace evidence."
)


def find_marginal(problem: Problem, simpler: Simpler | None = None) -> tuple[Mode, Evidence]:
    """Estimate the spreads of a prior, with everything below them integrated out.

    Parameters
    ----------
    problem : Problem
        Its prior has the spreads to start from, and their hyperpriors (``hyper`` is not None).
    simpler : Simpler, optional
        The result without answers, to start from.

    Returns
    -------
    mode : Mode
        Of the problem with the estimated spreads in its prior: the mean and the precision of the Gaussian nearest to
        the posterior. Where that is not found, and for many competitors, few of whom met, whose covariances are not all
        formed, the mode at the spreads with the largest Laplace evidence.
    evidence : {"variational", "laplace"}
        Which of the two was used.

    Raises
    ------
    ConvergenceError
        If it is not found.
    TooLargeError
        If the matrices need more memory than there is.
    """
    if problem.model.is_crossed:
        return nearest_gaussian(problem, simpler=simpler), "variational"
    if has_few_pairs(problem.objective):
        return estimate_spreads(problem.because(evidence="many competitors, of which few pairs met")), "laplace"
    try:
        return nearest_gaussian(problem), "variational"
    except ConvergenceError:
        mode = estimate_spreads(problem.because(evidence="the Gaussian nearest to the posterior was not found"))
        return replace(mode, open_questions=(*mode.open_questions, LAPLACE)), "laplace"


def information_of(problem: Problem) -> dict[str, float]:
    """Return the :func:`~bayes_arena.inference.marginal.spreads.information` of the votes, as a fit finds it."""
    return information(in_own_order(find_marginal, problem)[0])
