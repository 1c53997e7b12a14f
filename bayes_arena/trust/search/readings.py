"""Readings of the votes: what kind everybody is, and the strengths without those who favour somebody, in turns.

A bloc for a competitor, seen from strengths that the bloc has made, is a crowd against it, and the other way round. So
where many favour a competitor, or meet it far too often, kinds are found also from strengths without them. The votes
are likelier under the right reading, as long as the bloc is not too large: a crowd loses now and then.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bayes_arena.arrays import Floats, sum_by
from bayes_arena.likelihood.point import Point
from bayes_arena.trust.kinds import Kinds, find_kinds
from bayes_arena.trust.mixture.suspicions import AT_AIMS
from bayes_arena.trust.plain.ballots import Ballots
from bayes_arena.trust.plain.residuals import Residuals
from bayes_arena.trust.plain.strengths import capped, devoted, strengths

TURNS = 3
STEADY = 0.02
"""Change of a probability that ends the turns."""


@dataclass(frozen=True, eq=False)
class Reading:
    """A reading of the votes.

    Attributes
    ----------
    kinds : Kinds
        What kind everybody is.
    point : Point
        Strengths without those who favour somebody.
    """

    kinds: Kinds
    point: Point


def find_readings(ballots: Ballots, active: NDArray[np.bool_], point: Point) -> list[Reading]:
    """Find what kind everybody is, from several sides.

    Parameters
    ----------
    ballots : Ballots
        Votes.
    active : ndarray of bool, shape (n_annotators,)
        Who is in no campaign.
    point : Point
        Strengths to begin with.

    Returns
    -------
    list of Reading
        The likeliest first; before it those in which most of the devoted favour somebody: what a competitor is worth
        is for those to say who meet others, too.
    """
    readings = [_in_turns(ballots, active, point)]
    fans = devoted(ballots) & active
    starts = [~fans]
    for competitor, hates in readings[0].kinds.likely_aims:
        pull = _pull(ballots, point, competitor)
        starts.append(~((pull if hates else -pull) > AT_AIMS))
    for others in (active & start for start in starts if (active & ~start).any()):
        if others.any():
            without = strengths(ballots, capped(ballots) * others[ballots.k])
            readings.append(_in_turns(ballots, active, without))

    def order(reading: Reading) -> tuple[bool, float]:
        without_fans = fans.any() and float((reading.kinds.favour[fans] > 0.5).mean()) > 0.5
        return not without_fans, -reading.kinds.evidence

    return sorted(readings, key=order)


def _pull(ballots: Ballots, point: Point, competitor: int) -> Floats:
    """Return what everybody's votes do for a competitor, in standard errors or so, shape (n_annotators,)."""
    rows, residuals = np.flatnonzero(ballots.on(competitor)), Residuals.of(ballots, point)
    sign = np.where(ballots.i[rows] == competitor, 1.0, -1.0)
    size, who = ballots.n_annotators, ballots.k[rows]
    score, variance = sum_by(who, sign * residuals.score[rows], size), sum_by(who, residuals.variance[rows], size)
    return np.asarray(score / np.sqrt(variance + 0.5))


def _in_turns(ballots: Ballots, active: NDArray[np.bool_], point: Point) -> Reading:
    """Find kinds at given strengths, and strengths without those who favour somebody, until neither moves."""
    weight, habits = active.astype(float), None
    for _ in range(TURNS):
        kinds, habits = find_kinds(ballots, point, active, weight, habits)
        if not (active & (kinds.favour < 1)).any():
            break
        before, weight = weight, active * (1 - kinds.favour)
        point = strengths(ballots, weight[ballots.k], start=point)
        if np.abs(weight - before).max() < STEADY or not (kinds.favour[active] > 0.5).any():
            break
    return Reading(kinds, point)
