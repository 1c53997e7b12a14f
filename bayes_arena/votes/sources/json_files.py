"""JSON files: an array of records, one record, or one record per line.

Every value is text, as in other text formats; nested values stay JSON.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl

from bayes_arena.errors import NoVotesError, VotesError


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
    """Return the records of a file."""
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
