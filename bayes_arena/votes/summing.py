"""Votes summed into cells: bit for bit the same whatever the order of the votes, their chunking and the engine."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from bayes_arena.arrays import Floats, Ints, sum_by
from bayes_arena.threads import require_threads_of_polars
from bayes_arena.votes.cells import Cells, as_table
from bayes_arena.votes.names import FEATURE, SLICE
from bayes_arena.votes.outcomes import OF_COLUMN, OUTCOMES


def build_cells(groups: pl.DataFrame, *, dropped: Mapping[str, int], sided: bool) -> Cells:
    """Build cells from valid groups of votes.

    Parameters
    ----------
    groups : polars.DataFrame
        Columns ``a, b`` (text or categories), ``outcome`` (its index), ``weight`` of one vote, ``n``
        votes and, where known, ``annotator``, slices (likewise) and features (numbers). Rows may repeat and come in any
        order.
    dropped : mapping of str to int
        Invalid votes left out, by problem.
    sided : bool
        Whether the votes say who was shown first.
    """
    names, codes = dict[str, pl.Series](), dict[str, pl.Series]()
    others = [name for name in groups.columns if name == "annotator" or name.startswith(SLICE)]
    for together in (["a", "b"], *([name] for name in others)):
        found, *coded = _numbered([groups[name] for name in together])
        names |= dict.fromkeys(together, found)
        codes |= dict(zip(together, coded, strict=True))
    columns = [name for name in groups.columns if name.startswith(FEATURE) or name in ("outcome", "weight", "n")]
    nobody = [] if "annotator" in codes else [pl.lit(0, pl.Int32).alias("annotator")]
    return sum_cells(
        groups.select(*nobody, *columns).with_columns(**codes),
        names["a"].to_list(),
        names["annotator"].to_list() if "annotator" in names else [],
        {name.removeprefix(SLICE): found.to_list() for name, found in names.items() if name.startswith(SLICE)},
        dropped=dropped,
        sided=sided,
    )


def groups_of_counts(table: pl.DataFrame) -> pl.DataFrame:
    """Return a table of counts by name as groups of votes, without empty ones, for :func:`build_cells`."""
    counted = {name: outcome for name in table.columns if (outcome := OF_COLUMN.get(name)) is not None}
    outcomes = (
        table.select(
            pl.col("model_a").alias("a"),
            pl.col("model_b").alias("b"),
            pl.exclude("model_a", "model_b", *counted),
            outcome=pl.lit(outcome, pl.Int8),
            weight=pl.col(name).cast(pl.Float64),
        ).filter(pl.col("weight") > 0)
        for name, outcome in counted.items()
    )
    return pl.concat(outcomes).with_columns(n=pl.lit(1, pl.Int64))


def without(cells: Cells, columns: Sequence[str]) -> Cells:
    """Return cells summed over some of their columns, ``annotator`` or ``slice:prompt``."""
    groups = groups_of_counts(as_table(cells).drop(columns, strict=False))
    fewer = build_cells(groups, dropped=dict(cells.dropped), sided=cells.sided)
    programs = () if "annotator" in columns else cells.programs
    return replace(fewer, programs=programs, design_effect=cells.design_effect)


def _numbered(columns: Sequence[pl.Series]) -> list[pl.Series]:
    """Return the names in columns of text or categories, sorted, and each column as indices into them."""
    columns = [column.cast(pl.Categorical) for column in columns]
    different = pl.concat([column.unique() for column in columns]).unique()
    names = different.cast(pl.String)
    order = names.arg_sort()
    categories = different.to_physical().gather(order).to_numpy()
    place = np.empty(int(categories.max()) + 1, dtype=np.int32)
    place[categories] = np.arange(len(names), dtype=np.int32)
    return [names.gather(order), *(pl.Series(place[column.to_physical().to_numpy()]) for column in columns)]


def sum_cells(
    coded: pl.DataFrame,
    competitors: Sequence[str],
    annotators: Sequence[str],
    slice_names: Mapping[str, Sequence[str]],
    *,
    dropped: Mapping[str, int],
    sided: bool,
) -> Cells:
    """Build cells from valid groups of votes whose names are coded as integers.

    Parameters
    ----------
    coded : polars.DataFrame
        As for :func:`build_cells`, with ``a, b, annotator`` (0 where unknown) and slices as indices into the names.
    competitors, annotators : sequence of str
        Exactly the names that occur, sorted.
    slice_names : mapping of str to sequence of str
        The same for every slice.
    dropped : mapping of str to int
        Invalid votes left out, by problem.
    sided : bool
        Whether the votes say who was shown first.
    """
    require_threads_of_polars()
    slices = sorted(slice_names)
    features = sorted(name.removeprefix(FEATURE) for name in coded.columns if name.startswith(FEATURE))
    sizes = {"a": len(competitors), "b": len(competitors), "annotator": max(len(annotators), 1)}
    sizes |= {SLICE + name: len(slice_names[name]) for name in slices}
    packed = _packing(sizes)
    keys = {f"key {place}": _pack(names) for place, names in enumerate(packed)}
    keys |= {FEATURE + name: pl.col(FEATURE + name) for name in features}
    columns, counts = _summed(coded.select("outcome", pl.Series("votes", _votes_on_grid(coded)), **keys).sort(*keys))
    for key, names in zip(keys, packed, strict=False):
        columns |= _unpack(columns.pop(key), names)
    return Cells(
        competitors=tuple(competitors),
        annotators=tuple(annotators),
        a=columns["a"],
        b=columns["b"],
        annotator=columns["annotator"],
        counts=counts,
        dropped=dict(dropped),
        sided=sided,
        features={name: columns[FEATURE + name] for name in features},
        slices={name: columns[SLICE + name] for name in slices},
        slice_names={name: tuple(slice_names[name]) for name in slices},
    )


def _summed(sorted_votes: pl.DataFrame) -> tuple[dict[str, NDArray[Any]], Floats]:
    """Sum votes sorted by their keys: return the keys of every cell, and its counts, shape (n_cells, K).

    There are as many grades as the highest that occurs.
    """
    keys = sorted_votes.drop("outcome", "votes")
    new = np.ones(keys.height, dtype=bool)
    new[1:] = np.logical_or.reduce([values[1:] != values[:-1] for values in map(np.asarray, keys)])
    place = np.cumsum(new) - 1
    outcome = sorted_votes["outcome"].to_numpy()
    highest = int(outcome.max(initial=0))
    shape = (int(place[-1]) + 1, max(len(OUTCOMES), highest + 1 + (highest + 1) % 2))
    place *= shape[1]
    place += outcome
    counts = sum_by(place, sorted_votes["votes"].to_numpy(), math.prod(shape))
    return {key.name: key.to_numpy()[new] for key in keys}, counts.reshape(shape)


def _packing(sizes: Mapping[str, int]) -> list[dict[str, int]]:
    """Pack columns of codes, in their order, into as few keys of 63 bits as possible: fewer keys sort faster.

    Parameters
    ----------
    sizes : mapping of str to int
        Number of codes in each column.
    """
    packed, width = list[dict[str, int]](), 2**63
    for name, size in sizes.items():
        width *= size
        if width >= 2**63:
            packed.append({})
            width = size
        packed[-1][name] = size
    return packed


def _pack(sizes: Mapping[str, int]) -> pl.Expr:
    """Return a key that sorts in the lexicographic order of the columns of codes."""
    key = pl.lit(0, pl.Int64)
    for name, size in sizes.items():
        key = key * size + pl.col(name).cast(pl.Int64)
    return key


def _unpack(key: Ints, sizes: Mapping[str, int]) -> dict[str, Ints]:
    """Return the codes that a key was packed from."""
    columns = {}
    for name, size in reversed(list(sizes.items())):
        key, columns[name] = np.divmod(key, size)
    return columns


def _votes_on_grid(coded: pl.DataFrame) -> Floats:
    """Return the votes of every row, with weights rounded so that every sum of them is exact, whatever the order.

    The grid is a power of two, at most 2^-49 of the total weight: half of it and twice the total are still within the
    53 bits of a float. Whole weights stay as they are.
    """
    total = math.fsum(coded.group_by("weight").agg(pl.sum("n")).select(pl.col("weight") * pl.col("n")).to_series())
    grid = 2.0 ** (math.frexp(total)[1] - 50)
    votes = np.round(coded["weight"].to_numpy() / grid)
    votes *= grid
    votes *= coded["n"].to_numpy()
    return votes
