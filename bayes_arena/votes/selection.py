"""Parts of the votes: those of some annotators, or divided by category, annotator or week."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayes_arena.arrays import Ints, present
from bayes_arena.errors import ModelError, NoVotesError, VotesError, did_you_mean, listing
from bayes_arena.votes.cells import Cells, slices_left
from bayes_arena.votes.groups import Groups, groups_of
from bayes_arena.votes.sequence import VoteSequence


def keep_annotators[V: (Cells, VoteSequence)](votes: V, *, more_than: float) -> V:
    """Keep the annotators with more than a given number of votes (the paper's delta, Algorithm 3).

    Parameters
    ----------
    votes : Cells or VoteSequence
        Votes with annotators.
    more_than : float
        Annotators with this many votes or fewer are left out; competitors that only they saw are left out too.

    Returns
    -------
    Cells or VoteSequence
        Of the type of ``votes``.

    Raises
    ------
    ModelError
        If the annotators are unknown.
    NoVotesError
        If no annotator has more votes than that.
    VotesError
        If ``votes`` are neither Cells nor a VoteSequence.
    """
    _require_read(votes)
    if not votes.n_annotators:
        raise ModelError("The votes carry no annotators, so none can be left out by number of votes.")
    cast = votes.votes_by_annotator()
    kept = cast > more_than
    if not kept.any():
        raise NoVotesError(f"No annotator has more than {more_than:g} votes; the most is {cast.max():g}.")
    return select_annotators(votes, kept)


def _require_read(votes: object) -> None:
    if not hasattr(votes, "votes_by_annotator"):
        raise VotesError(
            f"Expected Cells or a VoteSequence, not {type(votes).__name__}. Read the votes first, with read_votes or "
            "read_sequence."
        )


def drop_annotators[V: (Cells, VoteSequence)](votes: V, names: Iterable[str]) -> V:
    """Leave annotators out by name, for instance those that :func:`~bayes_arena.flag` returns.

    Parameters
    ----------
    votes : Cells or VoteSequence
        Votes with annotators.
    names : iterable of str
        Annotators to leave out; competitors that only they saw are left out too.

    Returns
    -------
    Cells or VoteSequence
        Of the type of ``votes``.

    Raises
    ------
    ModelError
        If a name is not that of an annotator.
    NoVotesError
        If no annotator is left.
    VotesError
        If ``votes`` are neither Cells nor a VoteSequence.
    """
    _require_read(votes)
    names = {names} if isinstance(names, str) else set(names)
    unknown = sorted(names.difference(votes.annotators), key=str)
    if unknown:
        raise ModelError(
            f"None of the {votes.n_annotators} annotators is called {listing(unknown)}."
            f"{did_you_mean(str(unknown[0]), votes.annotators) or ' Use names of cells.annotators.'}"
        )
    return select_annotators(votes, np.array([name not in names for name in votes.annotators], dtype=bool))


def select_annotators[V: (Cells, VoteSequence)](votes: V, kept: NDArray[np.bool_]) -> V:
    """Keep the votes of some annotators; competitors and prompts that none of them saw are left out too."""
    if not kept.any():
        raise NoVotesError(f"None of the {votes.n_annotators} annotators is kept, so no vote is left to rate.")
    return alone(votes, np.flatnonzero(kept[votes.annotator]), kept)


def alone[V: (Cells, VoteSequence)](votes: V, rows: Ints, kept: NDArray[np.bool_] | None = None, **changed: Any) -> V:
    """Return some rows of votes, in order, as if there were no others.

    They are those of the annotators ``kept``, by default of those who have some; ``changed`` replaces fields.
    """
    competitors, (a, b) = present(np.stack([votes.a[rows], votes.b[rows]]), votes.n_competitors)
    if kept is None:
        annotators, annotator = present(votes.annotator[rows], max(votes.n_annotators, 1))
    else:
        annotators, annotator = np.flatnonzero(kept), (np.cumsum(kept) - 1)[votes.annotator[rows]]
    names = tuple(votes.annotators[code] for code in annotators) if votes.n_annotators else ()
    if isinstance(votes, Cells):
        left = set(names)
        changed |= slices_left(votes, rows) | {"programs": tuple(name for name in votes.programs if name in left)}
    return votes.take(
        rows,
        competitors=tuple(votes.competitors[code] for code in competitors),
        annotators=names,
        a=a,
        b=b,
        annotator=annotator,
        **changed,
    )


def split(cells: Cells, by: str | Sequence[str]) -> dict[tuple[str, ...], Cells]:
    """Split cells by annotator or slice, as if the votes of each part had been read on their own.

    Parameters
    ----------
    cells : Cells
        Votes, read.
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
        If ``cells`` are not Cells, or have importance weights, which are scaled to the votes that were read together.

    Examples
    --------
    >>> import bayes_arena as ba
    >>> cells = ba.read_votes(ba.example_arena().votes)
    >>> parts = ba.split(cells, "annotator")
    >>> len(parts), parts[("annotator-01",)].n_annotators
    (42, 1)
    """
    if not isinstance(cells, Cells):
        raise VotesError(f"Expected Cells, not {type(cells).__name__}. Read the votes first, with read_votes.")
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
    return {name: alone(cells, own, dropped={}) for name, own in zip(names, rows, strict=True)}


def _combinations(groups: Sequence[Groups]) -> tuple[Ints, Ints]:
    """Return the combinations that occur, sorted, shape (n, n_groups), and the index of every cell's combination."""
    combinations, place = np.zeros((1, 0), dtype=np.int64), np.zeros_like(groups[0].of_cell)
    for group in groups:  # one by one: the product of all sizes may exceed 64 bits
        used, place = present(place * group.size + group.of_cell, len(combinations) * group.size)
        before, last = np.divmod(used, group.size)
        combinations = np.column_stack([combinations[before], last])
    return combinations, place
