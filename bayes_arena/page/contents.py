"""What the page shows, all from one rating: so it agrees with the commands."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from bayes_arena.arrays import Array, Floats
from bayes_arena.page.about import About
from bayes_arena.page.board import AskedNext
from bayes_arena.page.groups import TwoGroups
from bayes_arena.page.slices import Sliced
from bayes_arena.tables import Row


@dataclass(frozen=True, eq=False)
class Contents:
    """What the template shows.

    Attributes
    ----------
    header, notes : tuple of str
        Lines above the verdict and below it.
    date : str
        The day on which the page was made, in ISO's form.
    data : str
        What a reader can download, JSON.
    ranked, unranked, annotators, favourites : list of dict
        Rows of tables, with the columns of the public tables.
    ends : tuple of float
        Ends of the intervals on the board.
    slices : list of Sliced
        The board by slices, where that is asked for.
    about : About, optional
        Facts about the competitors.
    scores, rank_shares : ndarray, shape (ranked, ranked)
        Expected score of the row against the column; probability of each rank.
    settled : tuple of int
        How many pairs are settled, and of how many.
    asked_next : AskedNext
        What to ask next.
    groups : TwoGroups, optional
        Where annotators fall into two.
    observed : mapping of str to ndarray
        Groups of pairs, see :mod:`bayes_arena.checks.observed`.
    fitted, words : dict of str to str
        What was fitted, and what words mean.
    """

    title: str
    header: tuple[str, ...]
    date: str
    data: str
    verdict: str
    notes: tuple[str, ...]
    level: float
    ranked: list[Row]
    unranked: list[Row]
    ends: tuple[float, float]
    slices: list[Sliced]
    about: About | None
    scores: Floats
    rank_shares: Floats
    settled: tuple[int, int]
    asked_next: AskedNext
    about_annotators: str
    annotators: list[Row]
    favourites: list[Row]
    contested: list[str]
    groups: TwoGroups | None
    observed: Mapping[str, Array]
    fitted: dict[str, str]
    words: dict[str, str]

    @property
    def has_before(self) -> bool:
        """Whether there is a board before: a former one, or with votes left out."""
        return "elo_before" in self.ranked[0]

    @property
    def has_changes(self) -> bool:
        """Whether the board before is a former one."""
        return "elo_change" in self.ranked[0]

    @property
    def n_changes(self) -> int:
        """Of how many competitors the score can be held to a former one."""
        return sum(row["elo_change"] is not None for row in self.ranked)

    @property
    def n_outside(self) -> int:
        """Groups of pairs whose observed score is outside its range."""
        groups = self.observed
        is_below = groups["observed"] < groups["lower"]
        return int(np.sum(is_below | (groups["observed"] > groups["upper"])))

    @property
    def agreement_ends(self) -> tuple[float, float]:
        """Ends of the intervals of agreement, with 0 and 1 between them."""
        low = min(row["lower"] for row in self.annotators)
        high = max(row["upper"] for row in self.annotators)
        return min(low, 0.0), max(high, 1.0)
