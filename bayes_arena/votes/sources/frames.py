"""Files and dataframes of any engine behind one interface, a narwhals frame.

Nothing is computed here: the frame stays in its engine.
"""

from __future__ import annotations

import glob
import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import narwhals as nw
import numpy as np
import polars as pl

from bayes_arena.errors import LONGEST_VALUE, RepeatedVotesWarning, VotesError, listing, shortened, warn
from bayes_arena.extras import require
from bayes_arena.threads import require_threads_of_polars
from bayes_arena.votes.sources.hub import HUB, hub_files
from bayes_arena.votes.sources.text_files import as_json, scan_columns, scan_json

Frame = nw.DataFrame[Any] | nw.LazyFrame[Any]

READERS = {
    ".csv": lambda paths: scan_columns(paths),
    ".tsv": lambda paths: scan_columns(paths),
    ".parquet": lambda paths: pl.scan_parquet(paths, glob=False),
    ".jsonl": lambda paths: _scan_json_lines(paths),
    ".ndjson": lambda paths: _scan_json_lines(paths),
    ".json": lambda paths: scan_json(paths),
}
DATASET = "datasets.arrow_dataset"
"""Module of Hugging Face's ``Dataset``: a table and, after a selection, the indices of the selected rows."""
COMPRESSIONS = (".gz", ".zst")
ANSWERING = {nw.Implementation.POLARS, nw.Implementation.PYARROW}
"""Engines in which tables are returned to those who pass their dataframes; to others, in pandas."""


def open_source(source: object, *, dedupe: bool = False) -> Frame:
    """Return the source as a narwhals frame: paths are scanned lazily, dataframes stay where they are.

    It warns of files with the same content, whether they are counted or, with ``dedupe``, left out.
    """
    require_threads_of_polars()
    if paths := files_of(source):
        return nw.from_native(_scan(_checked_for_copies(paths, dedupe=dedupe)))
    if type(source).__module__ == DATASET:
        source = cast("Any", source).with_format("arrow")[:]
    try:
        frame: Frame = nw.from_native(_with_text_names(source))
    except TypeError:
        inside = "Pass its votes, .votes. " if hasattr(source, "votes") else ""
        raise VotesError(
            f"Cannot read votes from {type(source).__name__}. {inside}"
            "Pass a path (CSV, TSV, Parquet, JSONL, JSON; a glob or a list of them), hf:owner/name, or a dataframe "
            "(pandas, Polars, PyArrow, DuckDB, a Dataset of datasets ...)."
        ) from None
    return frame


def _with_text_names(source: Any) -> Any:
    """Return a pandas dataframe with its column names as text, as they are in every other engine."""
    if not nw.dependencies.is_pandas_like_dataframe(source) or all(isinstance(name, str) for name in source.columns):
        return source
    return source.set_axis([str(name) for name in source.columns], axis=1)


def is_source(value: object) -> bool:
    """Whether votes can be read from a value of this type."""
    paths = [value] if isinstance(value, str | Path) else value
    if isinstance(paths, Sequence) and paths and all(isinstance(path, str | Path) for path in paths):
        return True
    return type(value).__module__ == DATASET or nw.from_native(cast("Any", value), pass_through=True) is not value


def in_the_same_engine[T](answer: T, *given: object) -> T:
    """Return a table, if an answer is one, in the engine of the dataframe that was given."""
    if not nw.dependencies.is_pandas_dataframe(answer):
        return answer
    frames = [nw.from_native(cast("Any", one), pass_through=True) for one in given]
    engines = [one.implementation for one in frames if isinstance(one, nw.DataFrame | nw.LazyFrame)]
    if not engines or engines[0] not in ANSWERING:
        return answer
    table: Any = answer
    if table.index.dtype.kind == "O":
        table = table.reset_index(names="competitor")
    columns = {str(name): column.to_list() for name, column in table.items()}
    return cast("T", nw.from_dict(columns, backend=engines[0]).to_native())


def files_of(source: object) -> list[Path]:
    """Return the files that a source stands for, none if it is not a path or a sequence of paths."""
    if isinstance(source, str | Path):
        source = [source]
    if isinstance(source, Sequence) and all(isinstance(item, str | Path) for item in source):
        return [path for item in source for path in _expand(item)]
    return []


def _expand(path: str | Path) -> list[Path]:
    """Return the files that a path, a glob or a data set on the hub stands for, sorted."""
    if str(path).startswith(HUB):
        return hub_files(str(path).removeprefix(HUB))
    try:
        if Path(path).is_file():
            return [Path(path)]
    except OSError as error:  # the name is too long, or a parent folder is not readable
        raise VotesError(f"No file at {shortened(str(path), LONGEST_VALUE)!r}: {error.strerror}.") from error
    found = sorted(Path(name) for name in glob.glob(str(path), recursive=True) if Path(name).is_file())  # noqa: PTH207 (absolute globs too)
    if not found:
        inside = f"; it is a folder, so name its files: {_all_files_in(Path(path))!r}" if Path(path).is_dir() else ""
        raise VotesError(f"No file at {str(path)!r}{inside}. Check the path; a glob needs quotes in a shell.")
    return found


