"""Tables that are not one vote a row: pairs in a cell, scores, raters, rankings, matrices.

A ranking of k gives k (k - 1) / 2 pairs, which are not independent.  If all competitors
are equally strong, and g_i of the k have the rank of the i-th, pairs that weigh

    w = 3 sum_i (k - g_i) / sum_i (k^2 - g_i^2)

each have the information of the ranking: 1 for a pair, 3 / (k + 1) without ties.
(Godambe, 1960, Ann. Math. Statist. 31; Kendall, 1945, Biometrika 33.)
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import polars as pl

from bayes_arena.errors import VotesError, listing, plural, shortened
from bayes_arena.reading.roles import RECORD, ROW, Roles, each_column
from bayes_arena.reading.values import as_text, number, parsed
from bayes_arena.said import Note, Said, Use

# What may stand between two names in one cell, the longest first.
BETWEEN = (
    " vs. ", " vs ", " v ", "_vs_", "-vs-", "__vs__", " versus ", "|", ";", " - ", " / ", ",",
    "/", ":", "__", "\t", " & ", " and ", "_", "-",
)  # fmt: skip
HOT = ("hot_a", "hot_b", "ties")


@dataclass(frozen=True)
class Written:
    """A table with one vote a row, and what was noticed."""

    table: pl.DataFrame
    notes: tuple[Note, ...] = ()


def split_pairs(table: pl.DataFrame) -> pl.DataFrame:
    """Replace the cells that name both competitors by two columns."""
    cells = table["pair"].cast(pl.String).str.strip_chars()
    kinds = [cell for cell in cells.drop_nulls().unique(maintain_order=True) if cell]
    known: list[str] = []
    if "winner" in table.columns:
        known = table["winner"].cast(pl.String).drop_nulls().unique().to_list()
    halves = (
        halves_of_objects(kinds)
        or halves_by_separator(kinds)
        or halves_by_name(kinds, known)
    )
    if kinds and not halves:
        raise VotesError(
            (
                f"Nothing divides the cell {shortened(repr(kinds[0]))} into two names. "
                "Write them in two columns, and name these with ",
                Use("a"),
                " and ",
                Use("b"),
                ".",
            )
        )
    first = {cell: half[0] for cell, half in zip(kinds, halves, strict=True)}
    second = {cell: half[1] for cell, half in zip(kinds, halves, strict=True)}
    text = pl.String()
    return table.drop("pair").with_columns(
        a=cells.replace_strict(first, default=None, return_dtype=text),
        b=cells.replace_strict(second, default=None, return_dtype=text),
    )


def halves_of_objects(cells: Sequence[str]) -> list[tuple[str, str]]:
    """Return the names in cells that are JSON: a list of two, or an object with two."""
    halves = []
    for cell in cells:
        value = parsed(cell)
        values = list(value.values()) if isinstance(value, dict) else value
        if not isinstance(values, list) or len(values) != 2:
            return []
        first, second = (as_text(each) or "" for each in values)
        halves.append((first, second))
    return halves


def halves_by_separator(cells: Sequence[str]) -> list[tuple[str, str]]:
    """Return the names at the separator that divides every cell into the fewest names."""
    best: list[tuple[str, str]] = []
    for separator in BETWEEN:
        halves = [half for cell in cells if (half := divided(cell, separator))]
        if len(halves) == len(cells) and (not best or n_names(halves) < n_names(best)):
            best = halves
    return best


def divided(cell: str, separator: str) -> tuple[str, str] | None:
    """Return the two names that a separator divides, without quotes and brackets."""
    parts = [part.strip(" \t()[]'\"") for part in cell.split(separator)]
    return (parts[0], parts[1]) if len(parts) == 2 and all(parts) else None


def n_names(halves: Collection[tuple[str, str]]) -> int:
    """Return the number of different names in pairs."""
    return len({name for half in halves for name in half})


def halves_by_name(cells: Sequence[str], known: Sequence[str]) -> list[tuple[str, str]]:
    """Return the names in cells that begin with one known name and end with another."""
    halves = []
    for cell in cells:
        starts = [name for name in known if name and cell.startswith(name)]
        ends = [name for name in known if name and cell.endswith(name)]
        fits = [(x, y) for x in starts for y in ends if len(x) + len(y) < len(cell)]
        if not fits:
            return []
        halves.append(max(fits, key=lambda pair: len(pair[0]) + len(pair[1])))
    return halves


def one_hot(table: pl.DataFrame, roles: Roles, unranked_last: bool) -> Written:
    """Write the column with a 1 as the label; other rows hold no known label."""
    a, b, tie = [(number(name) == 1).fill_null(False) for name in HOT]
    is_vote = pl.sum_horizontal(a, b, tie) == 1
    cells = pl.concat_str(
        [pl.col(name).cast(pl.String) for name in HOT], separator=", "
    )
    winner = pl.when(is_vote).then(higher(a, b)).otherwise(cells)
    return Written(table.with_columns(winner=winner).drop(HOT))


def two_scores(table: pl.DataFrame, roles: Roles, unranked_last: bool) -> Written:
    """Write the higher of two scores as the winner; without scores there was no game."""
    a, b = number("score_a"), number("score_b")
    cells = pl.format("{} to {}", pl.col("score_a"), pl.col("score_b"))
    label = pl.when(a.is_nan() | b.is_nan()).then(cells).otherwise(higher(a, b))
    winner = pl.when(a.is_null() | b.is_null()).then(pl.lit("-")).otherwise(label)
    return Written(table.with_columns(winner=winner).drop("score_a", "score_b"))


def higher(a: pl.Expr, b: pl.Expr) -> pl.Expr:
    """Return the label of the competitor with the higher value."""
    label = pl.when(a > b).then(pl.lit("model_a")).when(a < b).then(pl.lit("model_b"))
    return label.otherwise(pl.lit("tie"))


def a_row_each(
    table: pl.DataFrame, each: Collection[str], name: str, value: str
) -> pl.DataFrame:
    """Write a row for the column of each competitor or annotator: their name, its text."""
    names = {each_column(place): who for place, who in enumerate(each)}
    others = [column for column in table.columns if column not in names]
    rows = table.with_columns(pl.col(*names).cast(pl.String)).unpivot(
        list(names), index=others, variable_name=name, value_name=value
    )
    return rows.with_columns(pl.col(name).replace(names))


def raters(table: pl.DataFrame, roles: Roles, unranked_last: bool) -> Written:
    """Write a vote for each annotator's column of a row."""
    record = pl.col(ROW).cast(pl.String).alias(RECORD)
    table = table.drop("annotator", strict=False).with_columns(record)
    return Written(a_row_each(table, roles.of_annotators, "annotator", "winner"))


