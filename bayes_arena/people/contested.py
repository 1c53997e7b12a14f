"""Contested competitors: about whom annotators disagree far more than about others.

For competitor c the sum over annotators of w (S^2 / Var S - 1) is standardised, with Var
S at the arena's spread of tastes, and w the share of tastes in it.  The measure is this
less the median competitor's, in units of the distance from it within which three quarters
of the competitors lie.  Above 8 it is said.  Votes that most of a competitor's voters were
paid for cannot be told from fame.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Unpack

import numpy as np

from bayes_arena.arrays import Floats
from bayes_arena.model.constants import TINY
from bayes_arena.people.doors import votes_of
from bayes_arena.people.table import PairTable, pair_table
from bayes_arena.reading.options import ReadOptions
from bayes_arena.tables import Columns, dataframe
from bayes_arena.votes.votes import Votes

if TYPE_CHECKING:
    import pandas as pd

CONTESTED = 8.0  # disagreement from which a competitor is contested
CLIP = 16.0  # largest square of a standard score
NEARLY_ALWAYS = 0.9  # score from which an annotator nearly always votes for one
ENOUGH = 3  # votes on a competitor from which "nearly always" is said
USUAL = 0.75  # share of the competitors about whom people disagree as is usual


def contested(votes: object, **columns: Unpack[ReadOptions]) -> pd.DataFrame:
    """Return how far annotators disagree about each competitor, most contested first.

    Parameters
    ----------
    votes : Fit, or votes
        With annotators.
    **columns
        Options of :func:`~bayes_arena.read_votes`.

    Returns
    -------
    DataFrame
        competitor, disagreement (1 is far from the median competitor, and usual), and
        flagged where it is above 8.

    Raises
    ------
    VotesError
        If annotators are unknown.
    """
    source = votes_of(votes, **columns)
    return dataframe(contested_columns(source, find_contested(pair_table(source))))


def find_contested(table: PairTable) -> Floats:
    """Return the disagreement about each competitor, (competitors,).

    z2 = S^2 / Var S is 1 in the mean, with a variance of 2, where annotators differ by as
    much as they do about others; clipped, so that one annotator cannot make a case.
    """
    n = len(table.variance_of_strength)
    tastes = table.taste**2 * table.taste_variance
    total = table.chance_variance + tastes
    z2 = np.minimum(table.net**2 / total, CLIP)
    weight = tastes / total
    excess = np.bincount(table.competitor, weight * (z2 - 1), n)
    variance = np.bincount(table.competitor, 2 * weight**2, n)
    score = excess / np.sqrt(np.maximum(variance, TINY))
    away = score - np.median(score)
    unit = np.quantile(np.abs(away), USUAL, method="lower")
    return away / max(unit, 1.0)


def contested_columns(votes: Votes, away: Floats) -> Columns:
    """Return the columns of :func:`contested`."""
    order = np.argsort(-away, kind="stable")
    return {
        "competitor": np.array(votes.competitors, dtype=object)[order],
        "disagreement": away[order],
        "flagged": (away > CONTESTED)[order],
    }


def describe_contested(
    table: PairTable, competitors: Sequence[str], away: Floats
) -> list[str]:
    """Return a sentence for each contested competitor."""
    flagged = np.flatnonzero(away > CONTESTED)
    sentences = []
    for c in flagged[np.argsort(-away[flagged])]:
        rows = (table.competitor == c) & (table.votes >= ENOUGH)
        loyal = rows & (table.score >= NEARLY_ALWAYS)
        others = (table.competitor == c) & ~loyal
        share = table.votes[others] @ table.score[others] / table.votes[others].sum()
        sentences.append(
            f"Annotators disagree about {competitors[c]} far more than about "
            f"others: {loyal.sum():,} of them nearly always vote for it, the others in "
            f"{100 * share:.0f} % of cases."
        )
    return sentences
