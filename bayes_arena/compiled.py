"""Functions compiled when they are first called, with the code kept on disk."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from bayes_arena.progress import in_background
from bayes_arena.threads import in_blocks


def compiled(function: Callable[..., Any], error_model: str = "python") -> Any:
    """Compile a function when it is first called, and keep the code wherever numba finds a folder it can write to."""
    from numba import njit

    settings = partial(njit, nogil=True, fastmath={"reassoc", "contract", "arcp", "nsz"}, error_model=error_model)
    try:
        return settings(cache=True)(function)
    except RuntimeError:  # there is none
        return settings()(function)


def vectorised(function: Callable[..., Any]) -> Any:
    """Compile a function whose loops do several elements at once, as a division by zero is infinite and no error."""
    return compiled(function, error_model="numpy")


def made_ready(function: Any, call: Callable[[], Any], what: str) -> Any:
    """Return what a call returns; where a function has yet to be compiled or loaded for it, say so."""
    if function.signatures:
        return call()
    once = "once after an installation"
    if not function.stats.cache_path:
        once = "for this to be once only, set NUMBA_CACHE_DIR to a writable folder"

    def under_way() -> str:
        compiles = bool(function.stats.cache_misses)  # counted before the compiler starts
        return f"compiling {what}; {once}" if compiles else ""

    return in_background(call, under_way)


def for_each(loop: Any, size: int, *given: Any, what: str) -> None:
    """Run a compiled loop, called as ``loop(begin, end, *given)``, over the numbers from 0 up to a size.

    It takes them block by block, on as many threads as there are cores (:func:`~bayes_arena.threads.in_blocks`).
    """
    made_ready(loop, lambda: loop(0, 0, *given), what)  # for nobody
    in_blocks(lambda block: loop(block.start, block.stop, *given), size)
