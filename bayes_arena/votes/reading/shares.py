"""Shares of a population, read from a table such as a census.

A row is a group, or a combination of groups: a column for each kind of group, and one with its ``share``, or with the
number of people (``count``, ``people`` or ``population``).
"""

from __future__ import annotations

import math

import polars as pl

from bayes_arena.errors import ColumnError, VotesError, listing
from bayes_arena.votes.sources.faults import readable
from bayes_arena.votes.sources.frames import open_source, to_polars

SHARE, COUNTS = "share", ("count", "people", "population")
ROUNDED = 0.005
"""Largest distance from 1 of a sum of shares that rounding explains."""


def read_shares(source: object) -> dict[str, dict[str, float]]:
    """Read the shares of groups in a population, by kind and group: those of a kind sum to one."""
    with readable(source):
        table = to_polars(open_source(source))
    found = [name for name in table.columns if name.strip().lower() in (SHARE, *COUNTS)]
    kinds = [name for name in table.columns if name not in found]
    if len(found) != 1 or not kinds:
        raise ColumnError(
            f"A population needs one column called 'share', or {listing(map(repr, COUNTS))}, and a column for each "
            f"kind of group; the table has {listing(map(repr, table.columns)) or 'none'}."
        )
    share = table[found[0]].cast(pl.Float64, strict=False)
    written = table[found[0]].cast(pl.String)
    bad = [f"{written[row]!r} (row {row})" for row, one in enumerate(share) if one is None or not 0 <= one < math.inf]
    if bad:
        raise VotesError(f"Shares of a population must be numbers of at least 0, not {listing(bad)}.")
    total = float(share.sum())
    if total <= 0 or (found[0].strip().lower() == SHARE and abs(total - 1) > ROUNDED):
        raise VotesError(f"The shares of a population sum to {total:.4g}, not to 1. Divide them by their sum.")
    shares = {}
    for kind in kinds:
        names = table[kind].cast(pl.String)
        if nameless := [f"row {row}" for row, name in enumerate(names) if not name]:
            raise VotesError(f"Groups of {kind!r} have no name: {listing(nameless)}.")
        sums = pl.DataFrame({"group": names, SHARE: share / total}).group_by("group", maintain_order=True).sum()
        shares[kind] = dict(sums.iter_rows())
    return shares
