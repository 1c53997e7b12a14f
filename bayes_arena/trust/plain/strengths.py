"""Strengths that no annotator's own numbers have a part in.

Davidson's model with theta = 1: consistency is not taken for ability here, so somebody who always votes for the same
competitor has the weight of their votes and no more. The first look takes no more than ``CAP`` votes of an annotator on
a competitor: as an estimate that throws much away, but nobody can drag it far alone.
"""

from __future__ import annotations

import numpy as np
import scipy
from numpy.typing import NDArray

from bayes_arena.arrays import Floats, sum_by
from bayes_arena.inference.mode.mode import find_mode
from bayes_arena.likelihood.point import Point
from bayes_arena.likelihood.problem import Problem
from bayes_arena.trust.plain.ballots import DAVIDSON, Ballots
from bayes_arena.votes.cells import Cells

CAP = 4.0
BY_CHANCE, MANY = 1e-9, 0.4
"""Probability below which, and share of somebody's votes from which, they meet a competitor far too often."""


def strengths(ballots: Ballots, weight: Floats | None = None, *, start: Point | None = None) -> Point:
    """Return the posterior mode under the default prior.

    Parameters
    ----------
    ballots : Ballots
        Votes.
    weight : ndarray, shape (n_rows,), optional
        What a vote of every row counts; 1 by default.
    start : Point, optional
        Where to start.

    Raises
    ------
    NoVotesError
        If no vote counts.
    ConvergenceError, NotIdentifiedError, TooLargeError
        As those of a fit.
    """
    pairs = ballots.pairs
    weighed = ballots.counts if weight is None else ballots.counts * weight
    counts = np.column_stack([sum_by(pairs.place, one, len(pairs.i)) for one in weighed])
    rows = counts.sum(axis=1) > 0
    nobody = np.zeros(int(rows.sum()), dtype=np.int64)
    summed = Cells(ballots.competitors, (), pairs.i[rows], pairs.j[rows], nobody, counts[rows])
    return find_mode(Problem.of(summed, DAVIDSON, "default"), start=start, thorough=False).point


def capped(ballots: Ballots) -> Floats:
    """Weights under which nobody has more than ``CAP`` votes on a competitor, shape (n_rows,)."""
    meetings = ballots.meetings
    met = meetings.sum(ballots.votes, ballots.votes)
    return np.asarray(np.minimum(1.0, CAP / np.maximum(met[meetings.at_i], met[meetings.at_j])))


def devoted(ballots: Ballots) -> NDArray[np.bool_]:
    """Return who meets one competitor far oftener than others do, in many of their votes, shape (n_annotators,).

    No reason to think ill of somebody, but to ask what the votes say without them.
    """
    meetings, votes = ballots.meetings, ballots.votes
    met = meetings.sum(votes, votes)
    usual = sum_by(meetings.competitor, met, ballots.n_competitors) / votes.sum()
    annotator = meetings.annotator
    everybody, many = ballots.by_annotator[annotator], np.flatnonzero(met >= MANY * ballots.by_annotator[annotator])
    often, of = met[many], everybody[many]
    share = usual[meetings.competitor[many]]
    chance = scipy.special.betainc(often, of - often + 1, share)  # of as many or more, binomial
    who = np.zeros(ballots.n_annotators, dtype=bool)
    who[annotator[many[chance < BY_CHANCE]]] = True
    return who
