"""The file of an arena: a DuckDB database.

==============================  ======================================================================================
``arena``                       one row: version of this layout; what the votes carry (null at first): whether
                                annotators and ids, which columns were read as the prompt, names of slices and features
``competitor``, ``annotator``   names, each with a small number that the other tables use
``context``                     combinations of the values of slices and features, each with a number
``vote``                        append-only: one row per vote, with its id, 64 bits of the id's hash, and when it came
``cell``                        votes summed per (a, b, annotator, context, outcome, weight)
``round``                       what each round published about itself,
``rating``, ``ability``         about the competitors and about the annotators
``decision``                    who was warned, excluded or readmitted: when, by which round and why
==============================  ======================================================================================

Every change is one transaction, written ahead to ``FILE.wal``: a process that is killed loses nothing it has committed
and leaves nothing it has not. DuckDB lets one process write, or several read. Threads must not share a DuckDB
connection, so every reading and every transaction has its own; a transaction first rewrites the row of ``arena``, so
that one of two at once, through different :class:`Store` objects, is refused. Times are in UTC.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np

from bayes_arena.arrays import DataFrame, table_of
from bayes_arena.errors import StoreError, listing
from bayes_arena.extras import require
from bayes_arena.replacing import written_beside

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

SCHEMA_VERSION = 4
"""Version of the layout of a file."""
SCHEMA = """
create table arena (
    schema_version integer, created timestamp, annotators boolean, ids boolean, changes bigint,
    prompt varchar[], slices varchar[], features varchar[]
);
create table competitor (code integer primary key, name varchar unique);
create table annotator (code integer primary key, name varchar unique);
create table context (code integer primary key, slices varchar[], features double[]);
create table vote (
    hash ubigint, id varchar, a integer, b integer, annotator integer, outcome tinyint, weight double, added timestamp,
    context integer
);
create table cell (
    a integer, b integer, annotator integer, context integer, outcome tinyint, weight double, n bigint,
    primary key (a, b, annotator, context, outcome, weight)
);
create table round (
    round integer primary key, time timestamp, version varchar, votes double, competitors integer, annotators integer,
    waiting integer, excluded integer, flagged integer, model varchar, prior varchar, method varchar, evidence varchar,
    mean_loss double, warnings varchar[], settings varchar
);
create table rating (
    round integer, competitor integer, rank integer, elo double, lower double, upper double, rank_lower integer,
    rank_upper integer, votes double, wins double, losses double, ties double, p_best double
);
create table ability (
    round integer, annotator integer, votes double, theta double, theta_lower double, theta_upper double,
    theta_paper double, p_negative double, verdict varchar, kind varchar, anomaly_probability double,
    net_agreement double
);
create table decision (
    number bigint primary key, annotator integer, round integer, time timestamp, decision varchar, reason varchar
);
"""
KINDS = {
    "schema": "duckdb_schemas",
    "table": "duckdb_tables",
    "view": "duckdb_views",
    "function": "duckdb_functions",
    "sequence": "duckdb_sequences",
    "type": "duckdb_types",
    "index": "duckdb_indexes",
    "trigger": "duckdb_triggers",  # since DuckDB 2
}
"""What a database file can define, and the function that lists it."""
LOCK = re.compile(r"lock is held in (?P<program>.+) \(PID (?P<pid>\d+)\)")
DISK = re.compile(r"(?:open|write|fsync|truncate)\b[^\"]* file \"[^\"]+\"[^:]*: (?P<reason>.+)")
CLOSED: dict[str, str | bool | int | float | list[str]] = {
    "enable_external_access": False,
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    "lock_configuration": True,
}
"""Settings under which no file can make DuckDB read or write another, or load or download an extension."""


def defined(connection: DuckDBPyConnection) -> set[tuple[str, ...]]:
    """Return everything that a file defines: kind, schema and name, and the SQL of tables.

    Functions are called by their full names, since a file may define others of the same name. Objects that the file
    marks as internal count too.
    """
    known = {
        name for (name,) in connection.execute("select function_name from system.main.duckdb_functions()").fetchall()
    }
    return {
        (kind, *row)
        for kind, function in KINDS.items()
        if function in known
        for row in connection.execute(
            f"select schema_name, {kind}_name, {'sql' if kind == 'table' else 'null'} from system.main.{function}() "
            "where database_name not in ('system', 'temp')"
        ).fetchall()
    }


@cache
def defined_by_arenas() -> set[tuple[str, ...]]:
    """Return everything that the file of an arena defines, as the installed DuckDB writes it."""
    import duckdb

    with duckdb.connect(":memory:") as connection:
        connection.execute(SCHEMA)
        return defined(connection)


def create_file(path: Path) -> None:
    """Create the file of an empty arena; it appears whole or not at all."""
    require("Stable Arenas", "duckdb")
    log = path.with_name(path.name + ".wal")  # DuckDB would take a log left there for that of the new file
    for existing in (path, log):
        if existing.exists():
            raise StoreError(f"{str(existing)!r} already exists. Use it as it is, or choose another name.")
    with written_beside(path, error=StoreError) as draft, _typed_errors(path), _connect(draft) as connection:
        connection.execute(f"begin; {SCHEMA} commit")
        row = "insert into arena (schema_version, created, changes) values (?, ?, 0)"
        connection.execute(row, [SCHEMA_VERSION, now()])
        connection.execute("checkpoint")  # closing would do so too, but without an error if the disk is full


@dataclass(frozen=True)
class Session:
    """Queries that see one state of the file, on a connection of their own."""

    path: Path
    connection: DuckDBPyConnection

    def execute(self, statement: str, parameters: object = None) -> None:
        """Execute a statement that returns nothing."""
        with _typed_errors(self.path):
            self.connection.execute(statement, parameters).fetchall()

    def rows(self, query: str, parameters: object = None) -> list[tuple[Any, ...]]:
        """Return the rows of a query."""
        with _typed_errors(self.path):
            return list(self.connection.execute(query, parameters).fetchall())

    def columns(self, query: str) -> dict[str, Any]:
        """Return the columns of a query, none of which is null, as arrays."""
        with _typed_errors(self.path):
            found = self.connection.execute(query).fetchnumpy()
        self.require(not any(np.ma.is_masked(values) for values in found.values()), "values are missing")
        return {name: np.asarray(values) for name, values in found.items()}

    def require(self, sound: object, problem: str) -> None:
        """Refuse a file whose contents are inconsistent."""
        if not sound:
            raise StoreError(
                f"{str(self.path)!r} is damaged, or was changed by another program: {problem}. Restore it from a copy."
            )

    def table(self, query: str) -> DataFrame:
        """Return the result of a query."""
        with _typed_errors(self.path):
            return table_of(self.connection.execute(query).df())

    @contextmanager
    def incoming(self, columns: Mapping[str, Any]) -> Iterator[None]:
        """Make columns available to queries as the table ``incoming``."""
        with _typed_errors(self.path):
            self.connection.register("incoming", {name: np.asarray(values) for name, values in columns.items()})
            yield
            self.connection.unregister("incoming")  # after an error DuckDB accepts no statement before the roll-back

    def insert(self, table: str, columns: Mapping[str, Any]) -> None:
        """Append rows to a table; columns that are left out are null."""
        with self.incoming(columns):
            self.execute(f"insert into {table} by name select * from incoming")

    def codes(self, table: str) -> dict[str, int]:
        """Return the numbers of all competitors or annotators, by name."""
        codes = dict(self.rows(f"select name, code from {table} order by code"))
        numbered = None not in codes and list(codes.values()) == list(range(len(codes)))
        self.require(numbered, f"names of {table}s are not numbered 0, 1, 2, …")
        return codes


class Store:
    """The open file of an arena, which threads may share; other processes may, too, if all of them are read-only."""

    def __init__(self, path: Path, *, read_only: bool = False) -> None:
        require("Stable Arenas", "duckdb")
        if not path.is_file():
            raise StoreError(f"No arena at {str(path)!r}. Create one: StableArena.create (bayes-arena arena init).")
        self.path = path
        self._process = os.getpid()
        self._read_only = read_only
        with _typed_errors(path):
            self._database = _connect(path, read_only=read_only)
        self._writing = Lock()
        try:
            self._require_arena()
        except BaseException:
            self.close()
            raise

    def _require_arena(self) -> None:
        """Refuse a file that defines anything but the tables of an arena, before any of it is read."""
        where = repr(str(self.path))
        with self.read() as session:
            with _typed_errors(self.path):
                found = defined(session.connection)
            none = not any(name == "arena" for _, _, name, _ in found)
            other = sorted({f"{kind} {name!r}" for kind, _, name, _ in found ^ defined_by_arenas()})
            versions = [] if none or other else session.rows("select schema_version from arena")
        if other and not none:
            raise StoreError(
                f"{where} differs from the file of an arena in {listing(other)}. Do not use it unless you know who "
                "made it; if you do, install the version of bayes_arena that wrote it."
            )
        if len(versions) != 1:
            raise StoreError(f"There is no arena in {where}. Check the path.")
        ((version,),) = versions
        if version != SCHEMA_VERSION:
            raise StoreError(
                f"{where} has schema version {version}, and this version of bayes_arena reads {SCHEMA_VERSION}. "
                "Install the version that wrote it."
            )

    def close(self) -> None:
        """Close the file, so that another process can open it."""
        self._database.close()

    @contextmanager
    def read(self) -> Iterator[Session]:
        """Show one committed state of the file, even while another thread writes."""
        if self._process != os.getpid():
            raise StoreError(f"{str(self.path)!r} was opened before this process was forked. Open it in this process.")
        with _typed_errors(self.path):
            cursor = self._database.cursor()
        session = Session(self.path, cursor)
        try:
            session.execute("begin")
            yield session
        finally:
            cursor.close()  # ends the transaction

    @contextmanager
    def transaction(self) -> Iterator[Session]:
        """Run the block as one transaction: all of it is kept, or nothing. Threads wait for one another."""
        if self._read_only:
            raise StoreError(f"{str(self.path)!r} is open for reading only. Open it without read_only=True.")
        with self._writing, self.read() as session:
            session.execute("update arena set changes = changes + 1")
            yield session
            session.execute("commit")


def now() -> datetime:
    """Return the time, in UTC."""
    return datetime.now(UTC).replace(tzinfo=None)


def _connect(path: Path, *, read_only: bool = False) -> DuckDBPyConnection:
    """Open a file; its name never makes DuckDB look for an extension."""
    import duckdb

    return duckdb.connect(path.absolute(), read_only=read_only, config=CLOSED)


@contextmanager
def _typed_errors(path: Path) -> Iterator[None]:
    import duckdb

    try:
        yield
    except duckdb.ConnectionException as error:
        raise StoreError(
            f"This program already has {str(path)!r} open with another read_only=. Open it the same way, or close it "
            "first."
        ) from error
    except RuntimeError as error:
        if str(error) == "Query interrupted":  # what DuckDB makes of Ctrl-C
            raise KeyboardInterrupt from error
        raise
    except duckdb.Error as error:
        raise StoreError(_said_of(path, str(error).splitlines()[0])) from error


def _said_of(path: Path, fault: str) -> str:
    """Translate an error of DuckDB about the file."""
    if lock := LOCK.search(fault):
        return (
            f"{str(path)!r} is in use by process {lock['pid']} ({Path(lock['program']).name}). "
            "One process can write to an arena, or several can read it: wait until that process has ended."
        )
    if disk := DISK.search(fault):
        return (
            f"Cannot open or write {str(path)!r}: {disk['reason']}. Correct this and open it again: the last change "
            "was stored completely, or not at all."
        )
    if "conflict" in fault.lower():
        return f"{str(path)!r} is being written by another part of this program. Try again."
    return f"Cannot use {str(path)!r}: {fault}"
