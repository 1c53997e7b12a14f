"""Where votes come from: files and dataframes of any engine, and which of their columns plays which role.

A source becomes a narwhals frame with canonical column names (``a``, ``b``, ``winner``, ``annotator``,
``weight``, ``id``; a one-hot winner keeps three columns, a table of wins its counts). Nothing is computed here: the
frame stays in its engine.
"""

from __future__ import annotations

import glob
import hashlib
import re
import warnings
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import narwhals as nw
import polars as pl

from bayes_arena.errors import ColumnError, RepeatedVotesWarning, VotesError, listing, printable
from bayes_arena.votes.reading.hub import HUB, hub_files

Frame = nw.DataFrame[Any] | nw.LazyFrame[Any]

PAIRS = (("model_a", "model_b"), ("left", "right"))
WINNERS = ("winner", "label")
LIKELY_ANNOTATORS = (
    "annotator_id",
    "user_id",
    "judge_id",
    "worker_id",
    "rater_id",
    "voter_id",
    "evaluation_session_id",
)
"""Columns that may well be of annotators, and are proposed, as are ``ANNOTATORS`` in capitals."""
ANNOTATORS = ("judge", "annotator", "worker", "performer")
WON = {"a": "winner", "b": "loser"}
"""One row a vote that names the winner first."""
COUNTED = {"a": "player1", "b": "player2", "wins_a": "win1", "wins_b": "win2"}
"""One row a pair: how often each has won, and how often they tied if a column of ``TIES`` says so."""
TIES = ("ties", "draws")
ONE_HOT = {"winner_a": "winner_model_a", "winner_b": "winner_model_b", "winner_tie": "winner_tie"}
KNOWN = {*sum(PAIRS, ()), *WINNERS, *ANNOTATORS, *WON.values(), *COUNTED.values(), *TIES, *ONE_HOT.values()}

READERS = {
    ".csv": lambda paths: pl.scan_csv(paths, infer_schema=False, glob=False),
    ".parquet": lambda paths: pl.scan_parquet(paths, glob=False),
    ".jsonl": lambda paths: _scan_json_lines(paths),
    ".ndjson": lambda paths: _scan_json_lines(paths),
}
COMPRESSIONS = (".gz", ".zst")
SEPARATOR = re.compile(r"[;\t|]")
"""What separates columns in files that are called CSV and are not."""
DUPLICATE = re.compile(r"_duplicated_\d+$")
"""What Polars appends to the name of a CSV column that it has met before."""


def open_source(source: object, *, dedupe: bool = False) -> Frame:
    """Return the source as a narwhals frame: paths are scanned lazily, dataframes stay where they are.

    Warns
    -----
    RepeatedVotesWarning
        If files have the same content, whether they are counted or, with ``dedupe``, left out.

    Raises
    ------
    VotesError
        If a path does not exist, its format is unknown, or the object is not a dataframe.
    """
    if paths := files_of(source):
        return nw.from_native(_scan(_checked_for_copies(paths, dedupe=dedupe)))
    try:
        return nw.from_native(source)
    except TypeError:
        raise VotesError(
            f"Cannot read votes from {type(source).__name__}. "
            "Pass a path (CSV, Parquet, JSONL; a glob or a list of them), hf:owner/name, or a dataframe "
            "(pandas, Polars, PyArrow, DuckDB ...)."
        ) from None


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
    if Path(path).is_file():
        return [Path(path)]
    found = sorted(Path(name) for name in glob.glob(str(path), recursive=True) if Path(name).is_file())  # noqa: PTH207 (absolute globs too)
    if not found:
        inside = f"; it is a folder, so name its files: {str(path)!r}/*.csv" if Path(path).is_dir() else ""
        raise VotesError(f"No file at {str(path)!r}{inside}. Check the path; a glob needs quotes in a shell.")
    return found


