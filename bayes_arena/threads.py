"""Threads: of the linear algebra, and of the package's own loops."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from itertools import chain, islice
from threading import Lock
from typing import Any

from threadpoolctl import ThreadpoolController

from bayes_arena.errors import ForkError

BLOCK = 2000
"""Items, such as annotators, that one thread takes at a time."""
_LOCK, _LIMITS = Lock(), list[Any]()
"""The limit on BLAS, once for each thread that is within it."""


@contextmanager
def one_thread() -> Iterator[None]:
    """Limit BLAS to one thread: matrices are small, and threads cost more time than they save.

    The limit is one of the process: of threads that ask for it at once the first sets it, and the last one lifts it.
    """
    with _LOCK:
        _LIMITS.append(_LIMITS[0] if _LIMITS else _threads().limit(limits=1, user_api="blas"))
    try:
        yield
    finally:
        with _LOCK:
            limit = _LIMITS.pop()
            if not _LIMITS:
                limit.restore_original_limits()


@cache
def _threads() -> ThreadpoolController:
    """Look for the BLAS libraries once; that takes longer than some fits."""
    import scipy.linalg  # noqa: F401 - brings a BLAS of its own, which is found only once it is loaded

    return ThreadpoolController()  # type: ignore[no-untyped-call]


def require_threads_of_polars() -> None:
    """Refuse to use Polars where it would wait forever: in a fork of a process that has used it."""
    if _first_user_of_polars() != os.getpid():
        raise ForkError(
            "This process was forked from one that had read votes, and would wait forever for Polars' threads, which "
            "a fork lacks. Start it with multiprocessing.get_context('spawn'), or read no votes before the fork."
        )


@cache
def _first_user_of_polars() -> int:
    return os.getpid()


def in_blocks(work: Callable[[slice], None], size: int, *, of: int = BLOCK) -> None:
    """Do work on the numbers from 0 up to a size, block by block, on as many threads as there are cores.

    The work must release the GIL and write the results of each block to a place of their own, which makes them the same
    bits on any number of cores. Ctrl-C takes effect between blocks.
    """
    for _ in each(work, [slice(first, min(first + of, size)) for first in range(0, size, of)]):
        pass


def each[S, T](work: Callable[[S], T], items: Iterable[S]) -> Iterator[T]:
    """Yield the result of the work for every item, in order, on as many threads as there are cores.

    Items are taken when a thread will soon be free, so that a few of them are there at once: each has to be its own.
    """
    items, cores = iter(items), os.cpu_count() or 1
    first = list(islice(items, cores + 1))  # one waits for a free thread
    if len(first) < 2 or cores < 2:
        yield from map(work, chain(first, items))
        return
    with ThreadPoolExecutor(cores) as threads:
        running = deque(threads.submit(work, item) for item in first)
        del first
        try:
            for item in items:
                yield running.popleft().result()
                running.append(threads.submit(work, item))
            while running:
                yield running.popleft().result()
        except BaseException:
            threads.shutdown(cancel_futures=True)
            raise


def ahead[T](items: Iterator[T]) -> Iterator[T]:
    """Yield items while a thread makes the next one; making it should release the GIL."""
    with ThreadPoolExecutor(1) as thread:
        following = thread.submit(next, items, None)
        while (item := following.result()) is not None:
            following = thread.submit(next, items, None)
            yield item
