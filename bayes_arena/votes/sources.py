"""Where votes come from: files, records, dataframes of any engine, data sets on the hub.

A source becomes a narwhals frame that stays in its engine; nothing is computed but the
columns' names.  Files hold text only, as names such as ``007`` are not numbers; nested
values stay JSON.
"""

from __future__ import annotations

import glob
import gzip
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import narwhals as nw
import polars as pl

from bayes_arena.errors import (
    ArenaError,
    MissingPackageError,
    VotesError,
    listing,
    shortened,
)

type Frame = nw.DataFrame[Any] | nw.LazyFrame[Any]

HUB = "hf:"
COMPRESSIONS = (".gz", ".zst")
SEPARATORS = (",", "\t", ";", "|")  # the first that divides all lines alike is taken
LINES_LOOKED_AT = 20
BYTES_LOOKED_AT = 100_000
KINDS = ".csv, .tsv, .parquet, .jsonl, .ndjson, .json; text also as .gz or .zst"
DATASET = "datasets.arrow_dataset"  # the module of Hugging Face's Dataset


def open_source(source: object) -> Frame:
    """Return a source as a frame whose columns' names have no spaces at their ends."""
    if isinstance(source, str | Path):
        source = [source]
    if is_paths(source):
        with readable(source):
            return stripped(nw.from_native(scan_files(files_of(source))))
    if isinstance(source, Mapping):
        return stripped(nw.from_native(table_of_columns(source)))
    if isinstance(source, Sequence) and not isinstance(source, str | bytes):
        return stripped(nw.from_native(table_of_records(source, "The list")))
    if type(source).__module__ == DATASET:
        source = source.with_format("arrow")[:]  # type: ignore[attr-defined]
    try:
        frame: Frame = nw.from_native(with_text_names(source))
    except TypeError:
        raise VotesError(
            f"Votes cannot be read from a value of type {type(source).__name__}. Pass a path, "
            "a list of records, a dict of columns, or a dataframe (pandas, Polars, PyArrow, "
            "DuckDB and others)."
        ) from None
    return stripped(frame)


def is_paths(source: object) -> bool:
    """Whether a source is a list of paths."""
    return (
        isinstance(source, Sequence)
        and bool(source)
        and all(isinstance(item, str | Path) for item in source)
    )


def with_text_names(source: Any) -> Any:
    """Return a pandas dataframe with column names that are text."""
    if nw.dependencies.is_pandas_like_dataframe(source):
        return source.set_axis([str(name) for name in source.columns], axis=1)
    return source


def stripped(frame: Frame) -> Frame:
    """Strip the spaces around the columns' names; of columns alike the later get a number."""
    names = frame.collect_schema().names()
    renamed = {name: name.strip() for name in names if name != name.strip()}
    if not renamed:
        return frame
    if len({renamed.get(name, name) for name in names}) < len(names):
        raise VotesError(
            f"Columns have the same name but for spaces: {listing(names)}. Rename them."
        )
    return frame.rename(renamed)


def files_of(paths: Sequence[str | Path]) -> list[Path]:
    """Return the files that paths, globs and data sets on the hub stand for."""
    return [file for path in paths for file in expanded(path)]


def expanded(path: str | Path) -> list[Path]:
    """Return the files that one path, glob or data set stands for, sorted."""
    if str(path).startswith(HUB):
        return hub_files(str(path).removeprefix(HUB))
    try:
        if Path(path).is_file():
            return [Path(path)]
        files = sorted(Path(name) for name in glob.glob(str(path), recursive=True))  # noqa: PTH207
        files = [file for file in files if file.is_file()]
        is_folder = Path(path).is_dir()
    except (OSError, ValueError) as error:
        raise VotesError(f"No file at {shortened(str(path))!r}: {error}.") from None
    if files:
        return files
    if is_folder:
        raise VotesError(f"{str(path)!r} is a folder. Name its files: '{path}/*.csv'.")
    raise VotesError(f"No file at {shortened(str(path))!r}. Check the path.")


