"""Votes of some annotators: those with enough votes, or those chosen by name."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayes_arena.arrays import Ints
from bayes_arena.errors import ModelError, NoVotesError, VotesError, did_you_mean, listing
from bayes_arena.votes.cells import Cells, present, slices_left
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
    """Keep some annotators' votes.

    Parameters
    ----------
    votes : Cells or VoteSequence
        Votes with annotators.
    kept : ndarray of bool, shape (n_annotators,)
        Annotators to keep; competitors and prompts that none of them saw are left out too.
    """
    if not kept.any():
        raise NoVotesError(f"None of the {votes.n_annotators} annotators is kept, so no vote is left to rate.")
    return alone(votes, np.flatnonzero(kept[votes.annotator]), kept)


def alone[V: (Cells, VoteSequence)](votes: V, rows: Ints, kept: NDArray[np.bool_] | None = None, **changed: Any) -> V:
    """Return some rows of votes, in order, as if there were no others.

    Parameters
    ----------
    votes : Cells or VoteSequence
    rows : ndarray of int
    kept : ndarray of bool, shape (n_annotators,), optional
        Whose rows these are; by default those who have some.
    **changed
        Replacements for fields.
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
