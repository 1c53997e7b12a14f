"""Tables kept by hand: counts of wins, a pair in one cell, a column for each annotator, two scores and no winner."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection
from itertools import product

import polars as pl

from bayes_arena.errors import listing
from bayes_arena.votes.layouts.columns import COUNTED, ONE_HOT, PAIRS, WINNERS, spellings
from bayes_arena.votes.layouts.layout import number
from bayes_arena.votes.names import ITEM

PAIR_CELLS = ("cmp_key", "pair", "model_pair", "matchup")
"""Columns whose cells name both competitors."""
BETWEEN = (" vs. ", " vs ", "_vs_", "-vs-", "|", ",", ";", "/", ":", "__", "_", " - ", "-")
"""Possible separators of two names."""
OF_ONE = re.compile(r"(annotator|rater|judge|worker|labell?er|expert|reviewer)[ _-]?(\d+|[a-z])", re.IGNORECASE)
"""A column with the verdicts of one annotator."""
VERDICTS = {*WINNERS, *ONE_HOT.values(), *COUNTED.values(), "score", "preference"}
MARGIN = "margin"
"""Column of how far the first score is above the second."""
TIMES = ("n", "count", "counts", "times", "wins")
"""Names of the column that counts the wins of a winner over a loser."""
SIDES = (("a", "b"), ("1", "2"), ("home", "away"), ("left", "right"))
POINTS = ("score", "scores", "goals", "points")
SPELLED = ("{side}_{points}", "{points}_{side}", "{points}{side}", "model_{side}_{points}", "team_{side}_{points}")


def has_times(names: Collection[str]) -> bool:
    """Whether there is a column of counts."""
    return bool(set(TIMES).intersection(names))


def win_counts(wins: pl.LazyFrame) -> pl.LazyFrame:
    """Write a row for every winner and loser as a vote that weighs as much as there were wins."""
    times, *others = [name for name in wins.collect_schema().names() if name in TIMES]
    if others:
        named = f"layout='winner-loser', weight={times!r} (--layout winner-loser --weight {times})"
        raise ValueError(f"any of {listing((times, *others))} may be the count of wins; name one with {named}")
    return wins.with_columns(model_a="winner", model_b="loser", weight=times, winner=pl.lit("model_a"))


def win_matrix(wins: pl.LazyFrame) -> pl.LazyFrame:
    """Write a square table, a row for every winner and a column for every loser, as votes; the diagonal is ignored."""
    winner, *losers = wins.collect_schema().names()
    counts = wins.select(number(name) for name in losers).unpivot().select("value").drop_nulls().collect().to_series()
    if (counts <= 1).all() and (counts * 2 % 1 != 0).any():
        raise ValueError("its numbers are shares of wins, not counts")
    pairs = wins.unpivot(losers, index=winner, variable_name="model_b", value_name="weight")
    pairs = pairs.rename({winner: "model_a"}).with_columns(pl.col("model_a").cast(pl.String), winner=pl.lit("model_a"))
    return pairs.filter(pl.col("model_a") != pl.col("model_b"))


def has_pair_cell(names: Collection[str]) -> bool:
    """Whether one column alone names both competitors."""
    return not _pair(names) and len(_pair_cells(names)) == 1


def has_annotator_columns(names: Collection[str]) -> bool:
    """Whether several annotators have a column each, beside a pair but no winner."""
    return len(_annotator_columns(names)) > 1 and _names_pairs_alone(names)


def has_two_scores(names: Collection[str]) -> bool:
    """Whether both competitors have a score, beside a pair but no winner."""
    return _score_columns(names) is not None and _names_pairs_alone(names)


def pair_cell(votes: pl.LazyFrame) -> pl.LazyFrame:
    """Name the competitors, from two columns or from a cell that names both.

    The separator occurs once in every cell; if several do, it is the one that gives the fewest different names.
    """
    names = votes.collect_schema().names()
    if pair := _pair(names):
        return votes.with_columns(model_a=pair[0], model_b=pair[1])
    (cell,) = _pair_cells(names)
    text = pl.col(cell).cast(pl.String)
    cells = votes.select(text.unique()).collect().to_series().drop_nulls().to_list()
    found: dict[int, list[str]] = defaultdict(list)
    for between in BETWEEN:
        halves = [each.split(between) for each in cells]
        if all(len(each) == 2 and all(each) for each in halves):
            found[len({name for each in halves for name in each})].append(between)
    separators = found[min(found)] if found else []
    if len(separators) != 1:
        which = f"any of {separators} may separate" if separators else "nothing separates"
        raise ValueError(f"{which} the two names in {cell!r}, such as {min(cells, default='')!r}")
    parts = text.str.split(separators[0])
    return votes.with_columns(model_a=parts.list.get(0), model_b=parts.list.get(1))


def annotator_columns(items: pl.LazyFrame) -> pl.LazyFrame:
    """Write a vote for every annotator's column of a row; the row is the item."""
    columns = _annotator_columns(items.collect_schema().names())
    named = pair_cell(items).with_columns(pl.col(columns).cast(pl.String))
    if ITEM not in named.collect_schema().names():
        named = named.with_row_index(ITEM)
    others = [name for name in named.collect_schema().names() if name not in columns]
    return named.unpivot(columns, index=others, variable_name="judge", value_name="winner")


