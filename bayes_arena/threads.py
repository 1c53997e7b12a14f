"""How many threads the linear algebra takes."""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import cache

from threadpoolctl import ThreadpoolController


def one_thread() -> AbstractContextManager[object]:
    """Keep BLAS to one thread meanwhile: matrices are small, and threads cost more time than they save."""
    limits: AbstractContextManager[object] = _threads().limit(limits=1, user_api="blas")
    return limits


@cache
def _threads() -> ThreadpoolController:
    """Look for the BLAS libraries once; that takes longer than some fits."""
    return ThreadpoolController()  # type: ignore[no-untyped-call]
