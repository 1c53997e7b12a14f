"""Files and folders that appear whole or not at all.

What is to be kept is written in a hidden folder beside its place, forced to disk, and moved there in one step. Whatever
fails on the way, a full disk or a process that is killed, what was there before stays there, whole. A process that is
killed leaves its hidden folder, which may be removed. Everything the package writes goes this way, but for the changes
to the file of an arena, which are DuckDB's.
"""

from __future__ import annotations

import ctypes
import errno
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from bayes_arena.errors import ArenaError, OutputError

if TYPE_CHECKING:
    import polars as pl

HERE = -100
"""``AT_FDCWD`` of Linux: a path that is relative begins at the current folder."""
EXCHANGE = 2
"""``RENAME_EXCHANGE`` of Linux and ``RENAME_SWAP`` of macOS."""


@contextmanager
def written_beside(path: Path, *, error: type[ArenaError] = OutputError) -> Iterator[Path]:
    """Yield where to write a file or a folder; then move it to its place, over what is there.

    What is neither, a pipe or a device, has nothing to lose, and is written where it is.

    Raises
    ------
    error
        If it cannot be written; the message names it and the reason.
    """
    with typed_faults(path, error):
        if path.exists() and not path.is_file() and not path.is_dir():
            yield path
            return
        place = path.resolve()  # of a link, what it leads to
        with TemporaryDirectory(prefix=f".{place.name[:50]}-", dir=place.parent, ignore_cleanup_errors=True) as folder:
            draft = Path(folder) / place.name
            yield draft
            _put(draft, place)
        with suppress(OSError):  # it is there, and whole; after a power cut it may be what it was
            _sync(place.parent)


def write_parquet(table: pl.DataFrame, path: Path, metadata: dict[str, str] | None = None) -> None:
    """Write a table as Parquet; made in memory, since of a full disk Polars says that the format is broken."""
    content = BytesIO()
    table.write_parquet(content, metadata=metadata)
    with written_beside(path) as draft:
        draft.write_bytes(content.getvalue())


@contextmanager
def typed_faults(path: Path, error: type[ArenaError] = OutputError) -> Iterator[None]:
    """Where the system refuses to write a file, say which and why."""
    try:
        yield
    except (OSError, ValueError) as fault:  # a ValueError where the path holds a null
        reason = getattr(fault, "strerror", None) or fault
        raise error(f"Cannot write {str(path)!r}: {reason}. Put that right, or choose another place.") from fault


def _put(draft: Path, place: Path) -> None:
    """Force what was written to disk, and move it to its place."""
    for written in (draft, *draft.rglob("*")):
        _sync(written)
    if draft.is_dir() and place.exists():
        _exchange(draft, place)
    else:
        if place.exists():
            shutil.copymode(place, draft)
        draft.replace(place)


def _exchange(one: Path, other: Path) -> None:
    """Exchange two folders in one step, for which Python has no function."""
    library, paths = ctypes.CDLL(None, use_errno=True), (os.fsencode(one), os.fsencode(other))
    if hasattr(library, "renameat2"):  # Linux
        failed = library.renameat2(HERE, paths[0], HERE, paths[1], EXCHANGE)
    elif hasattr(library, "renamex_np"):  # macOS
        failed = library.renamex_np(*paths, EXCHANGE)
    else:
        failed, _ = -1, ctypes.set_errno(errno.ENOTSUP)
    if failed and ctypes.get_errno() in (errno.EINVAL, errno.ENOSYS, errno.ENOTSUP):
        raise OSError(errno.ENOTSUP, "this file system cannot put a folder in the place of another; remove the old one")
    if failed:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def _sync(path: Path) -> None:
    """Force a file, or the entries of a folder, to disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
