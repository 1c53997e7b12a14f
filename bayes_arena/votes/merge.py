"""Votes put together: those of months, sites or folds."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from bayes_arena.arrays import Ints
from bayes_arena.errors import VotesError, listing
from bayes_arena.votes.votes import Votes


def merge(*votes: Votes) -> Votes:
    """Put votes together, of months or sites for instance.

    Parameters
    ----------
    *votes : Votes
        All with or without annotators and sides, and with the same slices and features.

    Returns
    -------
    Votes
        What reading all votes at once gives, in whatever order they are given.

    Raises
    ------
    VotesError
        If there are none, or they carry different things.
    """
    if not votes or not all(isinstance(each, Votes) for each in votes):
        raise VotesError("merge takes Votes, one or more: read them with read_votes.")
    first = votes[0]
    for each in votes[1:]:
        if carried(each) != carried(first):
            raise VotesError(
                f"These votes do not fit together: some have {carried(first)}, others "
                f"{carried(each)}. Read them with the same options."
            )
    competitors, (i, j) = recoded(votes, "competitors", ("i", "j"))
    annotators, (annotator,) = recoded(votes, "annotators", ("annotator",))
    levels, slices = {}, {}
    for name in first.slices:
        parts = [(each.levels[name], [each.slices[name]]) for each in votes]
        levels[name], (slices[name],) = united(parts)
    width = max(each.counts.shape[1] for each in votes)
    counts = [np.pad(v.counts, ((0, 0), (0, width - v.counts.shape[1]))) for v in votes]
    dropped: dict[str, int] = {}
    for each in votes:
        for reason, n in each.dropped.items():
            dropped[reason] = dropped.get(reason, 0) + n
    whole = Votes(
        competitors,
        annotators,
        i,
        j,
        annotator,
        np.concatenate(counts),
        slices,
        levels,
        {
            name: np.concatenate([v.features[name] for v in votes])
            for name in first.features
        },
        first.sided,
        dropped,
        tuple(dict.fromkeys(remark for each in votes for remark in each.remarks)),
    )
    return whole.summed_rows()


def carried(votes: Votes) -> str:
    """Say what votes carry besides pairs and outcomes."""
    return ", ".join(
        [
            "annotators" if votes.annotators else "no annotators",
            "known sides" if votes.sided else "unknown sides",
            f"the slices {listing(sorted(votes.slices)) or 'none'}",
            f"the features {listing(sorted(votes.features)) or 'none'}",
        ]
    )


def recoded(
    votes: Sequence[Votes], kind: str, codes: Sequence[str]
) -> tuple[tuple[str, ...], list[Ints]]:
    """Return all names of a kind in several votes, and their codes, one after the other."""
    return united(
        [(getattr(v, kind), [getattr(v, code) for code in codes]) for v in votes]
    )


def united(
    parts: Sequence[tuple[Collection[str], Sequence[Ints]]],
) -> tuple[tuple[str, ...], list[Ints]]:
    """Return the names of all parts, sorted, and codes for these."""
    names = sorted({name for known, _ in parts for name in known})
    code = {name: new_code for new_code, name in enumerate(names)}
    columns: list[list[Ints]] = [[] for _ in parts[0][1]]
    for known, codes in parts:
        new_code = np.array([code[name] for name in known] or [0], np.intp)
        for column, codes_of_part in zip(columns, codes, strict=True):
            column.append(new_code[codes_of_part])
    return tuple(names), [np.concatenate(column) for column in columns]
