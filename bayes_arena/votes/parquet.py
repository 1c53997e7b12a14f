"""Cells as Parquet: one row per cell, in columns that any engine can write.

=============================  =========================================================================
``model_a, model_b``           the competitors; ``model_a`` was shown first
``annotator``                  the annotator; absent if unknown
``slice:NAME, feature:NAME``   slices (text) and features (numbers), if any
``wins_a, wins_b, ties``       counts of votes, or summed weights
``both_bad``                   the same; may be absent
``wins_a_2, wins_b_2, ...``    the same of wins by further grades, if verdicts are graded
=============================  =========================================================================

The metadata of the file hold the rest under ``bayes_arena.cells``, as JSON: the version of this format, whether the
votes say who was shown first, how many invalid votes were left out, the programs among the annotators, and the design
effect. A file without these metadata was written by another program, by a GROUP BY in a warehouse for instance: its
rows may repeat and come in any order, and the rest is as if the votes had been read without options.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from bayes_arena.errors import ColumnError, InvalidVotesError, NoVotesError, VotesError, listing
from bayes_arena.threads import require_threads_of_polars
from bayes_arena.votes.cells import SAVED_KEY, SAVED_VERSION, Cells
from bayes_arena.votes.names import FEATURE, SLICE
from bayes_arena.votes.outcomes import COUNT_COLUMNS, OF_COLUMN, OUTCOMES
from bayes_arena.votes.summing import build_cells, groups_of_counts, merge

COMPETITORS = ("model_a", "model_b")


def read_cells(source: str | Path | Sequence[str | Path]) -> Cells:
    """Read cells from Parquet: files of :meth:`Cells.save <bayes_arena.Cells.save>`, or counts made elsewhere.

    Parameters
    ----------
    source : path or sequence of paths
        Parquet files; several are merged (:func:`~bayes_arena.merge`). A file made elsewhere has rows for pairs and
        annotators, in any order, repeated or not, with the columns ``model_a`` (shown first), ``model_b``,
        ``annotator`` if known, ``wins_a, wins_b, ties`` and, if any, ``both_bad``, ``wins_a_2, wins_b_2`` (wins by a
        second grade, and so on), ``slice:NAME`` and ``feature:NAME``.

    Returns
    -------
    Cells
        If weights are whole numbers, bit for bit what reading the votes themselves gives.

    Raises
    ------
    ColumnError
        If a column is missing.
    InvalidVotesError
        If a name is missing, a competitor meets itself, a count is negative, or a count or feature is not finite.
    NoVotesError
        If there is no vote.
    VotesError
        If a file cannot be read, was written by a later version, or the files cannot be merged.

    Examples
    --------
    >>> import bayes_arena as ba
    >>> ba.read_votes("votes.csv").save("cells.parquet")  # doctest: +SKIP
    >>> ba.fit(ba.read_cells("cells.parquet"))  # doctest: +SKIP
    """
    require_threads_of_polars()
    if not isinstance(source, (str, Path)):
        if not source:
            raise NoVotesError("No file of cells was given.")
        return merge(*(read_cells(path) for path in source))
    try:
        table, metadata = pl.read_parquet(source, glob=False), pl.read_parquet_metadata(source)
    except (OSError, pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        raise VotesError(f"Cannot read {str(source)!r} as Parquet: {error}") from error
    about = _about(metadata.get(SAVED_KEY, "{}"), str(source))
    groups = _groups(table, str(source))
    if groups.is_empty():
        raise NoVotesError(f"There is no vote in {str(source)!r}.")
    cells = build_cells(groups, dropped=about["dropped"], sided=about["sided"])
    return replace(cells, programs=tuple(about["programs"]), design_effect=about["design_effect"])


def holds_cells(path: Path) -> bool:
    """Whether a file was written by :func:`Cells.save`."""
    if path.suffix.lower() != ".parquet":
        return False
    try:
        return SAVED_KEY in pl.read_parquet_metadata(path)
    except (OSError, pl.exceptions.PolarsError, pl.exceptions.PanicException):
        return False


def _about(text: str, source: str) -> dict[str, Any]:
    """Return what the columns do not hold, from JSON."""
    about: dict[str, Any] = {
        "version": SAVED_VERSION,
        "sided": True,
        "dropped": {},
        "programs": [],
        "design_effect": 1.0,
    }
    try:
        about |= json.loads(text)
        is_later = about["version"] > SAVED_VERSION
        is_sound = is_later or (
            isinstance(about["sided"], bool)
            and all(isinstance(many, int) for many in about["dropped"].values())
            and all(isinstance(name, str) for name in about["programs"])
            and 0 < about["design_effect"] < math.inf
        )
    except (ValueError, TypeError, AttributeError, RecursionError):
        is_later = is_sound = False
    if is_later:
        raise VotesError(f"{source!r} was written by a later version of bayes_arena. Upgrade to read it.")
    if not is_sound:
        raise VotesError(
            f"{source!r} is damaged: its metadata {SAVED_KEY!r} are not those of cells. Save the cells again, or "
            "remove the metadata, and they are read as counts made elsewhere."
        )
    return about


def _groups(table: pl.DataFrame, source: str) -> pl.DataFrame:
    """Validate a table of counts, and return it as groups of votes."""
    required = [*COMPETITORS, *COUNT_COLUMNS[: len(OUTCOMES) - 1]]
    if missing := [name for name in required if name not in table.columns]:
        raise ColumnError(
            f"{source!r} does not hold cells: it lacks {listing(map(repr, missing))}. Cells have the columns "
            f"{', '.join(required)}; to read single votes, use read_votes."
        )
    texts = [name for name in table.columns if name in (*COMPETITORS, "annotator") or name.startswith(SLICE)]
    numbers = [name for name in table.columns if name in OF_COLUMN or name.startswith(FEATURE)]
    kinds = table.schema
    odd = [name for name in (*texts, *numbers) if kinds[name].is_nested()]
    odd += [name for name in numbers if kinds[name].is_temporal()]
    if odd:
        shown = listing(f"{name!r} ({kinds[name]})" for name in odd)
        raise InvalidVotesError(
            f"{source!r} holds invalid cells: no names or numbers in {shown}. Convert these columns."
        )
    table = table.select(
        *(pl.col(name).cast(pl.String, strict=False) for name in texts),
        *(pl.col(name).cast(pl.Float64, strict=False) for name in numbers),
    )
    faults = [fault for fault in _faults(table, texts, numbers) if fault]
    if faults:
        raise InvalidVotesError(f"{source!r} holds invalid cells: {'; '.join(faults)}. Correct or drop these rows.")
    return groups_of_counts(table)


def _faults(table: pl.DataFrame, texts: Sequence[str], numbers: Sequence[str]) -> Iterator[str]:
    """Describe the faults of a table of counts, naming at most five rows for each."""
    bad = {f"{name!r} is missing": pl.col(name).is_null() | (pl.col(name) == "") for name in texts}
    bad |= {f"{name!r} is missing or not finite": ~pl.col(name).is_finite().fill_null(False) for name in numbers}
    bad |= {f"{name!r} is negative": (pl.col(name) < 0).fill_null(False) for name in numbers if name in OF_COLUMN}
    bad["a competitor meets itself"] = (pl.col("model_a") == pl.col("model_b")).fill_null(False)
    for problem, where in bad.items():
        rows = table.select(where.arg_true()).to_series()
        if len(rows):
            yield f"{problem} (rows {listing(map(str, rows))}, counted from 0)"
