"""Tables that are not one vote a row: pairs in a cell, scores, raters, rankings, matrices.

A ranking of k gives k (k - 1) / 2 pairs, which are not independent.  If all competitors
are equally strong, and g_i of the k have the rank of the i-th, pairs that weigh

    w = 3 sum_i (k - g_i) / sum_i (k^2 - g_i^2)

each have the information of the ranking: 1 for a pair, 3 / (k + 1) without ties.
(Godambe, 1960, Ann. Math. Statist. 31; Kendall, 1945, Biometrika 33.)
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import polars as pl

from bayes_arena.errors import VotesError, listing, plural, shortened
from bayes_arena.reading.cells import names_in_cells, orders_in_cells
from bayes_arena.reading.labels import NOBODY_WON
from bayes_arena.reading.roles import RECORD, ROW, Roles, each_column, game_column
from bayes_arena.reading.values import number, number_in
from bayes_arena.said import Note, Said, Use

HOT = ("hot_a", "hot_b", "ties")
OF_PAIRS = ("a", "b", "pair", "choice", "order")  # columns that name competitors
# What the columns of a row are called as the other side sees it.
MIRRORED = {
    "a": "b", "b": "a", "wins_a": "wins_b", "wins_b": "wins_a", "score_a": "score_b",
    "score_b": "score_a", "ties": "ties",
}  # fmt: skip
UNRANKED = (  # said in place of a rank
    "dnf", "dns", "dnq", "dq", "dsq", "nc", "ret", "wd", "withdrawn", "retired",
    "disqualified", "not classified", "not ranked", "unranked", "absent",
)  # fmt: skip
MARGINS = ("total", "totals", "sum", "all", "overall", "grand total", "margin")
MARGINS_LEFT_OUT = Note(
    "left_out",
    "Left out of the matrix: rows and columns of totals, which are no competitors.",
)


@dataclass(frozen=True)
class Written:
    """A table with one vote a row, and what was noticed."""

    table: pl.DataFrame
    notes: tuple[Note, ...] = ()


def without_headers(table: pl.DataFrame, roles: Roles) -> Written:
    """Leave out rows that repeat the header, as files put one below the other have them.

    ``n`` is the number of rows where equal ones are counted.
    """
    columns = roles.columns()
    names = [name for name in OF_PAIRS if isinstance(columns.get(name), str)]
    texts = [name for name in names if holds_text(table, name)]
    if not texts or len(table.filter(pl.col(texts[0]) == str(columns[texts[0]]))) == 0:
        return Written(table)
    usual = [n for n in (*texts, *roles.results) if holds_text(table, n)]
    is_header = pl.all_horizontal(
        pl.col(name).cast(pl.String).str.strip_chars() == str(columns[name])
        for name in usual
    )
    headers = table.filter(is_header)
    if len(headers) in (0, len(table)):
        return Written(table)
    n = int(headers["n"].sum()) if "n" in table.columns else len(headers)
    said = f"Left out {plural(n, 'row')} that repeat the header."
    return Written(table.filter(~is_header), (Note("left_out", said),))


def without_mirrors(table: pl.DataFrame, roles: Roles) -> Written:
    """Count games once of which every row has its mirror: the same, as the other saw it.

    A mirror has the competitors and their results exchanged, and the same game or date.
    """
    names = [name for name in roles.results if name in MIRRORED]
    games = [game_column(place) for place in range(len(roles.games))]
    for game in games:
        keys = ["a", "b", *names, game]
        seen = table.select(keys)
        turned = seen.rename({name: MIRRORED.get(name, name) for name in keys})
        mirrors = seen.join(turned, on=keys, how="semi", nulls_equal=True)
        if len(table) > 1 and len(mirrors) == len(table):
            once = table.filter(
                pl.col("a").cast(pl.String) < pl.col("b").cast(pl.String)
            )
            said = (
                "Each game has two rows, one as each side has it, and is counted once."
            )
            return Written(once.drop(games), (Note("mirrors", said),))
    return Written(table.drop(games))


def holds_text(table: pl.DataFrame, name: str) -> bool:
    """Whether a table has a column of text of this name."""
    return name in table.columns and table[name].dtype in (pl.String, pl.Categorical)


def cells_of(table: pl.DataFrame, name: str) -> tuple[pl.DataFrame, list[str]]:
    """Return a table with cells as text without blanks at the ends, and the different ones."""
    table = table.with_columns(pl.col(name).cast(pl.String).str.strip_chars())
    kinds = table[name].drop_nulls().unique(maintain_order=True)
    return table, [cell for cell in kinds.to_list() if cell]


def winners_in(table: pl.DataFrame) -> set[str]:
    """Return the labels of the winners, if there are any."""
    if "winner" not in table.columns:
        return set()
    return set(table["winner"].cast(pl.String).drop_nulls().unique().to_list())


def split_pairs(table: pl.DataFrame) -> pl.DataFrame:
    """Replace the cells that name both competitors by two columns."""
    table, cells = cells_of(table, "pair")
    names = names_in_cells(cells, winners_in(table))
    for cell, several in zip(cells, names, strict=True):
        if len(several) > 2:
            text = f"The cell {shortened(repr(cell))} names {len(several)} competitors, not "
            raise VotesError((text, "two. If they are the options of a choice: "),
                             Use(layout="choices"))  # fmt: skip
    halves = {"pair": cells, "a": [n[0] for n in names], "b": [n[1] for n in names]}
    kinds = pl.DataFrame(halves, dict.fromkeys(halves, pl.String))
    return table.join(kinds, on="pair", how="left", maintain_order="left").drop("pair")


def choices(table: pl.DataFrame, roles: Roles, unranked_last: bool) -> Written:
    """Write that who was chosen of k beats each other, with a weight of 2 / k.

    A choice of k has the information of k - 1 such pairs.  Of two options a side may have been
    chosen; of more the winner is one of them, or nobody.
    """
    table, cells = cells_of(table, "choice")
    names = names_in_cells(cells, winners_in(table))
    options = pl.DataFrame(
        {"choice": cells, "b": names}, {"choice": pl.String, "b": pl.List(pl.String)}
    )
    winner = pl.col("winner").cast(pl.String).str.strip_chars()
    table = table.with_columns(winner=winner).join(options, on="choice", how="left")
    is_option = pl.col("b").list.contains(pl.col("winner")).fill_null(False)
    chosen = table.filter(is_option).with_columns(
        a=pl.col("winner"),
        winner=pl.lit("model_a"),
        pair_weight=2 / pl.col("b").list.len(),
    )
    chosen = chosen.explode("b").filter(pl.col("a") != pl.col("b"))
    label = label_of_no_option(winner)
    stray = table.filter(~is_option & (pl.col("b").list.len() > 2) & (label != "-"))
    if len(stray):
        labels = listing(map(repr, stray["winner"].unique(maintain_order=True)))
        raise VotesError(
            f"In {plural(len(stray), 'choice')} the winner is none of the options: {labels}. "
            "Correct it, or remove the row."
        )
    first, second = (pl.col("b").list.get(k, null_on_oob=True) for k in (0, 1))
    others = table.filter(~is_option).with_columns(
        a=first, b=second, winner=label, pair_weight=pl.lit(1.0)
    )
    both = pl.concat([chosen, others.select(chosen.columns)]).drop("choice")
    return Written(weighed_by(both))


def label_of_no_option(winner: pl.Expr) -> pl.Expr:
    """Return labels of choices: that nobody was chosen is no verdict."""
    words = winner.str.to_lowercase()
    return pl.when(words.is_in(list(NOBODY_WON))).then(pl.lit("-")).otherwise(winner)


def orders(table: pl.DataFrame, roles: Roles, unranked_last: bool) -> Written:
    """Write the pairs of rankings that are one cell each, the best first."""
    table, cells = cells_of(table, "order")
    table = table.with_columns(ranking=pl.col(ROW).cast(pl.String))
    places_in_cells = orders_in_cells(cells)
    if not places_in_cells:
        raise VotesError("The cells hold no orders, such as 'oak > elm > ash'.")
    places = [
        {"order": cell, "a": name, "rank": str(rank)}
        for cell, order in zip(cells, places_in_cells, strict=True)
        for rank, tied in enumerate(order, 1)
        for name in tied
    ]
    ranks = table.select("ranking", "order").join(pl.DataFrame(places), on="order")
    rest = table.drop("order")
    return pairs_of_ranks(ranks.select("ranking", "rank", "a"), rest, unranked_last)


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
    value = "score" if "score" in roles.results else "rank"
    rest = table.drop("a", value).unique("ranking", keep="first", maintain_order=True)
    return pairs_of_ranks(table.select("ranking", value, "a"), rest, unranked_last)


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

    A competitor with no rank, one of 0 or below, or DNF and the like was not ranked: it is
    left out, or stands last with ``outcomes={"unranked": "last"}``.  Of scores the highest
    is the first, and any number is one.
    """
    column = "score" if "score" in ranks.columns else "rank"
    ranks = ranks.with_columns(value=rank_value(column))
    wrong = ranks.filter(pl.col("value").is_nan())[column].unique(maintain_order=True)
    if len(wrong):
        raise VotesError(
            f"These are no ranks: {listing(map(repr, wrong))}. Ranks are numbers, 1 is best."
        )
    if column == "score":
        ranks = ranks.with_columns(-pl.col("value"))
    else:
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


