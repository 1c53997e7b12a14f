"""The board, the pairs and the ranks of the page, all from one standing."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from bayes_arena.boards.pairs import pair_columns
from bayes_arena.boards.standing import Standing
from bayes_arena.tables import Columns, Row, records

MOST_OPEN_PAIRS = 8  # that are listed


@dataclass(frozen=True)
class SettledPairs:
    """How many pairs are settled, of how many, and the open ones nearest the top."""

    n_settled: int
    n_pairs: int
    open_pairs: list[Row]


def board_rows(columns: Columns, contested: Collection[str]) -> list[Row]:
    """Return the rows of the board, with None for a rank or a score that is missing."""
    rows = records(columns)
    for row in rows:
        row["may_be_best"] = row["rank_lower"] == 1
        row["contested"] = row["competitor"] in contested
    return rows


def axis_ends(rows: Sequence[Row]) -> tuple[float, float]:
    """Return the ends of all intervals."""
    estimated = [row for row in rows if row["elo"] is not None]
    low = min(row["lower"] for row in estimated)
    return low, max(row["upper"] for row in estimated)


def settled_pairs(standing: Standing) -> SettledPairs:
    """Return which pairs are settled: those whose interval of the gap excludes 0."""
    columns = pair_columns(standing)
    is_settled = np.asarray(columns["lower"]) > 0
    # Pairs come in the order of the board: the later one's position says how near the top.
    n_estimated = int(np.isfinite(standing.strength).sum())
    _, position = np.triu_indices(n_estimated, k=1)
    is_open = np.flatnonzero(~is_settled)
    nearest = is_open[np.argsort(position[is_open], kind="stable")]
    rows = nearest[:MOST_OPEN_PAIRS]
    listed = {name: np.asarray(values)[rows] for name, values in columns.items()}
    return SettledPairs(
        n_settled=int(is_settled.sum()),
        n_pairs=len(is_settled),
        open_pairs=records(listed),
    )
