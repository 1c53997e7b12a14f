"""How likely every place is, and every win."""

from __future__ import annotations

import math

import numpy as np

from bayes_arena.arrays import Floats
from bayes_arena.fits.posterior_draws import draw_without_annotators
from bayes_arena.fits.result import Fit
from bayes_arena.page.numbers.board import Board
from bayes_arena.ratings.intervals.names import resolve_interval
from bayes_arena.ratings.probabilities import win_probability

EVALUATIONS, NODES = 4_000_000, 45
"""Draws times pairs that are looked at, and nodes over slices that each takes where competitors differ by slice: what
takes less than a second."""
FEWEST, MOST = 100, 4000


def place_chances(board: Board) -> Floats:
    """Return the probability of every competitor (rows) to be on every place (columns), shape (n, n)."""
    size, n = board.strength.shape
    places = np.argsort(np.argsort(-board.strength, axis=1, kind="stable"), axis=1, kind="stable")
    counts = np.bincount((places + n * np.arange(n)).ravel(), minlength=n * n)
    return np.asarray(counts.reshape(n, n) / size)


def win_chances(fit: Fit, board: Board) -> Floats:
    """Return the score that the row's competitor is expected to take from the column's, a tie one half, (n, n).

    Where the votes leave open which end of the ranking is up, that share of it is the other's, as for all decisions.
    """
    pairs = math.comb(len(board.rows), 2) * (NODES if fit.target.slices else 1)
    size = min(max(EVALUATIONS // pairs, FEWEST), MOST)
    drawn = draw_without_annotators(resolve_interval(None, fit).sampled(fit), size=size)
    score = win_probability(fit, draws=drawn).to_numpy()[np.ix_(board.order, board.order)]
    return np.asarray(score + (fit.mirror_probability or 0.0) * (1 - 2 * score))