def two_scores(games: pl.LazyFrame) -> pl.LazyFrame:
    """Write the higher of two scores as the winner, equal ones as a tie; what is not a number is kept as it is.

    The margin is kept, to be cut into grades.
    """
    columns = _score_columns(games.collect_schema().names())
    assert columns is not None
    a, b = (number(column) for column in columns)
    verdict = (
        pl.when(a > b).then(pl.lit("model_a")).when(a < b).then(pl.lit("model_b")).when(a == b).then(pl.lit("tie"))
    )
    as_written = pl.concat_str([pl.col(column).cast(pl.String) for column in columns], separator=" to ")
    unreadable = (a.is_nan() | b.is_nan()).fill_null(False)
    winner = pl.when(unreadable).then(as_written).otherwise(verdict)
    return pair_cell(games).with_columns(winner=winner, **{MARGIN: (a - b).fill_nan(None)})


def names_pair(names: Collection[str]) -> bool:
    """Whether two columns, or the cells of one, name a pair."""
    return has_pair_cell(names) or bool(_pair(names))


def _names_pairs_alone(names: Collection[str]) -> bool:
    """Whether columns name a pair, and none names its winner."""
    return names_pair(names) and spellings(names).keys().isdisjoint(VERDICTS)


def _pair(names: Collection[str]) -> tuple[str, ...]:
    """Return the two columns of competitors; none unless exactly one pair of columns is recognised."""
    spelling = spellings(names)
    found = [pair for pair in PAIRS if set(pair) <= spelling.keys()]
    return tuple(spelling[name] for name in found[0]) if len(found) == 1 else ()


def _pair_cells(names: Collection[str]) -> list[str]:
    return [name for name in names if name.casefold() in PAIR_CELLS]


def _annotator_columns(names: Collection[str]) -> list[str]:
    """Return the columns of single annotators, whose names share a prefix."""
    alike: dict[str, list[str]] = defaultdict(list)
    for name in names:
        if match := OF_ONE.fullmatch(name):
            alike[match[1].casefold()].append(name)
    return max(alike.values(), key=len, default=[])


def _score_columns(names: Collection[str]) -> tuple[str, str] | None:
    """Return the columns of both competitors' scores; None unless exactly one pair is recognised."""
    folded = {name.casefold(): name for name in names}
    spelled = (
        tuple(form.format(side=side, points=points) for side in sides)
        for form, points, sides in product(SPELLED, POINTS, SIDES)
    )
    found = [(folded[a], folded[b]) for a, b in spelled if a in folded and b in folded]
    return found[0] if len(found) == 1 else None
