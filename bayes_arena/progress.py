"""Progress of long work: one line on standard error if that is a terminal, nothing otherwise."""

from __future__ import annotations

import sys

WIDTH = 24
"""Characters of a whole bar."""


def report(text: str, done: int = 0, of: int = 0) -> None:
    """Say what is going on, in place of what was said before; an empty text clears the line.

    Parameters
    ----------
    text : str
        What is under way.
    done, of : int
        How many of how many steps are done, shown as a bar; no bar without.
    """
    if not sys.stderr.isatty():
        return
    if of:
        filled = WIDTH * done // of
        text = f"{'━' * filled}{'╌' * (WIDTH - filled)} {done} of {of}  {text}"
    print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)