def rank_value(column: str) -> pl.Expr:
    """Return ranks as numbers: ``2``, ``2nd``, ``T2`` or ``=2``; null for DNF and the like."""
    text = pl.col(column).cast(pl.String).str.strip_chars().str.to_lowercase()
    text = text.str.replace(r"^(?:t|=|j)?(\d+)(?:st|nd|rd|th|=)?$", "$1")
    value = number_in(text)
    return pl.when(~text.is_in(UNRANKED)).then(value)


def unranked_note(n_unranked: int, unranked_last: bool) -> Note:
    """Say how many competitors had no rank, and what became of them."""
    unranked = f"{plural(n_unranked, 'competitor')} without a rank"
    text: Said = f"Counted last in rankings: {unranked}."
    if not unranked_last:
        text = (
            f"Left out of rankings: {unranked} (empty, DNF, or 0 or below)",
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
    is_margin = pl.any_horizontal(
        pl.col("a", "b")
        .cast(pl.String)
        .str.strip_chars()
        .str.to_lowercase()
        .is_in(MARGINS)
    )
    margins, wins = wins.filter(is_margin), wins.filter(~is_margin)
    notes = (MARGINS_LEFT_OUT,) if len(margins) else ()
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
    return Written(weighed_by(wins.drop("wins")), notes)
