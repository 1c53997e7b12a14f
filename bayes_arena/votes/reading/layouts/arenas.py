"""Votes of people, a record each, and tables of wins."""

from __future__ import annotations

from collections.abc import Collection

import polars as pl

from bayes_arena.errors import listing
from bayes_arena.votes.reading.layouts.layout import is_true, number

TIMES = ("n", "count", "counts", "times", "wins")
"""Beside a winner and a loser, how often."""


def comparia(votes: pl.LazyFrame) -> pl.LazyFrame:
    """Name competitors and winner; equality is a tie, and who neither chose nor called them equal has not voted."""
    chosen = pl.col("chosen_model_name")
    return votes.with_columns(
        model_a="model_a_name",
        model_b="model_b_name",
        winner=pl.when(is_true("both_equal")).then(pl.lit("tie")).otherwise(pl.when(chosen != "").then(chosen)),
    )


def has_times(names: Collection[str]) -> bool:
    """Whether a column says how often."""
    return bool(set(TIMES).intersection(names))


def win_counts(wins: pl.LazyFrame) -> pl.LazyFrame:
    """Write a row for every winner and loser as a vote that weighs as much as there were wins."""
    times, *others = [name for name in wins.collect_schema().names() if name in TIMES]
    if others:
        named = f"layout='winner-loser', weight={times!r} (--layout winner-loser --weight {times})"
        raise ValueError(f"each of {listing((times, *others))} may say how often; name one with {named}")
    return wins.with_columns(model_a="winner", model_b="loser", weight=times, winner=pl.lit("model_a"))


def win_matrix(wins: pl.LazyFrame) -> pl.LazyFrame:
    """Write a square table, a row for every winner and a column for every loser, as votes; the diagonal is none."""
    winner, *losers = wins.collect_schema().names()
    counts = wins.select(number(name) for name in losers).unpivot().select("value").drop_nulls().collect().to_series()
    if (counts <= 1).all() and (counts * 2 % 1 != 0).any():
        raise ValueError("its numbers are shares of wins, and say nothing of how many there were")
    pairs = wins.unpivot(losers, index=winner, variable_name="model_b", value_name="weight")
    pairs = pairs.rename({winner: "model_a"}).with_columns(pl.col("model_a").cast(pl.String), winner=pl.lit("model_a"))
    return pairs.filter(pl.col("model_a") != pl.col("model_b"))
