"""A warning where intervals are too narrow because they treat votes that share a prompt or ranking as independent.

The answers to a prompt are the same for all annotators who vote on it, so votes on few prompts say less about the next
prompt than the same number of votes on as many prompts would. How much less is estimated from the scores of the votes,
as the ratio of the standard errors clustered by prompt (:mod:`bayes_arena.ratings.intervals.clustered`) to the
interval's.
"""

from __future__ import annotations

import numpy as np

from bayes_arena.errors import DependentVotesWarning, warn
from bayes_arena.fits.result import Fit
from bayes_arena.ratings.intervals.clustered import ClusteredVotes, clustered_variance
from bayes_arena.ratings.intervals.contract import Interval, Quantity, Summary
from bayes_arena.votes.groups import plural, shared
from bayes_arena.votes.names import PROMPT

NARROW = 1.1
"""Median ratio of the two standard errors above which a warning is issued."""
ENOUGH = 16
"""Number of quantities whose median ratio is taken; all of them would take as long as the table itself."""


def summarise(fit: Fit, interval: Interval, quantity: Quantity, level: float) -> Summary:
    """Return the interval's summary; warn where votes are dependent and neither it nor the model accounts for it."""
    summary = interval.summarise(fit, quantity, level)
    if getattr(interval, "by", None) is None and not fit.mode.at_infinity:
        for over in shared(fit.cells):
            if over not in fit.model.strength_by:
                _warn_if_narrow(fit, quantity, summary, over)
    return summary


def _warn_if_narrow(fit: Fit, quantity: Quantity, summary: Summary, over: str) -> None:
    votes = ClusteredVotes.of(fit, over)
    some = np.unique(np.linspace(0, len(summary.sd) - 1, ENOUGH).astype(int))
    some = some[summary.sd[some] > 0]
    if votes.size < 2 or not len(some):
        return
    own = None if quantity.by_own is None else quantity.by_own[some]
    variance = clustered_variance(fit, votes, quantity.by_head[some], own)
    ratio = float(np.median(np.sqrt(variance) / summary.sd[some]))
    if ratio > NARROW:
        remedies = ["fit with answers=True (--answers on)"] if over == PROMPT else []
        if not fit.model.is_crossed:
            remedies = [f"use interval=Clustered(by={over!r}) (--interval clustered --by {over})", *remedies]
        remedy = ", or ".join(remedies) or f"add {over!r} to the model's strength_by"
        warn(
            f"Votes share {plural(over)}, but these intervals treat them as independent: standard errors clustered by "
            f"{over} are {ratio:.2g} times as large (median). {remedy[0].upper()}{remedy[1:]}.",
            DependentVotesWarning,
        )
