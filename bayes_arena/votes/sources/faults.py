"""Why a file cannot be read: looked for after an engine has failed, as its message names neither file nor row."""

from __future__ import annotations

import codecs
import csv
import gzip
import json
import re
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import polars as pl

from bayes_arena.errors import ArenaError, VotesError, listing, shortened
from bayes_arena.votes.sources.frames import files_of
from bayes_arena.votes.sources.text_files import separator

LONGEST_FIELD = 2**31 - 1
"""Most characters of a CSV field; some conversations exceed Python's own limit."""
LONGEST_MESSAGE = 500
"""Most characters quoted of an engine's message, which may hold whole files."""
STRAY_QUOTE = re.compile(r'[^"]+"')
"""A quote within a field that does not begin with one."""


@contextmanager
def readable(source: object) -> Iterator[None]:
    """Turn whatever error an engine raises while reading a source into one error of bounded length."""
    try:
        yield
    except (ArenaError, Warning, MemoryError):
        raise
    except UnicodeError as error:
        wrong = "it contains text that is not valid UTF-8. Save it as UTF-8."
        raise VotesError(f"Cannot read {_named(source)}: {wrong}") from error
    except RecursionError as error:
        raise VotesError(f"Cannot read {_named(source)}: its values are nested too deeply. Flatten them.") from error
    except (Exception, pl.exceptions.PanicException) as error:
        reason = (str(error) or type(error).__name__).splitlines()[0]
        unknown = f"Cannot read {_named(source)}: {shortened(reason, LONGEST_MESSAGE)}"
        raise VotesError(find_fault(files_of(source)) or unknown) from error


def _named(source: object) -> str:
    return listing(repr(str(path)) for path in files_of(source)) or "the votes"


def find_fault(paths: Sequence[Path]) -> str | None:
    """Name the first of files read together that cannot be read, the row if there is one (from 0), and the remedy."""
    columns: dict[Path, list[str]] = {}
    fault: str | None
    for path in paths:
        names = [suffix.lower() for suffix in path.suffixes]
        try:
            if not path.stat().st_size:
                fault = "it is empty. Check that it is the right file."
            elif ".parquet" in names:
                columns[path], fault = _parquet(path)
            elif names[-1:] == [".zst"]:
                continue
            elif {".csv", ".tsv"} & set(names):
                columns[path], fault = _csv(path)
            elif {".jsonl", ".ndjson"} & set(names):
                fault = _json_lines(path)
            else:
                continue
        except RecursionError:
            fault = "its values are nested too deeply. Flatten them."
        except (gzip.BadGzipFile, EOFError, zlib.error):
            fault = "it is not compressed as its name says, or it is truncated. Get it again."
        if fault:
            return f"Cannot read {str(path)!r}: {fault}"
    first = next(iter(columns), None)
    for path, found in columns.items():
        if first is not None and found != columns[first]:
            return (
                f"{str(path)!r} has the columns {listing(found)}, and {str(first)!r} has {listing(columns[first])}. "
                "Files that are read together need the same columns in the same order."
            )
    return None


def _open(path: Path) -> IO[str]:
    """Open a text file; bytes that are not UTF-8 become surrogates."""
    if path.suffix.lower() == ".gz":
        return gzip.open(path, "rt", encoding="utf-8-sig", errors="surrogateescape", newline="")
    return path.open(encoding="utf-8-sig", errors="surrogateescape", newline="")


def _csv(path: Path) -> tuple[list[str], str | None]:
    """Return the columns of a CSV file, and its first fault."""
    header: list[str] = []
    row, stray = -2, None
    limit = csv.field_size_limit(LONGEST_FIELD)
    try:
        with _open(path) as file:
            for row, fields in enumerate(csv.reader(file, delimiter=separator(path), strict=True), -1):
                place = f"row {row}" if row >= 0 else "the header"
                header = header or fields
                if _is_foreign("".join(fields)):
                    return header, f"{place} is not UTF-8. Save the file as UTF-8."
                if stray is None and any('"' in field and STRAY_QUOTE.match(field) for field in fields):
                    stray = f"{place} has a quote within a field. Put the field in quotes, and double the quote."
                if len(fields) > len(header):
                    wrong = f"{place} has {len(fields)} fields, and the header {len(header)}"
                    return header, f"{wrong}. Put fields that contain a separator in quotes."
    except csv.Error:
        return header, f"the quotes of row {row + 1} do not close. Double a quote that is part of a quoted field."
    finally:
        csv.field_size_limit(limit)
    return header, stray if header else "it is empty. Check that it is the right file."


def _json_lines(path: Path) -> str | None:
    with _open(path) as file:
        for row, line in enumerate(file):
            try:
                value = json.loads(line) if line.strip() else {}
            except ValueError:
                return f"row {row} is not JSON. Write one JSON object per line."
            if _is_foreign(line):
                return f"row {row} is not UTF-8. Save the file as UTF-8."
            if not isinstance(value, dict):
                return f"row {row} is not a JSON object. Write one JSON object per line."
    with path.open("rb") as start:
        marked = start.read(len(codecs.BOM_UTF8)) == codecs.BOM_UTF8
    return "it begins with a byte order mark. Save the file as UTF-8 without one." if marked else None


def _parquet(path: Path) -> tuple[list[str], str | None]:
    try:
        return [f"{name} ({kind})" for name, kind in pl.read_parquet_schema(path).items()], None
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException):
        return [], "it is not a Parquet file, or it is truncated. Get it again."


def _is_foreign(text: str) -> bool:
    """Whether a text was not UTF-8."""
    return not text.isascii() and any("\udc80" <= char <= "\udcff" for char in text)
