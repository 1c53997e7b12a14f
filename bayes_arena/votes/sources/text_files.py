"""Text files: CSV and the like, whose separator is detected whatever the file is called, and JSON.

The separator is the one that divides the header and the rows after it into the same number of fields, at least two,
outside quotes. So a decimal comma separates nothing in a file with semicolons, nor does a semicolon within text in
a file with commas. JSON is an array of records, one record, or one record per line. Every value is text, as names such
as ``007`` are not numbers; nested values stay JSON.
"""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl

from bayes_arena.errors import NoVotesError, VotesError, listing

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


def scan_json(paths: Sequence[Path]) -> pl.LazyFrame:
    """Read files whose records may have different fields."""
    records = [record for path in paths for record in _records(path)]
    names = dict.fromkeys(name for record in records for name in record)
    return pl.LazyFrame(
        {name: [as_json(record.get(name)) for record in records] for name in names}, dict.fromkeys(names, pl.String())
    )


def as_json(value: Any) -> str | None:
    """Write a value as JSON text; text and missing values stay as they are."""
    return value if value is None or isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _records(path: Path) -> list[dict[str, Any]]:
    wrong = f"Cannot read {str(path)!r}: "
    if path.suffix.lower() == ".zst":
        raise VotesError(
            f"{wrong}JSON is read plain or as .gz. Decompress it, or write one JSON object per line (.jsonl)."
        )
    try:
        with gzip.open(path, "rb") if path.suffix.lower() == ".gz" else path.open("rb") as file:
            text = file.read().decode("utf-8-sig")
    except UnicodeDecodeError:
        raise VotesError(f"{wrong}it is not UTF-8. Save the file as UTF-8.") from None
    if not text.strip():
        raise VotesError(f"{wrong}it is empty. Check that it is the right file.")
    try:
        value = _parsed(text)
    except ValueError as error:
        raise VotesError(f"{wrong}it is not JSON ({error}). Write an array of objects.") from None
    except RecursionError:
        raise VotesError(f"{wrong}its values are nested too deeply. Write an array of flat objects.") from None
    records = value if isinstance(value, list) else [value]
    if not any(records):
        raise NoVotesError(f"{wrong}it has no records. Check that it is the right file.")
    if isinstance(value, dict) and _is_by_column(value):
        raise VotesError(f"{wrong}it is written column by column. Write records: in pandas, to_json(orient='records').")
    for row, record in enumerate(records):
        if not isinstance(record, dict):
            raise VotesError(f"{wrong}row {row} is not a JSON object. Write an array of objects.")
    return records


def _is_by_column(record: dict[str, Any]) -> bool:
    """Whether an object holds columns rather than one record: lists, or mappings with the same row labels."""
    values = list(record.values())
    if len(values) < 2 or not all(values):
        return False
    by_label = all(isinstance(value, dict) and value.keys() == values[0].keys() for value in values)
    return by_label or all(isinstance(value, list) and len(value) == len(values[0]) for value in values)


def _parsed(text: str) -> Any:
    """Return the value of a text, or the list of the values on its lines."""
    try:
        return json.loads(text)
    except ValueError:
        lines = [line for line in text.splitlines() if line.strip()]
        if len(lines) < 2 or not lines[0].rstrip().endswith("}"):
            raise
        return [json.loads(line) for line in lines]
