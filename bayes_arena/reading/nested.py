"""Columns that stand in objects or lists: ``category_tag.math``, ``score.winner``."""

from __future__ import annotations

from collections.abc import Sequence

import narwhals as nw
import polars as pl

from bayes_arena.errors import VotesError, listing
from bayes_arena.reading.options import Options
from bayes_arena.reading.sources import Frame, in_polars, to_polars
from bayes_arena.reading.values import as_text, paths_in
from bayes_arena.said import Use

ROWS_LOOKED_AT = 20


def with_nested_columns(frame: Frame, options: Options) -> Frame:
    """Return a frame with a column for each that an option names by a path with dots.

    The path may leave out what comes between the column and the last key, if no other ends
    so: ``category_tag.math`` is ``{"math_v0.1": {"math": true}}``.  Of a list the first
    object that has the key counts.  A slice that is an object itself is refused.
    """
    names = frame.collect_schema().names()
    for path in sorted(options.named.difference(names)):
        head = head_of(path, names)
        if head is not None and "," not in path:  # several columns are named one by one
            leaves = leaves_of(frame, head, path.removeprefix(f"{head}."))
            column = pl.Series(path, leaves, pl.String)
            frame = nw.from_native(in_polars(frame).with_columns(column))
    for column in options.by_role("slices").values():
        if column in names:
            require_scalars(frame, column)
    return frame


def head_of(path: str, names: Sequence[str]) -> str | None:
    """Return the column that a path with dots begins with."""
    return max((n for n in names if path.startswith(f"{n}.")), key=len, default=None)


def require_scalars(frame: Frame, column: str) -> None:
    """Refuse a slice whose values are objects, and name their keys."""
    head = to_polars(frame.select(column).head(ROWS_LOOKED_AT)).to_series()
    paths = list(dict.fromkeys(path for v in head.to_list() for path, _ in paths_in(v)))
    if paths and paths != [()]:
        keys = [f"{column}.{path[-1]}" for path in paths if path]
        raise VotesError(
            (
                f"{column!r} holds objects. Their values are {listing(keys)}: name one, ",
                Use(slices=keys[0]),
                ".",
            )
        )


def leaves_of(frame: Frame, column: str, path: str) -> list[str | None]:
    """Return the values at the end of a path in each object of a column, as text."""
    values = in_polars(frame.select(column)).collect().to_series().to_list()
    found = [dict(reversed([*paths_in(value)])) for value in values]
    paths = list(dict.fromkeys(key for each in found for key in each))
    ends = [p for p in paths if f".{'.'.join(p)}".endswith(f".{path}")]
    if len(ends) != 1:
        which = "No value" if not ends else "More than one value"
        keys = listing(f"{column}.{'.'.join(p)}" for p in (ends or paths) if p)
        raise VotesError(f"{which} of {column!r} ends in {path!r}; there are {keys}.")
    return [as_text(each.get(ends[0])) for each in found]
