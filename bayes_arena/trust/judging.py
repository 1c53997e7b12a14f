"""Campaigns, favourites and camps are found before a model of annotators could be captured by them.

1. Strengths in which no annotator's own numbers have a part (:mod:`bayes_arena.trust.plain.strengths`).
2. Drips: votes of small accounts on a competitor that they push do not count (:mod:`bayes_arena.trust.search.drips`).
3. Blocs: while some annotators pull in one direction and are determined, they are left out. Where many pull both ways
   and are not, annotators form camps (:mod:`bayes_arena.trust.search.blocs`).
4. Kinds: who more likely than not favours or hates one competitor is left out; strengths and kinds are found in turns,
   from either side where many favour the same (:mod:`bayes_arena.trust.search.readings`), and blocs are looked for
   once more.
5. The reading that counts, unless too many would be left out (:mod:`bayes_arena.trust.search.verdict`).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from bayes_arena.progress import report
from bayes_arena.trust.judgement import Judgement, dripped
from bayes_arena.trust.plain.ballots import Ballots
from bayes_arena.trust.plain.strengths import capped, strengths
from bayes_arena.trust.search.blocs import campaign_of, camps, find_sides
from bayes_arena.trust.search.drips import find_drips
from bayes_arena.trust.search.readings import Reading, find_readings
from bayes_arena.trust.search.verdict import choose
from bayes_arena.votes.cells import Cells

FEWEST = 5
"""Annotators: of fewer nobody can be told from the rest, and everybody counts."""
LARGE = 1_000_000
"""Cells of which it takes seconds, so that it is said meanwhile."""
ROUNDS = 4


def judge(cells: Cells) -> Judgement:
    """Find out whose votes count.

    Parameters
    ----------
    cells : Cells
        Votes with annotators.

    Returns
    -------
    Judgement

    Raises
    ------
    NoVotesError, ConvergenceError, NotIdentifiedError, TooLargeError
        As those of a fit.
    """
    size = cells.n_annotators
    judged = Judgement(cells, None, (), (), np.full(size, -1), np.zeros(size), "")
    active = judged.votes > 0
    if active.sum() < FEWEST:
        return judged
    if len(cells.a) < LARGE:
        return _look(judged, active)
    report("finding out whose votes count")
    try:
        return _look(judged, active)
    finally:
        report("")


def _look(judged: Judgement, active: NDArray[np.bool_]) -> Judgement:
    """Look for campaigns, favourites and camps among the active."""
    ballots, readings = Ballots.of(judged.cells), list[Reading]()
    for _ in range(ROUNDS):
        if readings:
            trusted, point = active & (readings[0].kinds.favour <= 0.5), readings[0].point
            if trusted.sum() == active.sum():
                break
        else:
            drips = find_drips(ballots, active)
            seen = ballots.take(~dripped(drips, ballots.i, ballots.j, ballots.by_annotator[ballots.k]))
            trusted, point = active, strengths(seen, capped(seen) * active[seen.k])
        sides = find_sides(seen, point, trusted)
        if sides and sides[0].determined:
            judged = judged.with_campaign(campaign_of(seen, sides[0], trusted), sides[0].members, sides[0].probability)
            active, readings = active & ~sides[0].members, []
            if not active.any():
                break
        elif sides and (unjudged := camps(sides)):
            return replace(judged, unjudged=unjudged)
        elif readings:
            break
        else:
            readings = find_readings(seen, active, point)
    if active.any():
        readings = readings or find_readings(seen, active, point)
    return choose([replace(judged, kinds=reading.kinds, drips=drips) for reading in readings] or [judged])
