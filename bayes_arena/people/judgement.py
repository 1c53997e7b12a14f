"""The verdict on an annotator, and why: one rule decides in every place.

*Anomalous* is who casts the same votes as another; or who has a probability of an anomaly
of .8, ten votes, and a fault, asked in this order: a favourite; reversed (the interval of
agreement lies below 0); always ties; one side; no more agreement than chance (it holds 0).
In place of the last, who votes by a ranking of one's own *differs*.  *Has a favourite* is
said whatever the agreement.  *Suspect* is a probability of .5, or three in four votes for a
side; *too few votes* are fewer than ten, *not judged* is who has no fit, and all others are
*ordinary*.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from bayes_arena.people.evidence import Evidence
from bayes_arena.people.favourites import Favourite
from bayes_arena.people.sides import CLEAR_SIDE, leans_to_a_side
from bayes_arena.votes.votes import MIN_VOTES

Verdict = Literal[
    "anomalous",
    "has a favourite",
    "suspect",
    "differs",
    "ordinary",
    "too few votes",
    "not judged",
    "only annotator",
]
Kind = Literal[
    "",
    "copies",
    "favourite",
    "reversed",
    "ties",
    "side",
    "chance",
    "own ranking",
    "opposed",
    "loose",
]
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)  # in the order of the table
ODD = ("anomalous", "has a favourite")  # verdicts that are marked
UNJUDGED = ("too few votes", "not judged", "only annotator")
ANOMALOUS, SUSPECT = 0.8, 0.5  # probabilities of an anomaly
MOSTLY_TIES = 0.9  # share of ties above which somebody always ties
OWN_RANKING = 0.05  # p-value below which somebody votes by a ranking of one's own


@dataclass(frozen=True)
class Reason:
    """What speaks for a verdict: its kind, and the words with the numbers.

    The kinds are "copies" (of another's votes), "favourite" (for a competitor, or against
    it), "reversed", "ties", "side", "chance" (no more agreement), "own ranking", "opposed"
    (to about half of the others), "loose" (but real agreement), and "" for none.
    """

    kind: Kind = ""
    text: str = ""


@dataclass(frozen=True)
class Judgement:
    """The verdict on an annotator, and why."""

    verdict: Verdict
    reason: Reason = Reason()


def verdict_on(
    evidence: Evidence, chance_of_own_ranking: Callable[[], float] = lambda: 1.0
) -> Judgement:
    """Return the verdict on an annotator among others.

    Parameters
    ----------
    evidence : Evidence
    chance_of_own_ranking : callable
        Returns the p-value of a ranking of one's own (own_ranking.py), if it is asked for.
    """
    if evidence.copy_of is not None:
        return Judgement("anomalous", copies(evidence))
    fault = fault_of(evidence)
    is_enough = evidence.votes >= MIN_VOTES
    if fault and is_enough and evidence.p_anomaly >= ANOMALOUS:
        if fault.kind == "chance" and chance_of_own_ranking() < OWN_RANKING:
            return Judgement("differs", own_ranking(evidence))
        return Judgement("anomalous", fault)
    if fault and fault.kind == "favourite":
        return Judgement("has a favourite", fault)
    if not is_enough:
        return Judgement("too few votes")
    if np.isnan(evidence.p_anomaly):
        return Judgement("not judged")
    # Of an open direction, who is anomalous under one of the two is suspect.
    suspect_from = ANOMALOUS / 2 if evidence.is_open else SUSPECT
    if evidence.p_anomaly >= suspect_from or leans(evidence):
        return Judgement("suspect", fault or doubt_of(evidence))
    return Judgement("ordinary")


def fault_of(evidence: Evidence) -> Reason | None:
    """Return the fault of an annotator who is anomalous, if there is one."""
    lower, upper = evidence.lower, evidence.upper
    if evidence.favourite is not None:
        return favours(evidence.favourite)
    if opposes(evidence):
        return None
    if upper < 0:
        return Reason("reversed", f"reversed: {agreement(evidence)}")
    if evidence.ties > MOSTLY_TIES * evidence.votes:
        ties = f"{evidence.ties:,.0f} of {evidence.votes:,.0f}"
        return Reason("ties", f"always ties: {ties}")
    if abs(evidence.side_score) >= CLEAR_SIDE and lower <= 0:
        return one_side(evidence)
    if lower <= 0:
        interval = interval_of(evidence)
        return Reason("chance", f"agrees no more than chance: {interval}")
    return None


def doubt_of(evidence: Evidence) -> Reason:
    """Return what speaks against an annotator who has no fault."""
    if opposes(evidence):
        text = f"opposes about half of the others: {agreement(evidence)}"
        return Reason("opposed", text)
    if leans(evidence):
        return one_side(evidence)
    return Reason("loose", f"follows the others loosely: {agreement(evidence)}")


def opposes(evidence: Evidence) -> bool:
    """Whether an annotator stands on one of two sides, of which neither is known as right."""
    return evidence.is_open and not evidence.lower <= 0 <= evidence.upper


def leans(evidence: Evidence) -> bool:
    """Whether three in four votes are for a side."""
    return leans_to_a_side(evidence.side_score, evidence.side_share)


def copies(evidence: Evidence) -> Reason:
    """Return whose votes an annotator casts again."""
    text = f"casts the same {evidence.votes:,.0f} votes as {evidence.copy_of}"
    return Reason("copies", text)


def favours(favourite: Favourite) -> Reason:
    """Return whom an annotator favours, or votes against, with the counts."""
    verb = "favours" if favourite.is_for else "votes against"
    wins = f"{favourite.wins:,.0f} of {favourite.votes:,.0f}"
    text = f"{verb} {favourite.competitor}: {wins}, {favourite.expected:,.0f} expected"
    return Reason("favourite", text)


def one_side(evidence: Evidence) -> Reason:
    """Return which side an annotator votes for, with the counts."""
    is_first = evidence.side_score > 0
    side, cast = ("first", evidence.first) if is_first else ("second", evidence.second)
    votes = f"{cast:,.0f} of {evidence.decided:,.0f} decided votes"
    return Reason("side", f"one side: the {side} in {votes}")


def own_ranking(evidence: Evidence) -> Reason:
    """Return that an annotator votes by a ranking of one's own."""
    text = f"votes by a ranking of its own: {agreement(evidence)}"
    return Reason("own ranking", text)


def agreement(evidence: Evidence) -> str:
    """Return the agreement with its interval."""
    return f"agreement {interval_of(evidence)}"


def interval_of(evidence: Evidence) -> str:
    """Return the estimate of the agreement, and its interval."""
    bounds = f"{evidence.lower:.2f} … {evidence.upper:.2f}"
    return f"{evidence.agreement:.2f} ({bounds})"
