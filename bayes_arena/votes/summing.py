"""Votes summed into cells, and cells merged: bit for bit the same whatever the order of votes and the engine."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from bayes_arena.arrays import Floats, Ints, sum_by
from bayes_arena.errors import NoVotesError, UnusedColumnWarning, VotesError, listing, warn
from bayes_arena.threads import require_threads_of_polars
from bayes_arena.votes.cells import Cells, as_table
from bayes_arena.votes.names import FEATURE, SLICE, TIME
from bayes_arena.votes.outcomes import OF_COLUMN, OUTCOMES
from bayes_arena.votes.periods import period_of


def build_cells(groups: pl.DataFrame, *, dropped: Mapping[str, int], sided: bool) -> Cells:
    """Build cells from valid groups of votes, in any order, repeated or not.

    ``groups`` has the columns ``a, b`` (text or categories), ``outcome`` (its index), ``weight`` of one vote, ``n``
    votes and, where known, ``annotator``, slices (likewise) and features (numbers).
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
    """Build cells from groups of votes as of :func:`build_cells`, whose names are coded as indices.

    ``annotator`` is 0 where unknown; the names are exactly those that occur, sorted.
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
    """Sum votes sorted by their keys: return those of every cell, and counts (n_cells, K) up to the highest grade."""
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
    """Pack columns of codes, of so many codes each, into as few keys of 63 bits as possible: fewer keys sort faster."""
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


def merge(*cells: Cells) -> Cells:
    """Merge cells, of partitions, months or sites for instance, into the cells of all their votes.

    Parameters
    ----------
    *cells : Cells
        Parts, all with or without annotators, all with or without sides, and with the same slices and features. Names
        have to match exactly. Times are merged if all parts have them, by the same periods.

    Returns
    -------
    Cells
        If weights are whole numbers, bit for bit what reading all votes at once gives, whatever the order of the parts.

    Warns
    -----
    UnusedColumnWarning
        If times are left out.

    Raises
    ------
    NoVotesError
        If there are no parts.
    VotesError
        If the parts differ in what they carry, or have importance weights, which are scaled to the votes that were
        read together.

    Examples
    --------
    >>> import bayes_arena as ba
    >>> cells = ba.read_votes(ba.example_arena().votes)
    >>> ba.merge(cells, cells).n_votes / cells.n_votes
    2.0
    """
    if not cells:
        raise NoVotesError("There are no cells to merge.")
    if len(cells) == 1:
        return cells[0]
    first, *_ = cells = _timed_alike(cells)
    for part in cells[1:]:
        if (known := _known(part)) != _known(first):
            raise VotesError(
                f"These cells cannot be merged: some have {_known(first)}; others {known}. Read all of them with the "
                "same options."
            )
    if any(part.design_effect != 1 for part in cells):
        raise VotesError(
            "Cells with importance weights cannot be merged: these are scaled to the votes that were read together. "
            "Read all votes at once."
        )
    groups = [groups_of_counts(as_table(part)) for part in cells]
    dropped = sum((Counter(part.dropped) for part in cells), Counter[str]())
    merged = build_cells(pl.concat(groups), dropped=dropped, sided=first.sided)
    return replace(merged, programs=tuple(sorted({name for part in cells for name in part.programs})))


def _timed_alike(cells: tuple[Cells, ...]) -> tuple[Cells, ...]:
    """Return cells without their times, and warn, unless all have them by the same periods."""
    kinds = {period_of(part.slice_names.get(TIME, ())) for part in cells}
    if len(kinds) == 1:
        return cells
    found = listing(sorted(f"by {kind}" if kind else "without any" for kind in kinds))
    warn(
        f"Times are left out, as they differ: {found}. Read all parts with the same period=... (--period), or silence "
        "this with time=False (--no-time).",
        UnusedColumnWarning,
    )
    return tuple(without(part, [SLICE + TIME]) for part in cells)


def _known(cells: Cells) -> str:
    return ", ".join(
        [
            "annotators" if cells.annotators else "no annotators",
            "known sides" if cells.sided else "unknown sides",
            f"slices {listing(sorted(cells.slices))}" if cells.slices else "no slices",
            f"features {listing(sorted(cells.features))}" if cells.features else "no features",
        ]
    )
