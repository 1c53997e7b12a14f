"""Metadata of the competitors: prices, licences, dates, from a file of their own."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from bayes_arena.errors import ColumnError, VotesError, listing
from bayes_arena.votes.sources.frames import open_source, to_polars

NAMES = ("competitor", "model", "name")
PRICE = re.compile(r"price|cost", re.IGNORECASE)
CURRENCIES = "$€£¥"


@dataclass(frozen=True)
class Column:
    """A column of metadata as written, empty where unknown; as numbers, NaN where unknown, unless a value is none."""

    name: str
    texts: tuple[str, ...]
    numbers: tuple[float, ...] | None


def read_meta(source: object, competitors: Sequence[str]) -> tuple[Column, ...]:
    """Read metadata in the order of the competitors; rows of other names are ignored."""
    if source is None:
        return ()
    table = to_polars(open_source(source))
    found = [name for name in table.columns if name.strip().lower() in NAMES]
    if len(found) != 1:
        raise ColumnError(
            f"{'No column' if not found else f'More than one column ({listing(found)})'} of the metadata file "
            f"could hold the names of the competitors. Rename one of {listing(table.columns)} to 'competitor'."
        )
    names = table[found[0]].cast(pl.String).fill_null("").to_list()
    twice = sorted({name for name in competitors if names.count(name) > 1})
    if twice:
        raise VotesError(f"More than one row for {listing(map(repr, twice))}. Keep one for each competitor.")
    place = {name: row for row, name in enumerate(names)}
    if not place.keys() & set(competitors):
        raise VotesError(
            f"None of {listing(map(repr, names))} is a competitor. Use the names in the votes: "
            f"{listing(map(repr, competitors))}."
        )
    rows = [place.get(name) for name in competitors]
    return tuple(_column(name, table[name], rows) for name in table.columns if name != found[0])


def _column(name: str, values: pl.Series, rows: list[int | None]) -> Column:
    written = values.cast(pl.String).fill_null("").to_list()
    texts = tuple("" if row is None else written[row].strip() for row in rows)
    try:
        numbers = tuple(float(text.lstrip(CURRENCIES)) if text else math.nan for text in texts)
    except ValueError:
        return Column(name, texts, None)
    return Column(name, texts, numbers)


def price_of(columns: Sequence[Column]) -> Column | None:
    """Return the first column of prices."""
    return next((column for column in columns if column.numbers and PRICE.search(column.name)), None)
