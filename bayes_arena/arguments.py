"""Type checks of arguments: public functions answer a wrong type with a :class:`ModelError` that says what to pass."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import signature
from typing import Any

from bayes_arena.errors import ModelError

WANTED = {
    "Fit": "a result of fit",
    "Cells": "cells from read_votes",
    "VoteSequence": "votes in order, from read_sequence",
    "str | Path": "the path of a file",
    "str | Model": "the name of a preset, or a Model",
}
"""Annotations of the parameters that are checked, and what error messages call them."""


def held[F: Callable[..., Any]](function: F) -> F:
    """Check the arguments of parameters that are annotated with one of these types."""
    parameters = signature(function).parameters
    kinds = {name: str(one.annotation) for name, one in parameters.items()}
    order = list(parameters)

    @wraps(function)
    def holding(*arguments: Any, **named: Any) -> Any:
        for name, value in [*zip(order, arguments, strict=False), *named.items()]:
            wanted = WANTED.get(kinds.get(name, "").removesuffix(" | None"))
            if wanted and not _is(value, kinds[name]):
                raise ModelError(f"{name} of {function.__name__} must be {wanted}, not {type(value).__name__}.")
        return function(*arguments, **named)

    return holding  # type: ignore[return-value]


def _is(value: object, kind: str) -> bool:
    """Whether a value has one of the types, compared by name so that their classes need not be imported."""
    names = kind.split(" | ")
    return (value is None and "None" in names) or any(base.__name__ in names for base in type(value).__mro__)
