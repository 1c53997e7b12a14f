"""``split``: divide votes by category, annotator or week."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bayes_arena.arrays import Ints
from bayes_arena.errors import ModelError, VotesError, listing
from bayes_arena.votes.cells import Cells, present
from bayes_arena.votes.groups import Groups, groups_of
from bayes_arena.votes.reading.read_votes import as_cells
from bayes_arena.votes.selection import alone


def split(cells: object, by: str | Sequence[str]) -> dict[tuple[str, ...], Cells]:
    """Split cells by annotator or slice, as if the votes of each part had been read on their own.

    Parameters
    ----------
    cells : Cells, path, sequence of paths, or dataframe
        Votes.
    by : str or sequence of str
        Slices of the votes, or ``"annotator"``: one part for every combination of their levels that has votes.

    Returns
    -------
    dict of tuple of str to Cells
        Parts by their levels, one level for each of ``by``, sorted. A part has only the competitors, annotators and
        slices that occur in it; if weights are whole numbers, it is bit for bit what reading its votes alone gives.
        ``dropped`` is empty, as it is not known to which part the invalid votes belonged. :func:`~bayes_arena.merge`
        puts the parts together again.

    Raises
    ------
    ModelError
        If ``by`` is empty, names something twice, or names something that the votes do not carry.
    VotesError
        If votes have importance weights, which are scaled to the votes that were read together.

    Examples
    --------
    >>> import bayes_arena as ba
    >>> cells = ba.read_votes(ba.example_arena().votes)
    >>> parts = ba.split(cells, "annotator")
    >>> len(parts), parts[("annotator-01",)].n_annotators
    (42, 1)
    """
    cells, kinds = as_cells(cells), [by] if isinstance(by, str) else list(by)
    if not kinds or len(set(kinds)) < len(kinds):
        raise ModelError(f"by must name at least one slice, each once; not {listing(kinds) or 'none'}.")
    if cells.design_effect != 1:
        raise VotesError(
            "Cells with importance weights cannot be split: these are scaled to the votes that were read together. "
            "Read the votes of each part on their own (where=..., --where)."
        )
    groups = [groups_of(cells, kind) for kind in kinds]
    combinations, place = _combinations(groups)
    order = np.argsort(place, kind="stable")  # once, so that a thousand parts take little longer than one
    rows = np.split(order, np.cumsum(np.bincount(place))[:-1])
    names = [tuple(group.names[code] for group, code in zip(groups, codes, strict=True)) for codes in combinations]
    return {name: alone(cells, own, dropped={}) for name, own in zip(names, rows, strict=True)}


def _combinations(groups: Sequence[Groups]) -> tuple[Ints, Ints]:
    """Return the combinations that occur, sorted, shape (n, n_groups), and the index of every cell's combination."""
    combinations, place = np.zeros((1, 0), dtype=np.int64), np.zeros_like(groups[0].of_cell)
    for group in groups:  # one by one: the product of all sizes may exceed 64 bits
        used, place = present(place * group.size + group.of_cell, len(combinations) * group.size)
        before, last = np.divmod(used, group.size)
        combinations = np.column_stack([combinations[before], last])
    return combinations, place