def rankings(table: pl.DataFrame, roles: Roles, unranked_last: bool) -> Written:
    """Write the pairs of rankings that have a row for each competitor."""
    ranking = pl.col("ranking").cast(pl.String).fill_null("")
    if roles.annotator is not None:  # rankings of one name by two annotators are two
        ranking = ranking + "\n" + pl.col("annotator").cast(pl.String).fill_null("")
    table = table.with_columns(ranking=ranking, a=pl.col("a").cast(pl.String))
    rest = table.drop("a", "rank").unique("ranking", keep="first", maintain_order=True)
    return pairs_of_ranks(table.select("ranking", "rank", "a"), rest, unranked_last)


def rank_columns(table: pl.DataFrame, roles: Roles, unranked_last: bool) -> Written:
    """Write the pairs of rankings that have a column for each competitor."""
    table = table.with_columns(ranking=pl.col(ROW).cast(pl.String))
    columns = [each_column(place) for place in range(len(roles.of_competitors))]
    ranks = table.select("ranking", *columns)
    ranks = a_row_each(ranks, roles.of_competitors, "a", "rank")
    return pairs_of_ranks(ranks, table.drop(columns), unranked_last)


def pairs_of_ranks(
    ranks: pl.DataFrame, rest: pl.DataFrame, unranked_last: bool
) -> Written:
    """Return the weighted pairs of each ranking, won by the lower rank."""
    ranks, notes = ranks_with_value(ranks, unranked_last)
    k = pl.len().over("ranking").cast(pl.Float64)
    g = pl.len().over("ranking", "value").cast(pl.Float64)
    weight = 3 * (k - g).sum().over("ranking") / (k**2 - g**2).sum().over("ranking")
    weighed = ranks.with_columns(
        pair_weight=pl.when(g < k).then(weight).otherwise(2 / k)
    )
    other = ranks.select("ranking", b="a", value_b="value")
    pairs = weighed.join(other, on="ranking").filter(pl.col("a") < pl.col("b"))
    winner = higher(pl.col("value_b"), pl.col("value"))  # the lower rank is better
    pairs = pairs.select("ranking", "a", "b", "pair_weight", winner=winner)
    pairs = pairs.join(rest, on="ranking", how="left").drop("ranking")
    return Written(weighed_by(pairs), notes)


