"""Rankings of several competitors, written as weighted pairs.

A ranking of k is k (k - 1) / 2 pairs, of which no two with a competitor in common are independent. They weigh

    w = 3 / (k + 1)        each: 1 for a pair, .5 in a ranking of five, together less than k votes,

and less where ranks are equal, as do the pairs of scores on one item
(:mod:`bayes_arena.votes.reading.layouts.scores` says why). With ties as half wins a share t of ties, in twos, would
let them weigh 3 / (k + 1 - 3 t): for five-way rankings of WMT13, which tie in 19 % of pairs, .60 was measured, and .55
is expected; they are given .45, right where a tie is an outcome. Clustered intervals need no weight: the ranking is a
slice.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from itertools import count, takewhile
from typing import Literal, get_args

import polars as pl

from bayes_arena.errors import (
    SHOWN,
    DroppedVotesWarning,
    InvalidVotesError,
    NoVotesError,
    OnInvalid,
    VotesError,
    printable,
)
from bayes_arena.votes.cells import Cells
from bayes_arena.votes.outcomes import LOSS, TIE, WIN
from bayes_arena.votes.reading.columns import ANNOTATORS, require_columns, sole
from bayes_arena.votes.reading.decoding import as_text
from bayes_arena.votes.reading.files.opening import open_source, to_polars
from bayes_arena.votes.reading.layouts.scores import paired
from bayes_arena.votes.summing import SLICE, build_cells
from bayes_arena.votes.words import ITEM

RANKING = "ranking"
"""The slice of pairs from one ranking."""
KNOWN = {"ranking": ("ranking", "ranking_id"), "competitor": ("competitor", "model", "system"), "rank": ("rank",)}
"""Columns by what they are of."""
WMT_ANNOTATOR = "judgeId"


def read_rankings(
    source: object,
    *,
    ranking: str | None = None,
    competitor: str | None = None,
    rank: str | None = None,
    annotator: str | Literal[False] | None = None,
    on_invalid: OnInvalid = "raise",
) -> Cells:
    """Read rankings of two or more competitors as weighted pairs.

    Each ranking of k becomes k (k - 1) / 2 pairs, equal ranks ties, that weigh 3 / (k + 1) each, or less if some are
    ties: with as much information as k competitors in random order have
    (:mod:`bayes_arena.votes.preparing.rankings`).

    Parameters
    ----------
    source : path, sequence of paths, or dataframe
        As for :func:`~bayes_arena.read_votes`. One row for every competitor of a ranking, in columns ``ranking,
        competitor, rank``; or, as WMT has them, one row a ranking, ``system1Id, system1rank, system2Id, ...``.
    ranking, competitor, rank : str, optional
        Column names where they differ. The best has the lowest rank.
    annotator : str or False, optional
        Column of annotators; ``False`` ignores annotators. Rankings of different annotators are different rankings,
        whatever they are called.
    on_invalid : {"raise", "drop"}
        What to do with rows that lack something or have no rank, zero or more (WMT writes -1).

    Returns
    -------
    Cells
        Pairs without sides, with a slice ``"ranking"``; ``n_votes`` is what they are worth together.

    Warns
    -----
    DroppedVotesWarning
        If invalid rows were left out.

    Raises
    ------
    ColumnError
        If a column is missing or its role is unclear.
    InvalidVotesError
        If rows are invalid, or somebody is twice in a ranking.
    NoVotesError
        If no ranking has two competitors.
    VotesError
        If the source cannot be read.

    Examples
    --------
    >>> import polars as pl
    >>> table = pl.DataFrame({"ranking": [1, 1, 1], "competitor": ["x", "y", "z"], "rank": [1, 2, 2]})
    >>> read_rankings(table)
    Cells(3 votes worth 2.2, 3 competitors, 0 annotators, slices ranking (1), 3 cells)
    """
    if on_invalid not in get_args(OnInvalid):
        raise VotesError(f"on_invalid is 'raise' or 'drop', not {on_invalid!r}.")
    rows = _long(to_polars(open_source(source)), ranking, competitor, rank, annotator)
    rows = rows.with_columns(as_text(rows, name) for name in rows.columns if name != "row")
    said: list[str] = [name for name in ("ranking", "annotator") if name in rows.columns]
    problem = (
        pl.when(pl.any_horizontal(pl.col("competitor", *said).is_null()))
        .then(pl.lit("missing name"))
        .when((pl.col("rank").cast(pl.Float64, strict=False) >= 0).fill_null(False).not_())
        .then(pl.lit("no rank"))
        .when(pl.struct("competitor", *said).is_duplicated())
        .then(pl.lit("twice in a ranking"))
    )
    rows = rows.with_columns(problem=problem)
    invalid = rows.filter(pl.col("problem").is_not_null())
    counts = invalid.group_by("problem").len().sort("problem").rows()
    if invalid.height and (on_invalid == "raise" or invalid.height == rows.height):
        raise InvalidVotesError(_complaint(invalid, rows.height, counts))
    pairs = _pairs(rows.filter(pl.col("problem").is_null()), said)
    if not pairs.height:
        raise NoVotesError("No ranking has two competitors. Check the column of rankings.")
    if invalid.height:
        listed = ", ".join(f"{n} × {name}" for name, n in counts)
        warnings.warn(f"Left out {invalid.height} of {rows.height} rows: {listed}.", DroppedVotesWarning, stacklevel=2)
    cells = build_cells(pairs, dropped=dict(counts), sided=False)
    return replace(cells, design_effect=pairs.height / float(pairs["weight"].sum()))


def _long(
    table: pl.DataFrame,
    ranking: str | None,
    competitor: str | None,
    rank: str | None,
    annotator: str | Literal[False] | None,
) -> pl.DataFrame:
    """Return a row for everybody ranked, with the row of the source, counted from 0."""
    names = table.columns
    given = {"ranking": ranking, "competitor": competitor, "rank": rank}
    places = list(takewhile(lambda n: f"system{n}Id" in names, count(1)))
    annotators = [name for name in (*ANNOTATORS, WMT_ANNOTATOR) if name in names]
    if annotator is None and annotators:
        annotator = sole(annotators, names, "annotator", "annotator=", ANNOTATORS)
    who = {"annotator": annotator} if annotator else {}
    if places and not any(given.values()):
        parts = [{"competitor": f"system{n}Id", "rank": f"system{n}rank", **who} for n in places]
    else:
        parts = [{role: column or _found(names, role) for role, column in given.items()} | who]
    require_columns([column for part in parts for column in part.values()], names)
    numbered = table.with_row_index("row")
    rows = pl.concat(numbered.select("row", **{role: pl.col(name) for role, name in part.items()}) for part in parts)
    return rows if "ranking" in rows.columns else rows.with_columns(ranking=pl.col("row"))


def _found(names: Sequence[str], role: str) -> str:
    return sole([name for name in KNOWN[role] if name in names], list(names), role, f"{role}=", KNOWN[role])


def _pairs(rows: pl.DataFrame, said: list[str]) -> pl.DataFrame:
    """Write rankings as pairs, a row each.

    Rankings of the same name by different annotators are told apart by both.
    """
    shared = rows.n_unique(said) > rows["ranking"].n_unique()
    name = pl.concat_str(*said, separator="/") if shared else pl.col("ranking")
    who = [one for one in said if one != "ranking"]
    pairs = paired(
        rows.lazy().select(*who, item=name, system="competitor", score=-pl.col("rank").cast(pl.Float64))
    ).collect()
    return pairs.select(
        *who,
        "weight",
        pl.col(ITEM).alias(SLICE + RANKING),
        a="model_a",
        b="model_b",
        outcome=pl.col("winner").replace_strict({"model_a": WIN, "model_b": LOSS, "tie": TIE}),
        n=pl.lit(1, pl.Int64),
    )


def _complaint(invalid: pl.DataFrame, total: int, counts: list[tuple[str, int]]) -> str:
    """Say what is wrong with how many rows, and quote the first."""
    lines = [f"{invalid.height} of {total} rows are invalid. First (rows counted from 0):"]
    for row in invalid.sort("row").head(SHOWN).iter_rows(named=True):
        said = ", ".join(f"{name}={row[name]!r}" for name in row if name not in ("row", "problem"))
        lines.append(f"  row {row['row']}: {row['problem']} ({printable(said)})")
    lines += [f"{problem} × {n}." for problem, n in counts]
    return "\n".join([*lines, "Correct them, or leave them out with on_invalid='drop'."])
