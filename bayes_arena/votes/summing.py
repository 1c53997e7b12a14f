"""Votes summed to cells: the same bits whatever the order of the votes, their chunking and the engine."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl

from bayes_arena.arrays import Floats, Ints, sum_by
from bayes_arena.votes.cells import OUTCOMES, Cells

SLICE, FEATURE = "slice:", "feature:"
"""How columns begin that hold slices and features; their names follow."""


def build_cells(groups: pl.DataFrame, *, dropped: Mapping[str, int], sided: bool) -> Cells:
    """Build cells from valid groups of votes.

    Parameters
    ----------
    groups : polars.DataFrame
        Columns ``a, b`` (text), ``outcome`` (index into ``OUTCOMES``), ``weight`` of one vote, ``n`` votes and,
        where known, ``annotator``, slices (text) and features (numbers). Rows may repeat and come in any order.
    dropped : mapping of str to int
        Invalid votes left out, by problem.
    sided : bool
        Whether the votes say who was shown first.
    """
    competitors = pl.concat([groups["a"], groups["b"]]).unique().sort()
    codes = {"a": competitors, "b": competitors}
    others = [name for name in groups.columns if name == "annotator" or name.startswith(SLICE)]
    codes |= {name: groups[name].unique().sort() for name in others}
    coded = groups.select(
        *(pl.col(name).cast(pl.Enum(names)).to_physical().cast(pl.Int64) for name, names in codes.items()),
        *([] if "annotator" in codes else [pl.lit(0, pl.Int64).alias("annotator")]),
        *(name for name in groups.columns if name.startswith(FEATURE)),
        "outcome",
        "weight",
        "n",
    )
    return sum_cells(
        coded,
        competitors.to_list(),
        codes["annotator"].to_list() if "annotator" in codes else [],
        {name.removeprefix(SLICE): names.to_list() for name, names in codes.items() if name.startswith(SLICE)},
        dropped=dropped,
        sided=sided,
    )


def sum_cells(
    coded: pl.DataFrame,
    competitors: Sequence[str],
    annotators: Sequence[str],
    slice_names: Mapping[str, Sequence[str]],
    *,
    dropped: Mapping[str, int],
    sided: bool,
) -> Cells:
    """Build cells from valid groups of votes whose names are numbers.

    Parameters
    ----------
    coded : polars.DataFrame
        As for :func:`build_cells`, with ``a, b, annotator`` (0 where unknown) and slices as index into the names.
    competitors, annotators : sequence of str
        All names that occur and no other, sorted.
    slice_names : mapping of str to sequence of str
        The same of every slice.
    dropped : mapping of str to int
        Invalid votes left out, by problem.
    sided : bool
        Whether the votes say who was shown first.
    """
    slices = sorted(slice_names)
    features = sorted(name.removeprefix(FEATURE) for name in coded.columns if name.startswith(FEATURE))
    sizes = {"a": len(competitors), "b": len(competitors), "annotator": max(len(annotators), 1)}
    sizes |= {SLICE + name: len(slice_names[name]) for name in slices}
    packed = _packing(sizes)
    keys = {f"key {place}": _pack(names) for place, names in enumerate(packed)}
    keys |= {FEATURE + name: pl.col(FEATURE + name) for name in features}
    coded = coded.select("weight", "n", pl.col("outcome").cast(pl.Int64), **keys).sort(*keys)
    new = np.ones(coded.height, dtype=bool)
    new[1:] = np.logical_or.reduce([values[1:] != values[:-1] for values in map(np.asarray, coded.select(*keys))])
    cell = np.cumsum(new) - 1
    shape = (int(cell[-1]) + 1, len(OUTCOMES))
    counts = sum_by(cell * len(OUTCOMES) + coded["outcome"].to_numpy(), _votes_on_grid(coded), math.prod(shape))
    columns = {name: coded[name].to_numpy()[new] for name in keys}
    for key, names in zip(keys, packed, strict=False):
        columns |= _unpack(columns[key], names)
    return Cells(
        competitors=tuple(competitors),
        annotators=tuple(annotators),
        a=columns["a"],
        b=columns["b"],
        annotator=columns["annotator"],
        counts=counts.reshape(shape),
        dropped=dict(dropped),
        sided=sided,
        features={name: columns[FEATURE + name] for name in features},
        slices={name: columns[SLICE + name] for name in slices},
        slice_names={name: tuple(slice_names[name]) for name in slices},
    )


def _packing(sizes: Mapping[str, int]) -> list[dict[str, int]]:
    """Put columns of codes together, one after the other, to as few keys as 63 bits allow: fewer are sorted sooner.

    Parameters
    ----------
    sizes : mapping of str to int
        By column, how many codes there are.
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
    """Return a key that sorts as columns of codes do one after the other."""
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
    """Return the votes of every row, with weights rounded so that every sum of them is exact, in whatever order.

    The grid is a power of two of at most 2^-49 of the total weight: half of it, or twice the total, are still within
    the 53 bits of a float. Whole weights stay as they are.
    """
    total = math.fsum(coded.group_by("weight").agg(pl.sum("n")).select(pl.col("weight") * pl.col("n")).to_series())
    grid = 2.0 ** (math.frexp(total)[1] - 50)
    return np.asarray(np.round(coded["weight"].to_numpy() / grid) * grid * coded["n"].to_numpy())
