"""The table: everybody's tier, score, spread of ranks and probability of being the best; and who is told from whom.

All of it comes from one set of draws, those that decisions are made from
(:mod:`bayes_arena.ratings.decision_draws`), so that no part of a page contradicts another.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bayes_arena.arrays import Floats, Ints
from bayes_arena.decisions.tiers import longest_chain, told_better
from bayes_arena.fits.result import Fit
from bayes_arena.page.meta import Column, price_of
from bayes_arena.ratings.decision_draws import best_probabilities, decision_strengths
from bayes_arena.ratings.elo import EloScale
from bayes_arena.ratings.intervals.names import resolve_interval
from bayes_arena.ratings.leaderboard import leaderboard_columns


@dataclass(frozen=True)
class Row:
    """A competitor.

    Attributes
    ----------
    name : str
    rank, tier : int
    score, lower, upper : float
        In Elo points.
    rank_best, rank_worst : int
        The arena's spread of ranks, each interval by itself.
    place_best, place_worst : int
        The places that all claims together leave open.
    p_best : float
        Probability of being the best.
    votes : float
    meta : tuple of str
        What else is known.
    """

    name: str
    rank: int
    tier: int
    score: float
    lower: float
    upper: float
    rank_best: int
    rank_worst: int
    place_best: int
    place_worst: int
    p_best: float
    votes: float
    meta: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Board:
    """All competitors, best first.

    Attributes
    ----------
    rows : tuple of Row
    order : ndarray of int, shape (n,)
        Index of each row's competitor among those of the votes.
    strength : ndarray, shape (n_draws, n)
        Draws of r* in logits, by row.
    better : ndarray of bool, shape (n, n)
        Whether a row is told to be better than a column, all pairs at once.
    p_best : ndarray, shape (n,)
        By competitor of the votes.
    meta : tuple of Column
    """

    rows: tuple[Row, ...]
    order: Ints
    strength: Floats
    better: np.ndarray
    p_best: Floats
    meta: tuple[Column, ...]

    @property
    def names(self) -> list[str]:
        """Names of the rows."""
        return [row.name for row in self.rows]

    @property
    def tiers(self) -> list[tuple[int, list[str]]]:
        """Names by tier, the first tier first."""
        last = max(row.tier for row in self.rows)
        return [(tier, [row.name for row in self.rows if row.tier == tier]) for tier in range(1, last + 1)]

    @property
    def told(self) -> tuple[int, int]:
        """Number of pairs that are told apart, and of all."""
        return int(self.better.sum()), math.comb(len(self.rows), 2)


def board_of(fit: Fit, level: float, elo: EloScale, meta: tuple[Column, ...]) -> Board:
    """Return all competitors of a fit, best first.

    Raises
    ------
    NotIdentifiedError
        If the votes do not determine the estimate under a flat prior.
    """
    strength = decision_strengths(fit)
    board = leaderboard_columns(fit, resolve_interval(None, fit), level=level, elo=elo)
    place = {name: index for index, name in enumerate(fit.cells.competitors)}
    order = np.array([place[name] for name in board["competitor"]])
    strength, p_best = strength[:, order], best_probabilities(strength)
    better, _ = told_better(strength, level)
    columns = {
        "name": board["competitor"],
        "rank": board["rank"],
        "tier": longest_chain(better),
        "score": board["elo"],
        **{name: board[name] for name in ("lower", "upper", "rank_best", "rank_worst")},
        "place_best": 1 + better.sum(axis=0),
        "place_worst": len(order) - better.sum(axis=1),
        "p_best": p_best[order],
        "votes": board["votes"],
    }
    values = zip(*(np.asarray(column).tolist() for column in columns.values()), strict=True)
    known = [tuple(column.texts[index] for column in meta) for index in order]
    rows = tuple(
        Row(**dict(zip(columns, row, strict=True)), meta=more) for row, more in zip(values, known, strict=True)
    )
    return Board(rows, order, strength, better, p_best, meta)


def cheapest_equal(board: Board, level: float) -> str:
    """Say which is the cheapest that the votes do not tell from the first; nothing if none is cheaper."""
    price = price_of(board.meta)
    if price is None or price.numbers is None:
        return ""
    prices = [price.numbers[index] for index in board.order]
    first = board.rows[0].name
    behind = (board.strength[:, :1] > board.strength).mean(axis=0) > level
    alike = [row for row in range(1, len(prices)) if not behind[row] and prices[row] < prices[0]]
    if not alike:
        return ""
    cheapest = min(alike, key=lambda row: prices[row])
    saved = 1 - prices[cheapest] / prices[0]
    written = [price.texts[board.order[row]] for row in (cheapest, 0)]
    return (
        f"The votes do not tell {board.rows[cheapest].name} from {first}, and by {price.name} it is {saved:.0%} "
        f"cheaper ({written[0]} against {written[1]})."
    )


def first_tier(rows: Sequence[Row]) -> list[bool]:
    """Return which are in the first tier."""
    return [row.tier == 1 for row in rows]


def shown_first(board: Sequence[object], most: int) -> int:
    """Return how many rows of a figure are shown at once: all, where they are not many more than so many."""
    return len(board) if len(board) <= 1.6 * most else most
