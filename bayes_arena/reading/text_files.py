"""Files of text, records and columns: CSV, JSON and JSON lines.

Values are text only, as names such as ``007`` are not numbers; nested values stay JSON.
"""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any

import polars as pl

from bayes_arena.errors import VotesError, listing
from bayes_arena.reading.values import as_text
from bayes_arena.said import Said, Use

OF_RESULTS = {"schema", "version", "source", "n_votes"}  # of the package's own JSON
OF_ROUNDS = ("name", "id", "number", "round", "date", "stage", "title")
GZIP = ".gz"
PREFLIB = (".soc", ".soi", ".toc", ".toi")  # rankings of the collection PrefLib
PGN_TAG = re.compile(r'\[(\w+) "(.*)"\]')
PREFLIB_NAME = re.compile(r"# ALTERNATIVE NAME (\d+): (.*)")
PREFLIB_BALLOTS = re.compile(r"(\d+): ?([\d,{} ]+)")
PREFLIB_TIED = re.compile(r"\{([^}]*)\}")
COLUMNS = (".csv", ".tsv", ".txt")  # formats of columns under a header
SEPARATORS = (",", "\t", ";", "|")  # the first that divides all lines alike is taken
LINES_LOOKED_AT = 20
BYTES_LOOKED_AT = 100_000


def scan_columns(file: Path) -> pl.LazyFrame:
    """Return a CSV file with every column as text."""
    separator = separator_of(file)
    return pl.scan_csv(file, separator=separator, infer_schema=False, glob=False)


def separator_of(file: Path) -> str:
    """Return what divides the first lines of a file into as many columns each."""
    with opened(file) as handle:
        return separator_in(handle.read(BYTES_LOOKED_AT))


def separator_in(content: bytes) -> str:
    """Return what divides the first lines of a content into as many columns each."""
    head = content[:BYTES_LOOKED_AT].decode("utf-8-sig", errors="replace")
    lines = re.sub(r'"[^"]*("|\Z)', "", head).splitlines()
    lines = [line for line in lines[: LINES_LOOKED_AT + 1] if line.strip()]
    if len(head) > len(lines[0] if lines else "") and len(lines) > 1:
        lines = lines[:-1]  # the last may be cut
    for separator in SEPARATORS:
        counts = {line.count(separator) for line in lines}
        if len(counts) == 1 and counts != {0}:
            return separator
    return ","


def fault_in(file: Path) -> str | None:
    """Say what is wrong with a CSV file that an engine refuses, and where, if it is known."""
    if format_of(file) not in COLUMNS:
        return None
    try:
        with opened(file) as handle:
            return fault_of(handle, separator_of(file))
    except (OSError, EOFError):
        return "it is not compressed as its name says, or it is cut off."


def fault_of(content: IO[bytes], separator: str) -> str | None:
    """Say what is wrong with the content of a CSV file, and where, if it is known."""
    header, row = 0, -1
    reader_limit = csv.field_size_limit(2**31 - 1)
    lines = codecs.getreader("utf-8-sig")(content)
    try:
        for row, fields in enumerate(
            csv.reader(lines, delimiter=separator, strict=True), -1
        ):
            header = header or len(fields)
            if len(fields) > header:
                return (
                    f"row {row} has {len(fields)} fields, and the header {header}. Put "
                    "fields with a separator in them in quotes."
                )
    except UnicodeError:
        return f"row {row + 1} is not UTF-8. Save the file as UTF-8."
    except csv.Error:
        return f"the quotes of row {row + 1} do not close, or are not doubled."
    finally:
        csv.field_size_limit(reader_limit)
    return None if header else "it is empty."


def opened(file: Path) -> Any:
    """Open a file that may be compressed, and return what reads its bytes."""
    return gzip.open(file, "rb") if file.suffix.lower() == GZIP else file.open("rb")


def format_of(file: Path) -> str:
    """Return the ending of a file's name, in lower case, without that of its compression."""
    name = file.with_suffix("") if file.suffix.lower() == GZIP else file
    return name.suffix.lower()


def records_of(file: Path) -> list[Mapping[str, Any]]:
    """Return the records of a file: of JSON, chess games, or PrefLib's rankings."""
    with opened(file) as handle:
        text = handle.read().decode("utf-8-sig")
    if not text.strip():
        raise VotesError(f"{str(file)!r} is empty.")
    name = repr(str(file))
    if format_of(file) == ".pgn":
        return pgn_records(text)
    if format_of(file) in PREFLIB:
        return preflib_records(text)
    if format_of(file) == ".json":
        return json_records(text, name)
    return records_in(json_lines(text, name), name)


def json_records(text: str, name: str) -> list[Mapping[str, Any]]:
    """Return the records of JSON, or of JSON lines, whatever their file is called."""
    try:
        value = json.loads(text)
    except ValueError as error:
        if "\n" not in text.strip():
            raise VotesError(f"{name} is not JSON: {error}.") from None
        value = json_lines(text, name)
    return records_in(value, name)


def table_in(content: bytes, name: str) -> pl.DataFrame:
    """Return a content as a table of text: JSON by how it begins, else columns."""
    start = content.lstrip(codecs.BOM_UTF8).lstrip()[:1]
    if not start:
        raise VotesError(f"{name} is empty.")
    if start in (b"{", b"["):
        text = content.decode("utf-8-sig")
        return table_of_records(json_records(text, name), name)
    separator = separator_in(content)
    try:
        return pl.read_csv(content, separator=separator, infer_schema=False)
    except pl.exceptions.PolarsError as error:
        fault = fault_of(io.BytesIO(content), separator) or str(error)
        raise VotesError(f"{name} cannot be read: {fault}") from error


