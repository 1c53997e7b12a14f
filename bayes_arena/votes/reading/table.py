"""Read votes: any engine in, validated :class:`~bayes_arena.votes.cells.Cells` out.

One group-by over the raw columns runs in the engine that holds the votes. Everything that can be wrong with
a vote shows in its group keys (names, winner label, annotator, weight), so validation and the decoding of
winners work on the small grouped table, and the votes themselves are visited again only to quote the rows of
invalid ones.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Literal, TypedDict, Unpack

import narwhals as nw
import polars as pl
from narwhals.exceptions import NarwhalsError

from bayes_arena.errors import (
    SHOWN,
    ColumnError,
    DroppedVotesWarning,
    InvalidVotesError,
    NoVotesError,
    UnusedColumnWarning,
    VotesError,
    listing,
    printable,
)
from bayes_arena.votes.cells import OUTCOMES, Cells
from bayes_arena.votes.reading.decoding import CODES, LABELS, as_label, as_text, decode, without_sides
from bayes_arena.votes.reading.faults import find_fault
from bayes_arena.votes.reading.repeats import Repeats, count_repeats, one_side, without_repeats
from bayes_arena.votes.reading.sources import (
    ANNOTATORS,
    LIKELY_ANNOTATORS,
    Frame,
    files_of,
    open_source,
    recognise_roles,
    select_roles,
    to_polars,
)
from bayes_arena.votes.summing import build_cells

LONGEST_MESSAGE = 300
REMEDIES = {
    "missing competitor": "fill in the name or remove the vote",
    "competitor against itself": "remove the vote, or correct the name",
    "missing annotator": "fill in the annotator, or read with annotator=False (--no-annotator)",
    "missing id": "give every vote an id of its own",
    "missing winner": "fill in the winner or remove the vote",
    "unknown winner": "map the label with outcomes={'label': 'tie'} (--outcome 'label=tie')",
    "not one winner": "exactly one of the three winner columns is 1, the others 0",
    "outcome for a name": "columns of winner and loser hold names only; votes with ties take model_a, model_b, winner",
    "ambiguous winner": "the label is also a competitor's name: rename the competitor",
    "bad weight": "weights are finite numbers, zero or more",
    "bad count": "counts of wins and ties are finite numbers, zero or more",
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
    dedupe: bool
    normalise: bool


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
    dedupe: bool = False,
    normalise: bool = False,
) -> Cells:
    """Read pairwise votes and sum them to cells.

    Arena conventions need no arguments: competitors in ``model_a, model_b`` or ``left, right``; the winner in
    ``winner`` or ``label`` as ``model_a | model_b | tie | tie (bothbad) | both_bad | left | right`` or as the
    winning competitor's name, or one-hot in ``winner_model_a, winner_model_b, winner_tie``; the annotator, if
    any, in ``judge``, ``annotator``, ``worker`` or ``performer``. Two layouts do not say who was shown first, so their
    votes have no position effect (``Cells.sided``): ``winner, loser``, and a table of how often each of a pair won,
    ``player1, player2, win1, win2`` and, if any tied, ``ties`` or ``draws``.

    Parameters
    ----------
    source : path, sequence of paths, or dataframe
        CSV, Parquet or JSONL (also a glob of them), ``"hf:owner/name"`` for a data set on the Hugging Face
        hub, or a pandas, Polars (eager or lazy), PyArrow, DuckDB or other dataframe that narwhals understands.
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
    dedupe : bool
        Leave out repeats: files of the same content, rows that are equal in every column, and the second half of a
        table of wins that lists every pair from both sides. Rows stay where equal ones may be different votes: if
        nothing but competitors, winner and annotator is known, or if votes that agree in all other columns often
        differ in the winner.
    normalise : bool
        Take names for the same that differ in outer spaces or in their Unicode form (NFC); :func:`~bayes_arena.check`
        names them.

    Returns
    -------
    Cells
        The counts per (a, b, annotator), in an order that does not depend on the order of the votes.

    Warns
    -----
    DroppedVotesWarning
        If invalid votes were left out.
    RepeatedVotesWarning
        If files have the same content, if a table of wins has every row from both sides, and of what ``dedupe`` did.
    UnusedColumnWarning
        If no annotator is read and a column such as ``user_id`` looks like one; ``annotator=False`` is silent.

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
    groups, dropped, sided = valid_votes(
        source,
        a=a,
        b=b,
        winner=winner,
        annotator=annotator,
        weight=weight,
        outcomes=outcomes,
        on_invalid=on_invalid,
        dedupe=dedupe,
        normalise=normalise,
        in_order=False,
    )
    return build_cells(groups, dropped=dropped, sided=sided)


