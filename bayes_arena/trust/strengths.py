"""Strengths that no annotator's own numbers have a part in.

Davidson's model with theta = 1: consistency is not taken for ability here, so somebody who always votes for the same
competitor has the weight of their votes and no more. The first look takes no more than ``CAP`` votes of an annotator on
a competitor: as an estimate that throws much away, but nobody can drag it far alone.
"""

from __future__ import annotations

import numpy as np

from bayes_arena.arrays import Floats
from bayes_arena.inference.mode.mode import find_mode
from bayes_arena.likelihood.point import Point
from bayes_arena.likelihood.problem import Problem
from bayes_arena.likelihood.specification import Model
from bayes_arena.votes.cells import Cells, with_counts

DAVIDSON = Model("davidson", ties="davidson")
CAP = 4.0


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
