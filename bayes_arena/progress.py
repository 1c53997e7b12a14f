"""Progress of long work: one line on standard error if that is a terminal, nothing otherwise."""

from __future__ import annotations

import sys
from collections.abc import Callable
from concurrent.futures import Future, wait
from functools import cache
from threading import Lock, Thread
from time import monotonic
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress

PATIENCE = 1.0
"""Seconds of silence before compiling is announced."""
_LOCK = Lock()


def report(text: str, done: int = 0, of: int = 0) -> None:
    """Show what is under way, in place of what was shown before; an empty text clears the line.

    Steps done and their total are shown as a bar with the time left; an endless bar if unknown.
    """
    if not sys.stderr.isatty():
        return
    with _LOCK:  # loops of several threads may wait for the compiler
        line = _line()
        if not done:  # each piece of work starts a new estimate of the time left
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
    """Return the progress line, made when first needed since importing rich is slow."""
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


_ANNOUNCED = set[str]()
"""What was under way in the background, and said."""


def in_background[T](work: Callable[[], T], under_way: Callable[[], str]) -> T:
    """Do work that would block Ctrl-C in a thread, show what is under way, and return its result.

    A compiler reacts to Ctrl-C late, or loses it. The main thread, which only waits, reacts at once; the work ends by
    itself, or with the process. As compiling is rare and unexpected, it is announced even without a terminal, once a
    process. What is under way is asked every second, and nothing is shown while that text is empty.
    """
    outcome: Future[T] = Future()

    def run() -> None:
        try:
            outcome.set_result(work())
        except BaseException as error:
            outcome.set_exception(error)

    started = monotonic()
    Thread(target=run, daemon=True).start()
    try:
        while wait([outcome], timeout=PATIENCE).not_done:
            if not (text := under_way()):
                continue
            if text not in _ANNOUNCED and not sys.stderr.isatty():
                print(text, file=sys.stderr, flush=True)
            _ANNOUNCED.add(text)
            report(f"{text}, {monotonic() - started:.0f} s")
    finally:
        report("")
    return outcome.result()