def _all_files_in(folder: Path) -> str:
    """Return a glob of the files in a folder with the first suffix that can be read, CSV if there is none."""
    endings = sorted({path.suffix for path in folder.iterdir()} & set(READERS)) or [".csv"]
    return str(folder / f"*{endings[0]}")


def _checked_for_copies(paths: list[Path], *, dedupe: bool) -> list[Path]:
    """Warn of files with the same bytes as an earlier one, and leave them out if asked."""
    sizes = [path.stat().st_size for path in paths]
    first: dict[bytes, Path] = {}
    kept, repeated = [], []
    for path, size in zip(paths, sizes, strict=True):
        if sizes.count(size) > 1:
            with path.open("rb") as file:
                digest = hashlib.file_digest(file, "blake2b").digest()
            if digest in first:
                repeated.append(f"{str(path)!r} equals {str(first[digest])!r}")
                continue
            first[digest] = path
        kept.append(path)
    if not repeated:
        return paths
    done = "Left out" if dedupe else "Counted twice (leave them out with dedupe=True, --dedupe)"
    text = f"{done}: files with the same content, {listing(repeated)}."
    warn(text, RepeatedVotesWarning)
    return kept if dedupe else paths


def _scan(paths: list[Path]) -> pl.LazyFrame:
    plain = (path.with_suffix("") if path.suffix.lower() in COMPRESSIONS else path for path in paths)
    suffixes = {path.suffix.lower() for path in plain}
    if len(suffixes) > 1:
        raise VotesError(f"Files of several formats at once: {listing(sorted(suffixes))}. Read one format per call.")
    suffix = suffixes.pop()
    if suffix not in READERS:
        of_arena = " To rate the file of an arena: bayes-arena arena rate." if suffix == ".duckdb" else ""
        raise VotesError(
            f"Unknown file format {suffix!r} ({paths[0].name}). Use {', '.join(READERS)} "
            f"(text formats also compressed as {' or '.join(COMPRESSIONS)}).{of_arena}"
        )
    return READERS[suffix](paths)


def _scan_json_lines(paths: list[Path]) -> pl.LazyFrame:
    """Scan JSON lines with every column as text: no type is guessed, and no column that appears late is missed."""
    plain = [Path(glob.escape(str(path))) for path in paths]  # the scanner expands globs once more
    names = (pl.scan_ndjson(path, infer_schema_length=None).collect_schema().names() for path in plain)
    return pl.scan_ndjson(plain, schema=dict.fromkeys([name for some in names for name in some], pl.String()))


def to_polars(frame: Frame) -> pl.DataFrame:
    """Collect a (small) frame into Polars, missing values as null, whatever engine it lives in."""
    if isinstance(frame, nw.LazyFrame):
        lazy_polars = frame.implementation.is_polars()
        if not (lazy_polars or frame.implementation.is_dask()):
            require(f"Tables of {frame.implementation.value}", "pyarrow")
        frame = frame.collect(backend="polars", engine="streaming") if lazy_polars else frame.collect()
    if not frame.implementation.is_pandas_like():
        return frame.to_polars()
    columns = {}  # by hand: Polars reads pandas strings only through PyArrow, which is not a dependency
    for name in frame.columns:
        values, missing = frame[name].to_list(), frame[name].is_null().to_list()
        values = [None if gone else value for value, gone in zip(values, missing, strict=True)]
        numeric = all(value is None or isinstance(value, int | float) for value in values)
        columns[name] = pl.Series(values if numeric else [_text(value) for value in values], strict=False)
    return pl.DataFrame(columns)


def in_polars(frame: Frame) -> pl.LazyFrame:
    """Return a frame in Polars, collected if it is in another engine."""
    native = nw.to_native(frame)
    return native.lazy() if isinstance(native, pl.DataFrame | pl.LazyFrame) else to_polars(frame).lazy()


def _text(value: Any) -> str | None:
    """Write a value of pandas as text, lists and the like as JSON."""
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, bytes):
        value = value.decode()
    if str(value) == object.__repr__(value):  # its memory address
        raise VotesError(f"A value of type {type(value).__name__} is neither text nor a number. Convert it to text.")
    return as_json(value) if isinstance(value, list | dict | tuple) or value is None else str(value)


def comparable_columns(frame: Frame) -> list[str]:
    """Return the columns that every engine can compare: lists and the like are left out."""
    schema = frame.collect_schema()
    unlike = (nw.Object, nw.Unknown, nw.Binary)
    return [str(name) for name, kind in schema.items() if not (kind.is_nested() or isinstance(kind, unlike))]