def _checked_for_copies(paths: list[Path], *, dedupe: bool) -> list[Path]:
    """Say which files hold the same bytes as an earlier one, and leave them out if asked."""
    sizes = [path.stat().st_size for path in paths]
    first: dict[bytes, Path] = {}
    kept, repeated = [], []
    for path, size in zip(paths, sizes, strict=True):
        if sizes.count(size) > 1:
            with path.open("rb") as file:
                digest = hashlib.file_digest(file, "blake2b").digest()
            if digest in first:
                repeated.append(f"{str(path)!r} is {str(first[digest])!r}")
                continue
            first[digest] = path
        kept.append(path)
    if not repeated:
        return paths
    done = "Left out" if dedupe else "Counted twice (leave them out with dedupe=True, --dedupe)"
    text = f"{done}: files of the same content, {listing(repeated)}."
    warnings.warn(text, RepeatedVotesWarning, stacklevel=5)
    return kept if dedupe else paths


def _scan(paths: list[Path]) -> pl.LazyFrame:
    suffixes = {_suffix(path) for path in paths}
    if len(suffixes) > 1:
        raise VotesError(f"Files of several formats at once: {listing(sorted(suffixes))}. Read one format a call.")
    suffix = suffixes.pop()
    if suffix not in READERS:
        raise VotesError(
            f"Unknown file format {suffix!r} ({paths[0].name}). Use {', '.join(READERS)} "
            f"(text formats also compressed as {' or '.join(COMPRESSIONS)})."
        )
    return READERS[suffix](paths)


def _suffix(path: Path) -> str:
    plain = path.with_suffix("") if path.suffix.lower() in COMPRESSIONS else path
    return plain.suffix.lower()


def _scan_json_lines(paths: list[Path]) -> pl.LazyFrame:
    """Scan JSON lines with every column as text: no type is guessed, and no column that appears late is missed."""
    plain = [Path(glob.escape(str(path))) for path in paths]  # the scanner expands globs once more
    names = (pl.scan_ndjson(path, infer_schema_length=None).collect_schema().names() for path in plain)
    return pl.scan_ndjson(plain, schema=dict.fromkeys([name for some in names for name in some], pl.String()))


def recognise_roles(
    frame: Frame,
    *,
    a: str | None,
    b: str | None,
    winner: str | None,
    annotator: str | Literal[False] | None,
    weight: str | None,
    id: str | None = None,
) -> dict[str, str]:
    """Recognise the columns that matter.

    Returns
    -------
    dict of str to str
        Role to column: ``a, b``, then ``winner`` or ``winner_a, winner_b, winner_tie`` or, in layouts without sides,
        nothing (``a`` has won) or ``wins_a, wins_b`` and perhaps ``ties``; then ``annotator``, ``weight`` and ``id``
        where present.

    Raises
    ------
    ColumnError
        If a named column is absent, or a role cannot be recognised or has several candidates.
    """
    names = [str(name) for name in frame.collect_schema().names()]
    if len(names) == 1 and (separator := SEPARATOR.search(names[0])):
        raise ColumnError(f"The only column is called {names[0]!r}. Separate columns by commas, not {separator[0]!r}.")
    if any("\0" in name for name in names):
        raise ColumnError("The columns' names are not UTF-8 but, it seems, UTF-16. Save the file as UTF-8.")
    spelling = dict(zip(names, names, strict=True))
    folded = {name.casefold(): name for name in names}
    if KNOWN & folded.keys() and not KNOWN.intersection(names):  # a header in capitals
        spelling = folded
    recognised = _result_columns(list(spelling), a, b, winner)
    columns = {role: spelling.get(name, name) for role, name in recognised.items()}
    if annotator is None:
        found = [spelling[name] for name in ANNOTATORS if name in spelling and spelling[name] not in columns.values()]
        if found:
            columns["annotator"] = _sole(found, names, "annotator", "annotator= (--annotator)", ANNOTATORS)
    elif annotator is not False:
        columns["annotator"] = annotator
    if weight is not None:
        columns["weight"] = weight
    if id is not None:
        columns["id"] = id

    absent = [name for name in columns.values() if name not in names]
    if absent:
        raise ColumnError(f"No column {listing(map(repr, absent))}. The source has: {printable(', '.join(names))}.")
    copies = {DUPLICATE.sub("", name) for name in names if DUPLICATE.search(name)}
    twice = [name for name in columns.values() if name in copies]
    if twice:
        raise ColumnError(f"Several columns are called {listing(map(repr, twice))}. Rename all but one.")
    return columns


