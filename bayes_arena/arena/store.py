"""The file of an arena: a DuckDB database, whose tables :mod:`bayes_arena.arena.schema` describes.

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
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np

from bayes_arena.arena.schema import SCHEMA, SCHEMA_VERSION, defined, defined_by_arenas
from bayes_arena.errors import StoreError, listing
from bayes_arena.extras import require
from bayes_arena.replacing import written_beside

if TYPE_CHECKING:
    import pandas as pd
    from duckdb import DuckDBPyConnection

LOCK = re.compile(r"lock is held in (?P<program>.+) \(PID (?P<pid>\d+)\)")
DISK = re.compile(r"(?:open|write|fsync|truncate)\b[^\"]* file \"[^\"]+\"[^:]*: (?P<reason>.+)")
CLOSED: dict[str, str | bool | int | float | list[str]] = {
    "enable_external_access": False,
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    "lock_configuration": True,
}
"""Settings under which no file can make DuckDB read or write another, or load or download an extension."""


def create_file(path: Path) -> None:
    """Create the file of an empty arena; it appears whole or not at all.

    Raises
    ------
    StoreError
        If the file already exists, or cannot be written.
    MissingPackageError
        If DuckDB is not installed.
    """
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

    def table(self, query: str) -> pd.DataFrame:
        """Return the result of a query."""
        from bayes_arena.table import Table

        with _typed_errors(self.path):
            return Table(self.connection.execute(query).df())

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

    def defined(self) -> set[tuple[str, ...]]:
        """Return everything that the file defines, tables and others (:func:`~bayes_arena.arena.schema.defined`)."""
        with _typed_errors(self.path):
            return defined(self.connection)

    def codes(self, table: str) -> dict[str, int]:
        """Return the numbers of all competitors or annotators, by name."""
        codes = dict(self.rows(f"select name, code from {table} order by code"))
        numbered = None not in codes and list(codes.values()) == list(range(len(codes)))
        self.require(numbered, f"names of {table}s are not numbered 0, 1, 2, …")
        return codes


class Store:
    """The open file of an arena, which threads may share.

    Parameters
    ----------
    path : Path
        A file that :func:`create_file` made.
    read_only : bool
        Open it only for reading, as other processes may at the same time.

    Raises
    ------
    StoreError
        If the file is absent, in use by another process, or not an arena that this version reads.
    MissingPackageError
        If DuckDB is not installed.
    """

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
            found = session.defined()
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
        """Run the block as one transaction: all of it is kept, or nothing. Threads wait for one another.

        Raises
        ------
        StoreError
            If the file cannot be written, or is written through another ``Store`` of this process.
        """
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
