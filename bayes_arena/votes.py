"""Read votes: any engine in, validated :class:`~bayes_arena.cells.Cells` out.

One group-by over the raw columns runs in the engine that holds the votes. Everything that can be wrong with
a vote shows in its group keys (names, winner label, annotator, weight), so validation and the decoding of
winners work on the small grouped table, and the votes themselves are visited again only to quote the rows of
invalid ones.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Literal, TypedDict

import narwhals as nw
import polars as pl
from narwhals.exceptions import NarwhalsError

from bayes_arena.cells import OUTCOMES, Cells, build_cells
from bayes_arena.errors import (
    SHOWN,
    DroppedVotesWarning,
    InvalidVotesError,
    NoVotesError,
    VotesError,
    listing,
)
from bayes_arena.sources import Frame, open_source, select_roles, to_polars

LABELS: Mapping[str, str] = {
    "model_a": "model_a",
    "left": "model_a",
    "model_b": "model_b",
    "right": "model_b",
    "tie": "tie",
    "tie (bothbad)": "both_bad",
    "both_bad": "both_bad",
    "bothbad": "both_bad",
}
LONGEST_MESSAGE = 300
CODES = {name: code for code, name in enumerate(OUTCOMES)}

REMEDIES = {
    "missing competitor": "fill in the name or remove the vote",
    "competitor against itself": "remove the vote, or correct the name",
    "missing annotator": "fill in the annotator, or read with annotator=False (--no-annotator)",
    "missing id": "give every vote an id of its own",
    "missing winner": "fill in the winner or remove the vote",
    "unknown winner": "map the label with outcomes={'label': 'tie'} (--outcome 'label=tie')",
    "not one winner": "exactly one of the three winner columns is 1, the others 0",
    "ambiguous winner": "the label is also a competitor's name: rename the competitor",
    "bad weight": "weights are finite numbers, zero or more",
}


class Reading(TypedDict, total=False):
    """How to read a source: the options of :func:`read_votes`, for functions that pass them on."""

    a: str | None
    b: str | None
    winner: str | None
    annotator: str | Literal[False] | None
    weight: str | None
    outcomes: Mapping[str, str] | None
    on_invalid: Literal["raise", "drop"]


def read_votes(
    source: object,
    *,
    a: str | None = None,
    b: str | None = None,
    winner: str | None = None,
    annotator: str | Literal[False] | None = None,
    weight: str | None = None,
    outcomes: Mapping[str, str] | None = None,
    on_invalid: Literal["raise", "drop"] = "raise",
) -> Cells:
    """Read pairwise votes and sum them to cells.

    Arena conventions need no arguments: competitors in ``model_a, model_b`` or ``left, right``; the winner in
    ``winner`` or ``label`` as ``model_a | model_b | tie | tie (bothbad) | both_bad | left | right`` or as the
    winning competitor's name, or one-hot in ``winner_model_a, winner_model_b, winner_tie``; the annotator, if
    any, in ``judge``, ``annotator``, ``worker`` or ``performer``.

    Parameters
    ----------
    source : path, sequence of paths, or dataframe
        CSV, Parquet or JSONL (also a glob of them), or a pandas, Polars (eager or lazy), PyArrow, DuckDB or
        other dataframe that narwhals understands.
    a, b, winner : str, optional
        Column names where they differ from the conventions.
    annotator : str or False, optional
        Column of annotators; ``False`` ignores annotators.
    weight : str, optional
        Column of weights (finite, zero or more); by default every vote weighs 1, and a weight of 0 is no vote.
    outcomes : mapping of str to str, optional
        Further winner labels, each mapped to ``model_a``, ``model_b``, ``tie`` or ``both_bad``.
    on_invalid : {"raise", "drop"}
        What to do with invalid votes. ``"drop"`` leaves them out, warns, and counts them in ``Cells.dropped``; if
        none is valid it raises all the same. A row that is empty in every column is no vote.

    Returns
    -------
    Cells
        The counts per (a, b, annotator), in an order that does not depend on the order of the votes.

    Raises
    ------
    ColumnError
        If a column is missing or its role is unclear.
    InvalidVotesError
        If votes are invalid and ``on_invalid="raise"``; the message quotes the first five with their rows,
        counted from 0.
    NoVotesError
        If no vote is left.
    VotesError
        If the source cannot be read.

    Examples
    --------
    >>> import polars as pl
    >>> cells = read_votes(pl.DataFrame({"model_a": ["x", "y"], "model_b": ["y", "z"], "winner": ["x", "tie"]}))
    >>> cells.competitors, cells.n_votes
    (('x', 'y', 'z'), 2.0)
    """
    valid, dropped = read_groups(
        source, a=a, b=b, winner=winner, annotator=annotator, weight=weight, outcomes=outcomes, on_invalid=on_invalid
    )
    return build_cells(valid, dropped)


def read_groups(
    source: object,
    *,
    id: str | None = None,
    a: str | None = None,
    b: str | None = None,
    winner: str | None = None,
    annotator: str | Literal[False] | None = None,
    weight: str | None = None,
    outcomes: Mapping[str, str] | None = None,
    on_invalid: Literal["raise", "drop"] = "raise",
) -> tuple[pl.DataFrame, dict[str, int]]:
    """Read pairwise votes as :func:`read_votes` does, and group those that are alike.

    Parameters
    ----------
    source, a, b, winner, annotator, weight, outcomes, on_invalid
        As for :func:`read_votes`.
    id : str, optional
        Column of the votes' ids, which then keep votes of different ids apart.

    Returns
    -------
    groups : polars.DataFrame
        Columns ``a, b, annotator`` (where known) and ``id`` (where asked for) as text, ``outcome`` (index into
        ``OUTCOMES``), ``weight`` and ``n``, the number of votes; no group is invalid or of weight 0, and groups may
        repeat.
    dropped : dict of str to int
        Invalid votes left out, by problem.
    """
    if on_invalid not in ("raise", "drop"):
        raise VotesError(f"on_invalid is 'raise' or 'drop', not {on_invalid!r}.")
    labels = dict(LABELS)
    for label, outcome in (outcomes or {}).items():
        if outcome not in CODES:
            raise VotesError(f"outcomes maps {label!r} to {outcome!r}; use one of {', '.join(OUTCOMES)}.")
        labels[_normalise(str(label))] = outcome
    try:
        whole = open_source(source)
        frame, columns = select_roles(whole, a=a, b=b, winner=winner, annotator=annotator, weight=weight, id=id)
        groups = _without_blank_rows(to_polars(frame.group_by(*columns).agg(nw.len().alias("n"))), whole)
        total = int(groups["n"].sum())
        groups = _decode(groups, labels)
        invalid = groups.filter(pl.col("problem").is_not_null())
        if invalid.height and (on_invalid == "raise" or invalid.height == groups.height):
            raise InvalidVotesError(_complaint(frame, columns, invalid, total))
    except (pl.exceptions.PolarsError, NarwhalsError, OSError) as error:
        raise VotesError(f"Cannot read the votes: {str(error).splitlines()[0][:LONGEST_MESSAGE]}") from error
    dropped = {problem: int(n) for problem, n in invalid.group_by("problem").agg(pl.sum("n")).sort("problem").rows()}
    valid = groups.filter(pl.col("problem").is_null(), pl.col("weight") > 0)
    if not valid.height:
        raise NoVotesError(f"No vote to rate: {total} rows read" + (", all of weight 0." if total else "."))
    if dropped:
        counts = ", ".join(f"{n} × {problem}" for problem, n in dropped.items())
        warnings.warn(
            f"Left out {sum(dropped.values())} of {total} votes: {counts}.",
            DroppedVotesWarning,
            stacklevel=3,
        )
    return valid, dropped


def _normalise(label: str) -> str:
    return label.strip().lower()


def _decode(groups: pl.DataFrame, labels: Mapping[str, str]) -> pl.DataFrame:
    """Add ``outcome`` (code), a numeric ``weight`` and the ``problem`` of every group (null when it is valid)."""
    names = [name for name in ("a", "b", "winner", "annotator", "id") if name in groups.columns]
    keys = groups.with_columns(_as_text(groups, name) for name in names)
    missing_winner, ambiguous, unknown = pl.lit(False), pl.lit(False), "unknown winner"
    if "winner" in names:
        codes = {label: CODES[outcome] for label, outcome in labels.items()}
        label = pl.col("winner").str.strip_chars().str.to_lowercase()
        by_label = label.replace_strict(codes, default=None, return_dtype=pl.Int8)
        winner = pl.col("winner")
        by_name = pl.when(winner == pl.col("a")).then(0).when(winner == pl.col("b")).then(1).cast(pl.Int8)
        keys = keys.with_columns(by_label=by_label, by_name=by_name)
        keys = keys.with_columns(outcome=pl.coalesce("by_label", "by_name"))
        missing_winner = winner.is_null()
        ambiguous = pl.col("by_label") != pl.col("by_name")
    else:
        hot = [_is_hot(name) for name in ("winner_a", "winner_b", "winner_tie")]
        keys = keys.with_columns(one=hot[0], two=hot[1], three=hot[2])
        chosen = pl.when("one").then(0).when("two").then(1).when("three").then(2).cast(pl.Int8)
        total = pl.sum_horizontal(pl.col(name).cast(pl.Int8) for name in ("one", "two", "three"))
        complete = pl.all_horizontal(pl.col(name).is_not_null() for name in ("one", "two", "three"))
        keys = keys.with_columns(outcome=pl.when(complete & (total == 1)).then(chosen))
        unknown = "not one winner"
    if "weight" in groups.columns:
        weight = pl.col("weight").cast(pl.Float64, strict=False)
        bad_weight = weight.is_null() | ~weight.is_finite() | (weight < 0)
    else:
        weight, bad_weight = pl.lit(1.0), pl.lit(False)
    missing_annotator = pl.col("annotator").is_null() if "annotator" in names else pl.lit(False)
    missing_id = pl.col("id").is_null() if "id" in names else pl.lit(False)
    problem = (
        pl.when(pl.col("a").is_null() | pl.col("b").is_null())
        .then(pl.lit("missing competitor"))
        .when(pl.col("a") == pl.col("b"))
        .then(pl.lit("competitor against itself"))
        .when(missing_annotator)
        .then(pl.lit("missing annotator"))
        .when(missing_id)
        .then(pl.lit("missing id"))
        .when(missing_winner)
        .then(pl.lit("missing winner"))
        .when(ambiguous)
        .then(pl.lit("ambiguous winner"))
        .when(pl.col("outcome").is_null())
        .then(pl.lit(unknown))
        .when(bad_weight)
        .then(pl.lit("bad weight"))
    )
    raw_weight = _as_text(groups, "weight") if "weight" in groups.columns else pl.lit(None)
    return keys.with_columns(weight_text=raw_weight).with_columns(problem=problem, weight=weight)


def _as_text(table: pl.DataFrame, name: str) -> pl.Expr:
    """Write a column as text: empty and NaN are missing, and a whole number reads the same as int and as float."""
    column = pl.col(name)
    if table.schema[name].is_float():
        whole = (column == column.floor()) & (column.abs() < 2**53)
        integer = pl.when(whole).then(column).cast(pl.Int64, strict=False).cast(pl.String)
        return pl.coalesce(integer, column.fill_nan(None).cast(pl.String)).alias(name)
    text = column.cast(pl.String)
    return pl.when(text != "").then(text).alias(name)


def _without_blank_rows(groups: pl.DataFrame, whole: Frame) -> pl.DataFrame:
    """Leave out rows that are empty in every column, such as the last line of many CSV files."""
    blank = pl.all_horizontal(pl.exclude("n").is_null())
    if not groups.select(blank.any()).item():
        return groups
    empty = to_polars(whole.filter(nw.all_horizontal(nw.all().is_null(), ignore_nulls=False)).select(n=nw.len()))
    return groups.with_columns(n=pl.col("n") - pl.when(blank).then(empty["n"][0]).otherwise(0)).filter(pl.col("n") > 0)


def _is_hot(name: str) -> pl.Expr:
    """Read a one-hot column written as numbers, booleans or their text: true, false, or null if neither."""
    text = pl.col(name).cast(pl.String).str.strip_chars().str.to_lowercase()
    values = {"1": True, "1.0": True, "true": True, "0": False, "0.0": False, "false": False}
    return text.replace_strict(values, default=None, return_dtype=pl.Boolean)


def _complaint(frame: Frame, columns: Mapping[str, str], invalid: pl.DataFrame, total: int) -> str:
    """Say what is wrong with how many votes, quote the first rows, and name the remedy of each problem."""
    keys = list(columns)
    bad = invalid.select(*(pl.col("weight_text" if key == "weight" else key).alias(key) for key in keys), "problem")
    rows = to_polars(frame.select(*keys))
    rows = rows.select(_as_text(rows, key) for key in keys).with_row_index("row")
    rows = rows.join(bad.with_columns(pl.col(*keys).cast(pl.String)), on=keys, how="inner", nulls_equal=True)
    rows = rows.sort("row").head(SHOWN)
    count = int(invalid["n"].sum())
    lines = [f"{count} of {total} votes {'is' if count == 1 else 'are'} invalid."]
    lines.append(f"First {rows.height} (rows counted from 0):" if rows.height > 1 else "The row (counted from 0):")
    for row in rows.iter_rows(named=True):
        values = ", ".join(f"{columns[key]}={row[key]!r}" for key in keys)
        lines.append(f"  row {row['row']}: {row['problem']} ({values})")
    for problem, n in invalid.group_by("problem").agg(pl.sum("n")).sort("problem").rows():
        detail = ""
        if problem == "unknown winner" and "winner" in keys:
            labels = invalid.filter(pl.col("problem") == problem)["winner"].unique().sort()
            detail = f" [{listing(map(repr, labels))}]"
        lines.append(f"{problem}{detail} × {n}: {REMEDIES[problem]}.")
    if count < total:
        lines.append("Or leave invalid votes out with on_invalid='drop' (--on-invalid drop).")
    return "\n".join(lines)
