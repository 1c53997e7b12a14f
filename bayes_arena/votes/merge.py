"""Votes put together: those of months, sites or folds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence

import numpy as np

from bayes_arena.arrays import Floats, Ints
from bayes_arena.errors import VotesError, listing
from bayes_arena.votes.votes import Votes

SAME_OPTIONS = "Read them with the same options."


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
            reasons = united_reasons((first, each)).values()
            raise VotesError(
                f"These votes do not fit together: some have {carried(first)}, others "
                f"{carried(each)}. {' '.join(reasons) or SAME_OPTIONS}"
            )
    competitors, of_competitors = united([each.competitors for each in votes])
    annotators, of_annotators = united([each.annotators for each in votes])
    slices, levels = {}, {}
    for name in first.slices:
        levels[name], of_levels = united([each.levels[name] for each in votes])
        slices[name] = recoded([each.slices[name] for each in votes], of_levels)
    features = {
        name: np.concatenate([each.features[name] for each in votes])
        for name in first.features
    }
    dropped: Counter[str] = Counter()
    for each in votes:
        dropped.update(each.dropped)
    whole = Votes(
        competitors=competitors,
        annotators=annotators,
        i=recoded([each.i for each in votes], of_competitors),
        j=recoded([each.j for each in votes], of_competitors),
        annotator=recoded([each.annotator for each in votes], of_annotators),
        counts=joined_counts([each.counts for each in votes]),
        slices=slices,
        levels=levels,
        features=features,
        sided=first.sided,
        dropped=dict(dropped),
        remarks=tuple(dict.fromkeys(text for each in votes for text in each.remarks)),
        unread=united_reasons(votes),
    )
    return whole.summed_rows()


def united_reasons(votes: Sequence[Votes]) -> dict[str, str]:
    """Return why annotators or prompts were not read, each reason once."""
    reasons: dict[str, dict[str, None]] = {}
    for each in votes:
        for role, reason in each.unread.items():
            reasons.setdefault(role, {})[reason] = None
    return {role: " ".join(texts) for role, texts in reasons.items()}


def joined_counts(counts: Sequence[Floats]) -> Floats:
    """Return counts one below the other; those without grades have no clear wins."""
    width = max(each.shape[1] for each in counts)
    padded = [np.pad(each, ((0, 0), (0, width - each.shape[1]))) for each in counts]
    return np.concatenate(padded)


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


def united(parts: Sequence[Collection[str]]) -> tuple[tuple[str, ...], list[Ints]]:
    """Return the names of all parts, sorted, and the new codes of each part's names."""
    names = sorted({name for part in parts for name in part})
    code = {name: new_code for new_code, name in enumerate(names)}
    codes: list[Ints] = [
        np.array([code[name] for name in part] or [0], np.intp) for part in parts
    ]
    return tuple(names), codes


def recoded(columns: Sequence[Ints], new_codes: Sequence[Ints]) -> Ints:
    """Return the columns of several votes as one, in new codes."""
    pairs = zip(columns, new_codes, strict=True)
    return np.concatenate([new_code[column] for column, new_code in pairs])