def json_lines(text: str, name: str) -> list[Any]:
    """Return the values on the lines of a text."""
    values = []
    for row, line in enumerate(text.splitlines()):
        if line.strip():
            try:
                values.append(json.loads(line))
            except ValueError as error:
                text = f"{name}, line {row + 1}, is not JSON: {error}."
                raise VotesError(text) from None
    return values


def records_in(value: Any, name: str) -> list[Mapping[str, Any]]:
    """Return the records of a JSON value: a list, or an object with a list or columns."""
    if isinstance(value, Mapping):
        if value.keys() >= OF_RESULTS:
            since: Said = (" A board of the past is read by ", Use("since"), ".")
            text = f"{name} holds what bayes_arena found, and not votes."
            raise VotesError((text, since))
        if value.keys() >= {"engines", "stats"}:
            return fastchess_records(value["stats"], name)
        inner = [each for each in value.values() if isinstance(each, Mapping)]
        for values in (value, *inner):
            lists = [each for each in values.values() if are_records(each)]
            if len(lists) == 1:
                return flat(lists[0])
        return records_of_columns(value) if is_by_column(value) else [value]
    if not are_records(value):
        raise VotesError(f"{name} does not hold records. Write a list of objects.")
    return list(value)


def flat(records: list[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return the records in each of some records, if each is a round and holds a list.

    As rounds of matches do: ``{"name": "Matchday 1", "matches": [...]}``.
    """
    inner = []
    for record in records:
        lists = [value for key, value in record.items() if key not in OF_ROUNDS]
        if len(lists) != 1 or not are_records(lists[0]):
            return list(records)
        inner += lists[0]
    return inner


def fastchess_records(stats: Any, name: str) -> list[Mapping[str, Any]]:
    """Return the pairs of ``config.json`` of fastchess: ``"oak vs elm": {"wins": 6, ...}``."""
    if not isinstance(stats, Mapping):
        raise VotesError(f"{name} has no stats of pairs of engines.")
    return [
        {"pair": pair, "wins_1": n["wins"], "wins_2": n["losses"], "ties": n["draws"]}
        for pair, n in stats.items()
        if isinstance(n, Mapping) and n.keys() >= {"wins", "losses", "draws"}
    ]


def pgn_records(text: str) -> list[Mapping[str, Any]]:
    """Return the tags of the games of a file in Portable Game Notation."""
    games: list[dict[str, str]] = []
    for line in text.splitlines():
        if tag := PGN_TAG.fullmatch(line.strip()):
            if tag[1] == "Event" or not games or tag[1] in games[-1]:
                games.append({})
            games[-1][tag[1]] = tag[2].replace('\\"', '"')
    return list(games)


def preflib_records(text: str) -> list[Mapping[str, Any]]:
    """Return the rankings of PrefLib's .soc, .soi, .toc and .toi, one for each voter.

    ``3: 1,{2,4}`` says that three voters rank 1 first, and then 2 and 4 as equals.
    Source: preflib.org/format.
    """
    names: dict[str, str] = {}
    records: list[Mapping[str, Any]] = []
    for line in text.splitlines():
        if named := PREFLIB_NAME.fullmatch(line):
            names[named[1]] = named[2].strip()
        elif ballots := PREFLIB_BALLOTS.fullmatch(line):
            order = PREFLIB_TIED.sub(lambda tied: tied[1].replace(",", "="), ballots[2])
            places = [place.split("=") for place in order.split(",")]
            words = " > ".join(
                " = ".join(names.get(each.strip(), each.strip()) for each in place)
                for place in places
            )
            records += [{"order": words}] * int(ballots[1])
    return records


def are_records(value: Any) -> bool:
    """Whether a value is a list of objects."""
    if not isinstance(value, list) or not value:
        return False
    return all(isinstance(each, Mapping) for each in value)


def is_by_column(value: Mapping[str, Any]) -> bool:
    """Whether an object holds columns: lists of one length, or mappings with the same keys."""
    values = list(value.values())
    if len(values) < 2 or not values[0]:
        return False
    if all(isinstance(each, list) for each in values):
        return len({len(each) for each in values}) == 1
    return all(
        isinstance(each, Mapping) and each.keys() == values[0].keys() for each in values
    )


def records_of_columns(value: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the records of columns, as pandas writes them."""
    first = next(iter(value.values()))
    columns = [
        [each[key] for key in first] if isinstance(each, Mapping) else each
        for each in value.values()
    ]
    return [dict(zip(value, row, strict=True)) for row in zip(*columns, strict=True)]


def table_of_records(records: Sequence[Any], name: str) -> pl.DataFrame:
    """Return records, perhaps with different fields, as a table of text."""
    if not records or not all(isinstance(record, Mapping) for record in records):
        raise VotesError(
            f"{name} holds no records. Pass a list of dicts such as {{'model_a': ...}}."
        )
    names = list(dict.fromkeys(name for record in records for name in record))
    columns = {str(n): [as_text(record.get(n)) for record in records] for n in names}
    return pl.DataFrame(columns, dict.fromkeys(columns, pl.String()))


def table_of_columns(columns: Mapping[Any, Any]) -> pl.DataFrame:
    """Return a dict of columns as a table of text."""
    lists = {}
    for name, values in columns.items():
        if isinstance(values, str | bytes | Mapping) or not hasattr(values, "__iter__"):
            raise VotesError(
                f"The column {name!r} is a {type(values).__name__}, not a list of values."
            )
        lists[str(name)] = [as_text(value) for value in values]
    if len({len(values) for values in lists.values()}) > 1:
        lengths = (f"{name}: {len(values)}" for name, values in lists.items())
        raise VotesError(f"The columns have different lengths: {listing(lengths)}.")
    return pl.DataFrame(lists, dict.fromkeys(lists, pl.String()))
