"""Delimited text files; the separator is detected, whatever the file is called.

The separator is the one that divides the header and the rows after it into the same number of fields, at least two,
outside quotes. So a decimal comma separates nothing in a file with semicolons, nor does a semicolon within text in
a file with commas. Every value is text, as names such as ``007`` are not numbers.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl

from bayes_arena.errors import VotesError, listing

SEPARATORS = (",", "\t", ";", "|")
"""The first that fits is taken."""
AS_LINES: dict[str, Any] = {
    "separator": "\1",
    "quote_char": None,
    "has_header": False,
    "infer_schema": False,
    "encoding": "utf8-lossy",
}
"""Options with which Polars reads a text, decompressed, as one column of lines."""
LOOKED_AT = 20
"""Number of lines from which the separator is detected."""
QUOTED = re.compile(r'"[^"]*("|$)')
"""Quoted text, which may span lines and extend beyond those that are looked at."""


def scan_columns(paths: Sequence[Path]) -> pl.LazyFrame:
    """Scan files with every column as text."""
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
    except (pl.exceptions.PolarsError, OSError):  # reported when the file is read
        return ","
    rows = QUOTED.sub("", "\n".join(line for line in head.to_series() if line)).split("\n")
    whole_rows = rows[:-1] if head.height == LOOKED_AT and len(rows) > 1 else rows
    return next((each for each in SEPARATORS if _divides(whole_rows, each)), ",")


def _divides(rows: Sequence[str], separator: str) -> bool:
    """Whether all rows have as many fields as the header, more than one."""
    counts = {row.count(separator) for row in rows}
    return len(counts) == 1 and counts != {0}