def scan_files(files: Sequence[Path]) -> pl.LazyFrame:
    """Return files of one format as one table."""
    formats = {format_of(file) for file in files}
    if len(formats) > 1:
        raise VotesError(
            f"Files of several formats: {listing(sorted(formats))}. Read them one by one."
        )
    match formats.pop():
        case ".csv" | ".tsv" | ".txt":
            return scan_columns(files)
        case ".parquet":
            return pl.scan_parquet(files, glob=False)
        case ".jsonl" | ".ndjson" | ".json":
            records = [record for file in files for record in records_of(file)]
            return table_of_records(records, str(files[0])).lazy()
        case other:
            raise VotesError(
                f"{str(files[0])!r} is of an unknown format, {other!r}. Known are {KINDS}."
            )


def format_of(file: Path) -> str:
    """Return the ending of a file's name, in lower case, without that of its compression."""
    name = file.with_suffix("") if file.suffix.lower() in COMPRESSIONS else file
    return name.suffix.lower()


def scan_columns(files: Sequence[Path]) -> pl.LazyFrame:
    """Return CSV files with every column as text."""
    separators = {separator_of(file) for file in files}
    if len(separators) > 1:
        raise VotesError(
            f"These files separate their columns by {listing(map(repr, sorted(separators)))}. "
            "Read them one by one and merge the votes."
        )
    return pl.scan_csv(
        list(files), separator=separators.pop(), infer_schema=False, glob=False
    )


def separator_of(file: Path) -> str:
    """Return what divides the first lines of a file into as many columns each."""
    head = start_of(file)
    lines = re.sub(r'"[^"]*("|\Z)', "", head).splitlines()
    whole = (
        lines[:LINES_LOOKED_AT]
        if len(head) < BYTES_LOOKED_AT
        else lines[:LINES_LOOKED_AT][:-1] or lines
    )
    whole = [line for line in whole if line.strip()]
    for separator in SEPARATORS:
        counts = {line.count(separator) for line in whole}
        if len(counts) == 1 and counts != {0}:
            return separator
    return ","


def start_of(file: Path) -> str:
    """Return the first characters of a text file."""
    if file.suffix.lower() == ".zst":
        lines = pl.scan_csv(
            file, separator="\1", quote_char=None, has_header=False, infer_schema=False
        )
        return "\n".join(
            line or "" for line in lines.head(LINES_LOOKED_AT).collect().to_series()
        )
    with opened(file) as handle:
        return handle.read(BYTES_LOOKED_AT).decode("utf-8-sig", errors="replace")


def opened(file: Path) -> Any:
    """Open a file that may be compressed."""
    return gzip.open(file, "rb") if file.suffix.lower() == ".gz" else file.open("rb")


def records_of(file: Path) -> list[Mapping[str, Any]]:
    """Return the records of a JSON file: an array, one key with an array, or lines."""
    if file.suffix.lower() == ".zst":
        raise VotesError(f"{str(file)!r}: JSON is read plain or as .gz. Decompress it.")
    with opened(file) as handle:
        text = handle.read().decode("utf-8-sig")
    if not text.strip():
        raise VotesError(f"{str(file)!r} is empty.")
    if format_of(file) == ".json":
        try:
            return records_in(json.loads(text), repr(str(file)))
        except ValueError as error:  # lines, whatever the file is called
            if isinstance(error, VotesError):
                raise
            if "\n" not in text.strip():
                raise VotesError(f"{str(file)!r} is not JSON: {error}.") from None
    return records_in(json_lines(text, file), repr(str(file)))


def json_lines(text: str, file: Path) -> list[Any]:
    """Return the values on the lines of a text."""
    values = []
    for row, line in enumerate(text.splitlines()):
        if line.strip():
            try:
                values.append(json.loads(line))
            except ValueError as error:
                raise VotesError(
                    f"{str(file)!r}, line {row + 1}, is not JSON: {error}."
                ) from None
    return values


def records_in(value: Any, name: str) -> list[Mapping[str, Any]]:
    """Return the records of a JSON value: a list, or an object with a list or columns."""
    if isinstance(value, Mapping):
        lists = [each for each in value.values() if are_records(each)]
        if len(lists) == 1:
            return list(lists[0])
        return records_of_columns(value) if is_by_column(value) else [value]
    if not are_records(value):
        raise VotesError(f"{name} does not hold records. Write a list of objects.")
    return list(value)


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
    columns = [
        list(each.values()) if isinstance(each, Mapping) else each
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


def as_text(value: Any) -> str | None:
    """Write a value as text: missing ones as None, nested ones as JSON, 1.0 as 1."""
    if value is None or isinstance(value, str):
        return value
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, float):
        if value != value:
            return None
        return (
            str(int(value))
            if value.is_integer() and abs(value) < 2**53
            else repr(value)
        )
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


