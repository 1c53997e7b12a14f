"""What the file of an arena records: votes, rounds, and decisions about annotators.

Votes are stored as counts by cell: pair, annotator and outcome.  A vote with an id is
also stored by its id, once.  Votes without ids are known by their content: the n-th of
equal votes in one addition is the n-th such vote of every other.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

import numpy as np

from bayes_arena.arena.store import columns_of, names_of, now, number_names
from bayes_arena.arrays import Ints
from bayes_arena.errors import VotesError, listing, plural
from bayes_arena.fits.result import Fit
from bayes_arena.version import __version__
from bayes_arena.votes.votes import Votes, distinct_rows

type Cell = tuple[int, int, int, int]  # first, second, annotator, outcome

ID = "id"  # the slice by which votes are read that have ids

# The last decision about each annotator, if it was to exclude them.
EXCLUDED = """
select annotator from decision
where number in (select max(number) from decision group by annotator)
and decision = 'excluded'
"""
STATUS = f"""
select name as annotator,
    case when code in ({EXCLUDED}) then 'excluded'
         when coalesce(n_votes, 0) > delta then 'active' else 'waiting' end as status,
    coalesce(n_votes, 0) as votes, last.round as round, theta
from annotator join arena
left join (select annotator, sum(n) as n_votes from cell group by annotator) as counted
    on counted.annotator = code
left join (select annotator, max(round) as round, theta from ability group by annotator)
    as last on last.annotator = code
