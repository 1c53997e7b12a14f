"""Favourites: annotators who nearly always vote for one competitor, or against it.

An annotator's mean score for a competitor is held to what is expected
(boards/surprise.py). Ordinary annotators have tastes, too, so the chance is averaged over
a taste N(0, 1.5 tau^2 + uncertainty), with tau the spread of tastes. Expectations leave
the pair's own votes out, by one Newton step back in the strength. Discoveries have a false
rate of at most .05 (Benjamini & Hochberg, 1995); they are left out of the fit and of the
spread, and all is repeated until nothing changes.

Accounts that work together mask one another, as each is held to what the others raised. So
the first round leaves out all pairs of ten votes and more that are nearly all for a
competitor, or nearly all against it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Unpack

import numpy as np

from bayes_arena.arrays import Array, Floats
from bayes_arena.boards.surprise import (
    FALSE_RATE,
    LEAST_VOTES,
    discoveries,
    tail_bounds,
)
from bayes_arena.inference.posterior import Posterior
from bayes_arena.people.doors import votes_of
from bayes_arena.people.table import (
    PairTable,
    davidson_posterior,
    pair_codes,
    table_at,
    without_pairs,
)
from bayes_arena.reading.options import ReadOptions
from bayes_arena.tables import Columns, Row, dataframe, records
from bayes_arena.votes.votes import MIN_VOTES, Votes, sums

if TYPE_CHECKING:
    import pandas as pd

WIDER = 1.5  # factor of the variance of tastes
MOST_ROUNDS = 5
EXTREME = 0.95  # score of the pairs that the first round leaves out
LONGEST_SHIFT = 3.0  # logits by which a pair's own votes may have moved a strength
LEAST_LEFT = 0.05  # of the precision of a strength, without a pair's own votes
LARGEST_VARIANCE = 2.0  # of a strength that only these votes determine


@dataclass(frozen=True)
class Favourite:
    """A competitor that an annotator nearly always votes for, or against.

    ``wins`` of ``votes`` were for it; ``expected`` is the score that the others' votes let
    expect.
    """

    competitor: str
    is_for: bool
    wins: float
    votes: float
    expected: float


@dataclass(frozen=True, eq=False)
class Favourites:
    """Tested pairs, and which of them are named.

    ``table`` has the tested pairs at the last fit.  ``expected`` scores, ``p_value``,
    ``is_for`` and ``is_against`` are (pairs,).
    """

    table: PairTable
    expected: Floats
    p_value: Floats
    is_for: Array
    is_against: Array

    @property
    def named(self) -> Array:
        """Codes of the pairs that are named."""
        return self.table.code[self.is_for | self.is_against]

    @property
    def clearest(self) -> dict[int, int]:
        """The clearest named pair of each annotator who has one."""
        clearest: dict[int, int] = {}
        named = np.flatnonzero(self.is_for | self.is_against)
        for pair in named[np.argsort(self.p_value[named], kind="stable")]:
            clearest.setdefault(int(self.table.annotator[pair]), int(pair))
        return clearest

    def of_pair(self, pair: int, competitors: Sequence[str]) -> Favourite:
        """Return a pair in words and numbers."""
        votes = float(self.table.votes[pair])
        return Favourite(
            competitor=competitors[self.table.competitor[pair]],
            is_for=bool(self.is_for[pair]),
            wins=float(self.table.wins[pair]),
            votes=votes,
            expected=float(self.expected[pair]) * votes,
        )


def favourites(votes: object, **columns: Unpack[ReadOptions]) -> pd.DataFrame:
    """Return whom annotators favour: the pairs of at least five votes, likeliest first.

    Parameters
    ----------
    votes : Fit, or votes
        With annotators.
    **columns
        Options of :func:`~bayes_arena.read_votes`.

    Returns
    -------
    DataFrame
        annotator, competitor, direction ("for" or "against"), votes, wins, score (sum of
        wins and half the ties), expected (the score expected from the others' votes),
        p_value, flagged.

    Raises
    ------
    VotesError
        If annotators are unknown.
    """
    source = votes_of(votes, **columns)
    return dataframe(favourite_columns(source, find_favourites(source)))


def named_favourites(columns: Columns, annotators: Columns) -> Columns:
    """Return the clearest favourite of each annotator for whom that is what is odd.

    Votes for one competitor are votes against the others, and a reversed annotator's
    votes for the weak are flagged, too.
    """
    is_odd = np.asarray(annotators["reason"]) == "favourite"
    odd = np.asarray(annotators["annotator"])[is_odd]
    names, clearest = np.unique(columns["annotator"], return_index=True)
    rows = np.sort(clearest[np.isin(names, odd)])
    return {name: np.asarray(values)[rows] for name, values in columns.items()}


def favourite_columns(votes: Votes, pairs: Favourites) -> Columns:
    """Return the columns of :func:`favourites`."""
    table = pairs.table
    order = np.argsort(pairs.p_value, kind="stable")
    direction = np.where(table.score >= pairs.expected, "for", "against")
    annotators = np.array(votes.annotators, dtype=object)
    competitors = np.array(votes.competitors, dtype=object)
    return {
        "annotator": annotators[table.annotator[order]],
        "competitor": competitors[table.competitor[order]],
        "direction": direction[order],
        "votes": table.votes[order],
        "wins": table.wins[order],
        "score": (table.score * table.votes)[order],
        "expected": (pairs.expected * table.votes)[order],
        "p_value": pairs.p_value[order],
        "flagged": (pairs.is_for | pairs.is_against)[order],
    }


def find_favourites(votes: Votes, davidson: Posterior | None = None) -> Favourites:
    """Return the pairs that stand out, found in rounds.

    Parameters
    ----------
    votes : Votes
    davidson : Posterior, optional
        Davidson's of all of them, where it is known.
    """
    votes = votes.collapse(annotators=True)
    left_out = extreme_pairs(votes)
    for _ in range(MOST_ROUNDS):
        kept = without_pairs(votes, left_out)
        posterior = None if len(left_out) else davidson
        posterior = posterior or davidson_posterior(kept)
        pairs = surprising_pairs(posterior, votes, kept, left_out)
        if np.array_equal(pairs.named, left_out):
            break
        left_out = pairs.named
    return pairs


def extreme_pairs(votes: Votes) -> Array:
    """Return the codes of pairs of ten votes and more, nearly all for or against."""
    code, pair = np.unique(pair_codes(votes), return_inverse=True)
    cast, score = votes.counts.sum(axis=1), votes.score_of_first
    n_votes = sums(pair, np.concatenate([cast, cast]), len(code))
    total = sums(pair, np.concatenate([score, cast - score]), len(code))
    is_extreme = np.abs(total - n_votes / 2) >= (EXTREME - 0.5) * n_votes
    return code[is_extreme & (n_votes >= MIN_VOTES)]


def surprising_pairs(
    posterior: Posterior, votes: Votes, kept: Votes, left_out: Array
) -> Favourites:
    """Return which pairs stand out from what the others' votes lead to expect.

    Parameters
    ----------
    posterior : Posterior
        Davidson's, of the kept votes.
    votes, kept : Votes
        All, and those that are not on pairs that are left out.
    left_out : ndarray of int
        Codes of pairs that have no part in the expectations, nor in the spread of tastes.
    """
    taste = table_at(posterior, kept).taste
    table = table_at(posterior, votes)
    table = table.subset(table.votes >= LEAST_VOTES)
    high, low, expected = tail_probabilities(table, taste, left_out)
    named = discoveries(np.concatenate([high, low]), FALSE_RATE)
    is_for, is_against = np.split(named, 2)
    return Favourites(table, expected, np.minimum(high, low), is_for, is_against)


def tail_probabilities(
    table: PairTable, taste: float, left_out: Array
) -> tuple[Floats, Floats, Floats]:
    """Return p-values of a score as high, and as low, and expected scores, (pairs,).

    Both are averaged over tastes: one for the competitor makes a high score likelier, one
    against it a low one.
    """
    shift, variance = without_own_votes(table, left_out)

    def expected_at(further: Floats) -> Floats:
        return table.expected_at(shift + further)

    sd = np.sqrt(WIDER * taste**2 + variance)
    high, low = tail_bounds(table.score, table.votes, expected_at, sd)
    return high, low, table.expected_at(shift)


def without_own_votes(table: PairTable, left_out: Array) -> tuple[Floats, Floats]:
    """Return how a strength moves without a pair's votes, and its variance then."""
    used = ~np.isin(table.code, left_out)
    full = 1 / table.strength_variance
    precision = np.maximum(full - used * table.variance, LEAST_LEFT * full)
    shift = np.clip(-table.net / precision, -LONGEST_SHIFT, LONGEST_SHIFT)
    return np.where(used, shift, 0.0), np.minimum(1 / precision, LARGEST_VARIANCE)


def favourite_rows(columns: Columns) -> list[Row]:
    """Return the favourites, with scores in percent, a label and a sentence."""
    rows = records(columns)
    for row in rows:
        for name in ("score", "expected"):  # sums over the votes
            row[name] = 100 * row[name] / row["votes"]
        sign = "" if row["direction"] == "for" else "against "
        row["label"] = f"{row['annotator']}: {sign}{row['competitor']}"
        row["sentence"] = (
            f"{row['annotator']} gave {row['competitor']} {row['score']:.0f} % in "
            f"{row['votes']:,.0f} votes; {row['expected']:.0f} % are expected."
        )
    return rows
