"""How much a vote counts: weights that are no counts, scores as fractions of a vote, votes that occur more than once.

A **frequency** w says that a row stands for w votes. An **importance** w says how much a vote matters, for instance how
many people it represents, and has no unit: if weights were taken as counts, doubling them would halve the variances.
Importance weights are scaled so that n votes have the total weight

    n_eff = (sum_v w_v)^2 / sum_v w_v^2,        w_v  ->  w_v sum w / sum w^2,        n / n_eff the design effect.

Estimates under a flat prior do not change. With weights independent of the outcomes, the scores of the votes have the
variance J = sum w^2 I while the Hessian is H = sum w I, so the sandwich is H^-1 J H^-1 = (sum w^2 / sum w) H^-1: the
inverse Hessian of the scaled weights.

The pairs that a choice of one among several becomes (:mod:`bayes_arena.votes.layouts.best_of_n`) have weights of
**information**, which are used unchanged; the number of pairs over the sum of their weights is the design effect.

A **score** s of a in [0, 1] is s wins and 1 - s losses of one vote: its loss, -s ln P(a) - (1 - s) ln P(b), is least in
expectation where P(a) is the mean score. A score of 1/2 is not a tie: in models in which a tie is an outcome, such as
``davidson``, it is half a win and half a loss, and with scores alone there are no ties. Where a tool has a score that
means "equal" (1.5 in AlpacaEval, .5 in JudgeArena), its layout reads that score as a tie. Scores vary less than votes
with the same mean, so intervals are conservative.

Equal votes are normal: the same two competitors meet again, and the same one wins. They are **duplicates** if votes
that agree in every other column (competitors, annotator, an id, a time, a question) hardly ever differ in the winner:
copies never do, whereas separate votes often do. With u distinct rows among n, and v distinct rows once the winner is
left out, u - v is then small compared with both n - u and u. Without a column besides those of competitors, winner,
annotator and weight, no row is taken for a duplicate.

An annotator who votes on the same prompt and pair more than once, shown in the same order, has one opinion on it. Each
of k such votes counts 1 / k, so that together they make one vote, divided where they differ, whatever their order.

Source: Kish (1965), Survey Sampling.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, get_args

import narwhals as nw
import numpy as np
import polars as pl

from bayes_arena.arrays import Floats
from bayes_arena.errors import RepeatedVotesWarning, VotesError, Weights, warn
from bayes_arena.votes.layouts.columns import ANNOTATORS, LIKELY_ANNOTATORS
from bayes_arena.votes.names import FEATURE, SLICE, TIME
from bayes_arena.votes.outcomes import LOSS, WIN
from bayes_arena.votes.reading.decoding import COUNTS
from bayes_arena.votes.sources.frames import Frame, comparable_columns, to_polars

SMALL = 0.1
"""Share of differing winners up to which equal rows are duplicates."""
FEWEST = 5
"""Least number of distinct rows for a conclusion."""
EQUAL = "rows that are equal"
"""Column of counts, under a name that no source has."""


def weighed(
    votes: pl.DataFrame, weights: Weights | Literal["information"], *, named: bool
) -> tuple[pl.DataFrame, float]:
    """Scale weights to effective votes, write scores as wins and losses, and return the design effect too.

    ``votes`` are those of :func:`~bayes_arena.votes.reading.validity.valid_votes`, and keep their columns; ``named``
    says whether there is a column of weights.
    """
    if weights not in (*get_args(Weights), "information"):
        raise VotesError(f"weights must be 'frequency' or 'importance', not {weights!r}.")
    design_effect = 1.0
    weight, n = votes["weight"].to_numpy(), votes["n"].to_numpy()
    if weights == "importance":
        if not named:
            raise VotesError("weights='importance' needs a column of weights. Name it: weight=... (--weight).")
        if "wins_a" in votes.columns:
            raise VotesError("Counts of wins are frequencies, and cannot be importance weights. Read single votes.")
        total, squares = _sum(weight * n), _sum(weight**2 * n)
        votes = votes.with_columns(pl.col("weight") * (total / squares))
        design_effect = float(n.sum()) * squares / total**2
    elif weights == "information":
        design_effect = float(n.sum()) / _sum(weight * n)
    if "score" in votes.columns:
        scored, score = votes.filter(pl.col("score").is_not_null()), pl.col("score").cast(pl.Float64)
        parts = [
            scored.with_columns(outcome=pl.lit(outcome, pl.Int8), weight=pl.col("weight") * part)
            for outcome, part in {WIN: score, LOSS: 1 - score}.items()
        ]
        votes = pl.concat([votes.filter(pl.col("score").is_null()), *parts]).filter(pl.col("weight") > 0)
    return votes, design_effect


def _sum(values: Floats) -> float:
    """Return a sum that does not depend on the order."""
    return math.fsum(np.sort(values))


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
