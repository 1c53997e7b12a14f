"""The file of an arena: an SQLite database with these tables and nothing else.

==============================  ======================================================
``arena``                       one row: when it was created, delta, epsilon, and
                                whether votes have ids (null before the first)
``competitor``, ``annotator``   names, numbered 0, 1, 2, ...
``cell``                        votes counted by pair, annotator and outcome
``vote``                        ids of votes, and the cell of each
``round``                       what each round of Algorithm 3 was held on
``rating``, ``ability``         the board and the thetas that each round published
``board``, ``standing``         the default board of a round, and what changed since the
                                one before
``decision``                    who was excluded or readmitted, when and why
==============================  ======================================================

Every change is one transaction, written ahead to ``FILE-wal``: a process that is killed
loses nothing that was committed and leaves nothing that was not.  Every operation has a
connection of its own, so that threads and processes may read one file, each a committed
state of it, while one writes.

A file may come from a stranger.  A schema can make SQLite run things: triggers, views,
virtual tables, expressions in indices, defaults and generated columns.  So nothing is
read from a file whose schema is not, word for word, the one below; nothing is loaded or
attached; and values have a largest length.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bayes_arena.errors import StoreError, listing
from bayes_arena.files import written_beside

VERSION = 2  # of the layout; another one is refused
APPLICATION = 0x62617261  # marks the file of an arena ("bara")
MAGIC = b"SQLite format 3\0"  # how any SQLite file begins
HEADER = slice(68, 72)  # where the header has the application's mark
LONGEST_VALUE = 100_000  # bytes of a name or an id, at most
SECONDS_TO_WAIT = 10.0  # for another process that is writing
SIDE_FILES = ("-wal", "-shm", "-journal")  # what SQLite may put beside a file

TABLES = {
    "arena": "created text, delta real, epsilon real, has_ids integer",
    "competitor": "code integer primary key, name text unique",
    "annotator": "code integer primary key, name text unique",
    "cell": (
        "first integer, second integer, annotator integer, outcome integer, n integer, "
        "primary key (first, second, annotator, outcome)"
    ),
    "vote": (
        "id text primary key, first integer, second integer, annotator integer, "
        "outcome integer"
    ),
    "round": (
        "round integer primary key, time text, version text, delta real, epsilon real, "
        "votes integer, competitors integer, annotators integer, waiting integer, "
        "left_out integer, mean_loss real"
    ),
    "rating": (
        "round integer, rank integer, competitor integer, elo real, sd real, "
        "votes integer, primary key (round, competitor)"
    ),
    "ability": (
        "round integer, annotator integer, theta real, votes integer, "
        "primary key (round, annotator)"
    ),
    "board": "round integer primary key, date text, facts text, since text",
    "standing": (
        "round integer, competitor integer, rank integer, elo real, lower real, "
        "upper real, wins integer, losses integer, ties integer, rank_before integer, "
        "elo_change real, change_lower real, change_upper real, changed integer, "
        "primary key (round, competitor)"
    ),
    "decision": (
        "number integer primary key, annotator integer, decision text, round integer, "
        "time text, reason text"
    ),
}
# Tables sorted by their keys, without row ids.
KEYED = ("cell", "vote", "rating", "ability", "standing")
# What a connection may and may not do, before anything is read.
SAFETY = {
    sqlite3.SQLITE_DBCONFIG_DEFENSIVE: True,
    sqlite3.SQLITE_DBCONFIG_TRUSTED_SCHEMA: False,
    sqlite3.SQLITE_DBCONFIG_ENABLE_TRIGGER: False,
    sqlite3.SQLITE_DBCONFIG_ENABLE_VIEW: False,
    sqlite3.SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION: False,
    sqlite3.SQLITE_DBCONFIG_WRITABLE_SCHEMA: False,
}
LIMITS = {
    sqlite3.SQLITE_LIMIT_LENGTH: LONGEST_VALUE,
    sqlite3.SQLITE_LIMIT_ATTACHED: 0,
    sqlite3.SQLITE_LIMIT_TRIGGER_DEPTH: 0,
}
# What failed, by the name of SQLite's error, and what to do.
CAUSES = {
    "SQLITE_BUSY": "another process is writing to it. Try again",
    "SQLITE_FULL": "the disk is full. Make room and try again; nothing was lost",
    "SQLITE_IOERR": (
        "the disk cannot be read or written. Open it again when it can: the last "
        "change is there completely or not at all"
    ),
    "SQLITE_READONLY": (
        "it, or a file beside it, may not be written. Check permissions and space"
    ),
    "SQLITE_CANTOPEN": (
        "it, or a file beside it, cannot be opened. Check permissions and space"
    ),
    "SQLITE_CORRUPT": "it is damaged. Restore it from a copy",
    "SQLITE_NOTADB": "it is not a database. Check the path",
    "SQLITE_TOOBIG": f"a name or an id has more than {LONGEST_VALUE:,} bytes",
}


def create_file(path: Path, *, delta: float, epsilon: float) -> None:
    """Create the file of an empty arena; it appears whole or not at all."""
    for side in ("", *SIDE_FILES):
        existing = path.with_name(path.name + side)
        if existing.exists():
            raise StoreError(
                f"{str(existing)!r} exists. Open it, or choose another name."
            )
    with (
        written_beside(path, StoreError) as draft,
        connected(draft, path, mode="rwc") as connection,
    ):
        connection.execute("begin")
        for name in TABLES:
            connection.execute(definition(name))
        row = (now(), delta, epsilon, None)
        connection.execute("insert into arena values (?, ?, ?, ?)", row)
        connection.execute(f"pragma application_id = {APPLICATION}")
        connection.execute(f"pragma user_version = {VERSION}")
        connection.execute("commit")
        # Not before: what is still in a log when the file is moved would be lost.
        connection.execute("pragma journal_mode = wal")


def definition(name: str) -> str:
    """Return the statement that defines a table, as SQLite stores it."""
    ending = " without rowid" if name in KEYED else ""
    return f"CREATE TABLE {name} ({TABLES[name]}){ending}"


def now() -> str:
    """Return the time, in UTC."""
    return datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


@contextmanager
def reading(path: Path) -> Iterator[sqlite3.Connection]:
    """Show one committed state of a file, even while another process writes."""
    require_arena(path)
    with connected(path, path) as connection:
        connection.execute("pragma query_only = on")
        connection.execute("begin")
        require_schema(connection, path)
        yield connection


@contextmanager
def writing(path: Path) -> Iterator[sqlite3.Connection]:
    """Run the block as one transaction: all of it is kept, or nothing."""
    require_arena(path)
    with connected(path, path) as connection:
        connection.execute("pragma synchronous = full")
        connection.execute("begin immediate")
        require_schema(connection, path)
        yield connection
        connection.execute("commit")


@contextmanager
def connected(file: Path, path: Path, mode: str = "rw") -> Iterator[sqlite3.Connection]:
    """Yield a safe connection to a file, which messages call ``path``.

    What is not committed is rolled back at the end.
    """
    address = f"{file.absolute().as_uri()}?mode={mode}"
    with named_causes(path):
        opened = sqlite3.connect(
            address, uri=True, timeout=SECONDS_TO_WAIT, isolation_level=None
        )
        with closing(opened) as connection:
            for option, value in SAFETY.items():
                connection.setconfig(option, value)
            for limit, largest in LIMITS.items():
                connection.setlimit(limit, largest)
            connection.execute("pragma trusted_schema = off")
            connection.execute("pragma cell_size_check = on")
            yield connection


@contextmanager
def named_causes(path: Path) -> Iterator[None]:
    """Where SQLite fails, say why in one line."""
    try:
        yield
    except sqlite3.Error as error:
        name = getattr(error, "sqlite_errorname", "")
        for known, cause in CAUSES.items():
            if name.startswith(known):
                raise StoreError(f"Cannot use {str(path)!r}: {cause}.") from error
        raise StoreError(f"Cannot use {str(path)!r}: {error}.") from error


def require_arena(path: Path) -> None:
    """Raise a StoreError unless a file is marked as that of an arena."""
    try:
        with path.open("rb") as file:
            header = file.read(100)
    except (OSError, ValueError) as error:  # a ValueError if the path holds a null
        reason = getattr(error, "strerror", None) or error
        raise StoreError(
            f"No arena at {str(path)!r}: {reason}. Create one: StableArena.create "
            "(bayes-arena arena create)."
        ) from error
    mark = int.from_bytes(header[HEADER], "big")
    if not header.startswith(MAGIC) or mark != APPLICATION:
        raise StoreError(f"{str(path)!r} is not the file of an arena. Check the path.")
    journal = path.with_name(path.name + "-journal")
    if journal.exists():  # SQLite would change the file by it, and arenas have none
        raise StoreError(
            f"{str(journal)!r} is not of an arena. Do not use it unless you know who "
            "made it."
        )


def require_schema(connection: sqlite3.Connection, path: Path) -> None:
    """Raise a StoreError for another version, or where a file defines anything else."""
    (version,) = connection.execute("pragma user_version").fetchone()
    if version != VERSION:
        raise StoreError(
            f"{str(path)!r} has version {version} of the layout, and this version of "
            f"bayes_arena reads {VERSION}. Install the version that wrote it."
        )
    expected = {("table", name, definition(name)) for name in TABLES}
    # The indices of primary keys and unique columns have no SQL of their own.
    query = (
        "select type, name, sql from sqlite_schema "
        "where not (type = 'index' and sql is null)"
    )
    defined = set(connection.execute(query))
    if defined != expected:
        names = sorted({f"{kind} {name!r}" for kind, name, _ in defined ^ expected})
        raise StoreError(
            f"{str(path)!r} differs from the file of an arena in {listing(names)}. Do "
            "not use it unless you know who made it."
        )


def require_intact(connection: sqlite3.Connection, path: Path) -> None:
    """Raise a StoreError if the pages of a file, or what they refer to, do not fit."""
    problems = []
    (answer,) = connection.execute("pragma quick_check(1)").fetchone()
    if answer != "ok":
        problems.append(" ".join(str(answer).split()))
    for name in ("competitor", "annotator"):
        query = f"select count(*), coalesce(max(code), -1), count(name) from {name}"
        count, last, named = connection.execute(query).fetchone()
        if last != count - 1 or named != count:
            problems.append(f"the names of {name}s are not numbered 0, 1, 2, ...")
    (wrong,) = connection.execute(WRONG_CELLS).fetchone()
    if wrong:
        problems.append(f"{wrong} rows of the table cell are not valid")
    if problems:
        problem = problems[0]
        raise StoreError(
            f"{str(path)!r} is damaged, or another program changed it: {problem}. "
            "Restore it from a copy."
        )


# Counts of cells that are no votes, or refer to names that are not there.
WRONG_CELLS = """
select count(*) from cell where not coalesce(
    first != second and outcome in (0, 1, 2) and typeof(n) = 'integer' and n > 0
    and first in (select code from competitor)
    and second in (select code from competitor)
    and annotator in (select code from annotator), 0)
"""


def names_of(connection: sqlite3.Connection, table: str) -> list[str]:
    """Return the names of the competitors or the annotators, by number."""
    rows = connection.execute(f"select name from {table} order by code")
    return [name for (name,) in rows]


def number_names(
    connection: sqlite3.Connection, table: str, names: tuple[str, ...]
) -> dict[str, int]:
    """Return the numbers of names, which are added where they are new."""
    codes = {name: code for code, name in enumerate(names_of(connection, table))}
    for name in names:
        if name not in codes:
            codes[name] = len(codes)
            row = (codes[name], name)
            connection.execute(f"insert into {table} values (?, ?)", row)
    return codes


def columns_of(
    connection: sqlite3.Connection, query: str, values: tuple[object, ...] = ()
) -> dict[str, list[Any]]:
    """Return the result of a query as columns."""
    cursor = connection.execute(query, values)
    names = [column[0] for column in cursor.description]
    rows = cursor.fetchall()
    columns: dict[str, list[Any]] = {}
    for position, name in enumerate(names):
        columns[name] = [row[position] for row in rows]
    return columns
