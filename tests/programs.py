"""How tests of PyMC programs compile them."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np
import pymc as pm
import pytensor
from pytensor.compile.mode import Mode

GRAPH = Mode(linker="py", optimizer="fast_compile")
"""The graph itself, without numba, which takes seconds for each."""
AS_USERS_DO = ("am-elo", "am-davidson")
"""Presets whose programs are compiled for users' tests: each has all that is in the smaller ones."""


def compile_kwargs(preset: str) -> dict[str, Mode]:
    """How PyMC's functions are to compile the program of a preset: by numba one of each likelihood, the largest."""
    return {} if preset in AS_USERS_DO else {"mode": GRAPH}


def logp_and_dlogp(program: pm.Model) -> tuple[Callable[..., np.ndarray], Callable[..., np.ndarray]]:
    """The log-density of a program and its gradient, of one graph that is simplified once."""
    both = program.compile_fn([program.logp(), program.dlogp()], mode=GRAPH)
    return (lambda at: both(at)[0]), (lambda at: both(at)[1])


@contextmanager
def uncompiled() -> Iterator[None]:
    """Let whatever PyMC is asked for run on the graph, where a mode cannot be passed."""
    with pytensor.config.change_flags(mode="FAST_COMPILE"):
        yield
