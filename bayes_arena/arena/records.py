"""What the file of an arena records: votes, rounds, and decisions about annotators.

Votes are stored as counts by cell: pair, annotator and outcome.  A vote with an id is
also stored by its id, once.  Votes without ids are known by their content: the n-th of
equal votes in one addition is the n-th such vote of every other.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

import numpy as np

from bayes_arena.arena.store import columns_of, names_of, now, number_names
from bayes_arena.arrays import Ints
from bayes_arena.boards.elo import ELO
from bayes_arena.errors import VotesError, listing, plural
from bayes_arena.fits.result import Fit, mean_loss, of_all
from bayes_arena.said import Use, joined
from bayes_arena.version import __version__
from bayes_arena.votes.votes import NO_ANNOTATORS, Votes, distinct_rows

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
        raise VotesError(joined("A Stable Arena judges annotators. ", NO_ANNOTATORS))
    n_unknown = votes.n_votes - votes.known("annotator").n_votes
    if n_unknown:
        verb = "has" if n_unknown == 1 else "have"
        raise VotesError(
            f"A Stable Arena judges annotators, and {plural(n_unknown, 'vote')} {verb} "
            "none. Fill them in, or leave these votes out."
        )
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
        which = "The new votes have ids, and the stored ones have none."
        if settled:
            which = "The stored votes have ids, and the new ones have none."
        remedy = (" Name a column of ids with ", Use("id"))
        rest = " for all votes of an arena, or for none."
        raise VotesError((which, (*remedy, rest)))


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
    # Every id is one vote, so that it must come in one cell: here, and in the file.
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
    competitors, competitor = sorted_names(connection, "competitor")
    everyone, annotator = sorted_names(connection, "annotator")
    i = competitor[cells["first"]]
    j = competitor[cells["second"]]
    k = annotator[cells["annotator"]]
    # The cells of a pair and an annotator, one an outcome, become one row.
    first_cell, row = distinct_rows([k, i, j])
    counts = np.zeros((len(first_cell), 3))
    counts[row, cells["outcome"]] = cells["n"]
    votes = Votes(
        competitors=competitors,
        annotators=everyone,
        i=i[first_cell],
        j=j[first_cell],
        annotator=k[first_cell],
        counts=counts,
    )
    return votes.keep(annotators=annotators)


def sorted_names(
    connection: sqlite3.Connection, table: str
) -> tuple[tuple[str, ...], Ints]:
    """Return the names of a table, sorted, and the codes of these by number."""
    names = names_of(connection, table)
    order = sorted(range(len(names)), key=names.__getitem__)
    code = np.empty(len(names), np.int64)
    code[order] = np.arange(len(names))
    return tuple(names[number] for number in order), code


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
    *,
    delta: float,
    epsilon: float,
    n_waiting: int,
    n_left_out: int,
) -> None:
    """Store what a round published, and on what it was held."""
    summary = {
        "round": number,
        "time": now(),
        "version": __version__,
        "delta": delta,
        "epsilon": epsilon,
        "votes": int(fit.votes.n_votes),
        "competitors": fit.votes.n_competitors,
        "annotators": fit.votes.n_annotators,
        "waiting": n_waiting,
        "left_out": n_left_out,
        "mean_loss": mean_loss(fit),
    }
    insert(connection, "round", [summary])
    insert(connection, "rating", rating_rows(connection, number, fit))
    insert(connection, "ability", ability_rows(connection, number, fit))


def rating_rows(
    connection: sqlite3.Connection, number: int, fit: Fit
) -> list[dict[str, Any]]:
    """Return the board of a round, a row for each competitor."""
    codes = number_names(connection, "competitor", ())
    board = fit.marginals.board
    scores = ELO.points(fit.votes.competitors, of_all(fit, board.value))
    sd = ELO.points_per_logit * of_all(fit, board.sd)
    rank = 1 + np.argsort(np.argsort(-scores, kind="stable"))
    n_votes = fit.votes.votes_by_competitor
    rows = []
    for i, name in enumerate(fit.votes.competitors):
        row = {
            "round": number,
            "rank": int(rank[i]),
            "competitor": codes[name],
            "elo": float(scores[i]),
            "sd": float(sd[i]),
            "votes": int(n_votes[i]),
        }
        rows.append(row)
    return rows


def ability_rows(
    connection: sqlite3.Connection, number: int, fit: Fit
) -> list[dict[str, Any]]:
    """Return theta of a round, of sum one, a row for each annotator."""
    codes = number_names(connection, "annotator", ())
    theta = fit.discrimination / fit.votes.n_annotators
    n_votes = fit.votes.votes_by_annotator
    rows = []
    for k, name in enumerate(fit.votes.annotators):
        row = {
            "round": number,
            "annotator": codes[name],
            "theta": float(theta[k]),
            "votes": int(n_votes[k]),
        }
        rows.append(row)
    return rows


def decide(
    connection: sqlite3.Connection,
    decision: Literal["excluded", "readmitted"],
    names: Sequence[str],
    reason: str,
) -> None:
    """Record a decision about annotators."""
    codes = number_names(connection, "annotator", ())
    shared = {
        "decision": decision,
        "round": last_round(connection),
        "time": now(),
        "reason": reason,
    }
    rows = [{"annotator": codes[name], **shared} for name in names]
    insert(connection, "decision", rows)


def insert(
    connection: sqlite3.Connection, table: str, rows: Sequence[Mapping[str, Any]]
) -> None:
    """Insert rows into a table, by the names of its columns."""
    for row in rows:
        values = ", ".join(f":{name}" for name in row)
        statement = f"insert into {table} ({', '.join(row)}) values ({values})"
        connection.execute(statement, row)
