"""Progress of long work: a line on standard error where that is a terminal."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager


def show(text: str) -> None:
    """Show what is under way, in place of what was shown before."""
    if sys.stderr.isatty():
        print(f"\r\x1b[2K{text}", end="", file=sys.stderr, flush=True)


def clear() -> None:
    """Clear the line."""
    if sys.stderr.isatty():
        print("\r\x1b[2K", end="", file=sys.stderr, flush=True)


@contextmanager
def shown(text: str) -> Iterator[None]:
    """Show what is under way while the block runs."""
    show(text)
    try:
        yield
    finally:
        clear()
