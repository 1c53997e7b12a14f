"""What the votes settle, and what they leave open."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

from bayes_arena.fits.result import Fit
from bayes_arena.page.board import Board
from bayes_arena.ratings.probabilities import shares_ahead
from bayes_arena.votes.reading.checks import check_rows

NAMED = 5
"""Most unsettled pairs that are named."""


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
