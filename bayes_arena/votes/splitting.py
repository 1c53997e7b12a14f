"""``split``: divide votes by category, annotator or week."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bayes_arena.arrays import Ints
from bayes_arena.errors import ModelError, VotesError, listing
from bayes_arena.votes.cells import Cells
from bayes_arena.votes.groups import Groups, groups_of
from bayes_arena.votes.reading.read_votes import as_cells


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
    return {name: _alone(cells, own) for name, own in zip(names, rows, strict=True)}


def _combinations(groups: Sequence[Groups]) -> tuple[Ints, Ints]:
    """Return the combinations that occur, sorted, shape (n, n_groups), and the index of every cell's combination."""
    combinations, place = np.zeros((1, 0), dtype=np.int64), np.zeros_like(groups[0].of_cell)
    for group in groups:  # one by one: the product of all sizes may exceed 64 bits
        used, place = _present(place * group.size + group.of_cell, len(combinations) * group.size)
        before, last = np.divmod(used, group.size)
        combinations = np.column_stack([combinations[before], last])
    return combinations, place


def _alone(cells: Cells, rows: Ints) -> Cells:
    """Return some rows of cells, in order, as if there were no others."""
    of_competitors, (a, b) = _present(np.stack([cells.a[rows], cells.b[rows]]), cells.n_competitors)
    of_annotators, annotator = _present(cells.annotator[rows], max(cells.n_annotators, 1))
    slices = {name: _present(codes[rows], len(cells.slice_names[name])) for name, codes in cells.slices.items()}
    annotators = tuple(cells.annotators[code] for code in of_annotators) if cells.n_annotators else ()
    voted = set(annotators)
    return cells.take(
        rows,
        competitors=tuple(cells.competitors[code] for code in of_competitors),
        annotators=annotators,
        a=a,
        b=b,
        annotator=annotator,
        dropped={},
        slices={name: codes for name, (_, codes) in slices.items()},
        slice_names={name: tuple(cells.slice_names[name][code] for code in kept) for name, (kept, _) in slices.items()},
        programs=tuple(name for name in cells.programs if name in voted),
    )


def _present(codes: Ints, size: int) -> tuple[Ints, Ints]:
    """Return the codes below ``size`` that occur, sorted, and the index of each row's code among them."""
    if size > codes.size:
        return np.unique(codes, return_inverse=True)
    occurs = np.bincount(codes.ravel(), minlength=size) > 0  # avoids a sort
    return np.flatnonzero(occurs), (np.cumsum(occurs) - 1)[codes]