def ranks_with_value(
    ranks: pl.DataFrame, unranked_last: bool
) -> tuple[pl.DataFrame, tuple[Note, ...]]:
    """Return the competitors that have a rank, with its ``value``, and who has none.

    A competitor with no rank, or a rank of 0 or below, was not ranked: it is left out, or
    stands last with ``outcomes={"unranked": "last"}``.
    """
    ranks = ranks.with_columns(value=number("rank"))
    wrong = ranks.filter(pl.col("value").is_nan())["rank"].unique(maintain_order=True)
    if len(wrong):
        raise VotesError(
            f"These are no ranks: {listing(map(repr, wrong))}. Ranks are numbers, 1 is best."
        )
    ranks = ranks.with_columns(pl.when(pl.col("value") > 0).then("value"))
    n_unranked = ranks["value"].null_count()
    notes = (unranked_note(n_unranked, unranked_last),) if n_unranked else ()
    if unranked_last:
        ranks = ranks.with_columns(pl.col("value").fill_null(float("inf")))
    ranks = ranks.drop_nulls("value")
    twice = ranks.filter(pl.struct("ranking", "a").is_duplicated())
    if len(twice):
        name, ranking = twice["a"][0], twice["ranking"][0]
        raise VotesError(
            f"{name!r} has several ranks in the ranking {ranking!r}. Keep one."
        )
    return ranks, notes


def unranked_note(n_unranked: int, unranked_last: bool) -> Note:
    """Say how many competitors had no rank, and what became of them."""
    unranked = f"{plural(n_unranked, 'competitor')} without a rank"
    text: Said = f"Counted last in rankings: {unranked}."
    if not unranked_last:
        text = (
            f"Left out of rankings: {unranked} (empty, or 0 or below)",
            ("; ", Use(outcomes={"unranked": "last"}), " counts them last"),
            ".",
        )
    return Note("unranked", text)


def weighed_by(votes: pl.DataFrame) -> pl.DataFrame:
    """Multiply the weights that the user names with those of the pairs."""
    weight = pl.col("pair_weight")
    if "weight" in votes.columns:
        weight = weight * number("weight")
    return votes.with_columns(weight=weight).drop("pair_weight")


def win_matrix(table: pl.DataFrame, roles: Roles, unranked_last: bool) -> Written:
    """Write how often each competitor of a row beat that of a column; the diagonal is void."""
    wins = a_row_each(table, roles.of_competitors, "b", "wins")
    wins = wins.with_columns(pl.col("a").cast(pl.String), pair_weight=number("wins"))
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
    return Written(weighed_by(wins.drop("wins")))
