"""What the page shows, part by part, all from one rating: it agrees with commands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayes_arena.arrays import Array, Floats
from bayes_arena.tables import Columns

type Row = dict[str, Any]

MOST_ANNOTATORS = 25  # rows of the table of annotators
FEWEST_ANNOTATORS = 5  # the same, where fewer are odd
MOST_OPEN_PAIRS = 8  # pairs that are named


@dataclass(frozen=True, eq=False)
class Contents:
    """What the template shows.

    Rows are dictionaries; ``scores`` and ``rank_shares`` are (n, n) in the order of the
    ``ranked`` rows.
    """

    title: str
    header: tuple[str, ...]
    headline: str
    more: str
    notes: tuple[str, ...]
    level: float
    ranked: list[Row]
    unranked: list[Row]
    low: float
    high: float
    scores: Floats
    rank_shares: Floats
    n_pairs: int
    n_settled: int
    open_pairs: list[Row]
    about_annotators: str
    annotators_caption: str
    annotators: list[Row]
    least_agreement: float
    favourites: list[Row]
    contested: list[str]
    fitted: dict[str, str]
    observed: Mapping[str, Array]
    n_outside: int
    words: dict[str, str]


def rows_of(columns: Columns) -> list[Row]:
    """Return columns as one dictionary a row, of Python's own values."""
    names = list(columns)
    lists = [np.asarray(columns[name]).tolist() for name in names]
    return [
        dict(zip(names, values, strict=True)) for values in zip(*lists, strict=True)
    ]


def board_rows(
    columns: Columns, contested: Sequence[str]
) -> tuple[list[Row], list[Row]]:
    """Return the rows of the board that have a rank, and those that have none."""
    ranked: list[Row] = []
    unranked: list[Row] = []
    for row in rows_of(columns):
        has_rank = np.isfinite(row["rank"])
        has_estimate = np.isfinite(row["elo"])
        row["contested"] = row["competitor"] in contested
        row["may_be_best"] = has_rank and row["rank_lower"] == 1
        row["elo"] = row["elo"] if has_estimate else None
        for name in ("rank", "rank_lower", "rank_upper"):
            row[name] = int(row[name]) if has_rank else None
        (ranked if has_rank else unranked).append(row)
    return ranked, unranked


def axis_ends(rows: Sequence[Row]) -> tuple[float, float]:
    """Return the ends of all intervals."""
    estimated = [row for row in rows if row["elo"] is not None]
    low = min(row["lower"] for row in estimated)
    return low, max(row["upper"] for row in estimated)


def annotator_rows(columns: Columns) -> list[Row]:
    """Return the annotators to show: all that are odd, or the first few judged."""
    judged = [r for r in rows_of(columns) if r["verdict"] != "too few votes"]
    for row in judged:
        row["is_odd"] = row["verdict"] in ("anomalous", "has a favourite")
    n_odd = sum(row["verdict"] != "ordinary" for row in judged)
    return judged[: min(max(FEWEST_ANNOTATORS, n_odd), MOST_ANNOTATORS)]


def favourite_rows(columns: Columns) -> list[Row]:
    """Return the favourites, with scores in percent, a label and a sentence."""
    rows = [row for row in rows_of(columns) if row["flagged"]]
    for row in rows:
        row["observed"], row["expected"] = 100 * row["score"], 100 * row["expected"]
        sign = "" if row["direction"] == "for" else "against "
        row["label"] = f"{row['annotator']}: {sign}{row['competitor']}"
        row["sentence"] = (
            f"{row['annotator']} gave {row['competitor']} {row['observed']:.0f} % in "
            f"{row['votes']:,.0f} votes, where {row['expected']:.0f} % are expected."
        )
    return rows
