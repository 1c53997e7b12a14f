"""Files that appear whole or not at all.

A file is written in a hidden folder beside its place, forced to disk, and moved. Whatever fails on the way, a full
disk or a process that is killed, what was there before is not lost.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory


@contextmanager
def written_beside(path: Path) -> Iterator[Path]:
    """Yield where to write a file or a folder; then move it to its place, over what is there.

    Raises
    ------
    OSError
        If it cannot be written.
    """
    path = path.resolve()  # of a link, what it leads to
    with TemporaryDirectory(prefix=f".{path.name}-", dir=path.parent) as folder:
        draft = Path(folder) / path.name
        yield draft
        for written in (draft, *draft.rglob("*")):
            _sync(written)
        if draft.is_dir() and path.exists():
            _swap(draft, path, Path(folder) / "old")
        else:
            draft.replace(path)
    _sync(path.parent)


def _swap(draft: Path, path: Path, old: Path) -> None:
    """Put a folder in the place of another, in two steps.

    A process that is killed between them leaves the old one in the hidden folder.
    """
    path.rename(old)
    try:
        draft.rename(path)
    except BaseException:
        old.rename(path)
        raise


def _sync(path: Path) -> None:
    """Force a file, or the entries of a folder, to disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
