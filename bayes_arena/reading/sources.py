"""Where votes come from: files, records, dataframes of any engine, data sets on the hub.

A source becomes a narwhals frame that stays in its engine; nothing is computed but the
names of its columns.
"""

from __future__ import annotations

import glob
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
from bayes_arena.reading.text_files import (
    COLUMNS,
    PREFLIB,
    fault_in,
    format_of,
    records_of,
    scan_columns,
    table_of_columns,
    table_of_records,
)
from bayes_arena.reading.values import as_text

type Frame = nw.DataFrame[Any] | nw.LazyFrame[Any]

HUB = "hf:"
RECORDS = (".jsonl", ".ndjson", ".json", ".pgn", *PREFLIB)  # formats of records
KINDS = (
    ".csv, .tsv, .parquet, .jsonl, .ndjson, .json, .pgn and PrefLib's .soc, .soi, .toc, "
    ".toi; text also as .gz"
)


def open_source(source: object) -> Frame:
    """Return a source as a frame whose columns' names have no spaces at their ends."""
    if paths := paths_of(source):
        files = [file for path in paths for file in expanded(path)]
        with readable(source):
            return stripped(nw.from_native(scan_files(files)))
    if isinstance(source, Mapping):
        return stripped(nw.from_native(table_of_columns(source)))
    if isinstance(source, Sequence) and not isinstance(source, str | bytes):
        return stripped(nw.from_native(table_of_records(source, "The list")))
    hints = ("fit", "votes")
    hint = next((f" Pass its {x}: .{x}." for x in hints if hasattr(source, x)), "")
    try:
        frame: Frame = nw.from_native(with_text_names(source))
    except TypeError:
        raise VotesError(
            f"Votes cannot be read from a value of type {type(source).__name__}.{hint} Pass "
            "a path, a list of records, a dict of columns, or a dataframe (pandas, Polars, "
            "PyArrow, DuckDB and others)."
        ) from None
    return stripped(frame)


def paths_of(source: object) -> list[str | Path]:
    """Return a path or several as a list; an empty list if the source is something else."""
    paths = [source] if isinstance(source, str | Path) else source
    if not isinstance(paths, Sequence):
        return []
    valid = [path for path in paths if isinstance(path, str | Path)]
    return valid if len(valid) == len(paths) else []


def file_with_header(source: object) -> str:
    """Return the path of a source that is one file whose first row is a header."""
    paths = paths_of(source)
    has_header = len(paths) == 1 and format_of(Path(paths[0])) in COLUMNS
    return str(paths[0]) if has_header else ""


def with_text_names(source: Any) -> Any:
    """Return a pandas dataframe with column names that are text, a named index among them."""
    if not nw.dependencies.is_pandas_like_dataframe(source):
        return source
    index = [name for name in source.index.names if name is not None]
    if new := [name for name in index if name not in source.columns]:
        source = source.reset_index(level=new)
    return source.set_axis([str(name) for name in source.columns], axis=1)


def stripped(frame: Frame) -> Frame:
    """Strip the spaces around the columns' names; of columns alike the later get a number."""
    names = frame.collect_schema().names()
    if any("\0" in name for name in names):
        raise VotesError(
            "The names of the columns look like UTF-16. Save the file as UTF-8."
        )
    if any("\r" in name for name in names):
        raise VotesError(
            "The names of the columns hold a carriage return. End lines with LF."
        )
    renamed = {name: name.strip() for name in names if name != name.strip()}
    if not renamed:
        return frame
    if len({renamed.get(name, name) for name in names}) < len(names):
        raise VotesError(
            f"Columns have the same name but for spaces: {listing(names)}. Rename them."
        )
    return frame.rename(renamed)


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
        case name if name in COLUMNS:
            return one_table({file: scan_columns(file) for file in files})
        case ".parquet":
            return one_table(
                {file: pl.scan_parquet(file, glob=False) for file in files}
            )
        case name if name in RECORDS:
            records = [record for file in files for record in records_of(file)]
            return table_of_records(records, str(files[0])).lazy()
        case other:
            raise VotesError(
                f"{str(files[0])!r} is of an unknown format, {other!r}. Known are {KINDS}."
            )


