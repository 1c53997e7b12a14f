"""Files that appear whole or not at all.

A file is written beside its destination, synced to disk and moved into place in one step.
If the disk is full or the process is killed, the former content stays.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from bayes_arena.errors import ArenaError, OutputError


@contextmanager
def written_beside(
    path: Path | str, error: type[ArenaError] = OutputError
) -> Iterator[Path]:
    """Yield where to write a file; then move it into place, over what is there.

    A pipe or a device has no content to lose, and is written directly.
    """
    path = Path(path)
    with named_faults(path, error):
        if path.exists() and not path.is_file():
            yield path
            return
        target = path.resolve()
        prefix = f".{target.name[:50]}-"
        with TemporaryDirectory(
            prefix=prefix, dir=target.parent, ignore_cleanup_errors=True
        ) as folder:
            draft = Path(folder) / target.name
            yield draft
            sync(draft)
            if target.exists():
                shutil.copymode(target, draft)
            draft.replace(target)
        sync(target.parent)


@contextmanager
def named_faults(path: Path, error: type[ArenaError] = OutputError) -> Iterator[None]:
    """Where a file cannot be written, say which and why; our own errors say it already."""
    try:
        yield
    except ArenaError:  # which may be a ValueError, too
        raise
    except (OSError, ValueError) as fault:  # a ValueError if the path holds a null
        reason = getattr(fault, "strerror", None) or fault
        raise error(
            f"Cannot write {str(path)!r}: {reason}. Choose another place."
        ) from fault


def sync(path: Path) -> None:
    """Sync a file, or the entries of a folder, to disk; Windows opens no folder."""
    if os.name == "nt" and path.is_dir():
        return
    mode = (
        os.O_RDONLY if path.is_dir() else os.O_RDWR
    )  # Windows syncs what it may write
    descriptor = os.open(path, mode)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
