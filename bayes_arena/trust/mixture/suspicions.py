"""Annotators in view of competitors on whom their votes stand out from their others: those of whom favour is likely."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bayes_arena.arrays import Floats, Ints, sum_runs
from bayes_arena.compiled import for_each
from bayes_arena.trust.classes import Evidence, evidence
from bayes_arena.trust.mixture.crowd import Crowd
from bayes_arena.trust.plain.ballots import Ballots, Meetings

STANDS_OUT, AT_AIMS = 2.5, 1.5
"""Standard errors of a residual from which favour is looked for, and from which it is on those competitors where most
stand out: below, it is not likelier than not, whatever its share."""
LIKELIEST_AIMS = 4
EXACT = 1e-9
NARROWEST = 0.05
"""Taste that is looked at."""


@dataclass(frozen=True, eq=False)
class Suspicions:
    """Annotators in view of competitors on whom they stand out, sorted by annotator.

    Attributes
    ----------
    annotator, competitor : ndarray of int, shape (S,)
    hates : ndarray of bool, shape (S,)
    evidence : Evidence
        If they favour the competitor, or hate it.
    value : ndarray, shape (S,)
        Log evidence, less what a taste for it would explain.
    taste : float
        Standard deviation of tastes; 0 where they are too slight to be looked at.
    """

    annotator: Ints
    competitor: Ints
    hates: NDArray[np.bool_]
    evidence: Evidence
    value: Floats
    taste: float

    @property
    def key(self) -> Ints:
        """Number of competitor and way."""
        return 2 * self.competitor + self.hates


def find_suspicions(ballots: Ballots, crowd: Crowd, weight: Floats) -> Suspicions:
    """Look for favour where an annotator's votes on a competitor stand out from their others.

    Parameters
    ----------
    ballots : Ballots
        Votes.
    crowd : Crowd
        Annotators, as if they favoured nobody.
    weight : ndarray, shape (n_annotators,)
        By how much everybody counts where it is estimated how strong tastes are.
    """
    meetings, n, population = ballots.meetings, ballots.n_competitors, crowd.habits.population
    pull, variance = _pulls(ballots, crowd)
    z = np.maximum(variance, EXACT**2)
    np.abs(np.divide(pull, np.sqrt(z, out=z), out=z), out=z)
    beyond = np.flatnonzero(z > AT_AIMS)
    z, hates, competitor = z[beyond], pull[beyond] < 0, meetings.competitor[beyond].astype(np.int64)
    aim = 2 * competitor + hates
    excess = np.bincount(aim, (z - AT_AIMS) ** 2, 2 * n)
    bar = np.full(2 * n, STANDS_OUT)
    bar[np.argsort(-excess, kind="stable")[:LIKELIEST_AIMS]] = AT_AIMS
    chosen = z > bar[aim]
    competitor, hates = competitor[chosen], hates[chosen]
    annotator = np.searchsorted(meetings.first, beyond[chosen], side="right") - 1
    views = crowd.views.take(annotator).towards(competitor, np.where(hates, -1.0, 1.0))
    favours = evidence(crowd.rows, views, population, favours=True)
    taste, besides = _taste(meetings, pull, variance, weight), np.zeros(len(views))
    if taste > NARROWEST:
        besides = evidence(crowd.rows, views, population, taste=taste).value - crowd.regular.value[annotator]
    else:
        taste = 0.0
    return Suspicions(annotator, competitor, hates, favours, favours.value - besides, taste)


def _pulls(ballots: Ballots, crowd: Crowd) -> tuple[Floats, Floats]:
    """Sum of score less expected score at every meeting, and its variance, by the annotators' own numbers."""
    from bayes_arena.trust import kernels

    meetings, rows, numbers = ballots.meetings, crowd.rows, crowd.regular.numbers
    pull, variance = (np.zeros(len(meetings.competitor)) for _ in range(2))
    log_tie = float(crowd.habits.population.log_tie_propensity)
    given = ballots.first, meetings.at_i, meetings.at_j, rows.lead, rows.counts, numbers, log_tie, pull, variance
    for_each(kernels.add_pulls, ballots.n_annotators, *given, what="the pulls of annotators")
    return pull, variance


def _taste(meetings: Meetings, pull: Floats, variance: Floats, counts: Floats) -> float:
    """Estimate the standard deviation of the middle annotator's tastes, in logits.

    Residuals have the variance V + taste^2 V^2, V that of the votes. Each annotator gives an estimate; their median,
    weighted by the information, does not mind those who favour somebody, as long as these are not many. Its standard
    error is taken off, as chance must not shield anybody.
    """
    squares = pull**2
    squares -= variance
    excess = sum_runs(meetings.first, squares)
    information = sum_runs(meetings.first, np.square(variance, out=squares))
    known = information * counts > 0
    if not known.any():
        return 0.0
    each, weight = excess[known] / information[known], np.sqrt(information[known]) * counts[known]
    middle = _median(each, weight)
    middle_error = 1.25 * 1.48 * _median(np.abs(each - middle), weight) * np.linalg.norm(weight) / weight.sum()
    return math.sqrt(max(middle - float(middle_error), 0.0))


def _median(values: Floats, weight: Floats) -> float:
    """Return the weighted median."""
    order = np.argsort(values)
    upto = np.cumsum(weight[order])
    return float(values[order][np.searchsorted(upto, 0.5 * upto[-1])])
