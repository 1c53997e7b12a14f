"""What the written-out models share: the votes one by one, and the paper's likelihood of half wins."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import pymc as pm
import pytensor.tensor as pt

from bayes_arena.arrays import Ints
from bayes_arena.likelihood.priors import Prior
from bayes_arena.likelihood.problem import Problem
from bayes_arena.likelihood.specification import Model
from bayes_arena.models._parts import zero_sum
from bayes_arena.votes.cells import Cells, single_votes
from bayes_arena.votes.outcomes import BOTH_BAD, LOSS, OUTCOME_SCORES, TIE, WIN, by_result

SCORES = OUTCOME_SCORES[: TIE + 1]
"""W of a win, a loss and a tie."""


class Votes(NamedTuple):
    """A row for every vote, shape (n_votes,) each.

    Attributes
    ----------
    i, j, k : ndarray of int
        Index of who was shown first (or sorts first), of the other, and of who voted (0 where unknown).
    outcome : ndarray of int
        ``WIN`` (0) where i won, ``LOSS`` (1) where j won, ``TIE`` (2) for a tie, both-bad votes included; with grades
        kept, 3 and 4 where i and where j won by the second grade, and so on.
    """

    i: Ints
    j: Ints
    k: Ints
    outcome: Ints


def one_row_a_vote(cells: Cells, *, graded: bool = False) -> Votes:
    """Return the votes one by one: the same rows for every model, in the order of :func:`~bayes_arena.to_datatree`.

    Wins of all grades are alike, unless they are kept apart.

    Raises
    ------
    ModelError
        If weights are fractional, so that there are no single votes.
    """
    cell, outcome = single_votes(cells)
    result = np.arange(-1, cells.counts.shape[1] - 1)  # without both-bad votes, which are ties
    result[: BOTH_BAD + 1] = WIN, LOSS, TIE, TIE
    if not graded:
        for said, outcomes in enumerate(by_result(len(result))):
            result[outcomes] = said
    return Votes(cells.a[cell], cells.b[cell], cells.annotator[cell], result[outcome])


def half_wins(name: str, log_odds: Any, **node: Any) -> Any:
    """Return the outcome of votes in which a tie is half a win for each, given the log-odds of a win of i.

    With W = 1, 0, 1/2 for a win, a loss and a tie the log-likelihood is W ln P + (1 - W) ln(1 - P): equations 2 and 5
    of Liu et al. (2025). It gives a tie no probability of its own, so draws are wins and losses, and its sum over the
    three outcomes is above 1: densities of votes with ties can be compared only with those of other models of half
    wins.
    """

    def logp(outcome: Any, log_odds: Any) -> Any:
        score = pt.as_tensor(SCORES)[outcome]
        return -score * pm.math.log1pexp(-log_odds) - (1 - score) * pm.math.log1pexp(log_odds)

    def dist(log_odds: Any, size: Any) -> Any:
        return pm.Bernoulli.dist(logit_p=-log_odds, size=size)  # 1 is a loss

    return pm.CustomDist(name, log_odds, logp=logp, dist=dist, signature="()->()", class_name="HalfWins", **node)


def deviations(name: str, sd: Any, dim: str) -> Any:
    """Return numbers of zero sum and spread ``sd``, sampled in units of it; flat ones where it is infinite."""
    if isinstance(sd, float) and math.isinf(sd):
        return zero_sum(f"{name}_unit", sd, dim)
    return sd * zero_sum(f"{name}_unit", 1.0, dim)


def shared(name: str, sd: float, prior: Prior) -> Any:
    """Return a number that all votes share, normal around zero, or flat where the prior is."""
    return pm.Flat(name) if prior.is_flat else pm.Normal(name, 0, sd)


def logits_of_grades(eta: Any, emphasis: Any, grades: int, prior: Prior) -> list[Any]:
    """Return the logits of wins of i and of j by further grades: g eta / 2 + (g - 1) x + c_g, and with -eta.

    c_3, c_4, ... are shared by all votes, and c_2 is zero (:mod:`bayes_arena.likelihood.outcomes.davidson`).
    """
    logits = []
    for grade in range(2, grades + 1):
        rise = (grade - 1) * emphasis + (shared(f"grade_{grade}_common", 1, prior) if grade > 2 else 0.0)
        logits += [grade * eta / 2 + rise, -grade * eta / 2 + rise]
    return logits


def prior_for(prior: str | Prior, cells: Cells, model: str | Model) -> Prior:
    """Return the prior, checked against the votes and the model.

    Raises
    ------
    ModelError
        If the prior is unknown, or the model needs annotators and there are none.
    """
    return Problem.of(cells, model, prior).prior
