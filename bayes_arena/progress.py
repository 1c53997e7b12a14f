"""Progress of long work: one line on standard error if that is a terminal, nothing otherwise."""

from __future__ import annotations

import sys
from collections.abc import Callable
from concurrent.futures import Future, wait
from threading import Thread
from time import monotonic

WIDTH = 24
"""Characters of a whole bar."""
PATIENCE = 1.0
"""Seconds of silence before compiling is announced."""


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


def in_background[T](work: Callable[[], T], text: str) -> T:
    """Do work that would not hear Ctrl-C in a thread, say what is under way, and return what it returns.

    A compiler gives way to Ctrl-C late, or loses it. The main thread, which only waits, hears it at once; the work is
    left to end by itself, or with the process. Compiling is rare and unforeseen, so where there is no terminal it is
    said as well, once.

    Parameters
    ----------
    work : callable
        What to do.
    text : str
        What is under way, shown after a second.
    """
    outcome: Future[T] = Future()

    def run() -> None:
        try:
            outcome.set_result(work())
        except BaseException as error:
            outcome.set_exception(error)

    started = monotonic()
    Thread(target=run, daemon=True).start()
    if wait([outcome], timeout=PATIENCE).not_done and not sys.stderr.isatty():
        print(text, file=sys.stderr, flush=True)
    try:
        while wait([outcome], timeout=PATIENCE).not_done:
            report(f"{text}, {monotonic() - started:.0f} s")
    finally:
        report("")
    return outcome.result()
