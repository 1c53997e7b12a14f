"""The default board of each round, as the file of an arena keeps it."""

from __future__ import annotations

import json
import sqlite3
from typing import Any

from bayes_arena.arena.records import insert, names_by_status
from bayes_arena.arena.store import columns_of, number_names
from bayes_arena.boards.former import FormerBoard, former_of
from bayes_arena.rating.rating import Rating
from bayes_arena.tables import json_text, records

# The columns of a board that are kept.
KEPT = (
    *("rank", "elo", "lower", "upper", "wins", "losses", "ties"),
    *("rank_before", "elo_change", "change_lower", "change_upper", "changed"),
)
COUNTED = """
select name from ability join annotator on code = annotator
where round = (select max(round) from round) order by name
"""
BEFORE = "select max(round) from board where round < ?"
ROWS = """
select standing.*, name as competitor from standing join competitor on code = competitor
where round = ? order by rank
"""


def last_annotators(
    connection: sqlite3.Connection,
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the annotators who counted in the last round, and whom it left out."""
    counted = tuple(name for (name,) in connection.execute(COUNTED))
    excluded = set(names_by_status(connection)["excluded"])
    return counted, tuple(sorted(excluded.difference(counted)))


def board_before(connection: sqlite3.Connection, number: int) -> FormerBoard | None:
    """Return the last board that is kept of the rounds before one; None if there is none."""
    (former,) = connection.execute(BEFORE, (number,)).fetchone()
    if former is None:
        return None
    query = "select facts from board where round = ?"
    (facts,) = connection.execute(query, (former,)).fetchone()
    columns = columns_of(connection, ROWS, (former,))
    content = {**json.loads(facts), "leaderboard": records(columns)}
    return former_of(content, f"The board of round {former}")


def keep_board(connection: sqlite3.Connection, number: int, rating: Rating) -> None:
    """Keep a board as that of a round, in place of one that is kept."""
    for table in ("board", "standing"):
        connection.execute(f"delete from {table} where round = ?", (number,))
    summary = {
        "round": number,
        "date": rating.facts["date"],
        "facts": json_text(rating.facts),
        "since": None if rating.changes is None else rating.changes.sentence,
    }
    insert(connection, "board", [summary])
    insert(connection, "standing", standing_rows(connection, number, rating))


def standing_rows(
    connection: sqlite3.Connection, number: int, rating: Rating
) -> list[dict[str, Any]]:
    """Return the rows of a board, with the numbers that the file has for competitors."""
    codes = number_names(connection, "competitor", ())
    rows = []
    for row in records(rating.board_columns):
        kept = {name: row.get(name) for name in KEPT}
        rows.append({"round": number, "competitor": codes[row["competitor"]], **kept})
    return rows
