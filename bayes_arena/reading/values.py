"""Values of cells: as text, as numbers, and as the JSON that a text may hold."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from typing import Any

import numpy as np
import polars as pl

from bayes_arena.arrays import Floats
from bayes_arena.errors import VotesError
from bayes_arena.reading.labels import NOT_PLAYED

LONGEST_NAME = 200  # characters; what is longer is a text


def as_text(value: Any) -> str | None:
    """Write a value as text: missing ones as None, nested ones as JSON, 1.0 as 1."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool):
        return str(value).lower()
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, float):
        if value != value:
            return None
        is_whole = value.is_integer() and abs(value) < 2**53
        return str(int(value)) if is_whole else repr(value)
    if isinstance(value, Mapping | list | tuple):
        try:
            return json.dumps(value, ensure_ascii=False, default=str)
        except (ValueError, TypeError, RecursionError):
            raise VotesError("A value is nested too deeply to be read.") from None
    if str(value) == object.__repr__(value):  # its memory address
        raise VotesError(
            f"A value of type {type(value).__name__} is neither text nor a number."
        )
    return None if str(value) in ("NaT", "<NA>") else str(value)


def parsed(value: Any) -> Any:
    """Return the object or list that a text holds as JSON; other values stay."""
    if not isinstance(value, str) or value[:1] not in ("{", "["):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value


def text_of(column: pl.Series) -> pl.Series:
    """Return a column as text; a whole number reads the same as an integer and a float."""
    if column.dtype.is_nested() or column.dtype == pl.Object:
        raise VotesError(
            f"The column {column.name!r} holds lists or objects, not names."
        )
    if column.dtype.is_float():
        column = column.fill_nan(None)
        is_whole = (column == column.floor()) & (column.abs() < 2**53)
        whole = column.cast(pl.Int64, strict=False).cast(pl.String)
        return whole.zip_with(is_whole.fill_null(False), column.cast(pl.String))
    return column if column.dtype == pl.Categorical else column.cast(pl.String)


def number(name: str) -> pl.Expr:
    """Return a column as numbers: null if there is none, NaN if it is something else."""
    return number_in(pl.col(name).cast(pl.String).str.strip_chars().str.to_lowercase())


def number_in(text: pl.Expr) -> pl.Expr:
    """Return text in lower case as numbers: null if there is none, else perhaps NaN."""
    value = text.replace({"true": "1", "false": "0"}).cast(pl.Float64, strict=False)
    return pl.when(~text.is_in(NOT_PLAYED)).then(value.fill_null(float("nan")))


def number_of(column: pl.Series) -> Floats:
    """Return a column as numbers; NaN where it is missing or something else."""
    if not (column.dtype.is_numeric() or column.dtype == pl.Boolean):
        column = column.to_frame().select(number(column.name)).to_series()
    return column.cast(pl.Float64).fill_null(np.nan).to_numpy()


def are_texts(values: Collection[str]) -> bool:
    """Whether most values are texts, not names: long, or of several lines."""
    n_texts = sum(len(value) > LONGEST_NAME or "\n" in value for value in values)
    return n_texts * 2 > len(values)


def paths_in(
    value: Any, path: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield the keys that lead to each value in an object, and the value."""
    value = parsed(value)
    if isinstance(value, dict):
        for key, entry in value.items():
            yield from paths_in(entry, (*path, str(key)))
    elif isinstance(value, list):
        for entry in value:
            yield from paths_in(entry, path)
    elif value is not None:
        yield path, value
