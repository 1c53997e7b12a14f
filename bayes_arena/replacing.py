"""Files and folders that appear whole or not at all.

Output is written to a hidden folder beside its destination, synced to disk, and moved into place in one step. If this
fails, because the disk is full or the process is killed, the old content stays intact. A killed process leaves its
hidden folder, which may be removed. Everything the package writes goes this way, except changes to the file of an
arena, which DuckDB makes.
"""

from __future__ import annotations

import ctypes
import errno
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from bayes_arena.errors import ArenaError, OutputError

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure

HERE = -100
"""``AT_FDCWD`` of Linux: a relative path begins at the current folder."""
EXCHANGE = 2
"""``RENAME_EXCHANGE`` of Linux and ``RENAME_SWAP`` of macOS."""


@contextmanager
def written_beside(path: Path, *, error: type[ArenaError] = OutputError) -> Iterator[Path]:
    """Yield where to write a file or folder; then move it into place, over what is there.

    A pipe or a device has no content to lose, and is written directly. An ``error`` names what cannot be written, and
    why.
    """
    with typed_faults(path, error):
        if path.exists() and not path.is_file() and not path.is_dir():
            yield path
            return
        place = path.resolve()  # follows links
        with TemporaryDirectory(prefix=f".{place.name[:50]}-", dir=place.parent, ignore_cleanup_errors=True) as folder:
            draft = Path(folder) / place.name
            yield draft
            _put(draft, place)
        with suppress(OSError):  # the file is complete; only a power cut may bring the old one back
            _sync(place.parent)


def write_parquet(table: pl.DataFrame, path: Path, metadata: dict[str, str] | None = None) -> None:
    """Write a table as Parquet; made in memory, since on a full disk Polars reports a broken format."""
    content = BytesIO()
    table.write_parquet(content, metadata=metadata)
    with written_beside(path) as draft:
        draft.write_bytes(content.getvalue())


def write_figure(figure: Figure, path: Path, *, dpi: float, metadata: Mapping[str, str | None] | None = None) -> None:
    """Write a figure; made in memory, since a PDF that cannot be written ends with an error of Matplotlib's own."""
    content = BytesIO()
    figure.savefig(content, format=path.suffix[1:].lower(), dpi=dpi, metadata=metadata)
    with written_beside(path) as draft:
        draft.write_bytes(content.getvalue())


@contextmanager
def typed_faults(path: Path, error: type[ArenaError] = OutputError) -> Iterator[None]:
    """Where a file cannot be written, say which and why."""
    try:
        yield
    except (OSError, ValueError) as fault:  # a ValueError if the path contains a null
        reason = getattr(fault, "strerror", None) or fault
        raise error(f"Cannot write {str(path)!r}: {reason}. Correct this, or choose another place.") from fault


def _put(draft: Path, place: Path) -> None:
    """Sync what was written to disk, and move it into place."""
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
        raise OSError(errno.ENOTSUP, "this file system cannot replace one folder by another; remove the old one")
    if failed:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def _sync(path: Path) -> None:
    """Sync a file, or the entries of a folder, to disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
