"""Functions compiled when they are first called, with the code kept on disk."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from bayes_arena.progress import in_background


def compiled(function: Callable[..., Any], **more: Any) -> Any:
    """Compile a function when it is first called, and keep the code wherever numba finds a folder it can write to."""
    from numba import njit

    settings = partial(njit, nogil=True, fastmath={"reassoc", "contract", "arcp", "nsz"}, **more)
    try:
        return settings(cache=True)(function)
    except RuntimeError:  # no such folder
        return settings()(function)


def vectorised(function: Callable[..., Any]) -> Any:
    """Compile a function so that its loops vectorise: a division by zero is infinite, not an error."""
    return compiled(function, error_model="numpy")


def part(function: Callable[..., Any]) -> Any:
    """Compile such a function for calls from compiled code only, without wrappers for Python and C."""
    return compiled(function, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)


def made_ready(function: Any, call: Callable[[], Any], what: str) -> Any:
    """Return the result of a call, and say so if the function has to be compiled first."""
    if function.overloads:
        return call()
    once = "once after an installation"
    if not function.stats.cache_path:
        once = "to do this only once, set NUMBA_CACHE_DIR to a writable folder"

    def under_way() -> str:
        compiles = bool(function.stats.cache_misses)  # counted before the compiler starts
        return f"compiling {what}; {once}" if compiles else ""

    return in_background(call, under_way)


def called(function: Any, *given: Any) -> Any:
    """Call one of the loops over votes, which most fits wait for, once after an installation.

    Arrays that are not contiguous, or may not be written to, are copied: for each kind of array it would be compiled
    anew. So those that it writes to have to be new ones.
    """
    return _usual(made_ready(function, partial(function, *map(_plain, given)), "the loops over votes"))


def _plain(given: Any) -> Any:
    """Return an argument with arrays that are contiguous, and may be written to."""
    if isinstance(given, tuple):
        return tuple(map(_plain, given))
    is_plain = not isinstance(given, np.ndarray) or (given.flags.c_contiguous and given.flags.writeable)
    return given if is_plain else np.array(given, order="C")


def _usual(found: Any) -> Any:
    """Return a result whose arrays have NumPy's own type: what is kept on disk makes one that looks alike.

    With that NumPy converts each number, and takes twenty times as long for some functions.
    """
    if isinstance(found, tuple):
        return tuple(map(_usual, found))
    return found.view(found.dtype.type) if isinstance(found, np.ndarray) else found
