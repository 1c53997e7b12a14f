"""How likely every place is, and every win."""

from __future__ import annotations

import math

import numpy as np

from bayes_arena.arrays import Floats
from bayes_arena.fits.draws import draw
from bayes_arena.fits.result import Fit
from bayes_arena.page.numbers.board import Board
from bayes_arena.ratings.intervals.names import resolve_interval
from bayes_arena.ratings.standing import win_probability

EVALUATIONS, NODES = 10_000_000, 45
"""Draws times pairs that are looked at, and nodes over slices that each takes where competitors differ by slice: what
takes about a second. A hundred draws leave .003 of a probability open."""
FEWEST, MOST = 100, 4000


def place_chances(board: Board) -> Floats:
    """Return the probability of every competitor (rows) to be on every place (columns), shape (n, n)."""
    size, n = board.strength.shape
    places = np.argsort(np.argsort(-board.strength, axis=1, kind="stable"), axis=1, kind="stable")
    counts = np.bincount((places + n * np.arange(n)).ravel(), minlength=n * n)
    return np.asarray(counts.reshape(n, n) / size)


def win_chances(fit: Fit, board: Board) -> Floats:
    """Return the score that the row's competitor is expected to take from the column's, a tie one half, (n, n)."""
    pairs = math.comb(len(board.rows), 2) * (NODES if fit.target.slices else 1)
    size = min(max(EVALUATIONS // pairs, FEWEST), MOST)
    sampled = resolve_interval(None, fit).sampled(fit)
    score = win_probability(fit, draws=draw(sampled, size=size)).to_numpy()
    return np.asarray(score[np.ix_(board.order, board.order)])
