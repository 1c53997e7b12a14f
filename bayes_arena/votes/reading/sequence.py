"""Votes one by one, in the order in which they were cast: what online Elo walks through.

:class:`~bayes_arena.votes.cells.Cells` forget the order on purpose. Here it is kept, and a vote has a score W for the
competitor shown first: 1 for a win, 0 for a loss, 1/2 for a tie or a both-bad vote (Liu et al., 2025, section 3).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
import polars as pl

from bayes_arena.arrays import Floats, Ints, sum_by
from bayes_arena.errors import OnInvalid
from bayes_arena.votes.cells import Cells, Votes, single_votes
from bayes_arena.votes.outcomes import OUTCOME_SCORES
from bayes_arena.votes.reading.validity import valid_votes


@dataclass(frozen=True, eq=False)
class VoteSequence(Votes):
    """Votes in order.

    Attributes
    ----------
    competitors : tuple of str
        Names, sorted.
    annotators : tuple of str
        Names, sorted; empty when the annotators are unknown.
    a, b : ndarray of int, shape (n_votes,)
        Index of the competitors shown first and second.
    annotator : ndarray of int, shape (n_votes,)
        Index of the annotator; 0 when the annotators are unknown.
    score : ndarray, shape (n_votes,)
        W: 1 if the first competitor won, 0 if the second did, 1/2 otherwise.
    """

    score: Floats

    def __repr__(self) -> str:
        return f"VoteSequence({self.n_votes:,} votes, {self.n_competitors} competitors, {self.n_annotators} annotators)"

    @property
    def n_votes(self) -> int:
        """Number of votes."""
        return len(self.score)

    def votes_by_annotator(self) -> Floats:
        """Votes of every annotator, shape (n_annotators,)."""
        return sum_by(self.annotator, np.ones(self.n_votes), self.n_annotators)[: self.n_annotators]


def read_sequence(
    source: object,
    *,
    a: str | None = None,
    b: str | None = None,
    winner: str | None = None,
    annotator: str | Literal[False] | None = None,
    outcomes: Mapping[str, str] | None = None,
    on_invalid: OnInvalid = "raise",
    layout: str | None = None,
) -> VoteSequence:
    """Read pairwise votes in the order of the source.

    Columns, winner labels and invalid votes are treated as by :func:`~bayes_arena.read_votes`. There are no
    weights: Elo knows none. A soft score is W.

    Parameters
    ----------
    source : path, sequence of paths, or dataframe
        Votes, one row each; several files are read one after the other.
    a, b, winner : str, optional
        Columns of the competitors and of the winner.
    annotator : str or False, optional
        Column of annotators; ``False`` ignores annotators.
    outcomes : mapping of str to str, optional
        Further winner labels, each mapped to ``model_a``, ``model_b``, ``tie`` or ``both_bad``.
    on_invalid : {"raise", "drop"}
        What to do with invalid votes.
    layout : str, optional
        Whose records these are, where their columns do not tell.

    Returns
    -------
    VoteSequence

    Raises
    ------
    ColumnError, InvalidVotesError, NoVotesError, VotesError
        As for :func:`~bayes_arena.read_votes`.

    Examples
    --------
    >>> import polars as pl
    >>> votes = read_sequence(pl.DataFrame({"model_a": ["x", "y"], "model_b": ["y", "z"], "winner": ["y", "tie"]}))
    >>> votes.competitors, votes.score.tolist()
    (('x', 'y', 'z'), [0.0, 0.5])
    """
    votes = valid_votes(
        source,
        a=a,
        b=b,
        winner=winner,
        annotator=annotator,
        prompt=False,
        outcomes=outcomes,
        on_invalid=on_invalid,
        layout=layout,
        in_order=True,
    ).rows
    competitors = pl.concat([votes["a"], votes["b"]]).unique().sort()
    known = "annotator" in votes.columns
    annotators = votes["annotator"].unique().sort() if known else pl.Series(dtype=pl.String)
    return VoteSequence(
        competitors=tuple(competitors),
        annotators=tuple(annotators),
        a=_codes(votes["a"], competitors),
        b=_codes(votes["b"], competitors),
        annotator=_codes(votes["annotator"], annotators) if known else np.zeros(votes.height, dtype=np.int64),
        score=_scores(votes),
    )


def _scores(votes: pl.DataFrame) -> Floats:
    """Return W of every vote: its score if it has one, else that of its outcome."""
    outcome = pl.Series(OUTCOME_SCORES[votes["outcome"].to_numpy()])
    return (votes["score"].cast(pl.Float64).fill_null(outcome) if "score" in votes.columns else outcome).to_numpy()


def one_by_one(cells: Cells) -> VoteSequence:
    """Write cells out vote by vote, for methods that need single votes but no order, such as shuffled Elo.

    Raises
    ------
    ModelError
        If votes are weighted by fractions.
    """
    cell, outcome = single_votes(cells)
    return VoteSequence(
        competitors=cells.competitors,
        annotators=cells.annotators,
        a=cells.a[cell],
        b=cells.b[cell],
        annotator=cells.annotator[cell],
        score=OUTCOME_SCORES[outcome],
    )


def _codes(names: pl.Series, categories: pl.Series) -> Ints:
    return names.cast(pl.Enum(categories)).to_physical().cast(pl.Int64).to_numpy().copy()
