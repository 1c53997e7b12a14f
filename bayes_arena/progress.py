"""Progress of long work: one line on standard error if that is a terminal, nothing otherwise."""

from __future__ import annotations

import sys


def report(text: str) -> None:
    """Say what is going on, in place of what was said before; an empty text clears the line."""
    if sys.stderr.isatty():
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)
