"""``merge`` and ``split``: combine cells of months, partitions or sites, and divide cells by category or week."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import polars as pl

from bayes_arena.arguments import held
from bayes_arena.arrays import Ints
from bayes_arena.errors import PACKAGE, ModelError, NoVotesError, UnusedColumnWarning, VotesError, listing
from bayes_arena.votes.cells import Cells, as_table
from bayes_arena.votes.groups import Groups, groups_of
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
    warnings.warn(
        f"Times are left out, as they differ: {found}. Read all parts with the same period=... (--period), or silence "
        "this with time=False (--no-time).",
        UnusedColumnWarning,
        skip_file_prefixes=PACKAGE,
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


@held
def split(cells: Cells, by: str | Sequence[str]) -> dict[tuple[str, ...], Cells]:
    """Split cells by annotator or slice, as if the votes of each part had been read on their own.

    Parameters
    ----------
    cells : Cells
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
    kinds = [by] if isinstance(by, str) else list(by)
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
