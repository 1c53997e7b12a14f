"""What a reader of the page should know besides the verdict: what was left out, and warnings without their remedies.

Remedies are for whoever fits the votes: they name options and functions, which say nothing to the reader of a page.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

import numpy as np

from bayes_arena.errors import listing, printable
from bayes_arena.fits.result import Fit

PART = re.compile(r"(?<=[.;!?])\s+")
"""Between the sentences of a warning, and between their parts."""
ASIDE = re.compile(r" \([^()]*--[a-z][^()]*\)")
"""Options in brackets."""
REMEDY = re.compile(r"(?<!\w)--[a-z]|\w=\S|\w\(\w*\)|`")
"""An option, an argument, a call or a command."""


def left_out(fit: Fit) -> str:
    """Say in one line which votes do not count, and why."""
    said = list(_left_out(fit))
    return f"{'; '.join(said)}." if said else f"none of {fit.cast.described_votes}."


def _left_out(fit: Fit) -> Iterator[str]:
    found, names = fit.promotions, fit.cells.competitors
    if fit.votes_discounted and found is not None:
        which = [printable(names[c]) for c in np.flatnonzero(found.is_open)]
        yield (
            f"{fit.votes_discounted:,.0f} of {fit.cast.described_votes}, on {listing(which)}, by annotators who see "
            f"{'it' if len(which) == 1 else 'them'} far from where all others do, or whose other votes say too little"
        )
    if fit.dropped:
        yield f"all votes of {len(fit.dropped):,} annotator{'s' * (len(fit.dropped) > 1)}, on request"
    unseen = fit.cells.n_votes - fit.target.n_votes
    if unseen > 0.5:
        yield f"{unseen:,.0f} votes for neither, which the model {fit.model.name} does not use"
    if fit.cells.dropped:
        why = ", ".join(f"{n:,} {problem}" for problem, n in fit.cells.dropped.items())
        yield f"{sum(fit.cells.dropped.values()):,} invalid votes ({why})"


def for_readers(warnings: Iterable[str]) -> tuple[str, ...]:
    """Return what warnings say without what to do about it, each once; those that say nothing else are left out."""
    found = (PART.split(ASIDE.sub("", text)) for text in warnings)
    kept = (" ".join(part for part in parts if not REMEDY.search(part)).rstrip(" ;,") for parts in found)
    return tuple(dict.fromkeys(text if text[-1] in ".!?" else f"{text}." for text in kept if text))