def as_cells(votes: object) -> Cells:
    """Return cells as they are, and anything else as :func:`read_votes` reads it without options."""
    return votes if isinstance(votes, Cells) else read_votes(votes)


def valid_votes(
    source: object,
    *,
    in_order: bool,
    id: str | None = None,
    a: str | None = None,
    b: str | None = None,
    winner: str | None = None,
    annotator: str | Literal[False] | None = None,
    weight: str | None = None,
    outcomes: Mapping[str, str] | None = None,
    on_invalid: Literal["raise", "drop"] = "raise",
    dedupe: bool = False,
    normalise: bool = False,
) -> tuple[pl.DataFrame, dict[str, int], bool]:
    """Recognise, decode and validate votes: what every reader of votes shares.

    Parameters
    ----------
    source, a, b, winner, annotator, weight, outcomes, on_invalid, dedupe, normalise
        As for :func:`read_votes`.
    in_order : bool
        One row a vote, in the order of the source; otherwise one row for each group of equal votes.
    id : str, optional
        Column of the votes' ids, which then keep votes of different ids apart.

    Returns
    -------
    votes : polars.DataFrame
        Columns ``a, b`` (text), ``outcome`` (index into ``OUTCOMES``), ``weight`` of one vote, how many votes ``n``
        and, where known, ``annotator`` (text).
    dropped : dict of str to int
        Invalid votes left out, by problem.
    sided : bool
        Whether the layout says who was shown first.

    Raises
    ------
    ColumnError, InvalidVotesError, NoVotesError, VotesError
        As for :func:`read_votes`.
    """
    if on_invalid not in ("raise", "drop"):
        raise VotesError(f"on_invalid is 'raise' or 'drop', not {on_invalid!r}.")
    labels = dict(LABELS)
    for label, outcome in (outcomes or {}).items():
        if outcome not in CODES:
            raise VotesError(f"outcomes maps {label!r} to {outcome!r}; use one of {', '.join(OUTCOMES)}.")
        labels[as_label(str(label))] = outcome
    try:
        whole = open_source(source, dedupe=dedupe)
        columns = recognise_roles(whole, a=a, b=b, winner=winner, annotator=annotator, weight=weight, id=id)
        if in_order and "wins_a" in columns:
            raise ColumnError(f"Counts in {columns['wins_a']!r} have no order. Read one row a vote, or use read_votes.")
        if annotator is None and "annotator" not in columns:
            _propose_annotator(whole, columns)
        different = without_repeats(whole, columns) if dedupe and "wins_a" not in columns else whole
        groups = _groups(different, columns, in_order=in_order)
        total = int(groups["n"].sum())
        groups = decode(groups, labels, normalise=normalise)
        invalid = groups.filter(pl.col("problem").is_not_null())
        if invalid.height and (on_invalid == "raise" or invalid.height == groups.height):
            raise InvalidVotesError(_complaint(select_roles(whole, columns), columns, invalid, total, normalise))
    except (pl.exceptions.PolarsError, NarwhalsError, OSError) as error:
        paths = files_of(source)
        reason = str(error).splitlines()[0][:LONGEST_MESSAGE]
        unknown = f"Cannot read {listing(repr(str(path)) for path in paths) or 'the votes'}: {reason}"
        raise VotesError(find_fault(paths) or unknown) from error
    dropped = {problem: int(n) for problem, n in invalid.group_by("problem").agg(pl.sum("n")).sort("problem").rows()}
    valid = groups.filter(pl.col("problem").is_null(), pl.col("weight") > 0)
    sided = bool({"winner", "winner_a"} & columns.keys())
    if not sided:
        valid = without_sides(one_side(valid, dedupe=dedupe) if "wins_a" in columns else valid)
    if not valid.height:
        empty = "all votes have weight 0" if total else "the source has no rows"
        raise NoVotesError(f"No vote to rate: {empty}. Check that it is the right source.")
    if dropped:
        counts = ", ".join(f"{n} × {problem}" for problem, n in dropped.items())
        warnings.warn(
            f"Left out {sum(dropped.values())} of {total} votes: {counts}.",
            DroppedVotesWarning,
            stacklevel=3,
        )
    return valid, dropped, sided


