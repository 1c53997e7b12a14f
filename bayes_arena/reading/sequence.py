"""Single votes read in the order in which they were cast, for online Elo."""

from __future__ import annotations

from pathlib import Path
from typing import Unpack

import numpy as np

from bayes_arena.errors import VotesError
from bayes_arena.reading.counting import encode_groups
from bayes_arena.reading.opening import Opened, open_votes
from bayes_arena.reading.options import Options, ReadOptions, options_from
from bayes_arena.reading.read import READ_ALREADY, known_votes, one_vote_groups
from bayes_arena.reading.roles import ROW
from bayes_arena.reading.sources import has_order, in_polars, open_source, readable
from bayes_arena.said import Call
from bayes_arena.votes.saved import is_saved
from bayes_arena.votes.singles import SCORES, VoteSequence, in_sequence
from bayes_arena.votes.votes import Votes


def read_sequence(source: object, **columns: Unpack[ReadOptions]) -> VoteSequence:
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
            (
                "Votes that are read are counts, which have no order. Read the file or the "
                "dataframe itself with ",
                Call("read_sequence"),
                ".",
            )
        )
    return sequence_of(source, options)


def sequence_of(source: object, options: Options) -> VoteSequence:
    """Read votes in the order of their rows."""
    with readable(source):
        opened = open_votes(open_source(source), options)
        if is_counted(opened):
            raise VotesError(
                "Counts and weights have no order. Write one row per vote.",
                Call("read_votes"),
            )
        if not has_order(opened.frame):
            raise VotesError(
                "The rows of this engine have no order. Pass a dataframe or a file."
            )
        table = in_polars(opened.frame).collect()
    if ROW not in table.columns:
        table = table.with_row_index(ROW)
    table = table.sort(ROW, maintain_order=True)
    votes = encode_groups(one_vote_groups(table), opened.roles, options)
    votes, kept, _ = known_votes(votes, opened, options)
    rows = np.flatnonzero(kept)
    pairs = votes.pairs.take(rows).used()
    score = SCORES[votes.outcome[rows].clip(0, 5)]
    return in_sequence(pairs, np.arange(len(rows)), score)


def is_counted(opened: Opened) -> bool:
    """Whether rows have weights or counts, so that they are no single votes."""
    roles = opened.roles
    is_weighted = opened.layout.is_weighted or roles.weight is not None
    return is_weighted or "wins_a" in roles.results
