"""Cells of several months, partitions or sites, as one."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import polars as pl

from bayes_arena.errors import NoVotesError, VotesError, listing
from bayes_arena.votes.cells import Cells
from bayes_arena.votes.exchange.files import as_groups, as_table
from bayes_arena.votes.summing import build_cells


def merge(*cells: Cells) -> Cells:
    """Add the counts of cells: those of partitions, months or sites give the cells of all their votes.

    Parameters
    ----------
    *cells : Cells
        Parts. They know the same of their votes: annotators or none, who was shown first or not, the same slices and
        features. Names are matched as they are.

    Returns
    -------
    Cells
        The same bits, whatever the order of the parts, as those of all votes read at once, if weights are whole
        numbers.

    Raises
    ------
    NoVotesError
        If there are no parts.
    VotesError
        If the parts do not know the same of their votes, or their votes have weights of importance: these are scaled
        to the votes that were read together.

    Examples
    --------
    >>> import bayes_arena as ba
    >>> cells = ba.read_votes(ba.example_arena().votes)
    >>> ba.merge(cells, cells).n_votes / cells.n_votes
    2.0
    """
    if not cells:
        raise NoVotesError("There are no cells to merge.")
    first = cells[0]
    if len(cells) == 1:
        return first
    for part in cells[1:]:
        if (known := _known(part)) != _known(first):
            raise VotesError(
                f"These cells cannot be merged: some know {_known(first)}, others {known}. Read all of them alike."
            )
    if any(part.design_effect != 1 for part in cells):
        raise VotesError(
            "Cells with weights of importance cannot be merged: these are scaled to the votes that were read together. "
            "Read the votes at once."
        )
    groups = [as_groups(as_table(part)) for part in cells]
    dropped = sum((Counter(part.dropped) for part in cells), Counter[str]())
    merged = build_cells(pl.concat(groups), dropped=dropped, sided=first.sided)
    return replace(merged, programs=tuple(sorted({name for part in cells for name in part.programs})))


def _known(cells: Cells) -> str:
    """Say what cells know of their votes besides the competitors."""
    return ", ".join(
        [
            "the annotators" if cells.annotators else "no annotators",
            "who was shown first" if cells.sided else "not who was shown first",
            f"the slices {listing(sorted(cells.slices))}" if cells.slices else "no slices",
            f"the features {listing(sorted(cells.features))}" if cells.features else "no features",
        ]
    )