def read_repeats(source: object, **reading: Unpack[Reading]) -> Repeats:
    """Count the rows of a source of votes that repeat another; the options are those of :func:`read_votes`."""
    with warnings.catch_warnings(action="ignore"):  # reading the votes warns
        frame = open_source(source)
    columns = recognise_roles(
        frame,
        a=reading.get("a"),
        b=reading.get("b"),
        winner=reading.get("winner"),
        annotator=reading.get("annotator"),
        weight=reading.get("weight"),
    )
    return count_repeats(frame, columns)


def _propose_annotator(frame: Frame, columns: Mapping[str, str]) -> None:
    """Say which column looks like the annotator where none is read."""
    for name in frame.collect_schema().names():
        if name.casefold() in (*ANNOTATORS, *LIKELY_ANNOTATORS) and name not in columns.values():
            warnings.warn(
                f"Column {name} looks like the annotator, and is not read. Read it with annotator={name!r} "
                f"(--annotator {name}), or say that it is none with annotator=False (--no-annotator).",
                UnusedColumnWarning,
                stacklevel=4,
            )
            return


def _groups(whole: Frame, columns: Mapping[str, str], *, in_order: bool) -> pl.DataFrame:
    """Collect the votes, or groups of equal ones, without the rows that are empty in every column of the source."""
    frame = select_roles(whole, columns)
    if in_order:
        table = to_polars(frame).with_columns(n=pl.lit(1))
    else:
        table = to_polars(frame.group_by(*columns).agg(nw.len().alias("n"))).cast({"n": pl.Int64})
    blank = pl.all_horizontal(pl.exclude("n").is_null())
    if not table.select(blank.any()).item():
        return table
    empty = nw.all_horizontal(nw.all().is_null(), ignore_nulls=False)
    if in_order:
        return table.filter(~to_polars(whole.select(empty=empty))["empty"])
    n_empty = to_polars(whole.filter(empty).select(n=nw.len()))["n"][0]
    return table.with_columns(n=pl.col("n") - pl.when(blank).then(n_empty).otherwise(0)).filter(pl.col("n") > 0)


def _complaint(frame: Frame, columns: Mapping[str, str], invalid: pl.DataFrame, total: int, normalise: bool) -> str:
    """Say what is wrong with how many votes, quote the first rows, and name the remedy of each problem."""
    keys = list(columns)
    texts = (pl.col("weight_text").alias(key) if key == "weight" else as_text(invalid, key) for key in keys)
    bad = invalid.select(*texts, "problem").unique()
    rows = to_polars(frame.select(*keys))
    rows = rows.select(as_text(rows, key, normalise=normalise) for key in keys).with_row_index("row")
    rows = rows.join(bad, on=keys, how="inner", nulls_equal=True)
    rows = rows.sort("row").head(SHOWN)
    count = int(invalid["n"].sum())
    lines = [f"{count} of {total} votes {'is' if count == 1 else 'are'} invalid."]
    lines.append(f"First {rows.height} (rows counted from 0):" if rows.height > 1 else "The row (counted from 0):")
    for row in rows.iter_rows(named=True):
        values = ", ".join(f"{printable(columns[key])}={row[key]!r}" for key in keys)
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
