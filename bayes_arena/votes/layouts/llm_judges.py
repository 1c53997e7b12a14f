"""Verdicts of language models: two games per record, preferences between two outputs, several criteria."""

from __future__ import annotations

from collections.abc import Collection

import polars as pl

from bayes_arena.errors import ColumnError, printable
from bayes_arena.votes.layouts.layout import nested, number
from bayes_arena.votes.names import ITEM

STRONG = 3
"""Number of votes that arena-hard-auto counts for a verdict ``A>>B``."""
GAMES = pl.List(pl.Struct({"score": pl.String}))
JURY = pl.List(pl.Struct({"model": pl.String, "vote": pl.String}))
CRITERION = "_winner"
"""Suffix of the columns of winners that begin with the criterion."""


def arena_hard(records: pl.LazyFrame) -> pl.LazyFrame:
    """Write out the games: the baseline is A in the first, and B in the second.

    As in the tool, ``A>>B`` weighs three times as much, and a record counts only if all of its games have a verdict.
    """
    verdicts = nested(records, "games", GAMES).list.eval(pl.element().struct.field("score"))
    games = records.with_columns(winner=verdicts, game=pl.int_ranges(1, verdicts.list.len() + 1))
    games = games.with_columns(judged=pl.col("winner").list.eval(pl.element().is_not_null()).list.all())
    games = games.drop("games").explode("winner", "game")
    swapped, verdict = pl.col("game") % 2 == 0, pl.col("winner")
    return games.with_columns(
        model_a=pl.when(swapped).then("model").otherwise("baseline"),
        model_b=pl.when(swapped).then("baseline").otherwise("model"),
        winner=pl.when("judged").then(verdict),
        weight=pl.when(verdict.str.contains(">>|<<")).then(STRONG).otherwise(1),
    ).drop("judged")


def mt_bench(records: pl.LazyFrame) -> pl.LazyFrame:
    """Write out the two games of a pair: in the second, the second model is shown first.

    As in the tool, a record counts only if neither game ended in an error.
    """
    judge = pl.col("judge")
    if records.collect_schema()["judge"] == pl.String:  # its name and that of its prompt, or its name alone
        named = judge.str.starts_with("[")
        listed = pl.when(named).then(judge).str.json_decode(pl.List(pl.String)).list.first()
        judge = pl.when(named).then(listed).otherwise(judge)
    else:
        judge = judge.list.first()
    judged = pl.all_horizontal(pl.col(name).is_in(["error"]).not_() for name in ("g1_winner", "g2_winner"))
    games = []
    for game, first, second in ((1, "model_1", "model_2"), (2, "model_2", "model_1")):
        winner = pl.col(f"g{game}_winner").replace({first: "model_a", second: "model_b"})
        games.append(
            records.with_columns(
                model_a=first, model_b=second, winner=pl.when(judged).then(winner), judge=judge, game=pl.lit(game)
            )
        )
    return pl.concat(games)


def alpaca_eval(annotations: pl.LazyFrame) -> pl.LazyFrame:
    """Read preferences from 1, for the first output, to 2; 1.5 (formerly 0) is a draw. The order shown is unknown."""
    preference = number("preference")
    preference = pl.when(preference == 0).then(1.5).otherwise(preference)
    return _soft(annotations.with_columns(model_a="generator_1", model_b="generator_2"), 2 - preference)


def judge_arena(annotations: pl.LazyFrame) -> pl.LazyFrame:
    """Read preferences from 0, for A, to 1, for B; one half is a tie."""
    return _soft(annotations.with_columns(model_a="model_A", model_b="model_B"), 1 - number("preference"))


def _soft(votes: pl.LazyFrame, score: pl.Expr) -> pl.LazyFrame:
    """Add the score of the first competitor; where the tool has a verdict for "equal", one half is a tie."""
    return votes.with_columns(score=score).with_columns(winner=pl.when(pl.col("score") == 0.5).then(pl.lit("tie")))


def judge_arena_battles(battles: pl.LazyFrame) -> pl.LazyFrame:
    """Name the judge; people, whom the records do not distinguish, are one annotator."""
    return battles.with_columns(judge_model=pl.coalesce("judge_model", "source"))


def orq_arena(rounds: pl.LazyFrame) -> pl.LazyFrame:
    """Read the jury's decisions; rounds without a quorum, and void ones, do not count."""
    return rounds.with_columns(winner=_of_side(pl.col("majority_verdict")), prompt="prompt_hash")


def orq_arena_judges(rounds: pl.LazyFrame) -> pl.LazyFrame:
    """Write a vote for every judge; one that decides otherwise when the sides are swapped abstains."""
    votes = rounds.with_columns(vote=nested(rounds, "judge_votes", JURY)).explode("vote")
    told = pl.col("vote").struct
    voted = votes.with_columns(judge=told.field("model"), winner=_of_side(told.field("vote")), prompt="prompt_hash")
    return voted.drop("vote")


def _of_side(verdict: pl.Expr) -> pl.Expr:
    return verdict.replace_strict({"A": "model_a", "B": "model_b", "tie": "tie"}, default=None, return_dtype=pl.String)


def has_criteria(names: Collection[str]) -> bool:
    """Whether there are columns of winners by criterion."""
    return any(name.endswith(CRITERION) for name in names)


def criteria(votes: pl.LazyFrame) -> pl.LazyFrame:
    """Write a vote for every criterion that has a winner; the row, a comparison, is the item."""
    names = votes.collect_schema().names()
    if not has_criteria(names):
        raise ColumnError(f"no column's name ends in {CRITERION!r}, of {printable(', '.join(names))}")
    votes = votes if ITEM in names else votes.with_row_index(ITEM)
    winners = [name for name in names if name.endswith(CRITERION)]
    others = [name for name in votes.collect_schema().names() if name not in (*winners, "winner")]
    judged = votes.unpivot(winners, index=others, variable_name="criterion", value_name="winner")
    return judged.with_columns(pl.col("criterion").str.strip_suffix(CRITERION))
