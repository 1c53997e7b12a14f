"""``merge``: combine cells of months, partitions or sites."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import polars as pl

from bayes_arena.errors import NoVotesError, UnusedColumnWarning, VotesError, listing, warn
from bayes_arena.votes.cells import Cells, as_table
from bayes_arena.votes.names import SLICE, TIME
from bayes_arena.votes.periods import period_of
from bayes_arena.votes.summing import build_cells, groups_of_counts, without


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
    """Return cells without their times, unless all have them by the same periods: these follow from each part's votes.

    Warns
    -----
    UnusedColumnWarning
    """
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
    """Say what cells carry besides the competitors."""
    return ", ".join(
        [
            "annotators" if cells.annotators else "no annotators",
            "known sides" if cells.sided else "unknown sides",
            f"slices {listing(sorted(cells.slices))}" if cells.slices else "no slices",
            f"features {listing(sorted(cells.features))}" if cells.features else "no features",
        ]
    )
