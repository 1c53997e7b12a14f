"""How tests of PyMC programs compile them."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytensor
from pytensor.compile.mode import Mode

GRAPH = Mode(linker="py", optimizer="fast_compile")
"""The graph itself, without numba, which takes seconds for each."""
AS_USERS_DO = ("am-elo", "am-davidson")
"""Presets whose programs are compiled for users' tests: each has all that is in the smaller ones."""


def compile_kwargs(preset: str) -> dict[str, Mode]:
    """How PyMC's functions are to compile the program of a preset: by numba one of each likelihood, the largest."""
    return {} if preset in AS_USERS_DO else {"mode": GRAPH}


@contextmanager
def uncompiled() -> Iterator[None]:
    """Let whatever PyMC is asked for run on the graph, where a mode cannot be passed."""
    with pytensor.config.change_flags(mode="FAST_COMPILE"):
        yield