def one_table(tables: Mapping[Path, pl.LazyFrame]) -> pl.LazyFrame:
    """Return the rows of files that have the same columns, whatever their order."""
    columns = {file: table.collect_schema().names() for file, table in tables.items()}
    first, *others = columns
    for file in others:
        if set(columns[file]) != set(columns[first]):
            raise VotesError(
                f"{str(file)!r} has other columns than {str(first)!r}: "
                f"{difference(columns[file], columns[first])}. Name the columns alike, or "
                "read the files one by one and merge the votes."
            )
    return pl.concat([table.select(columns[first]) for table in tables.values()])


def difference(names: Sequence[str], usual: Sequence[str]) -> str:
    """Say which names are there besides the usual ones, and which are missing."""
    further = listing(repr(name) for name in names if name not in usual)
    missing = listing(repr(name) for name in usual if name not in names)
    parts = [further and f"it has {further}", missing and f"it lacks {missing}"]
    return ", and ".join(filter(None, parts))


def to_polars(frame: Frame) -> pl.DataFrame:
    """Collect a frame into Polars, with missing values as null, whatever its engine."""
    if isinstance(frame, nw.LazyFrame):
        implementation = frame.implementation
        if implementation.is_polars():
            return pl.DataFrame(frame.to_native().collect())
        try:
            frame = frame.collect()
        except ModuleNotFoundError as error:
            raise MissingPackageError(
                f"Votes in {implementation.value} need {error.name}. Install it: "
                f"pip install {error.name}."
            ) from None
    if not frame.implementation.is_pandas_like():
        return frame.to_polars()
    return pl.DataFrame([from_pandas(frame[name]) for name in frame.columns])


def from_pandas(column: nw.Series[Any]) -> pl.Series:
    """Return a column of pandas by hand; Polars reads pandas' text through PyArrow only."""
    is_number = column.dtype.is_numeric()
    is_missing = column.is_null()
    if is_number and not is_missing.any():
        return pl.Series(column.name, column.to_numpy())
    pairs = zip(column.to_list(), is_missing.to_list(), strict=True)
    values = [None if missing else value for value, missing in pairs]
    if not is_number:
        values = [as_text(value) for value in values]
    return pl.Series(column.name, values, strict=False)


def in_polars(frame: Frame) -> pl.LazyFrame:
    """Return a frame in Polars, collected if it is in another engine."""
    if frame.implementation.is_polars():
        return frame.to_native().lazy()
    return to_polars(frame).lazy()


def collected(frame: Frame) -> Frame:
    """Collect a lazy frame of Polars; one of a database stays where it is."""
    if isinstance(frame, nw.LazyFrame) and frame.implementation.is_polars():
        return frame.collect()
    return frame


def has_order(frame: Frame) -> bool:
    """Whether the rows of a frame stand in an order; those of a database do not."""
    return isinstance(frame, nw.DataFrame) or frame.implementation.is_polars()


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
    except RecursionError:
        raise VotesError(
            f"{named(source)} has values that are nested too deeply."
        ) from None
    except (Exception, pl.exceptions.PanicException) as error:
        files = [Path(path) for path in paths_of(source) if Path(path).is_file()]
        if fault := next(filter(None, map(fault_in, files)), None):
            raise VotesError(f"{named(source)} cannot be read: {fault}") from error
        reason = (str(error) or type(error).__name__).splitlines()[0]
        raise VotesError(
            f"{named(source)} cannot be read: {shortened(reason)}"
        ) from error


def named(source: object) -> str:
    """Return how a message calls a source."""
    return listing(repr(str(path)) for path in paths_of(source)) or "The source"


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
            "Data sets on the hub need huggingface-hub. Install it: "
            "pip install huggingface-hub."
        ) from None
    try:
        folder = snapshot_download(
            repository, repo_type="dataset", allow_patterns="*.parquet"
        )
    except Exception as error:  # its kinds are those of its HTTP library
        reason = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise VotesError(
            f"hf:{repository} cannot be fetched: {reason.rstrip('.')}. Check the name and "
            "the network. If the data set has conditions, accept them on its page and set "
            "HF_TOKEN to a token of that account."
        ) from None
    if files := sorted(Path(folder).rglob("*.parquet")):
        return files
    raise VotesError(
        f"hf:{repository} has no Parquet file. Download its files and read those."
    )
