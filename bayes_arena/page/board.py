"""The board, the pairs and the ranks of the page, all from one standing."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from bayes_arena.boards.next_pairs import describe_next, next_pair_columns
from bayes_arena.boards.standing import Standing
from bayes_arena.boards.verdict import first_is_settled, votes_help
from bayes_arena.tables import Columns, Row, records


@dataclass(frozen=True)
class AskedNext:
    """What to ask next.

    Attributes
    ----------
    sentence : str
    pairs : list of dict
        On which a vote would tell most.
    for_best : bool
        Whether first place is open, so that the pairs are of those who may have it.
    votes_help : bool
        Whether votes would settle them, and not only other prompts.
    """

    sentence: str
    pairs: list[Row]
    for_best: bool
    votes_help: bool


def board_rows(columns: Columns, contested: Collection[str]) -> list[Row]:
    """Return the rows of the board, with None for a rank or a score that is missing."""
    rows = records(columns)
    for row in rows:
        row["may_be_best"] = row["rank_lower"] == 1
        row["contested"] = row["competitor"] in contested
    return rows


def axis_ends(rows: Sequence[Row]) -> tuple[float, float]:
    """Return the ends of the intervals of all that have a rank.

    Whoever has hardly any votes may have an interval that would leave the others no room.
    """
    ranked = [row for row in rows if row["rank"] is not None]
    low = min(row["lower"] for row in ranked)
    return low, max(row["upper"] for row in ranked)


def asked_next(standing: Standing) -> AskedNext:
    """Return what the command `next` says."""
    columns = next_pair_columns(standing)
    return AskedNext(
        sentence=describe_next(standing, columns),
        pairs=records(columns),
        for_best=not first_is_settled(standing),
        votes_help=votes_help(standing),
    )
