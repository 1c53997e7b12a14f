"""The verdict on an annotator, and why: one rule decides in every place.

*Anomalous* at a probability of .8 and ten votes or more, *has a favourite*, *suspect* at
.5, *ordinary*, and *too few votes* below ten.  Somebody alone is the *only annotator*:
there is nobody to agree with.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from bayes_arena.people.evidence import Evidence
from bayes_arena.people.favourites import Favourite
from bayes_arena.people.sides import CLEAR_SIDE
from bayes_arena.votes.votes import MIN_VOTES

type Kind = Literal["", "favourite", "reversed", "ties", "side", "guesses", "opposed"]
Verdict = Literal[
    "anomalous",
    "has a favourite",
    "suspect",
    "ordinary",
    "too few votes",
    "only annotator",
]
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)  # in the order of the table
ODD = ("anomalous", "has a favourite")  # verdicts that are marked
UNJUDGED = ("too few votes", "only annotator")
ANOMALOUS, SUSPECT = 0.8, 0.5  # probabilities of an anomaly
MOSTLY_TIES = 0.9  # share of ties above which somebody always ties


@dataclass(frozen=True)
class Reason:
    """What speaks for a verdict: its kind, and the words with the numbers.

    The kinds are "favourite" (for a competitor, or against it), "reversed", "ties",
    "side", "guesses", "opposed" (to about half of the others), and "" for none.
    """

    kind: Kind = ""
    text: str = ""


@dataclass(frozen=True)
class Judgement:
    """The verdict on an annotator, and why."""

    verdict: Verdict
    reason: Reason = Reason()


def judge(evidence: Evidence) -> Judgement:
    """Return the verdict on an annotator among others."""
    favourite = evidence.favourite and favours(evidence.favourite)
    # Of an open direction, who is anomalous under one of the two is suspect.
    suspect_from = ANOMALOUS / 2 if evidence.is_open else SUSPECT
    if evidence.votes >= MIN_VOTES and evidence.p_anomaly >= ANOMALOUS:
        return Judgement("anomalous", favourite or disagrees(evidence))
    if favourite:
        return Judgement("has a favourite", favourite)
    if evidence.votes < MIN_VOTES:
        return Judgement("too few votes")
    if evidence.p_anomaly >= suspect_from:
        return Judgement("suspect", disagrees(evidence))
    return Judgement("ordinary")


def favours(favourite: Favourite) -> Reason:
    """Return whom somebody favours, or votes against, with the counts."""
    verb = "favours" if favourite.is_for else "votes against"
    wins = f"{favourite.wins:,.0f} of {favourite.votes:,.0f}"
    text = f"{verb} {favourite.competitor}: {wins}, {favourite.expected:,.0f} expected"
    return Reason("favourite", text)


def disagrees(evidence: Evidence) -> Reason:
    """Return in what way an annotator does not vote with the others."""
    lower, upper = evidence.lower, evidence.upper
    agreement = f"agreement {evidence.agreement:.2f} ({lower:.2f} … {upper:.2f})"
    if evidence.is_open and (upper < 0 or lower > 0):
        return Reason("opposed", f"opposes about half of the others: {agreement}")
    if upper < 0:
        return Reason("reversed", f"reversed: {agreement}")
    if evidence.ties > MOSTLY_TIES * evidence.votes:
        ties = f"{evidence.ties:,.0f} of {evidence.votes:,.0f}"
        return Reason("ties", f"always ties: {ties}")
    if abs(evidence.side_score) >= CLEAR_SIDE and lower <= 0:
        return Reason("side", one_side(evidence))
    return Reason("guesses", f"guesses: {agreement}")


def one_side(evidence: Evidence) -> str:
    """Return which side an annotator votes for, with the counts."""
    is_first = evidence.side_score > 0
    side, cast = ("first", evidence.first) if is_first else ("second", evidence.second)
    return (
        f"one side: the {side} in {cast:,.0f} of {evidence.decided:,.0f} decided votes"
    )
