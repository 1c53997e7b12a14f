"""Votes put together: those of months, sites or folds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence

import numpy as np

from bayes_arena.arrays import Floats, Ints
from bayes_arena.errors import VotesError, listing
from bayes_arena.said import Note
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
    if not votes or not all(isinstance(part, Votes) for part in votes):
        raise VotesError("merge takes Votes, one or more: read them with read_votes.")
    first = votes[0]
    for part in votes[1:]:
        if describe_columns(part) != describe_columns(first):
            raise VotesError(
                "These votes do not fit together: some have "
                f"{describe_columns(first)}, others {describe_columns(part)}. Read them "
                "with the same options."
            )
    competitors, competitor_codes = union_of_names([part.competitors for part in votes])
    annotators, annotator_codes = union_of_names([part.annotators for part in votes])
    slices, levels = {}, {}
    for name in first.slices:
        levels[name], level_codes = union_of_names(
            [part.levels[name] for part in votes]
        )
        slices[name] = join_codes([part.slices[name] for part in votes], level_codes)
    features = {
        name: np.concatenate([part.features[name] for part in votes])
        for name in first.features
    }
    dropped: Counter[str] = Counter()
    for part in votes:
        dropped.update(part.dropped)
    whole = Votes(
        competitors=competitors,
        annotators=annotators,
        i=join_codes([part.i for part in votes], competitor_codes),
        j=join_codes([part.j for part in votes], competitor_codes),
        annotator=join_codes([part.annotator for part in votes], annotator_codes),
        counts=joined_counts([part.counts for part in votes]),
        given=joined_numbers(votes),
        slices=slices,
        levels=levels,
        features=features,
        sided=first.sided,
        dropped=dict(dropped),
        remarks=distinct(note for part in votes for note in part.remarks),
    )
    return whole.summed_rows()


def distinct(notes: Iterable[Note]) -> tuple[Note, ...]:
    """Return notes without those that were said before."""
    kept: list[Note] = []
    for note in notes:
        if note not in kept:
            kept.append(note)
    return tuple(kept)


def joined_counts(counts: Sequence[Floats]) -> Floats:
    """Return counts one below the other; those without grades have no clear wins."""
    width = max(part.shape[1] for part in counts)
    padded = [np.pad(part, ((0, 0), (0, width - part.shape[1]))) for part in counts]
    return np.concatenate(padded)


def joined_numbers(votes: Sequence[Votes]) -> Floats | None:
    """Return numbers of votes one below the other; None where the counts are these."""
    if all(part.given is None for part in votes):
        return None
    return np.concatenate([part.cast for part in votes])


def describe_columns(votes: Votes) -> str:
    """Say what votes carry besides pairs and outcomes."""
    return ", ".join(
        [
            "annotators" if votes.annotators else "no annotators",
            "known sides" if votes.sided else "unknown sides",
            f"the slices {listing(sorted(votes.slices)) or 'none'}",
            f"the features {listing(sorted(votes.features)) or 'none'}",
        ]
    )


def union_of_names(
    parts: Sequence[Collection[str]],
) -> tuple[tuple[str, ...], list[Ints]]:
    """Return the names of all parts, sorted, and the new codes of each part's names.

    The last of these is the code of what is unknown.
    """
    names = sorted({name for part in parts for name in part})
    code = {name: new_code for new_code, name in enumerate(names)}
    codes: list[Ints] = [
        np.array([*(code[name] for name in part), len(names)], np.intp)
        for part in parts
    ]
    return tuple(names), codes


def join_codes(columns: Sequence[Ints], new_codes: Sequence[Ints]) -> Ints:
    """Return the columns of several votes as one, in new codes."""
    pairs = zip(columns, new_codes, strict=True)
    return np.concatenate([new_code[column] for column, new_code in pairs])
