"""Boards by slice: where competitors are better or worse than overall."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np

from bayes_arena.arrays import sum_by
from bayes_arena.errors import DependentVotesWarning
from bayes_arena.fits.result import Fit
from bayes_arena.page.board import Board
from bayes_arena.ratings.elo import EloScale
from bayes_arena.ratings.intervals.names import resolve_interval
from bayes_arena.ratings.leaderboard import leaderboard_columns
from bayes_arena.votes.names import ANNOTATOR, PROGRAM, PROMPT, TIME

PANELS, ROWS = 12, 12
"""Most slices of a kind, and most competitors, that are shown."""


@dataclass(frozen=True)
class Panel:
    """The first competitors of the board in one slice: lower bound, score and upper bound of each, in Elo points."""

    name: str
    votes: float
    intervals: tuple[tuple[float, float, float], ...]


@dataclass(frozen=True)
class Kind:
    """A kind of slices, how many there are, and the largest of them."""

    name: str
    size: int
    panels: tuple[Panel, ...]


def kinds_of(fit: Fit, board: Board, level: float, elo: EloScale) -> list[Kind]:
    """Return the boards of slices that the model has strengths for, the slices with the most votes first."""
    if fit.estimand is not None and fit.estimand.slice is not None:
        return []
    known = [kind for kind in fit.model.strength_by if kind not in (ANNOTATOR, PROGRAM, PROMPT)]
    return [_kind(fit, kind, board, level, elo) for kind in known]


def unused_kinds(fit: Fit) -> list[str]:
    """Return the kinds of slices that the votes have but the model does not use; prompts and times aside."""
    names, aside = fit.cells.slice_names, (PROMPT, TIME, *fit.model.strength_by)
    return [kind for kind in fit.cells.slices if kind not in aside and names[kind][1:]]


def _kind(fit: Fit, kind: str, board: Board, level: float, elo: EloScale) -> Kind:
    names = fit.cells.slice_names[kind]
    votes = sum_by(fit.cast.slices[kind], fit.cast.counts.sum(axis=1), len(names))
    panels = []
    for code in np.argsort(-votes, kind="stable")[:PANELS]:
        within = fit.on(slice=(kind, names[code]))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DependentVotesWarning)  # given once, for the whole board
            columns = leaderboard_columns(within, resolve_interval(None, within), level=level, elo=elo)
        bounds = np.column_stack([columns["lower"], columns["elo"], columns["upper"]]).tolist()
        found = dict(zip(columns["competitor"], map(tuple, bounds), strict=True))
        panels.append(Panel(names[code], float(votes[code]), tuple(found[name] for name in board.names[:ROWS])))
    return Kind(kind, len(names), tuple(panels))
