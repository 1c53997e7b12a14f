"""Single votes in the order in which they were cast, for online Elo.

A vote has a score for the competitor shown first: 1 for a win, 0 for a loss, 1/2 for a tie
(Liu et al., 2025, section 3).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from bayes_arena.arrays import Floats, Ints
from bayes_arena.errors import VotesError
from bayes_arena.votes.counting import encode_groups
from bayes_arena.votes.opening import open_votes
from bayes_arena.votes.options import Options, options_from
from bayes_arena.votes.read import READ_ALREADY, known_votes, one_vote_groups
from bayes_arena.votes.saved import is_saved
from bayes_arena.votes.sources import has_order, in_polars, open_source, readable
from bayes_arena.votes.votes import Votes

# Of a win, a loss, a tie, a clear win and loss, both bad.
SCORES = np.array([1.0, 0.0, 0.5, 1.0, 0.0, 0.5])


@dataclass(frozen=True, eq=False)
class VoteSequence:
    """Votes in order.

    Attributes
    ----------
    competitors, annotators : tuple of str
        Names, sorted; no annotators where they are unknown.
    i, j : ndarray of int, shape (votes,)
        Codes of the competitors shown first and second.
    annotator : ndarray of int, shape (votes,)
        Codes of the annotators; 0 where they are unknown.
    score : ndarray, shape (votes,)
        Score of the first: 1, 1/2 or 0.
    unread : mapping of str to str
        Why annotators were not read: see :class:`~bayes_arena.Votes`.
    """

    competitors: tuple[str, ...]
    annotators: tuple[str, ...]
    i: Ints
    j: Ints
    annotator: Ints
    score: Floats
    unread: Mapping[str, str] = field(default_factory=dict)

    def __len__(self) -> int:
        """Return the number of votes."""
        return len(self.i)


def read_sequence(source: object, **columns: Any) -> VoteSequence:
    """Read votes in their order, for online Elo.

    Parameters
    ----------
    source, **columns
        As for ``read_votes``, without weights: one row is one vote.  A VoteSequence stays
        as it is.

    Returns
    -------
    VoteSequence
        Votes in the order of the source.

    Raises
    ------
    VotesError
        If the votes cannot be read, are counted already, or have no order.
    """
    options = options_from(columns)
    if isinstance(source, VoteSequence):
        if options != Options():
            raise VotesError(READ_ALREADY)
        return source
    is_file = isinstance(source, str | Path) and is_saved(source)
    if isinstance(source, Votes) or is_file:
        raise VotesError(
            "Votes that are read are counts, which have no order. Read the file or the "
            "dataframe itself with read_sequence."
        )
    return sequence_of(source, options)


def sequence_of(source: object, options: Options) -> VoteSequence:
    """Read votes in the order of their rows."""
    with readable(source):
        opened = open_votes(open_source(source), options)
        if {"weight", "wins_a"} & opened.roles.keys() or opened.layout.is_weighted:
            raise VotesError(
                "Counts and weights have no order. Write one row per vote, or use read_votes."
            )
        if not has_order(opened.frame):
            raise VotesError(
                "The rows of this engine have no order. Pass a dataframe or a file."
            )
        table = in_polars(opened.frame).collect()
    if "row" in table.columns:
        table = table.sort("row", maintain_order=True).drop("row")
    votes = encode_groups(one_vote_groups(table), opened.sides, options.labels)
    votes, kept, _ = known_votes(votes, opened, options)
    rows = np.flatnonzero(kept)
    pairs = replace(votes.pairs.take(rows).used(), unread=opened.unread)
    score = SCORES[votes.outcome[rows].clip(0, 5)]
    return in_sequence(pairs, np.arange(len(rows)), score)


def one_by_one(votes: Votes) -> VoteSequence:
    """Return counted votes one by one, in no particular order, for shuffled Elo."""
    whole = votes.counts.astype(np.int64)
    if not (whole == votes.counts).all():
        raise VotesError(
            "Weighted votes cannot be taken one by one. Read them without weight=."
        )
    row, outcome = np.nonzero(whole)
    times = whole[row, outcome]
    row, outcome = np.repeat(row, times), np.repeat(outcome, times)
    return in_sequence(votes, row, SCORES[outcome])


def in_sequence(votes: Votes, rows: Ints, score: Floats) -> VoteSequence:
    """Return some rows of votes as single votes."""
    return VoteSequence(
        competitors=votes.competitors,
        annotators=votes.annotators,
        i=votes.i[rows],
        j=votes.j[rows],
        annotator=votes.annotator[rows],
        score=score,
        unread=votes.unread,
    )
