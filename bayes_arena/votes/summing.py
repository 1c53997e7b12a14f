"""Votes summed to cells: the same bits whatever the order of the votes, their chunking and the engine."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl

from bayes_arena.arrays import Floats, Ints, sum_by
from bayes_arena.votes.cells import OUTCOMES, Cells


def build_cells(groups: pl.DataFrame, *, dropped: Mapping[str, int], sided: bool) -> Cells:
    """Build cells from valid groups of votes.

    Parameters
    ----------
    groups : polars.DataFrame
        Columns ``a, b`` (text), ``outcome`` (index into ``OUTCOMES``), ``weight`` of one vote, ``n`` votes and,
        where known, ``annotator`` (text). Rows may repeat and come in any order.
    dropped : mapping of str to int
        Invalid votes left out, by problem.
    sided : bool
        Whether the votes say who was shown first.
    """
    competitors = pl.concat([groups["a"], groups["b"]]).unique().sort()
    codes = {"a": competitors, "b": competitors}
    annotators = pl.Series(dtype=pl.String)
    if "annotator" in groups.columns:
        annotators = groups["annotator"].unique().sort()
        codes["annotator"] = annotators
    else:
        groups = groups.with_columns(annotator=pl.lit(0))
    coded = groups.select(
        *(pl.col(name).cast(pl.Enum(names)).to_physical().cast(pl.Int64) for name, names in codes.items()),
        *(["annotator"] if "annotator" not in codes else []),
        "outcome",
        "weight",
        "n",
    )
    names = competitors.to_list(), annotators.to_list()
    return sum_cells(coded, *names, dropped=dropped, sided=sided)


def sum_cells(
    coded: pl.DataFrame,
    competitors: Sequence[str],
    annotators: Sequence[str],
    *,
    dropped: Mapping[str, int],
    sided: bool,
) -> Cells:
    """Build cells from valid groups of votes whose names are numbers.

    Parameters
    ----------
    coded : polars.DataFrame
        As for :func:`build_cells`, with ``a, b`` and ``annotator`` (0 where unknown) as index into the names.
    competitors, annotators : sequence of str
        All names that occur and no other, sorted.
    dropped : mapping of str to int
        Invalid votes left out, by problem.
    sided : bool
        Whether the votes say who was shown first.
    """
    coded = coded.with_columns(pl.col("a", "b", "annotator", "outcome").cast(pl.Int64)).sort("a", "b", "annotator")
    a, b, annotator = (coded[name].to_numpy() for name in ("a", "b", "annotator"))
    new = np.ones(len(a), dtype=bool)
    new[1:] = (np.diff(a) != 0) | (np.diff(b) != 0) | (np.diff(annotator) != 0)
    cell = np.cumsum(new) - 1
    votes = _on_grid(coded["weight"].to_numpy(), coded["n"].to_numpy()) * coded["n"].to_numpy()
    shape = (int(cell[-1]) + 1, len(OUTCOMES))
    counts = sum_by(cell * len(OUTCOMES) + coded["outcome"].to_numpy(), votes, math.prod(shape))
    return Cells(
        competitors=tuple(competitors),
        annotators=tuple(annotators),
        a=a[new],
        b=b[new],
        annotator=annotator[new],
        counts=counts.reshape(shape),
        dropped=dict(dropped),
        sided=sided,
    )


def _on_grid(weight: Floats, n: Ints) -> Floats:
    """Round weights so that every sum of them is exact, in whatever order it is taken.

    The grid is a power of two of at most 2^-49 of the total weight: half of it, or twice the total, are still within
    the 53 bits of a float. Whole weights stay as they are.
    """
    values, row = np.unique(weight, return_inverse=True)
    total = math.fsum(values * np.bincount(row, n))
    grid = 2.0 ** (math.frexp(total)[1] - 50)
    return np.asarray(np.round(weight / grid) * grid)
