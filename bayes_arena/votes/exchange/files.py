"""Cells as Parquet: a row a cell, in columns that any engine can write.

=============================  =========================================================================
``model_a, model_b``           the competitors, the one shown first first
``annotator``                  who voted; absent if unknown
``slice:NAME, feature:NAME``   slices (text) and features (numbers), if any
``wins_a, wins_b, ties``       counts of votes, or summed weights
``both_bad``                   the same; may be absent
=============================  =========================================================================

What no column says stands in the metadata of the file under ``bayes_arena.cells``, as JSON: the version of this format,
whether the votes say who was shown first, how many invalid ones were left out, the programs among the annotators, and
the design effect. A file without it was written by another program, such as a GROUP BY of a warehouse: rows may repeat
and come in any order, and everything else is as if the votes had been read without options.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Any

import polars as pl

from bayes_arena.errors import ColumnError, InvalidVotesError, NoVotesError, OutputError, VotesError, listing
from bayes_arena.replacing import written_beside
from bayes_arena.threads import require_threads_of_polars
from bayes_arena.votes.cells import Cells
from bayes_arena.votes.outcomes import OUTCOMES
from bayes_arena.votes.summing import FEATURE, SLICE, build_cells

KEY, VERSION = "bayes_arena.cells", 1
COUNTS = ("wins_a", "wins_b", "ties", "both_bad")
"""Columns of counts, in the order of ``OUTCOMES``."""
COMPETITORS = {"model_a": "a", "model_b": "b"}


def save_cells(cells: Cells, path: str | Path) -> None:
    """Write cells as Parquet; see :meth:`Cells.save <bayes_arena.Cells.save>`."""
    path = Path(path)
    if path.suffix.lower() != ".parquet":
        raise OutputError(f"Cells are saved as Parquet: name a file that ends with .parquet, not {path.name!r}.")
    about = {
        "version": VERSION,
        "sided": cells.sided,
        "dropped": dict(cells.dropped),
        "programs": list(cells.programs),
        "design_effect": cells.design_effect,
    }
    write_parquet(as_table(cells), path, {KEY: json.dumps(about, ensure_ascii=False)})


def write_parquet(table: pl.DataFrame, path: Path, metadata: dict[str, str] | None = None) -> None:
    """Write a table as Parquet; made in memory, since of a full disk Polars says that the format is broken."""
    content = BytesIO()
    table.write_parquet(content, metadata=metadata)
    with written_beside(path) as draft:
        draft.write_bytes(content.getvalue())


def read_cells(source: str | Path | Sequence[str | Path]) -> Cells:
    """Read cells from Parquet: those that :meth:`Cells.save <bayes_arena.Cells.save>` wrote, or counts of your own.

    Parameters
    ----------
    source : path or sequence of paths
        Parquet files; of several, the counts are added (:func:`~bayes_arena.merge`). A file of your own has a row for
        every pair and annotator, in any order, repeated or not: ``model_a, model_b`` (the one shown first first),
        ``annotator`` if known, ``wins_a, wins_b, ties`` and, if any, ``both_bad``, ``slice:NAME`` and
        ``feature:NAME``.

    Returns
    -------
    Cells
        The same bits as those of the votes that were counted, if weights are whole numbers.

    Raises
    ------
    ColumnError
        If a column is missing.
    InvalidVotesError
        If a name is missing, a competitor meets itself, or a count or feature is negative or not finite.
    NoVotesError
        If there is no vote.
    VotesError
        If a file cannot be read, is of a later version, or the files do not go together.

    Examples
    --------
    >>> import bayes_arena as ba
    >>> ba.read_votes("votes.csv").save("cells.parquet")  # doctest: +SKIP
    >>> ba.fit(ba.read_cells("cells.parquet"))  # doctest: +SKIP
    """
    from bayes_arena.votes.exchange.merging import merge

    require_threads_of_polars()

    if not isinstance(source, (str, Path)):
        if not source:
            raise NoVotesError("No file of cells was named.")
        return merge(*(read_cells(path) for path in source))
    try:
        table, metadata = pl.read_parquet(source, glob=False), pl.read_parquet_metadata(source)
    except (OSError, pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        raise VotesError(f"Cannot read {str(source)!r} as Parquet: {error}") from error
    about = json.loads(metadata[KEY]) if KEY in metadata else {}
    if about.get("version", VERSION) > VERSION:
        raise VotesError(f"{str(source)!r} was written by a later version of bayes_arena. Upgrade to read it.")
    groups = _groups(table, str(source))
    if groups.is_empty():
        raise NoVotesError(f"There is no vote in {str(source)!r}.")
    cells = build_cells(groups, dropped=about.get("dropped", {}), sided=about.get("sided", True))
    programs = tuple(about.get("programs", ()))
    return replace(cells, programs=programs, design_effect=float(about.get("design_effect", 1.0)))


def holds_cells(path: Path) -> bool:
    """Whether a file was written by :func:`save_cells`."""
    if path.suffix.lower() != ".parquet":
        return False
    try:
        return KEY in pl.read_parquet_metadata(path)
    except (OSError, pl.exceptions.PolarsError, pl.exceptions.PanicException):
        return False


def without(cells: Cells, columns: Sequence[str]) -> Cells:
    """Return cells that do not know what columns of theirs say, such as ``annotator`` or ``slice:prompt``."""
    groups = as_groups(as_table(cells).drop(columns, strict=False))
    fewer = build_cells(groups, dropped=dict(cells.dropped), sided=cells.sided)
    programs = () if "annotator" in columns else cells.programs
    return replace(fewer, programs=programs, design_effect=cells.design_effect)


def as_table(cells: Cells) -> pl.DataFrame:
    """Return cells as a table with names; its columns are those of a file."""
    require_threads_of_polars()

    def named(codes: Any, names: Sequence[str]) -> pl.Series:
        return pl.Series(names, dtype=pl.String).gather(codes)

    columns = {"model_a": named(cells.a, cells.competitors), "model_b": named(cells.b, cells.competitors)}
    if cells.annotators:
        columns["annotator"] = named(cells.annotator, cells.annotators)
    columns |= {SLICE + name: named(codes, cells.slice_names[name]) for name, codes in cells.slices.items()}
    columns |= {FEATURE + name: pl.Series(values) for name, values in cells.features.items()}
    return pl.DataFrame(columns | dict(zip(COUNTS, cells.counts.T, strict=True)))


def as_groups(table: pl.DataFrame) -> pl.DataFrame:
    """Return cells with names as the groups of votes that cells are built from: a row for every count above zero."""
    counted = [name for name in COUNTS if name in table.columns]
    outcomes = (
        table.select(
            *(pl.col(name).alias(role) for name, role in COMPETITORS.items()),
            pl.exclude(*COMPETITORS, *COUNTS),
            outcome=pl.lit(COUNTS.index(name), pl.Int8),
            weight=pl.col(name).cast(pl.Float64),
        ).filter(pl.col("weight") > 0)
        for name in counted
    )
    return pl.concat(outcomes).with_columns(n=pl.lit(1, pl.Int64))


def _groups(table: pl.DataFrame, source: str) -> pl.DataFrame:
    """Hold a table of counts to what cells are, and return it as groups of votes."""
    required = [*COMPETITORS, *COUNTS[: len(OUTCOMES) - 1]]
    if missing := [name for name in required if name not in table.columns]:
        raise ColumnError(
            f"{source!r} holds no cells: it lacks {listing(map(repr, missing))}. Cells have the columns "
            f"{', '.join(required)}; to read single votes, use read_votes."
        )
    texts = [name for name in table.columns if name in (*COMPETITORS, "annotator") or name.startswith(SLICE)]
    numbers = [name for name in table.columns if name in COUNTS or name.startswith(FEATURE)]
    table = table.select(
        *(pl.col(name).cast(pl.String) for name in texts),
        *(pl.col(name).cast(pl.Float64) for name in numbers),
    )
    faults = [fault for fault in _faults(table, texts, numbers) if fault]
    if faults:
        raise InvalidVotesError(f"{source!r} holds no sound cells: {'; '.join(faults)}. Mend or drop these rows.")
    return as_groups(table)


def _faults(table: pl.DataFrame, texts: Sequence[str], numbers: Sequence[str]) -> Iterator[str]:
    """Say what is wrong with a table of counts, five rows a fault at most."""
    bad = {f"{name!r} is missing": pl.col(name).is_null() | (pl.col(name) == "") for name in texts}
    bad |= {f"{name!r} is missing or not finite": ~pl.col(name).is_finite().fill_null(False) for name in numbers}
    bad |= {f"{name!r} is negative": (pl.col(name) < 0).fill_null(False) for name in numbers if name in COUNTS}
    bad["a competitor meets itself"] = (pl.col("model_a") == pl.col("model_b")).fill_null(False)
    for problem, where in bad.items():
        rows = table.select(where.arg_true()).to_series()
        if len(rows):
            yield f"{problem} (rows {listing(map(str, rows))}, counted from 0)"
