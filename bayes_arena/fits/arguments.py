"""Arguments of public functions: what they want is made of what it can be made of, anything else is a typed error.

So is a lack of memory. Where a fit is wanted, votes are fitted as :func:`~bayes_arena.fit` does without options; where
cells are wanted, votes are read as :func:`~bayes_arena.read_votes` does. Whoever asks twice of the same votes fits
once, and passes the fit.

Whoever passes a dataframe of Polars or PyArrow gets a table of the same kind. All others are of pandas.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import signature
from typing import Any

import bayes_arena
from bayes_arena.errors import ModelError
from bayes_arena.memory import enough_memory
from bayes_arena.votes.cells import Cells
from bayes_arena.votes.reading.read_votes import as_cells, read_votes
from bayes_arena.votes.sources.frames import in_the_same_engine, is_source

WANTED = {
    "Fit": "a result of fit, or votes",
    "Cells": "cells from read_votes, or votes",
    "VoteSequence": "votes in order, from read_sequence",
    "str | Path": "the path of a file",
    "str | Model": "the name of a preset, or a Model",
}
"""Annotations of the parameters that are checked, and what error messages call them."""


def held[F: Callable[..., Any]](function: F) -> F:
    """Check the arguments of parameters that are annotated with one of these types; make fits and cells of votes."""
    parameters = signature(function).parameters
    kinds = {name: str(one.annotation) for name, one in parameters.items()}
    order = list(parameters)

    def ready(name: str, value: object) -> object:
        kind = kinds.get(name, "")
        wanted = WANTED.get(kind.removesuffix(" | None"))
        if wanted is None or _is(value, kind):
            return value
        return _made(value, kind, f"{name} of {function.__name__} must be {wanted}")

    @wraps(function)
    def holding(*arguments: Any, **named: Any) -> Any:
        _require_known(function.__name__, named, order)
        unnamed = [ready(name, value) for name, value in zip(order, arguments, strict=False)]
        rest = arguments[len(order) :]  # too many, which Python refuses by itself
        known = {name: ready(name, value) for name, value in named.items()}
        with enough_memory(function.__name__):
            return in_the_same_engine(function(*unnamed, *rest, **known), *arguments, *named.values())

    return holding  # type: ignore[return-value]


def _is(value: object, kind: str) -> bool:
    """Whether a value has one of the types, compared by name so that their classes need not be imported."""
    names = kind.split(" | ")
    return (value is None and "None" in names) or any(base.__name__ in names for base in type(value).__mro__)


def _made(value: object, kind: str, expected: str) -> object:
    """Return the fit or the cells of votes."""
    makers: dict[str, Any] = {"Fit": bayes_arena.fit, "Cells": as_cells}
    make = makers.get(kind.removesuffix(" | None"))
    if make is None or not (isinstance(value, Cells) or is_source(value)):
        raise ModelError(f"{expected}, not {type(value).__name__}.")
    return make(value)


def _require_known(function: str, named: dict[str, Any], order: list[str]) -> None:
    """Say of options that belong to reading where they go; Python refuses any others."""
    reading = [name for name in named if name not in order and name in signature(read_votes).parameters]
    if reading:
        options = ", ".join(f"{name}=..." for name in reading)
        raise ModelError(
            f"{function} has no option {reading[0]!r}, which is one of reading: "
            f"{function}(read_votes(votes, {options}))."
        )
