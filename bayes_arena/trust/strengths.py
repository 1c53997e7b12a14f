"""Strengths that no annotator's own numbers have a part in.

Davidson's model with theta = 1: consistency is not taken for ability here, so somebody who always votes for the same
competitor has the weight of their votes and no more. The first look takes no more than ``CAP`` votes of an annotator on
a competitor: as an estimate that throws much away, but nobody can drag it far alone.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bayes_arena.arrays import Floats
from bayes_arena.inference.mode.mode import find_mode
from bayes_arena.likelihood.point import Point
from bayes_arena.likelihood.problem import Problem
from bayes_arena.likelihood.specification import Model
from bayes_arena.votes.cells import Cells, with_counts

DAVIDSON = Model("davidson", ties="davidson")
CAP = 4.0
FAR, MANY = 6.0, 0.4
"""Standard errors, and the share of somebody's votes, from which they meet a competitor far too often."""


def strengths(cells: Cells, weight: Floats, *, start: Point | None = None) -> Point:
    """Return the posterior mode under the default prior.

    Parameters
    ----------
    cells : Cells
        Votes.
    weight : ndarray, shape (n_cells,)
        What a vote of every cell counts.
    start : Point, optional
        Where to start.

    Raises
    ------
    NoVotesError
        If no vote counts.
    ConvergenceError, NotIdentifiedError, TooLargeError
        As those of a fit.
    """
    weighed = with_counts(cells, cells.counts * weight[:, None])
    return find_mode(Problem.of(weighed, DAVIDSON, "default"), start=start, thorough=False).point


def capped(cells: Cells) -> Floats:
    """Weights under which nobody has more than ``CAP`` votes on a competitor, shape (n_cells,)."""
    n = cells.n_competitors
    votes = cells.counts.sum(axis=1)
    seen = np.concatenate([cells.annotator * n + cells.a, cells.annotator * n + cells.b])
    _, place = np.unique(seen, return_inverse=True)
    met = np.bincount(place, np.tile(votes, 2))[place]
    return np.asarray(np.minimum(1.0, CAP / np.maximum(*np.split(met, 2))))


def devoted(cells: Cells) -> NDArray[np.bool_]:
    """Who meets one competitor far oftener than others do, in many of their votes, shape (n_annotators,).

    No reason to think ill of somebody, but to ask what the votes say without them.
    """
    n, votes = cells.n_competitors, cells.counts.sum(axis=1)
    everybody, on = cells.votes_by_annotator(), np.zeros(n)
    for side in (cells.a, cells.b):
        on += np.bincount(side, votes, n)
    usual = on / votes.sum()
    seen = np.concatenate([cells.annotator * n + cells.a, cells.annotator * n + cells.b])
    key, place = np.unique(seen, return_inverse=True)
    met, who, expected = np.bincount(place, np.tile(votes, 2)), key // n, usual[key % n]
    error = np.sqrt(everybody[who] * expected * (1 - expected))
    often = (met - everybody[who] * expected > FAR * error) & (met >= MANY * everybody[who])
    return np.isin(np.arange(cells.n_annotators), who[often])
