"""Tables that are not one vote a row: pairs in a cell, scores, raters, rankings, matrices.

A ranking of k gives k (k - 1) / 2 pairs, which are not independent.  If all competitors
are equally strong, and g_i of the k have the rank of the i-th, pairs that weigh

    w = 3 sum_i (k - g_i) / sum_i (k^2 - g_i^2)

each have the information of the ranking: 1 for a pair, 3 / (k + 1) without ties.
(Godambe, 1960, Ann. Math. Statist. 31; Kendall, 1945, Biometrika 33.)
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Sequence
from typing import Any

import polars as pl

from bayes_arena.errors import VotesError, listing, shortened
from bayes_arena.votes.labels import UNPLAYED_MARKS, UNPLAYED_WORDS
from bayes_arena.votes.options import Options

# What may stand between two names in one cell, the longest first.
BETWEEN = (
    " vs. ", " vs ", " v ", "_vs_", "-vs-", "__vs__", " versus ", "|", ";", " - ", " / ", ",",
    "/", ":", "__", "\t", " & ", " and ", "_", "-",
)  # fmt: skip
COLUMNS_OF_PAIRS = ("a", "b")
CANDIDATE = "prompt?"  # begins the names of columns that may hold the prompts
BY_ROW = (
    f"{CANDIDATE}row"  # the record, the prompt of its verdicts if no other is known
)


def split_pairs(table: pl.DataFrame) -> pl.DataFrame:
    """Replace the cells that name both competitors by two columns."""
    if "pair" not in table.columns:
        return table
    cells = table["pair"].cast(pl.String).str.strip_chars()
    kinds = cells.drop_nulls().unique(maintain_order=True).to_list()
    kinds = [cell for cell in kinds if cell]
    if not kinds:
        return table.drop("pair").with_columns(a=cells, b=cells)
    known = (
        table["winner"].cast(pl.String).drop_nulls().unique().to_list()
        if "winner" in table.columns
        else []
    )
    halves = (
        halves_of_objects(kinds)
        or halves_by_separator(kinds)
        or halves_by_name(kinds, known)
    )
    if halves is None:
        raise VotesError(
            f"Nothing divides the cell {shortened(repr(kinds[0]))} into two names. Write them "
            "in two columns, and name these with a= and b=."
        )
    parts = {
        side: cells.replace_strict(
            kinds,
            [half[k] for half in halves],
            default=None,
            return_dtype=pl.String,
        )
        for k, side in enumerate(COLUMNS_OF_PAIRS)
    }
    return table.drop("pair").with_columns(**parts)


def halves_of_objects(cells: Sequence[str]) -> list[tuple[str, str]] | None:
    """Return the names in cells that are JSON: a list of two, or an object with two."""
    halves = []
    for cell in cells:
        try:
            value = json.loads(cell) if cell[:1] in "{[" else None
        except (ValueError, RecursionError):
            return None
        values = list(value.values()) if isinstance(value, dict) else value
        if not isinstance(values, list) or len(values) != 2:
            return None
        halves.append((as_name(values[0]), as_name(values[1])))
    return halves or None


def as_name(value: Any) -> str:
    """Return a name in JSON as text."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def halves_by_separator(cells: Sequence[str]) -> list[tuple[str, str]] | None:
    """Return the names at the separator that divides every cell into the fewest names."""
    best: list[tuple[str, str]] | None = None
    for separator in BETWEEN:
        halves = [divided(cell, separator) for cell in cells]
        if all(halves):
            names = [half for half in halves if half]
            if best is None or n_names(names) < n_names(best):
                best = names
    return best


def divided(cell: str, separator: str) -> tuple[str, str] | None:
    """Return the two names that a separator divides, without quotes and brackets."""
    parts = [part.strip(" \t()[]'\"") for part in cell.split(separator)]
    return (parts[0], parts[1]) if len(parts) == 2 and all(parts) else None


def n_names(halves: Collection[tuple[str, str]]) -> int:
    """Return the number of different names in pairs."""
    return len({name for half in halves for name in half})


def halves_by_name(
    cells: Sequence[str], known: Sequence[str]
) -> list[tuple[str, str]] | None:
    """Return the names in cells that begin with one known name and end with another."""
    halves = []
    for cell in cells:
        starts = [name for name in known if name and cell.startswith(name)]
        ends = [name for name in known if name and cell.endswith(name)]
        fits = [(x, y) for x in starts for y in ends if len(x) + len(y) < len(cell)]
        if not fits:
            return None
        halves.append(max(fits, key=lambda pair: len(pair[0]) + len(pair[1])))
    return halves or None


