"""Votes that occur more than once in the source: repeated rows, pairs listed from both sides.

Equal votes are normal: the same two competitors meet again, and the same one wins. They are duplicates if votes that
agree in every other column (competitors, annotator, an id, a time, a question) hardly ever differ in the winner: copies
never do, whereas separate votes often do. With u distinct rows among n, and v distinct rows once the winner is left
out, u - v is then small compared with both n - u and u. Without a column besides those of competitors, winner,
annotator and weight, no row is taken for a duplicate.

An annotator who votes on the same prompt and pair more than once, shown in the same order, has one opinion on it. Each
of k such votes counts 1 / k, so that together they make one vote, divided where they differ, whatever their order.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import narwhals as nw
import polars as pl

from bayes_arena.errors import RepeatedVotesWarning, warn
from bayes_arena.votes.layouts.columns import ANNOTATORS, LIKELY_ANNOTATORS
from bayes_arena.votes.names import FEATURE, SLICE, TIME
from bayes_arena.votes.reading.decoding import COUNTS
from bayes_arena.votes.sources.frames import Frame, comparable_columns, to_polars

SMALL = 0.1
"""Share of differing winners up to which equal rows are duplicates."""
FEWEST = 5
"""Least number of distinct rows for a conclusion."""
EQUAL = "rows that are equal"
"""Column of counts, under a name that no source has."""


@dataclass(frozen=True)
class Repeats:
    """Rows that are equal in every column.

    Attributes
    ----------
    rows, repeated : int
        Rows that are not empty, and how many fewer there are once each is counted once.
    evident : bool
        Whether these are duplicates; otherwise they may be separate votes that are equal.
    """

    rows: int
    repeated: int
    evident: bool


def count_repeats(frame: Frame, columns: Mapping[str, str]) -> Repeats:
    """Count the rows that equal another, in the engine that holds them; ``columns`` are role to column."""
    names = comparable_columns(frame)
    outcome = {name for role, name in columns.items() if role.startswith(("winner", "score"))}
    outcome = outcome or {columns["a"], columns["b"]}
    plain = {name for role, name in columns.items() if role != "id"} | {*ANNOTATORS, *LIKELY_ANNOTATORS}
    rows = frame.select(*names).filter(~nw.all_horizontal(nw.all().is_null(), ignore_nulls=False))
    counted = rows.group_by(*names).agg(nw.len().alias(EQUAL))
    n, u = _row(counted.select(nw.col(EQUAL).sum(), nw.len().alias("rows")))
    if n == u or u < FEWEST or plain.issuperset(names):
        return Repeats(n, n - u, evident=False)
    different = rows.select(*(name for name in names if name not in outcome)).unique()
    (v,) = _row(different.select(rows=nw.len()))
    return Repeats(n, n - u, evident=u - v <= SMALL * min(n - u, u))


def without_repeats(frame: Frame, columns: Mapping[str, str]) -> Frame:
    """Drop duplicate rows, and warn of how many there were; equal rows that may be separate votes stay."""
    found = count_repeats(frame, columns)
    if found.repeated and not found.evident:
        warn(
            f"{found.repeated:,} of {found.rows:,} rows equal another and are kept: they may be separate votes.",
            RepeatedVotesWarning,
        )
    if not found.evident:
        return frame
    warn(
        f"Left out {found.repeated:,} of {found.rows:,} rows that repeat another in every column.", RepeatedVotesWarning
    )
    return frame.unique(subset=comparable_columns(frame))


def once_each(votes: pl.DataFrame) -> pl.DataFrame:
    """Count an annotator's votes on the same prompt and pair as one vote, and warn of how many there were."""
    slices = (name for name in votes.columns if name.startswith(SLICE) and name != SLICE + TIME)
    same = ["a", "b", "annotator", *slices]
    cast = pl.sum("n").over(same)
    total, more = int(votes["n"].sum()), int(votes["n"].sum()) - votes.select(same).n_unique()
    if not more:
        return votes
    warn(
        f"Votes of one annotator on the same prompt and pair count as one: {more:,} of {total:,} votes repeat another.",
        RepeatedVotesWarning,
    )
    shared = votes.with_columns(pl.col("weight") * pl.col("n") / cast, n=pl.when(cast > 1).then(1).otherwise("n"))
    return shared.cast({"n": pl.Int64})


def one_side(votes: pl.DataFrame, *, dedupe: bool) -> pl.DataFrame:
    """Warn if a table of wins (``COUNTS``) lists every pair from both sides, and keep one side if asked."""
    carried = [name for name in votes.columns if name.startswith((SLICE, FEATURE))]
    keys = [name for name in ("a", "b", "annotator", "weight", *COUNTS, *carried) if name in votes.columns]
    rows = votes.select(*keys, "n").cast({name: pl.Float64 for name in COUNTS if name in keys})
    turned = rows.rename({"a": "b", "b": "a", "wins_a": "wins_b", "wins_b": "wins_a"}).select(rows.columns)
    turned = turned.with_columns(-pl.col(name) + 0.0 for name in carried if name.startswith(FEATURE))
    if not rows.sort(keys).equals(turned.sort(keys)):
        return votes
    done = "Counted once" if dedupe else "Counted twice (once with dedupe=True, --dedupe)"
    warn(f"{done}: the table lists every pair from both sides.", RepeatedVotesWarning)
    return votes.filter(pl.col("a") < pl.col("b")) if dedupe else votes


def _row(frame: Frame) -> tuple[int, ...]:
    """Return the one row of a frame, with 0 for null: SQL gives null as the sum of no rows."""
    return tuple(int(value or 0) for value in to_polars(frame).row(0))
