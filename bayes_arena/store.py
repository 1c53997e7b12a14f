"""The file of an arena: votes, their cells, and every round, in one DuckDB file.

==============================  ======================================================================================
``arena``                       one row: version of this layout; whether votes carry annotators and ids (null at first)
``competitor``, ``annotator``   names, each with a small number that the other tables use
``vote``                        append-only: one row a vote, with its id, 64 bits of the id's hash, and when it came
``cell``                        votes summed per (a, b, annotator, outcome, weight)
``round``                       what each round published about itself,
``rating``, ``ability``         about the competitors and about the annotators
``decision``                    who was warned, excluded or readmitted: when, by which round and why
==============================  ======================================================================================

Every change is one transaction, written ahead to ``FILE.wal``: a process that is killed loses nothing it has committed
and leaves nothing it has not. DuckDB locks the file for one process at a time; inside a process every transaction first
rewrites the row of ``arena``, so that of two at once one is refused. Times are in UTC.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bayes_arena.errors import StoreError

if TYPE_CHECKING:
    import pandas as pd
    from duckdb import DuckDBPyConnection

SCHEMA_VERSION = 1
"""Version of the layout of a file."""
LOCK = re.compile(r"lock is held in (?P<program>.+) \(PID (?P<pid>\d+)\)")
SCHEMA = """
create table arena (schema_version integer, created timestamp, annotators boolean, ids boolean, changes bigint);
create table competitor (code integer primary key, name varchar unique);
create table annotator (code integer primary key, name varchar unique);
create table vote (
    hash ubigint, id varchar, a integer, b integer, annotator integer, outcome tinyint, weight double, added timestamp
);
create table cell (
    a integer, b integer, annotator integer, outcome tinyint, weight double, n bigint,
    primary key (a, b, annotator, outcome, weight)
);
create table round (
    round integer primary key, time timestamp, version varchar, votes double, competitors integer, annotators integer,
    waiting integer, excluded integer, flagged integer, model varchar, prior varchar, method varchar, evidence varchar,
    mean_loss double, warnings varchar[], settings varchar
);
create table rating (
    round integer, competitor integer, rank integer, elo double, lower double, upper double, rank_best integer,
    rank_worst integer, votes double, wins double, losses double, ties double, p_best double
);
create table ability (
    round integer, annotator integer, votes double, theta double, lower double, upper double, theta_paper double,
    p_negative double, verdict varchar, kind varchar, anomaly_probability double, net_agreement double
);
create table decision (
    number bigint primary key, annotator integer, round integer, time timestamp, decision varchar, reason varchar
);
"""


def create_file(path: Path) -> None:
    """Create the file of an empty arena; it appears whole or not at all.

    Raises
    ------
    StoreError
        If there is a file already, or it cannot be written.
    """
    draft = path.with_name(path.name + ".new")
    for there in (path, _log_of(path)):
        if there.exists():
            raise StoreError(f"{str(there)!r} is there already. Use it as it is, or choose another name.")
    for left_over in (draft, _log_of(draft)):
        left_over.unlink(missing_ok=True)
    connection = _connect(draft)
    with _typed_errors(path):
        connection.execute(f"begin; {SCHEMA} commit")
        connection.execute("insert into arena values (?, ?, null, null, 0)", [SCHEMA_VERSION, now()])
        connection.close()
    draft.rename(path)


class Store:
    """The open file of an arena.

    Parameters
    ----------
    path : Path
        A file that :func:`create_file` made.

    Raises
    ------
    StoreError
        If the file is absent, in use by another process, or no arena that this version reads.
    """

    def __init__(self, path: Path) -> None:
        if not path.is_file():
            raise StoreError(f"No arena at {str(path)!r}. Create one: StableArena.create (bayes-arena arena init).")
        self.path = path
        self._connection = _connect(path)
        try:
            self._check_version()
        except StoreError:
            self.close()
            raise

    def _check_version(self) -> None:
        if not self.rows("select 1 from duckdb_tables() where table_name = 'arena'"):
            raise StoreError(f"There is no arena in {str(self.path)!r}. Check the path.")
        ((version,),) = self.rows("select schema_version from arena")
        if version != SCHEMA_VERSION:
            raise StoreError(
                f"{str(self.path)!r} has schema version {version}, and this version of bayes_arena reads "
                f"{SCHEMA_VERSION}. Install the version that wrote it."
            )

    def close(self) -> None:
        """Close the file, so that another process can open it."""
        self._connection.close()

    def execute(self, statement: str, parameters: object = None) -> None:
        """Execute a statement that returns nothing."""
        with _typed_errors(self.path):
            self._connection.execute(statement, parameters).fetchall()

    def rows(self, query: str, parameters: object = None) -> list[tuple[Any, ...]]:
        """Return the rows of a query."""
        with _typed_errors(self.path):
            return list(self._connection.execute(query, parameters).fetchall())

    def columns(self, query: str) -> dict[str, Any]:
        """Return the columns of a query, none of which is null, as arrays."""
        with _typed_errors(self.path):
            return {name: np.asarray(values) for name, values in self._connection.execute(query).fetchnumpy().items()}

    def table(self, query: str) -> pd.DataFrame:
        """Return what a query finds."""
        with _typed_errors(self.path):
            return self._connection.execute(query).df()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Make what follows one transaction: all of it is kept, or nothing.

        Raises
        ------
        StoreError
            If the file cannot be written, or another connection of this process is writing.
        """
        self.execute("begin")
        try:
            self.execute("update arena set changes = changes + 1")
            yield
            self.execute("commit")
        except BaseException:
            with suppress(StoreError):  # after some errors DuckDB has rolled back itself
                self.execute("rollback")
            raise

    @contextmanager
    def incoming(self, columns: Mapping[str, Any]) -> Iterator[None]:
        """Show columns to queries as the table ``incoming``."""
        with _typed_errors(self.path):
            self._connection.register("incoming", {name: np.asarray(values) for name, values in columns.items()})
            yield
            self._connection.unregister("incoming")  # after an error DuckDB takes no order before the roll-back

    def insert(self, table: str, columns: Mapping[str, Any]) -> None:
        """Append rows to a table; columns that are left out are null."""
        with self.incoming(columns):
            self.execute(f"insert into {table} by name select * from incoming")

    def codes(self, table: str) -> dict[str, int]:
        """Numbers of all competitors or annotators, by name."""
        return dict(self.rows(f"select name, code from {table} order by code"))


def now() -> datetime:
    """Return the time, in UTC."""
    return datetime.now(UTC).replace(tzinfo=None)


def _log_of(path: Path) -> Path:
    """Return where DuckDB writes ahead; a log without its file would be taken for that of the next file."""
    return path.with_name(path.name + ".wal")


def _connect(path: Path) -> DuckDBPyConnection:
    import duckdb

    with _typed_errors(path):
        return duckdb.connect(path)


@contextmanager
def _typed_errors(path: Path) -> Iterator[None]:
    import duckdb

    try:
        yield
    except duckdb.TransactionException as error:
        raise StoreError(f"{str(path)!r} is being written by another part of this program. Try again.") from error
    except duckdb.Error as error:
        lock = LOCK.search(str(error))
        if lock:
            raise StoreError(
                f"{str(path)!r} is in use by process {lock['pid']} ({Path(lock['program']).name}). "
                "One process at a time can open an arena: wait until it has ended."
            ) from error
        raise StoreError(f"Cannot use {str(path)!r}: {str(error).splitlines()[0]}") from error