def to_polars(frame: Frame) -> pl.DataFrame:
    """Collect a frame into Polars, with missing values as null, whatever its engine."""
    if isinstance(frame, nw.LazyFrame):
        implementation = frame.implementation
        if implementation.is_polars():
            return frame.to_native().collect()  # type: ignore[no-any-return]
        try:
            frame = frame.collect()
        except ModuleNotFoundError as error:
            raise MissingPackageError(
                f"Votes in {implementation.value} need {error.name}. Install it: pip install {error.name}."
            ) from None
    if not frame.implementation.is_pandas_like():
        return frame.to_polars()
    columns = {}  # by hand: Polars reads pandas' text through PyArrow only
    for name in frame.columns:
        column = frame[name]
        if column.dtype.is_numeric() and not column.is_null().any():
            columns[name] = pl.Series(name, column.to_numpy())
            continue
        gone = column.is_null().to_list()
        values = [None if g else v for v, g in zip(column.to_list(), gone, strict=True)]
        is_number = column.dtype.is_numeric()
        columns[name] = pl.Series(
            name, values if is_number else [as_text(v) for v in values], strict=False
        )
    return pl.DataFrame(columns)


def in_polars(frame: Frame) -> pl.LazyFrame:
    """Return a frame in Polars, collected if it is in another engine."""
    native = nw.to_native(frame)
    return (
        native.lazy()
        if isinstance(native, pl.DataFrame | pl.LazyFrame)
        else to_polars(frame).lazy()
    )


def is_nested(kind: nw.dtypes.DType) -> bool:
    """Whether values of a type cannot be grouped in every engine."""
    return kind.is_nested() or isinstance(kind, nw.Object | nw.Unknown | nw.Binary)


@contextmanager
def readable(source: object) -> Iterator[None]:
    """Turn whatever an engine raises while it reads into an error that names the source."""
    try:
        yield
    except (ArenaError, MemoryError, Warning):
        raise
    except UnicodeError:
        raise VotesError(f"{named(source)} is not UTF-8. Save it as UTF-8.") from None
    except RecursionError:
        raise VotesError(
            f"{named(source)} has values that are nested too deeply."
        ) from None
    except (Exception, pl.exceptions.PanicException) as error:
        reason = (str(error) or type(error).__name__).splitlines()[0]
        raise VotesError(
            f"{named(source)} cannot be read: {shortened(reason)}"
        ) from error


def named(source: object) -> str:
    """Return how a message calls a source."""
    paths = [source] if isinstance(source, str | Path) else source
    return listing(map(repr, map(str, paths))) if is_paths(paths) else "The source"  # type: ignore[call-overload]


def hub_files(repository: str) -> list[Path]:
    """Fetch the Parquet files of a data set on the Hugging Face hub, or find them cached."""
    if not re.fullmatch(r"\w[\w.-]*/\w[\w.-]*", repository):
        raise VotesError(
            f"A data set on the hub is called hf:owner/name; not hf:{repository}."
        )
    try:
        from huggingface_hub import snapshot_download
    except ImportError:
        raise MissingPackageError(
            "Data sets on the hub need huggingface-hub. Install it: pip install huggingface-hub."
        ) from None
    try:
        folder = snapshot_download(
            repository, repo_type="dataset", allow_patterns="*.parquet"
        )
    except Exception as error:  # its kinds are those of its HTTP library
        raise VotesError(hub_fault(error, repository)) from None
    if files := sorted(Path(folder).rglob("*.parquet")):
        return files
    raise VotesError(
        f"hf:{repository} has no Parquet file. Download its files and read those."
    )


def hub_fault(error: Exception, repository: str) -> str:
    """Say why a data set cannot be fetched, and what to do."""
    response = getattr(error, "response", None) or getattr(
        error.__cause__, "response", None
    )
    match getattr(response, "status_code", None):
        case 401 | 403:
            return (
                f"The hub refuses hf:{repository}: its name is wrong, or its conditions have to be "
                "accepted on its page. Then set HF_TOKEN to an access token of that account."
            )
        case 404:
            return f"The hub has no data set hf:{repository}. Check the name."
    reason = (str(error).strip() or type(error).__name__).splitlines()[0].rstrip(".")
    return f"hf:{repository} cannot be fetched: {reason}. Check the network, or pass a downloaded file."
