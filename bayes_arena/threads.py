"""Threads: of the linear algebra, and of our own loops."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from functools import cache

from threadpoolctl import ThreadpoolController

from bayes_arena.errors import ForkError

BLOCK = 2000
"""Annotators, say, that one thread takes at a time."""


def one_thread() -> AbstractContextManager[object]:
    """Keep BLAS to one thread meanwhile: matrices are small, and threads cost more time than they save."""
    limits: AbstractContextManager[object] = _threads().limit(limits=1, user_api="blas")
    return limits


@cache
def _threads() -> ThreadpoolController:
    """Look for the BLAS libraries once; that takes longer than some fits."""
    import scipy.linalg  # noqa: F401 - it brings a BLAS of its own, which would be overlooked before it is there

    return ThreadpoolController()  # type: ignore[no-untyped-call]


def require_threads_of_polars() -> None:
    """Refuse to use Polars where it would wait for ever: in a fork of a process that has used it.

    Raises
    ------
    ForkError
        If this process is such a fork.
    """
    if _first_user_of_polars() != os.getpid():
        raise ForkError(
            "This process was forked from one that has read votes, whose threads of Polars it lacks: it would wait for "
            "them for ever. Start processes by spawn, multiprocessing.get_context('spawn'), or read no votes before."
        )


@cache
def _first_user_of_polars() -> int:
    return os.getpid()


def in_blocks(work: Callable[[slice], None], size: int, *, of: int = BLOCK) -> None:
    """Do work on the numbers from 0 up to a size, block by block, on as many threads as there are cores.

    The work lets go of the interpreter and writes each block's results where no other does, so that they are the same
    bits whatever the cores; between blocks Ctrl-C is heard.
    """
    for _ in each(work, [slice(first, min(first + of, size)) for first in range(0, size, of)]):
        pass


def each[S, T](work: Callable[[S], T], items: Sequence[S]) -> Iterator[T]:
    """Yield what the work finds of every item, in their order, on as many threads as there are cores."""
    cores = os.cpu_count() or 1
    if len(items) < 2 or cores < 2:
        yield from map(work, items)
        return
    with ThreadPoolExecutor(cores) as threads:
        running = deque(threads.submit(work, item) for item in items[:cores])
        try:
            for item in items[cores:]:  # what is found is used before more is begun
                yield running.popleft().result()
                running.append(threads.submit(work, item))
            while running:
                yield running.popleft().result()
        except BaseException:
            threads.shutdown(cancel_futures=True)
            raise


def ahead[T](items: Iterator[T]) -> Iterator[T]:
    """Yield items, of which the next is made by a thread while one is used; it lets go of the interpreter."""
    with ThreadPoolExecutor(1) as thread:
        following = thread.submit(next, items, None)
        while (item := following.result()) is not None:
            following = thread.submit(next, items, None)
            yield item