def select_roles(frame: Frame, columns: Mapping[str, str]) -> Frame:
    """Keep the columns that matter, under the names of their roles."""
    schema = frame.collect_schema()
    expressions = []
    for role, name in columns.items():
        column = nw.col(name)
        if isinstance(schema[name], nw.Categorical | nw.Enum):  # several engines cannot compare or group these
            column = column.cast(nw.String)
        expressions.append(column.alias(role))
    return frame.select(*expressions)


def _result_columns(names: list[str], a: str | None, b: str | None, winner: str | None) -> dict[str, str]:
    """Return the columns of the competitors and of who won."""
    columns: dict[str, str] = {}
    pairs = [pair for pair in PAIRS if set(pair) <= set(names)]
    if a is None and b is None:
        if winner is None and not pairs and set(WON.values()) <= set(names):
            return dict(WON)
        if winner is None and not pairs and set(COUNTED.values()) <= set(names):
            ties = [name for name in TIES if name in names]
            return COUNTED | ({"ties": _sole(ties, names, "count of ties", "another name", TIES)} if ties else {})
        known = (*PAIRS, tuple(WON.values()), tuple(COUNTED.values()))
        columns["a"], columns["b"] = _sole(pairs, names, "pair of competitors", "a= and b= (--a and --b)", known)
    elif a is None or b is None:
        raise ColumnError("Name both columns of competitors (a=... and b=...), or neither.")
    else:
        columns |= {"a": a, "b": b}
    if winner is None and not set(WINNERS) & set(names) and set(ONE_HOT.values()) <= set(names):
        return columns | ONE_HOT
    found = [name for name in WINNERS if name in names]
    named = winner or _sole(found, names, "winner", "winner= (--winner)", WINNERS)
    if named in columns.values():  # whoever won stands there, so the columns are not sides
        loser = next((name for name in columns.values() if name != named), named)
        return {"a": named, "b": loser}
    return columns | {"winner": named}


def _sole[T](found: Sequence[T], names: list[str], role: str, remedy: str, known: Iterable[object]) -> T:
    """Return the sole candidate for a role; none or several are an error."""
    if len(found) == 1:
        return found[0]
    problem = f"Several columns could be the {role}: {listing(found)}" if found else f"No {role} column recognised"
    raise ColumnError(
        f"{problem}. Recognised names: {', '.join(map(str, known))}. "
        f"The source has: {printable(', '.join(names))}. Name the column with {remedy}."
    )


def to_polars(frame: Frame) -> pl.DataFrame:
    """Collect a (small) frame into Polars, missing values as null, whatever engine it lives in."""
    if isinstance(frame, nw.LazyFrame):
        lazy_polars = frame.implementation.is_polars()
        frame = frame.collect(backend="polars", engine="streaming") if lazy_polars else frame.collect()
    if not frame.implementation.is_pandas_like():
        return frame.to_polars()
    columns = {}  # by hand: Polars reads pandas strings only through PyArrow, which is no dependency
    for name in frame.columns:
        values, missing = frame[name].to_list(), frame[name].is_null().to_list()
        values = [None if gone else value for value, gone in zip(values, missing, strict=True)]
        numeric = all(value is None or isinstance(value, int | float) for value in values)
        columns[name] = pl.Series(values if numeric else [None if v is None else str(v) for v in values], strict=False)
    return pl.DataFrame(columns)
