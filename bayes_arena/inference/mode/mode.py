"""The posterior mode, which under a flat prior is the paper's maximum-likelihood estimate.

:mod:`bayes_arena.inference.mode.search` finds the best optimum; here it is judged: whether it is a mode at all, what
its curvature says, what the votes leave open, and whether there is also a mode with the reversed ranking.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from bayes_arena.errors import ConvergenceError, NotIdentifiedError, NoVotesError, TooLargeError, listing
from bayes_arena.inference.mode.direction import direction, unsettled
from bayes_arena.inference.mode.identification import at_infinity, disconnected, reversed_mode
from bayes_arena.inference.mode.laplace import Laplace, laplace_at
from bayes_arena.inference.mode.newton import GRADIENT_PER_VOTE
from bayes_arena.inference.mode.search import search
from bayes_arena.likelihood.derivatives import has_few_pairs
from bayes_arena.likelihood.point import Point
from bayes_arena.likelihood.problem import Problem
from bayes_arena.memory import gib, shortage

SQUARES, STRIPS = 11, 8
"""Matrices that a fit and its leaderboard hold: of competitors by competitors; and, where few competitors met, of
competitors by the parameters of all annotators."""
CELL, ANNOTATOR, MEETING = 200, 600, 60
"""Bytes that they hold per cell of votes, per annotator with parameters, and per competitor that an annotator has
met."""


@dataclass(frozen=True, eq=False)
class Mode:
    """A posterior mode and what surrounds it.

    Attributes
    ----------
    problem : Problem
        The problem, whose prior has the spreads.
    point : Point
        The mode, with sum r = 0 and mean theta = 1; or the mean of the Gaussian nearest to the posterior.
    laplace : Laplace
        Gaussian approximation there; under a flat prior the inverse Fisher information.
    gradient : float
        Largest coordinate of the gradient, per vote.
    iterations : int
        Newton steps (of the last mode found).
    mirror : Point or None
        The best mode with the reversed ranking, unless there is none or it is disregarded.
    open_questions : tuple of str
        What the votes leave open.
    at_infinity : tuple of str
        What has no finite estimate.
    free_energy : float
        Of the Gaussian nearest to the posterior, in nats: the least upper bound that it gives of minus the logarithm of
        the evidence. NaN for a mode.
    """

    problem: Problem
    point: Point
    laplace: Laplace
    gradient: float
    iterations: int
    mirror: Point | None
    open_questions: tuple[str, ...]
    at_infinity: tuple[str, ...]
    free_energy: float = math.nan


@dataclass(frozen=True, eq=False)
class Simpler:
    """What was found with a simpler model of the same votes, from which the search for a larger one starts.

    Attributes
    ----------
    problem, point, open_questions
        As in :class:`Mode`.
    """

    problem: Problem
    point: Point
    open_questions: tuple[str, ...]


def find_mode(problem: Problem, *, start: Point | None = None, thorough: bool = True) -> Mode:
    """Find the posterior mode.

    Parameters
    ----------
    problem : Problem
        The spreads of its prior are used as they are.
    start : Point, optional
        The mode of the same model under a similar prior, or for similar votes, to start from; no other start is tried
        then, and the mean of theta keeps its value there.
    thorough : bool
        Try further starts where the mode may not be the best one.

    Returns
    -------
    Mode

    Raises
    ------
    NoVotesError
        If fewer than two competitors, or no vote that the model sees, are left.
    ConvergenceError
        If the gradient does not vanish.
    NotIdentifiedError
        If the votes do not determine the parameters, or, under a flat prior, an annotator has no votes.
    TooLargeError
        If the matrices need more memory than there is.
    """
    if problem.cells.n_competitors < 2:
        raise NoVotesError("Rating needs at least two competitors.")
    require_memory(problem)
    target, prior = problem.objective, problem.prior
    if not target.n_votes:
        raise NoVotesError(f"The model leaves out every vote (ties={problem.model.ties!r}).")
    _require_votes_of_all(problem)
    optimum, point, others = search(problem, start, thorough)
    unbounded = math.isinf(prior.strength) or (target.free_discrimination and math.isinf(prior.discrimination))
    infinite = at_infinity(problem, optimum) if unbounded else []
    if not optimum.converged and not infinite:
        raise ConvergenceError(
            f"No convergence in {optimum.iterations} Newton steps: the largest gradient is {optimum.gradient:.1e} "
            f"per vote (target {GRADIENT_PER_VOTE:g}). Use a tighter prior, or check extreme vote weights."
        )
    known = optimum.curvature if point is optimum.point and not infinite else None
    laplace = laplace_at(target, point, problem.shifts, at_infinity=bool(infinite), known=known)
    if laplace.singular and not infinite:
        raise NotIdentifiedError(
            "The votes do not determine the parameters: other values fit exactly as well, with another ranking "
            "(for instance when annotators hardly share any pairs). Use a prior (prior='default') or model='m-elo'."
        )
    mirror = reversed_mode(optimum, others) if others and not infinite else None
    return Mode(
        problem=problem,
        point=point,
        laplace=laplace,
        gradient=optimum.gradient,
        iterations=optimum.iterations,
        mirror=mirror.point if mirror else None,
        open_questions=tuple(disconnected(problem)),
        at_infinity=tuple(infinite),
    )


def judge_direction(mode: Mode) -> tuple[Mode, float | None]:
    """Return the mode with what is open about its direction, and the probability that it is reversed, if assessed."""
    try:
        found = None if mode.at_infinity else direction(mode.problem, mode.point)
    except ConvergenceError as error:  # rounding beside a vote of weight a billion: the mode is still valid
        return replace(mode, open_questions=(*mode.open_questions, str(error))), None
    if found is None:
        return mode, None
    return replace(mode, open_questions=(*mode.open_questions, *unsettled(found))), found.mirror_probability


def require_memory(problem: Problem, *, in_full: bool = False) -> None:
    """Raise a TooLargeError, before anything is computed, if there is too little memory.

    Matrices of all pairs of competitors are counted only where they cannot be avoided, or with ``in_full``.
    """
    cells = problem.cells
    n = cells.n_competitors
    annotators = cells.n_annotators if problem.model.needs_annotators else 0
    needed = CELL * len(cells.a) + ANNOTATOR * annotators + MEETING * min(2 * len(cells.a), n * annotators)
    if not in_full and has_few_pairs(problem.objective):
        needed += 8 * STRIPS * n * annotators * len(problem.objective.own)
    else:
        needed += 8 * SQUARES * n * n
    if short := shortage(needed):
        besides = f" and {cells.n_annotators:,} annotators" if annotators else ""
        sparse = "Use model='bradley-terry', which needs less where few of them met, or rate" if annotators else "Rate"
        raise TooLargeError(
            f"Rating {n:,} competitors{besides} takes some {gib(needed)} of memory, and {short}. "
            f"{sparse} fewer of them: leave out competitors with few votes, or rate each group "
            "of connected competitors separately."
        )


def _require_votes_of_all(problem: Problem) -> None:
    """Refuse annotators without votes whose parameters have a flat prior."""
    cells = problem.cells
    if not any(math.isinf(effect.sd) for effect in problem.objective.own):
        return
    silent = np.flatnonzero(cells.votes_by_annotator() == 0)
    if len(silent):
        raise NotIdentifiedError(
            f"Nothing is known about annotators without votes: {listing(sorted(cells.annotators[k] for k in silent))}. "
            "Use a prior (prior='default'), or leave out annotators with few votes (keep_annotators)."
        )
