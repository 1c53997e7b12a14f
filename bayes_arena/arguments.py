"""What public functions are given, held to its kind: a wrong one is a :class:`ModelError` that says what is wanted."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import signature
from typing import Any

from bayes_arena.errors import ModelError

WANTED = {
    "Fit": "a result, as fit returns it",
    "Cells": "cells, as read_votes returns them",
    "VoteSequence": "votes in order, as read_sequence returns them",
    "str | Path": "the path of a file",
    "str | Model": "the name of a preset, or a Model",
}
"""Kinds that parameters are held to, by their annotation, and what they are to readers."""


def held[F: Callable[..., Any]](function: F) -> F:
    """Hold the parameters of a function that are annotated with one of these kinds to it."""
    parameters = signature(function).parameters
    kinds = {name: str(one.annotation) for name, one in parameters.items()}
    order = list(parameters)

    @wraps(function)
    def holding(*arguments: Any, **named: Any) -> Any:
        for name, value in [*zip(order, arguments, strict=False), *named.items()]:
            wanted = WANTED.get(kinds.get(name, "").removesuffix(" | None"))
            if wanted and not _is(value, kinds[name]):
                raise ModelError(f"{name} of {function.__name__} is {wanted}, not {type(value).__name__}.")
        return function(*arguments, **named)

    return holding  # type: ignore[return-value]


def _is(value: object, kind: str) -> bool:
    """Whether a value is of a kind, or of one of several, whose classes need not be imported for that."""
    names = kind.split(" | ")
    return (value is None and "None" in names) or any(base.__name__ in names for base in type(value).__mro__)
