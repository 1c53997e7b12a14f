"""Why annotators have their verdict, in a few words with the numbers."""

from __future__ import annotations

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
FAVOURS, AGAINST = "favours", "votes against"


def reasons(fit: Fit, evidence: Evidence, verdict: Array) -> Array:
    """Return why annotators have their verdict, (annotators,); "" for ordinary ones."""
    why = np.full(len(verdict), "", dtype=object)
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


def reason(evidence: Evidence, k: int) -> str:
    """Return in what way annotator k does not vote with the others."""
    agreement, counts = evidence.agreement, evidence.counts[k]
    mean, lower, upper = agreement.mean[k], agreement.lower[k], agreement.upper[k]
    interval = f"agreement {mean:.2f} ({lower:.2f} … {upper:.2f})"
    if agreement.is_open and (upper < 0 or lower > 0):
        return f"opposes about half of the others: {interval}"
    if upper < 0:
        return f"reversed: {interval}"
    if counts[TIE] > MOSTLY_TIES * counts.sum():
        return f"always ties: {counts[TIE]:,.0f} of {counts.sum():,.0f}"
    score = evidence.side_score[k]
    if abs(score) >= CLEAR_SIDE and lower <= 0:
        side, outcome = ("first", FIRST) if score > 0 else ("second", SECOND)
        decided = f"{counts.sum() - counts[TIE]:,.0f} decided votes"
        return f"one side: the {side} in {counts[outcome]:,.0f} of {decided}"
    return f"guesses: {interval}"


def describe_favourite(votes: Votes, favourites: Favourites, pair: int) -> str:
    """Return whom somebody favours, or votes against, with the counts."""
    table = favourites.table
    verb = FAVOURS if favourites.is_for[pair] else AGAINST
    name = votes.competitors[table.competitor[pair]]
    expected = favourites.expected[pair] * table.votes[pair]
    return (
        f"{verb} {name}: {table.wins[pair]:,.0f} of {table.votes[pair]:,.0f}, "
        f"{expected:,.0f} expected"
    )


def is_favourite(why: str) -> bool:
    """Whether a reason is a favourite, or its opposite."""
    return why.startswith((f"{FAVOURS} ", f"{AGAINST} "))


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
