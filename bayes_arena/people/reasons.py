"""Why annotators have their verdict, in a few words with the numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from bayes_arena.arrays import Array
from bayes_arena.fits.result import Fit
from bayes_arena.people.evidence import Evidence
from bayes_arena.people.favourites import Favourites, divergence
from bayes_arena.people.sides import CLEAR_SIDE
from bayes_arena.people.table import score_moments
from bayes_arena.votes.votes import FIRST, SECOND, TIE, Votes

MOSTLY_TIES = 0.9  # share of ties above which somebody always ties
# Nats by which a score is beyond what is expected: a chance of 1 in 20.
SURPRISING = 3.0

type Kind = Literal["", "favourite", "reversed", "ties", "side", "guesses", "opposed"]


@dataclass(frozen=True)
class Reason:
    """What speaks for a verdict: its kind, and the words with the numbers.

    The kinds are "favourite" (for a competitor, or against it), "reversed", "ties",
    "side", "guesses", "opposed" (to about half of the others), and "" for none.
    """

    kind: Kind
    text: str


NO_REASON = Reason("", "")


def reasons(fit: Fit, evidence: Evidence, verdict: Array) -> Array:
    """Return why annotators have their verdict, (annotators,)."""
    why = np.full(len(verdict), NO_REASON, dtype=object)
    for k in np.flatnonzero(np.isin(verdict, ["anomalous", "suspect"])):
        why[k] = reason(evidence, k)
    favourites = evidence.favourites
    if favourites is None:
        return why
    for k, pair in evidence.clearest_pair.items():
        is_reversed = evidence.agreement.upper[k] < 0
        if not (is_reversed and is_mere_reversal(fit, favourites, pair)):
            why[k] = describe_favourite(fit.votes, favourites, pair)
    return why


def reason(evidence: Evidence, k: int) -> Reason:
    """Return in what way annotator k does not vote with the others."""
    agreement, counts = evidence.agreement, evidence.counts[k]
    mean, lower, upper = agreement.mean[k], agreement.lower[k], agreement.upper[k]
    interval = f"agreement {mean:.2f} ({lower:.2f} … {upper:.2f})"
    if agreement.is_open and (upper < 0 or lower > 0):
        return Reason("opposed", f"opposes about half of the others: {interval}")
    if upper < 0:
        return Reason("reversed", f"reversed: {interval}")
    if counts[TIE] > MOSTLY_TIES * counts.sum():
        ties = f"{counts[TIE]:,.0f} of {counts.sum():,.0f}"
        return Reason("ties", f"always ties: {ties}")
    score = evidence.side_score[k]
    if abs(score) >= CLEAR_SIDE and lower <= 0:
        side, outcome = ("first", FIRST) if score > 0 else ("second", SECOND)
        decided = f"{counts.sum() - counts[TIE]:,.0f} decided votes"
        won = f"the {side} in {counts[outcome]:,.0f} of {decided}"
        return Reason("side", f"one side: {won}")
    return Reason("guesses", f"guesses: {interval}")


def describe_favourite(votes: Votes, favourites: Favourites, pair: int) -> Reason:
    """Return whom somebody favours, or votes against, with the counts."""
    table = favourites.table
    verb = "favours" if favourites.is_for[pair] else "votes against"
    name = votes.competitors[table.competitor[pair]]
    wins = f"{table.wins[pair]:,.0f} of {table.votes[pair]:,.0f}"
    expected = favourites.expected[pair] * table.votes[pair]
    return Reason("favourite", f"{verb} {name}: {wins}, {expected:,.0f} expected")


def is_mere_reversal(fit: Fit, favourites: Favourites, pair: int) -> bool:
    """Whether a favourite is what votes against the ranking make of a weak competitor."""
    table = favourites.table
    expected = score_by_own_theta(fit, table.annotator[pair], table.competitor[pair])
    surprise = table.votes[pair] * divergence(table.score[pair], np.asarray(expected))
    return bool(surprise < SURPRISING)


def score_by_own_theta(fit: Fit, k: int, c: int) -> float:
    """Return the score that annotator k, as fitted, is expected to give competitor c."""
    votes, posterior = fit.votes, fit.posterior
    rows = (votes.annotator == k) & ((votes.i == c) | (votes.j == c))
    first, second = votes.i[rows], votes.j[rows]
    eta = fit.discrimination[k] * (fit.strength[first] - fit.strength[second])
    eta += posterior.of_annotator("position", k)
    sign = np.where(first == c, 1, -1)  # the competitor may be shown second
    tie = posterior.of_annotator("tie", k)
    score, _ = score_moments(sign * eta, posterior.design.outcomes, tie)
    return float(np.average(score, weights=votes.counts[rows].sum(axis=1)))
