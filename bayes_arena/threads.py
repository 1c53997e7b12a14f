"""Threads of BLAS: products of small matrices are faster on one.

The process has one pool of them, and several Python threads may fit at once.  So blocks are
counted: the first one that is entered limits the pool, and the last one that is left gives
it back.

All threads of two cores over one, for a fit and its board: 500 competitors take 3.9 times the
CPU and 2.0 times the wall time, 1,000 take 3.4 and 1.7, 2,000 take 1.7 and 0.9, 3,000 take 1.3
and 0.8, 4,000 take 1.1 and 0.7 (``benchmarks/threads.py``).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from threading import Lock
from typing import Any

from threadpoolctl import OpenBLASController, ThreadpoolController

LARGE = 3_000  # rows of a matrix from which all threads are worth their start


class OneThread:
    """Blocks that run on one thread of BLAS; they may overlap in any order."""

    def __init__(self) -> None:
        self.lock = Lock()
        self.n_blocks = 0
        self.limit: Any = None

    def __enter__(self) -> None:
        """Limit the pool, unless another block has."""
        with self.lock:
            if self.n_blocks == 0:
                free_control()
                self.limit = controller().limit(limits=1)
            self.n_blocks += 1

    def __exit__(self, *error: object) -> None:
        """Give the pool back, unless another block still runs."""
        with self.lock:
            self.n_blocks -= 1
            if self.n_blocks == 0:
                free_control()
                self.limit.restore_original_limits()
                free_control()


def free_control() -> None:
    """Let any thread change the pool; otherwise only the one that last did may."""
    OpenBLASController.clear_controlling_thread(force=True)


ONE_THREAD = OneThread()


@contextmanager
def threads_for(size: int) -> Iterator[None]:
    """Run a block on one thread of BLAS, unless its matrices are large.

    Parameters
    ----------
    size : int
        Rows of the largest matrix.
    """
    if size >= LARGE:
        yield
        return
    with ONE_THREAD:
        yield


@cache
def controller() -> ThreadpoolController:
    """Return the control of the libraries that are loaded, found once."""
    import numpy.linalg  # noqa: F401
    import scipy.linalg  # noqa: F401

    return ThreadpoolController()  # type: ignore[no-untyped-call]