order by name
"""
ADD_TO_CELL = """
insert into cell values (?, ?, ?, ?, ?)
on conflict (first, second, annotator, outcome) do update set n = n + excluded.n
"""


def require_storable(votes: Votes) -> None:
    """Raise a VotesError unless these are whole votes of known annotators."""
    if not votes.n_annotators:
        raise VotesError(f"A Stable Arena judges annotators. {votes.why_no_annotators}")
    if votes.has_fractions:
        raise VotesError(
            "A Stable Arena stores whole votes, and these have fractional weights. "
            "Rate them with fit (bayes-arena rank)."
        )


def settle_ids(connection: sqlite3.Connection, has_ids: bool) -> None:
    """Let the first votes decide whether all votes of an arena have ids."""
    (settled,) = connection.execute("select has_ids from arena").fetchone()
    if settled is None:
        connection.execute("update arena set has_ids = ?", (has_ids,))
    elif bool(settled) != has_ids:
        stored, added = ("have", "have none") if settled else ("have no", "have")
        raise VotesError(
            f"The stored votes {stored} ids, and the new ones {added}. Name a column "
            "of ids (id=..., --id) for all votes of an arena, or for none."
        )


def coded_cells(
    connection: sqlite3.Connection, votes: Votes
) -> Iterator[tuple[Cell, int, int]]:
    """Yield cells by the numbers of the file, with the row and the count of each."""
    competitor = number_names(connection, "competitor", votes.competitors)
    annotator = number_names(connection, "annotator", votes.annotators)
    counts = votes.folded.astype(np.int64)
    for row, outcome in np.argwhere(counts > 0).tolist():
        cell = (
            competitor[votes.competitors[votes.i[row]]],
            competitor[votes.competitors[votes.j[row]]],
            annotator[votes.annotators[votes.annotator[row]]],
            outcome,
        )
        yield cell, row, int(counts[row, outcome])


def add_by_content(connection: sqlite3.Connection, votes: Votes) -> int:
    """Store the votes of each cell beyond those that are there; return how many."""
    counts: Counter[Cell] = Counter()
    for cell, _, count in coded_cells(connection, votes):
        counts[cell] += count
    new = counts - Counter(stored_counts(connection))  # keeps what is positive
    add_to_cells(connection, new)
    return new.total()


def add_by_id(connection: sqlite3.Connection, votes: Votes) -> int:
    """Store the votes whose ids are new; return how many."""
    ids = votes.levels[ID]
    cell_of: dict[str, Cell] = {}
    for cell, row, _ in coded_cells(connection, votes):
        name = ids[votes.slices[ID][row]]
        if cell_of.setdefault(name, cell) != cell:
            raise VotesError(
                f"Different votes share the id {name!r}. Give each its own."
            )
    known = stored_ids(connection, list(cell_of))
    changed = [name for name, cell in known.items() if cell != cell_of[name]]
    if changed:
        raise VotesError(
            f"The ids of {plural(len(changed), 'vote')} are those of different stored "
            f"votes: {listing(map(repr, changed))}. Give new votes ids of their own."
        )
    new = {name: cell for name, cell in cell_of.items() if name not in known}
    rows = [(name, *cell) for name, cell in new.items()]
    connection.executemany("insert into vote values (?, ?, ?, ?, ?)", rows)
    add_to_cells(connection, Counter(new.values()))
    return len(new)


def stored_counts(connection: sqlite3.Connection) -> dict[Cell, int]:
    """Return the number of stored votes by cell."""
    rows = connection.execute("select first, second, annotator, outcome, n from cell")
    return {(first, second, k, outcome): n for first, second, k, outcome, n in rows}


def stored_ids(connection: sqlite3.Connection, names: Sequence[str]) -> dict[str, Cell]:
    """Return the cells of those ids that are stored."""
    query = "select first, second, annotator, outcome from vote where id = ?"
    known = {}
    for name in names:
        cell = connection.execute(query, (name,)).fetchone()
        if cell is not None:
            known[name] = cell
    return known


def add_to_cells(connection: sqlite3.Connection, counts: Mapping[Cell, int]) -> None:
    """Add votes to cells."""
    rows = [(*cell, n) for cell, n in counts.items()]
    connection.executemany(ADD_TO_CELL, rows)


def names_by_status(connection: sqlite3.Connection) -> dict[str, list[str]]:
    """Return the names of the active, waiting and excluded annotators."""
    table = columns_of(connection, STATUS)
    names: dict[str, list[str]] = {"active": [], "waiting": [], "excluded": []}
    for name, status in zip(table["annotator"], table["status"], strict=True):
        names[status].append(name)
    return names


def counted_votes(connection: sqlite3.Connection, annotators: Sequence[str]) -> Votes:
    """Return the stored votes of some annotators, whatever order they came in."""
    query = "select first, second, annotator, outcome, n from cell"
    cells = columns_of(connection, query)
    competitors, code = sorted_names(connection, "competitor")
    first, second = code[cells["first"]], code[cells["second"]]
    everyone, code = sorted_names(connection, "annotator")
    annotator = code[cells["annotator"]]
    kept, row = distinct_rows([annotator, first, second])
    counts = np.zeros((len(kept), 3))
    counts[row, cells["outcome"]] = cells["n"]
    rows = first[kept], second[kept], annotator[kept]
    return Votes(competitors, everyone, *rows, counts).keep(annotators=annotators)


def sorted_names(
    connection: sqlite3.Connection, table: str
) -> tuple[tuple[str, ...], Ints]:
    """Return the names of a table, sorted, and their places by number."""
    names = names_of(connection, table)
    order = sorted(range(len(names)), key=names.__getitem__)
    place = np.empty(len(names), np.int64)
    place[order] = np.arange(len(names))
    return tuple(names[number] for number in order), place


def last_round(connection: sqlite3.Connection) -> int:
    """Return the number of the last round; 0 before the first."""
    (number,) = connection.execute(
        "select coalesce(max(round), 0) from round"
    ).fetchone()
    return int(number)


def store_round(
    connection: sqlite3.Connection,
    number: int,
    fit: Fit,
    settings: tuple[float, float],
    n_out: tuple[int, int],
) -> None:
    """Store what a round published.

    ``settings`` are delta and epsilon; ``n_out`` counts the annotators who waited, and
    those whom earlier rounds excluded.
    """
    votes, board = fit.votes, fit.board
    size = (int(votes.n_votes), votes.n_competitors, votes.n_annotators)
    summary = (number, now(), __version__, *settings, *size, *n_out, fit.mean_loss)
    connection.execute(insertion("round", len(summary)), summary)
    codes = number_names(connection, "competitor", ())
    rank = 1 + np.argsort(np.argsort(-board.elo, kind="stable"))
    ratings = []
    for i, name in enumerate(votes.competitors):
        n_votes = int(votes.votes_by_competitor[i])
        numbers = (float(board.elo[i]), float(board.sd[i]), n_votes)
        ratings.append((number, int(rank[i]), codes[name], *numbers))
    connection.executemany(insertion("rating", 6), ratings)
    codes = number_names(connection, "annotator", ())
    abilities = []
    for k, name in enumerate(votes.annotators):
        theta = float(fit.discrimination[k]) / votes.n_annotators
        abilities.append((number, codes[name], theta, int(votes.votes_by_annotator[k])))
    connection.executemany(insertion("ability", 4), abilities)


def decide(
    connection: sqlite3.Connection,
    decision: Literal["excluded", "readmitted"],
    names: Sequence[str],
    reason: str,
) -> None:
    """Record a decision about annotators."""
    codes = number_names(connection, "annotator", ())
    round = last_round(connection)
    rows = [(None, codes[name], decision, round, now(), reason) for name in names]
    connection.executemany(insertion("decision", 6), rows)


def insertion(table: str, n_columns: int) -> str:
    """Return the statement that inserts a row."""
    return f"insert into {table} values ({', '.join('?' * n_columns)})"
