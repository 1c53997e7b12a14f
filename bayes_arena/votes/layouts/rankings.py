"""Rankings of several competitors, as weighted pairs.

A ranking of k gives k (k - 1) / 2 pairs, and two pairs with a competitor in common are not independent. They weigh

    w = 3 / (k + 1)        each: 1 for a pair, .5 in a ranking of five, together less than 1.5 k votes,

and less where ranks are equal, as do the pairs of scores on one item
(:mod:`bayes_arena.votes.layouts.item_scores` says why). With ties as half wins, a share t of ties, in twos,
would give the weight 3 / (k + 1 - 3 t): for five-way rankings of WMT13, with ties in 19 % of pairs, .60 was measured
and .55 is expected. They get .45, which is right where a tie is an outcome. Clustered intervals need no weight: the
ranking is a slice.

The lowest rank is the best. A competitor without a rank, or with a negative one as WMT writes, was not ranked.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from itertools import count, takewhile

import polars as pl

from bayes_arena.errors import listing
from bayes_arena.votes.layouts.columns import ANNOTATORS, PAIRS
from bayes_arena.votes.layouts.item_scores import SYSTEMS, has_system, paired
from bayes_arena.votes.layouts.layout import number
from bayes_arena.votes.names import ITEM

RANKINGS = ("ranking", "ranking_id")
"""Names of the column of rankings, where every competitor ranked has a row; the first present is taken."""
RANK_OF = re.compile("rank_(.+)", re.IGNORECASE)
"""A column of the ranks of one competitor."""
WMT_ANNOTATOR = "judgeId"


def has_rankings(names: Collection[str]) -> bool:
    """Whether every competitor ranked has a row."""
    return bool(set(RANKINGS).intersection(names)) and has_system(names)


def has_rank_columns(names: Collection[str]) -> bool:
    """Whether every competitor ranked has a column, and nothing says that the columns mean something else."""
    named = {name for pair in PAIRS for name in pair} | {"rank", *SYSTEMS}
    return len(_rank_columns(names)) > 2 and named.isdisjoint(names)


def rankings(rows: pl.LazyFrame) -> pl.LazyFrame:
    """Read rankings with a row per competitor; the other columns of a ranking are read from its first row.

    Rankings of the same name by different annotators are different rankings.
    """
    names = rows.collect_schema().names()
    ranking = next(name for name in RANKINGS if name in names)
    system = next(name for name in SYSTEMS if name in names)
    said = [ranking, *(name for name in ANNOTATORS if name in names)]
    several = rows.select(pl.struct(said).n_unique() > pl.col(ranking).n_unique()).collect().item()
    name = pl.concat_str(said if several else ranking, separator="/")
    named = rows.with_columns(ranking=name)
    ranks = named.select("ranking", "rank", system=system)
    return _pairs(ranks, named.drop("rank", system).unique("ranking", keep="first", maintain_order=True))


def wmt_rankings(rows: pl.LazyFrame) -> pl.LazyFrame:
    """Read rankings of WMT, one per row, with numbered columns of systems and ranks."""
    names = rows.collect_schema().names()
    numbered = rows.with_row_index("ranking").rename({WMT_ANNOTATOR: "judge"} if WMT_ANNOTATOR in names else {})
    places = takewhile(lambda n: f"system{n}Id" in names, count(1))
    ranks = [numbered.select("ranking", system=f"system{n}Id", rank=pl.col(f"system{n}rank")) for n in places]
    return _pairs(pl.concat(ranks), numbered.drop(name for name in names if re.fullmatch(r"system\d+(Id|rank)", name)))


def rank_columns(rows: pl.LazyFrame) -> pl.LazyFrame:
    """Read rankings, one per row, with a column per competitor."""
    columns = _rank_columns(rows.collect_schema().names())
    numbered = rows.with_row_index("ranking").with_columns(pl.col(list(columns)).cast(pl.String))
    ranks = numbered.unpivot(list(columns), index="ranking", variable_name="system", value_name="rank")
    return _pairs(ranks.with_columns(pl.col("system").replace(columns)), numbered.drop(columns))


def _rank_columns(names: Collection[str]) -> dict[str, str]:
    return {name: match[1] for name in names if (match := RANK_OF.fullmatch(name))}


def _pairs(ranks: pl.LazyFrame, said: pl.LazyFrame) -> pl.LazyFrame:
    """Write ranks as pairs, joined with the other columns of their ranking."""
    rank = number(pl.col("rank").cast(pl.String))
    ranked = ranks.filter(rank.is_nan() | (rank >= 0)).collect()
    if wrong := ranked.filter(rank.is_nan())["rank"].unique(maintain_order=True).to_list():
        raise ValueError(f"{listing(map(repr, wrong))} is not a rank")
    if ranked["system"].cast(pl.String).replace("", None).null_count():
        raise ValueError("a rank has no competitor")
    pairs = paired(ranked.lazy().select(item=pl.col("ranking").cast(pl.String), system="system", score=-rank)).collect()
    if not pairs.height:
        raise ValueError("no ranking has at least two competitors")
    text = said.with_columns(pl.col("ranking").cast(pl.String))
    return pairs.lazy().rename({ITEM: "ranking"}).drop("margin").join(text, on="ranking", how="left")
