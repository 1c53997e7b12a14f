"""Progress of long work: one line on standard error if that is a terminal, nothing otherwise."""

from __future__ import annotations

import sys
from collections.abc import Callable
from concurrent.futures import Future, wait
from functools import cache
from threading import Thread
from time import monotonic
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress

PATIENCE = 1.0
"""Seconds of silence before compiling is announced."""


def report(text: str, done: int = 0, of: int = 0) -> None:
    """Say what is going on, in place of what was said before; an empty text clears the line.

    Parameters
    ----------
    text : str
        What is under way.
    done, of : int
        How many of how many steps are done, shown as a bar with the time left; a bar without end if unknown.
    """
    if not sys.stderr.isatty():
        return
    line = _line()
    if not done:  # the time left is told anew for every piece of work
        for task in line.task_ids:
            line.remove_task(task)
    if not text:
        if line.live.is_started:
            line.stop()
        return
    count = f"{done} of {of}" if of else ""
    if not line.task_ids:
        line.add_task(text, total=of or None, count=count)
    line.update(line.task_ids[0], description=text, completed=done, count=count)
    line.start()
    line.console.show_cursor()  # an exception may leave the line as it stands
    line.refresh()


@cache
def _line() -> Progress:
    """Return the one line of progress, which importing rich takes too long to make before it is needed."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    console = Console(stderr=True)
    return Progress(
        BarColumn(bar_width=24),
        TextColumn("{task.fields[count]}"),
        TextColumn("{task.description}", markup=False),
        TimeRemainingColumn(compact=True),
        console=console,
        transient=True,
        auto_refresh=False,
        redirect_stdout=False,
        redirect_stderr=False,
        speed_estimate_period=3600,
        disable=not console.is_interactive,
    )


def in_background[T](work: Callable[[], T], under_way: Callable[[], str]) -> T:
    """Do work that would not hear Ctrl-C in a thread, say what is under way, and return what it returns.

    A compiler gives way to Ctrl-C late, or loses it. The main thread, which only waits, hears it at once; the work is
    left to end by itself, or with the process. Compiling is rare and unforeseen, so where there is no terminal it is
    said as well, once.

    Parameters
    ----------
    work : callable
        What to do.
    under_way : callable
        Says what is under way, asked after every second; nothing is shown of what has no name.
    """
    outcome: Future[T] = Future()

    def run() -> None:
        try:
            outcome.set_result(work())
        except BaseException as error:
            outcome.set_exception(error)

    started, said = monotonic(), False
    Thread(target=run, daemon=True).start()
    try:
        while wait([outcome], timeout=PATIENCE).not_done:
            if not (text := under_way()):
                continue
            if not said and not sys.stderr.isatty():
                print(text, file=sys.stderr, flush=True)
            said = True
            report(f"{text}, {monotonic() - started:.0f} s")
    finally:
        report("")
    return outcome.result()
