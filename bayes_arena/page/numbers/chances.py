"""How likely every place is, and every win."""

from __future__ import annotations

import math

import numpy as np

from bayes_arena.arrays import Floats
from bayes_arena.fits.draws import Draws, draw, draw_in_parts
from bayes_arena.fits.result import Fit
from bayes_arena.page.numbers.board import Board
from bayes_arena.ratings.intervals.names import resolve_interval
from bayes_arena.ratings.standing import win_probability

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
    """Return the score that the row's competitor is expected to take from the column's, a tie one half, (n, n)."""
    pairs = math.comb(len(board.rows), 2) * (NODES if fit.target.slices else 1)
    size = min(max(EVALUATIONS // pairs, FEWEST), MOST)
    drawn = _without_annotators(resolve_interval(None, fit).sampled(fit), size)
    score = win_probability(fit, draws=drawn).to_numpy()
    return np.asarray(score[np.ix_(board.order, board.order)])


def _without_annotators(fit: Fit, size: int) -> Draws:
    """Draw strengths and common numbers, without the numbers of annotators, where these need not be drawn for them."""
    if fit.samples is not None or fit.target.slices:
        return draw(fit, size=size)
    strength, common, _ = draw_in_parts(fit, size=size)
    return Draws(strength, strength, common, np.zeros((size, 0, 0)))
