"""The board of the page: scores, rank ranges, probabilities of ranks and wins, what the votes settle, boards by slice.

Probabilities come from one set of draws, those that decisions are made from
(:mod:`bayes_arena.ratings.decision_draws`), so that no part of the page contradicts another.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from bayes_arena.arrays import Floats, Ints, rows_of, sum_by
from bayes_arena.errors import DependentVotesWarning
from bayes_arena.fits.posterior_draws import draw_without_annotators
from bayes_arena.fits.result import Fit
from bayes_arena.markup import percent
from bayes_arena.page.meta import Column, price_of
from bayes_arena.ratings.decision_draws import best_probabilities, decision_strengths
from bayes_arena.ratings.elo import EloScale
from bayes_arena.ratings.intervals.names import resolve_interval
from bayes_arena.ratings.leaderboard import leaderboard_columns
from bayes_arena.ratings.probabilities import shares_ahead, win_probability
from bayes_arena.votes.names import ANNOTATOR, PROGRAM, PROMPT, TIME
from bayes_arena.votes.reading.checks import check_rows

EVALUATIONS, NODES = 4_000_000, 45
"""Most draws times pairs, which take less than a second; nodes over slices for each, where the fit has slices."""
FEWEST, MOST = 100, 4000
NAMED = 5
"""Most unsettled pairs that are named."""
PANELS, ROWS = 12, 12
"""Most slices of a kind, and most competitors, that are shown."""


@dataclass(frozen=True, eq=False)
class Board:
    """All competitors, best first.

    ``rows`` are those of the leaderboard, with P(best), the texts of the metadata, and whether no other competitor is
    shown to be better; ``order`` (n,) is the index of each row's competitor among those of the votes; ``strength``
    (n_draws, n) has draws of r* in logits, by row.
    """

    rows: list[dict[str, Any]]
    order: Ints
    strength: Floats
    meta: tuple[Column, ...]

    @property
    def names(self) -> list[str]:
        """Names of the rows."""
        return [row["competitor"] for row in self.rows]


def board_of(fit: Fit, level: float, elo: EloScale, meta: tuple[Column, ...]) -> Board:
    """Return the board of a fit."""
    columns = leaderboard_columns(fit, resolve_interval(None, fit), level=level, elo=elo)
    place = {name: index for index, name in enumerate(fit.cells.competitors)}
    order = np.array([place[name] for name in columns["competitor"]])
    strength = decision_strengths(fit)[:, order]
    columns["p_best"], columns["may_be_best"] = best_probabilities(strength), columns["rank_lower"] == 1
    columns["meta"] = [tuple(column.texts[index] for column in meta) for index in order]
    return Board(rows_of(columns), order, strength, meta)


def cheapest_equal(board: Board, level: float) -> str:
    """Name the cheapest competitor that the votes cannot tell from the first; empty if none is cheaper."""
    price = price_of(board.meta)
    if price is None or price.numbers is None:
        return ""
    prices = [price.numbers[index] for index in board.order]
    behind = (board.strength[:, :1] > board.strength).mean(axis=0) > level
    alike = [row for row in range(1, len(prices)) if not behind[row] and prices[row] < prices[0]]
    if not alike:
        return ""
    cheapest = min(alike, key=lambda row: prices[row])
    saved = 1 - prices[cheapest] / prices[0]
    written = [price.texts[board.order[row]] for row in (cheapest, 0)]
    return (
        f"The votes cannot tell {board.names[cheapest]} from {board.names[0]}, and by {price.name} it is "
        f"{percent(saved)} cheaper ({written[0]} against {written[1]})."
    )


def shown_first(board: Sequence[object], most: int) -> int:
    """Return how many rows a figure shows at once: all, unless they are many more than ``most``."""
    return len(board) if len(board) <= 1.6 * most else most


def win_chances(fit: Fit, board: Board) -> Floats:
    """Return the expected score of the row's competitor against the column's, a tie counting one half, (n, n).

    Where the direction of the ranking is open, the reversed ranking counts with its probability, as for all decisions.
    """
    pairs = math.comb(len(board.rows), 2) * (NODES if fit.target.slices else 1)
    size = min(max(EVALUATIONS // pairs, FEWEST), MOST)
    drawn = None  # the delta method needs none
    if not fit.target.own or fit.samples is not None:
        drawn = draw_without_annotators(resolve_interval(None, fit).sampled(fit), size=size)
    score = win_probability(fit, draws=drawn).to_numpy()[np.ix_(board.order, board.order)]
    return np.asarray(score + (fit.mirror_probability or 0.0) * (1 - 2 * score))


@dataclass(frozen=True)
class Settled:
    """What the votes settle.

    Attributes
    ----------
    pairs, unsettled : int
        Number of pairs, and of those whose order is less probable than the level, or which no votes connect.
    connected : bool
        Whether votes connect all competitors.
    nearest : tuple of (str, str, float)
        The unsettled pairs highest on the board: the likelier order and its probability.
    checks : list of dict
        What :func:`~bayes_arena.check` finds.
    """

    pairs: int
    unsettled: int
    connected: bool
    nearest: tuple[tuple[str, str, float], ...]
    checks: list[dict[str, str]]


def settled_of(fit: Fit, board: Board, level: float) -> Settled:
    """Return what the votes settle, and what they leave open."""
    ahead, names = shares_ahead(board.strength), board.names
    pairs, group = list(combinations(range(len(names)), 2)), fit.cells.components[board.order]
    ordered = sorted((j, i) for i, j in pairs)
    unsettled = [(i, j) for j, i in ordered if max(ahead[i, j], ahead[j, i]) < level or group[i] != group[j]]
    likelier = [(i, j) if ahead[i, j] >= ahead[j, i] else (j, i) for i, j in unsettled[:NAMED]]
    return Settled(
        pairs=len(pairs),
        unsettled=len(unsettled),
        connected=not group.any(),
        nearest=tuple((names[i], names[j], float(ahead[i, j])) for i, j in likelier),
        checks=check_rows(fit.cast),
    )


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
