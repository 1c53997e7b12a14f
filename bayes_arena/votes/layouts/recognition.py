"""Which layout a source has: the one that is named, or the one that its columns identify."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import narwhals as nw

from bayes_arena.errors import ColumnError, VotesError, did_you_mean, listing, printable
from bayes_arena.votes.layouts.layout import Layout
from bayes_arena.votes.layouts.registry import BY_NAME, LAYOUTS
from bayes_arena.votes.sources.frames import Frame, in_polars

ENOUGH = 0.5
"""Least share of a layout's columns that a source must have to nearly fit it."""


def named_layout(name: str, names: Sequence[str]) -> Layout:
    """Return the layout of that name, provided the source has its columns."""
    if name not in BY_NAME:
        raise VotesError(f"No layout is called {name!r}.{did_you_mean(name, BY_NAME)} Layouts: {', '.join(BY_NAME)}.")
    layout = BY_NAME[name]
    if missing := sorted(layout.columns.difference(names)):
        raise ColumnError(
            f"The layout {name} ({layout.about}) also needs {listing(map(repr, missing))}. "
            f"The source has: {printable(', '.join(names))}."
        )
    return layout


def recognised_layout(names: Collection[str]) -> Layout | None:
    """Return the layout that the columns identify, None if there is none."""
    fitting = [layout for layout in LAYOUTS if layout.fits(names)]
    fitting = [one for one in fitting if not any(_is_more(other, one) for other in fitting)]
    if len(fitting) > 1 and any(layout.rewritten for layout in fitting):
        raise ColumnError(
            f"The columns fit the layouts {' and '.join(layout.name for layout in fitting)}. "
            f"Choose one with layout=... (--layout {fitting[-1].name})."
        )
    return fitting[0] if len(fitting) == 1 else None


def is_win_matrix(frame: Frame) -> bool:
    """Whether a source of no other layout is a square table: its first column holds the names of all others."""
    names = frame.collect_schema().names()
    if len(names) < 3 or not all(isinstance(name, str) for name in names):
        return False
    first, *others = names
    found = in_polars(frame.select(nw.col(first).cast(nw.String)).head(len(others) + 1)).collect().to_series()
    return found.null_count() == 0 and sorted(found) == sorted(others)


def nearly(names: Collection[str]) -> str:
    """Return a sentence, with a space before it, on the layout that a source nearly fits, or an empty text."""
    lacking = [layout for layout in LAYOUTS if layout.rewritten and not layout.columns.issubset(names)]
    layout = max(lacking, key=lambda layout: _share(layout, names))
    if _share(layout, names) < ENOUGH:
        return ""
    missing = listing(map(repr, sorted(layout.columns.difference(names))))
    return f" With {missing} it would fit the layout {layout.name} ({layout.about})."


def _share(layout: Layout, names: Collection[str]) -> float:
    """Return the share of a layout's columns that the source has."""
    return len(layout.columns.intersection(names)) / len(layout.columns)


def _is_more(one: Layout, other: Layout) -> bool:
    """Whether a layout requires all that the other requires, and more."""
    return one.columns > other.columns or (one.columns == other.columns and one.also is not None and other.also is None)
