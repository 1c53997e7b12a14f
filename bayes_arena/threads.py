"""Threads of BLAS: products of small matrices are faster on one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

from threadpoolctl import ThreadpoolController

LARGE = 1_000  # rows of a matrix from which all threads are worth their start


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
    with controller().limit(limits=1):
        yield


@cache
def controller() -> ThreadpoolController:
    """Return the control of the libraries that are loaded, found once."""
    import numpy.linalg  # noqa: F401
    import scipy.linalg  # noqa: F401

    return ThreadpoolController()  # type: ignore[no-untyped-call]