def number(name: str) -> pl.Expr:
    """Return a column as numbers: null if there is none, NaN if it is something else."""
    text = pl.col(name).cast(pl.String).str.strip_chars().str.to_lowercase()
    text = text.replace({"true": "1", "false": "0"})
    is_missing = text.is_in([*UNPLAYED_MARKS, *UNPLAYED_WORDS, "n/a"])
    return pl.when(~is_missing).then(
        text.cast(pl.Float64, strict=False).fill_null(float("nan"))
    )


def one_hot(table: pl.DataFrame, options: Options, remarks: list[str]) -> pl.DataFrame:
    """Write the column with a 1 as the label."""
    hot = {"hot_a": "model_a", "hot_b": "model_b", "hot_tie": "tie"}
    table = table.rename({"ties": "hot_tie"})
    is_one = [(number(name) == 1).fill_null(False) for name in hot]
    label = pl.coalesce(
        *(
            pl.when(one).then(pl.lit(word))
            for one, word in zip(is_one, hot.values(), strict=True)
        )
    )
    written = pl.concat_str(
        [pl.col(name).cast(pl.String) for name in hot], separator=", "
    )
    is_vote = pl.sum_horizontal(is_one) == 1
    return table.with_columns(
        winner=pl.when(is_vote).then(label).otherwise(written)
    ).drop(*hot)


def two_scores(
    table: pl.DataFrame, options: Options, remarks: list[str]
) -> pl.DataFrame:
    """Write the higher of two scores as the winner; without scores there was no game."""
    a, b = number("score_a"), number("score_b")
    winner = (
        pl.when(a.is_null() | b.is_null())
        .then(pl.lit("-"))
        .when(a.is_nan() | b.is_nan())
        .then(pl.format("{} to {}", pl.col("score_a"), pl.col("score_b")))
        .when(a > b)
        .then(pl.lit("model_a"))
        .when(a < b)
        .then(pl.lit("model_b"))
        .otherwise(pl.lit("tie"))
    )
    return table.with_columns(winner=winner).drop("score_a", "score_b")


def raters(table: pl.DataFrame, options: Options, remarks: list[str]) -> pl.DataFrame:
    """Write a vote for each annotator's column of a row."""
    columns = {
        name: name[len("rater:") :]
        for name in table.columns
        if name.startswith("rater:")
    }
    texts = table.drop("annotator", strict=False).with_columns(
        pl.col(*columns).cast(pl.String), pl.col("row").cast(pl.String).alias(BY_ROW)
    )
    others = [name for name in texts.columns if name not in columns]
    votes = texts.unpivot(
        list(columns), index=others, variable_name="annotator", value_name="winner"
    )
    return votes.with_columns(pl.col("annotator").replace(columns))


def rankings(table: pl.DataFrame, options: Options, remarks: list[str]) -> pl.DataFrame:
    """Write the pairs of rankings that have a row for each competitor."""
    ranking = pl.col("ranking").cast(pl.String).fill_null("")
    if "annotator" in table.columns:  # rankings of one name by two annotators are two
        ranking = ranking + "\n" + pl.col("annotator").cast(pl.String).fill_null("")
    table = table.with_columns(ranking=ranking, a=pl.col("a").cast(pl.String))
    rest = table.drop("a", "rank").unique("ranking", keep="first", maintain_order=True)
    return pairs_of_ranks(table.select("ranking", "rank", "a"), rest, options, remarks)


def rank_columns(
    table: pl.DataFrame, options: Options, remarks: list[str]
) -> pl.DataFrame:
    """Write the pairs of rankings that have a column for each competitor."""
    columns = {
        name: name[len("rank:") :] for name in table.columns if name.startswith("rank:")
    }
    table = table.with_columns(
        pl.col(*columns).cast(pl.String), ranking=pl.col("row").cast(pl.String)
    )
    ranks = table.unpivot(
        list(columns), index="ranking", variable_name="a", value_name="rank"
    )
    ranks = ranks.with_columns(pl.col("a").replace(columns))
    return pairs_of_ranks(ranks, table.drop(*columns), options, remarks)


