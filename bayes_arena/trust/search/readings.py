"""Readings of the votes: what kind everybody is, and the strengths without those who favour somebody, in turns.

A bloc for a competitor, seen from strengths that the bloc has made, is a crowd against it, and the other way round. So
where many favour a competitor, or meet it far too often, kinds are found also from strengths without them. The votes
are likelier under the right reading, as long as the bloc is not too large: a crowd loses now and then.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bayes_arena.likelihood.point import Point
from bayes_arena.trust.kinds import Kinds, find_kinds
from bayes_arena.trust.mixture.suspicions import AT_AIMS
from bayes_arena.trust.search.residuals import Residuals
from bayes_arena.trust.strengths import capped, devoted, strengths
from bayes_arena.votes.cells import Cells

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


def find_readings(cells: Cells, active: NDArray[np.bool_], point: Point) -> list[Reading]:
    """Find what kind everybody is, from several sides.

    Parameters
    ----------
    cells : Cells
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
    readings = [_in_turns(cells, active, point)]
    fans = devoted(cells) & active
    starts = [~fans]
    for competitor, hates in readings[0].kinds.likely_aims:
        residuals = Residuals.of(cells, point)
        pull = residuals.score[:, competitor] / np.sqrt(residuals.variance[:, competitor] + 0.5)
        starts.append(~((pull if hates else -pull) > AT_AIMS))
    for others in (active & start for start in starts if (active & ~start).any()):
        if others.any():
            readings.append(_in_turns(cells, active, strengths(cells, capped(cells) * others[cells.annotator])))

    def order(reading: Reading) -> tuple[bool, float]:
        without_fans = fans.any() and float((reading.kinds.favour[fans] > 0.5).mean()) > 0.5
        return not without_fans, -reading.kinds.evidence

    return sorted(readings, key=order)


def _in_turns(cells: Cells, active: NDArray[np.bool_], point: Point) -> Reading:
    """Find kinds at given strengths, and strengths without those who favour somebody, until neither moves."""
    weight = active.astype(float)
    for _ in range(TURNS):
        kinds = find_kinds(cells, point, active, weight)
        if not (active & (kinds.favour < 1)).any():
            break
        before, weight = weight, active * (1 - kinds.favour)
        point = strengths(cells, weight[cells.annotator], start=point)
        if np.abs(weight - before).max() < STEADY or not (kinds.favour[active] > 0.5).any():
            break
    return Reading(kinds, point)
