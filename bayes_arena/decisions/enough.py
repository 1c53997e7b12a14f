"""Whether there are enough votes, and if not, how many more it takes.

With r* the competitors' strengths, l the leader (the highest posterior mean) and all expectations over the posterior,

    P(best)          = P(r*_l > r*_j for all j)
    expected regret  = E[max_j r*_j - r*_l]                      in Elo points: the loss if l is not the best
    expected tau     = mean over pairs of 2 P(order right) - 1   Kendall's, of the order of the posterior means

The best is found when P(best) reaches the level; the ranking, when the expected share of pairs in the right order,
(1 + tau) / 2, does.

The number of votes to go is an estimate, not a promise. With m times as many votes of the same kind, posterior standard
deviations would be about 1 / sqrt(m) of what they are. If the means stayed, draws r would become
mean + (r - mean) / sqrt(m), and the estimate is the smallest m that reaches the level. It is often too high: means do
move, and well-chosen pairs (:func:`~bayes_arena.next_pairs`) take fewer votes, in ``benchmarks/decisions.py`` about
half of the estimate at 500 votes. For new prompts it is too low if further votes are on old prompts.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass
from typing import get_args

import numpy as np

from bayes_arena.arguments import held
from bayes_arena.arrays import Floats
from bayes_arena.decisions.next_pairs import Goal
from bayes_arena.decisions.verdict import about
from bayes_arena.errors import ModelError, require_choice
from bayes_arena.fits.result import Fit
from bayes_arena.markup import html_paragraph
from bayes_arena.ratings.decision_draws import decision_strengths
from bayes_arena.ratings.elo import EloScale
from bayes_arena.ratings.intervals.contract import require_level

MULTIPLES = np.geomspace(1, 1000, 300)
"""Multiples of the votes that are tried; beyond the last there is no estimate."""


@dataclass(frozen=True)
class Enough:
    """Whether there are enough votes.

    Attributes
    ----------
    goal : {"best", "ranking"}
        What the votes are for.
    level : float
        The required probability.
    done : bool
        Whether the goal is reached: P(best), or the expected share of pairs in the right order, is at least the level.
    close_enough : bool
        Whether the expected regret is at most the given limit: the leader is not much worse than the best.
    leader : str
        The competitor with the highest posterior mean.
    p_best : float
        Probability that the leader is the best.
    regret_elo : float
        Expected regret in Elo points: how much better than the leader the best is expected to be.
    expected_tau : float
        Expected Kendall's tau between the order of the posterior means and the true order.
    votes : float
        Votes cast.
    votes_to_go : float
        Estimate of the further votes needed to reach the goal: 0 when it is reached, infinite if it takes more than a
        thousand times the votes cast, or if votes like these never reach it because they leave the direction of the
        ranking open or do not connect all competitors.
    """

    goal: Goal
    level: float
    done: bool
    close_enough: bool
    leader: str
    p_best: float
    regret_elo: float
    expected_tau: float
    votes: float
    votes_to_go: float

    def __str__(self) -> str:
        to_go = "too many still needed for an estimate"
        if math.isfinite(self.votes_to_go):
            to_go = f"about {about(self.votes_to_go)} to go"
        found = "enough votes" if self.done else f"not enough votes, {to_go}"
        return (
            f"{self.goal.capitalize()} at {100 * self.level:g} %: {found}. {self.leader} is the best with "
            f"probability {self.p_best:.2f}, expected regret {self.regret_elo:.1f} Elo"
            f"{' (close enough)' * self.close_enough}, expected tau {self.expected_tau:.2f}."
        )

    def _repr_html_(self) -> str:
        return html_paragraph(str(self))


@held
def enough(fit: Fit, *, goal: Goal = "best", level: float = 0.95, regret_elo: float = 10.0) -> Enough:
    """Say whether there are enough votes, and estimate how many more are needed.

    Parameters
    ----------
    fit : Fit
        A fitted model.
    goal : {"best", "ranking"}
        Find the best competitor, or the order of all.
    level : float
        For the best, its probability; for the ranking, the expected share of pairs in the right order. Stopping at
        P(best) >= .95, however often one looks, is wrong about one time in twenty over arenas drawn from the prior. In
        an arena whose best two are nearly equal it is wrong more often, but at little cost.
    regret_elo : float
        Expected regret in Elo points up to which the leader is ``close_enough``.

    Returns
    -------
    Enough

    Raises
    ------
    ModelError
        If the goal is unknown, the level not between 0 and 1, or the regret negative.
    NotIdentifiedError
        If the votes do not determine the estimate under a flat prior.

    Examples
    --------
    >>> found = enough(fit(example_arena().votes))
    >>> found.done, found.leader, found.votes_to_go
    (True, 'model-18', 0)
    """
    require_choice("goal", goal, get_args(Goal))
    require_level(level)
    if not regret_elo >= 0:
        raise ModelError(f"regret_elo must be a number of Elo points, 0 or more, not {regret_elo!r}.")
    return found_enough(fit, decision_strengths(fit), goal=goal, level=level, regret_elo=regret_elo)


def found_enough(fit: Fit, strength: Floats, *, goal: Goal, level: float, regret_elo: float = 10.0) -> Enough:
    """Say whether there are enough votes, from draws of r* in logits (n_draws, n)."""
    mean = strength.mean(axis=0)
    order = np.argsort(-mean, kind="stable")
    mean, ranked = mean[order], strength[:, order]
    deviation = ranked - mean
    reached = leads if goal == "best" else in_order
    place = bisect_left(MULTIPLES, level, key=lambda m: reached(mean + deviation / math.sqrt(m)))
    cast = fit.cells.n_votes * fit.cells.design_effect
    never = place and ((fit.mirror_probability or 0.0) > 1 - level or fit.cells.components.any())
    to_go = math.inf if never or place == len(MULTIPLES) else math.ceil(cast * (MULTIPLES[place] - 1))
    regret = EloScale().points_per_logit * float((ranked.max(axis=1) - ranked[:, 0]).mean())
    return Enough(
        goal=goal,
        level=level,
        done=place == 0,
        close_enough=regret <= regret_elo,
        leader=fit.cells.competitors[order[0]],
        p_best=leads(ranked),
        regret_elo=regret,
        expected_tau=2 * in_order(ranked) - 1,
        votes=cast,
        votes_to_go=to_go,
    )


def leads(ranked: Floats) -> float:
    """Return the share of draws (n_draws, n) in which the first competitor is the best."""
    return float((ranked.argmax(axis=1) == 0).mean())


def in_order(ranked: Floats) -> float:
    """Return the share of draws and pairs in which the competitor ranked first is the better of the two."""
    columns = np.ascontiguousarray(ranked.T)
    right = sum(np.count_nonzero(column > columns[place + 1 :]) for place, column in enumerate(columns))
    return float(right / (len(ranked) * math.comb(len(columns), 2)))