def pairs_of_ranks(
    ranks: pl.DataFrame, rest: pl.DataFrame, options: Options, remarks: list[str]
) -> pl.DataFrame:
    """Return the weighted pairs of each ranking, won by the lower rank.

    A competitor with no rank, or a rank of 0 or below, was not ranked: it is left out, or
    stands last with ``outcomes={"unranked": "last"}``.
    """
    value = number("rank")
    wrong = ranks.filter(value.is_nan())["rank"].unique(maintain_order=True)
    if len(wrong):
        raise VotesError(
            f"These are no ranks: {listing(map(repr, wrong))}. Ranks are numbers, 1 is best."
        )
    ranks = ranks.with_columns(value=value).with_columns(
        pl.when(pl.col("value") > 0).then("value")
    )
    n_unranked = ranks["value"].null_count()
    is_last = (options.outcomes or {}).get("unranked") == "last"
    if n_unranked and is_last:
        remarks.append(
            f"{n_unranked} competitors without a rank were counted last in their rankings."
        )
        ranks = ranks.with_columns(pl.col("value").fill_null(float("inf")))
    elif n_unranked:
        remarks.append(
            f"{n_unranked} competitors without a rank (empty, or 0 or below) were left out of "
            "their rankings; outcomes={'unranked': 'last'} counts them last."
        )
    ranks = ranks.drop_nulls("value")
    twice = ranks.filter(pl.struct("ranking", "a").is_duplicated())
    if len(twice):
        name, ranking = twice["a"][0], twice["ranking"][0]
        raise VotesError(
            f"{name!r} has several ranks in the ranking {ranking!r}. Keep one."
        )
    k = pl.len().over("ranking").cast(pl.Float64)
    g = pl.len().over("ranking", "value").cast(pl.Float64)
    weight = 3 * (k - g).sum().over("ranking") / (k**2 - g**2).sum().over("ranking")
    weighed = ranks.with_columns(
        pair_weight=pl.when(g < k).then(weight).otherwise(2 / k)
    )
    other = ranks.select("ranking", b="a", value_b="value")
    pairs = weighed.join(other, on="ranking").filter(pl.col("a") < pl.col("b"))
    margin = pl.col("value_b") - pl.col("value")
    label = (
        pl.when(margin > 0)
        .then(pl.lit("model_a"))
        .when(margin < 0)
        .then(pl.lit("model_b"))
    )
    pairs = pairs.select(
        "ranking", "a", "b", "pair_weight", winner=label.otherwise(pl.lit("tie"))
    )
    return weighed_by(pairs.join(rest, on="ranking", how="left").drop("ranking"))


def weighed_by(votes: pl.DataFrame) -> pl.DataFrame:
    """Multiply the weights that the user names with those of the pairs."""
    weight = pl.col("pair_weight")
    if "weight" in votes.columns:
        weight = weight * number("weight")
    return votes.with_columns(weight=weight).drop("pair_weight")


def win_matrix(
    table: pl.DataFrame, options: Options, remarks: list[str]
) -> pl.DataFrame:
    """Write how often each competitor of a row beat that of a column; the diagonal is void."""
    columns = {
        name: name[len("loser:") :]
        for name in table.columns
        if name.startswith("loser:")
    }
    texts = table.with_columns(pl.col(*columns).cast(pl.String))
    others = [name for name in texts.columns if name not in columns]
    wins = texts.unpivot(
        list(columns), index=others, variable_name="b", value_name="wins"
    )
    wins = wins.with_columns(pl.col("b").replace(columns), pl.col("a").cast(pl.String))
    wins = wins.with_columns(pair_weight=number("wins"))
    wrong = wins.filter(pl.col("pair_weight").is_nan())["wins"].unique(
        maintain_order=True
    )
    if len(wrong):
        raise VotesError(f"These are no numbers of wins: {listing(map(repr, wrong))}.")
    wins = wins.filter(pl.col("a").str.strip_chars() != pl.col("b").str.strip_chars())
    wins = wins.filter(pl.col("pair_weight") != 0)
    counts = wins["pair_weight"]
    if len(counts) and counts.max() <= 1 and (counts % 1 != 0).any():  # type: ignore[operator]
        raise VotesError(
            "The table holds shares of wins, not numbers of wins. Read the votes themselves."
        )
    return weighed_by(wins.drop("wins"))


def is_square(names: Sequence[str], first: Callable[[], Sequence[Any]]) -> bool:
    """Whether the first column of a table holds the names of all others."""
    if len(names) < 3:
        return False
    rows = [str(value).strip() for value in first()]
    return sorted(rows) == sorted(name.strip() for name in names[1:])
