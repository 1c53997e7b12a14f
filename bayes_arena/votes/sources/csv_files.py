"""Delimited text files; the separator is detected, whatever the file is called.

The separator is the one that divides the header and the rows after it into equally many fields, two or more, outside
quotes. So a decimal comma among semicolons separates nothing, nor does a semicolon in a text among commas. Every value
is text, as names such as ``007`` are no numbers.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl

from bayes_arena.errors import VotesError, listing

SEPARATORS = (",", "\t", ";", "|")
"""The first that fits."""
AS_LINES: dict[str, Any] = {
    "separator": "\1",
    "quote_char": None,
    "has_header": False,
    "infer_schema": False,
    "encoding": "utf8-lossy",
}
"""How Polars reads the lines of a text, a column of them, decompressed."""
LOOKED_AT = 20
"""Lines that tell the separator."""
QUOTED = re.compile(r'"[^"]*("|$)')
"""Quoted text, which may go on over lines, and beyond those that are looked at."""


def scan_columns(paths: Sequence[Path]) -> pl.LazyFrame:
    """Scan files with every column as text.

    Raises
    ------
    VotesError
        If the files have different separators.
    """
    separators = {path: separator(path) for path in paths}
    first, *others = dict.fromkeys(separators.values())
    if others:
        named = (f"{path.name} by {separators[path]!r}" for path in separators)
        raise VotesError(f"Files separate their columns differently: {listing(named)}. Read one kind per call.")
    return pl.scan_csv(list(paths), separator=first, infer_schema=False, glob=False)


def separator(path: Path) -> str:
    """Return what separates the columns of a file, a comma if nothing does."""
    try:
        head = pl.scan_csv(path, **AS_LINES, glob=False).head(LOOKED_AT).collect()
    except (pl.exceptions.PolarsError, OSError):  # said when the file is read
        return ","
    rows = QUOTED.sub("", "\n".join(line for line in head.to_series() if line)).split("\n")
    whole_rows = rows[:-1] if head.height == LOOKED_AT and len(rows) > 1 else rows
    return next((each for each in SEPARATORS if _divides(whole_rows, each)), ",")


def _divides(rows: Sequence[str], separator: str) -> bool:
    """Whether all rows have as many fields as the header, and that has several."""
    counts = {row.count(separator) for row in rows}
    return len(counts) == 1 and counts != {0}
