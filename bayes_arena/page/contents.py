"""All that the page shows, part by part, from one set of draws, and what its reader should know besides.

Remedies in warnings are for whoever fits the votes: they name options and functions, which say nothing to the reader of
a page.
"""

from __future__ import annotations

import platform
import re
import warnings
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import scipy

from bayes_arena.arrays import Columns
from bayes_arena.decisions.integrity import open_gates
from bayes_arena.decisions.verdict import verdict_of
from bayes_arena.errors import ArenaWarning, DiscountedVotesWarning, listing, printable
from bayes_arena.fits.result import Fit
from bayes_arena.markup import percent, ranked
from bayes_arena.page.annotators import people_of
from bayes_arena.page.board import board_of, cheapest_equal, kinds_of, settled_of, unused_kinds, win_chances
from bayes_arena.page.meta import Column
from bayes_arena.page.observed import fitted
from bayes_arena.ratings.decision_draws import rank_shares
from bayes_arena.ratings.elo import EloScale
from bayes_arena.ratings.intervals.names import resolve_interval
from bayes_arena.version import __version__

PART = re.compile(r"(?<=[.;!?])\s+")
"""Between the sentences of a warning, and between their parts."""
ASIDE = re.compile(r" \([^()]*--[a-z][^()]*\)")
"""Options in brackets."""
REMEDY = re.compile(r"(?<!\w)--[a-z]|\w=\S|\w\(\w*\)|`")
"""An option, an argument, a call or a command."""


def contents(
    fit: Fit, judged: Columns, *, level: float, elo: EloScale, meta: tuple[Column, ...], notes: Sequence[str]
) -> dict[str, Any]:
    """Return all that the template shows of a fit, whose annotators were ``judged`` before."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        board = board_of(fit, level, elo, meta)
        wins, kinds = win_chances(fit, board), kinds_of(fit, board, level, elo)
    counted_all = fit.promotions is None or fit.promotions.cast is None
    said = [text for kind, text in fit.notes if counted_all or kind is not DiscountedVotesWarning]  # else left_out says
    said += [str(one.message) for one in caught if issubclass(one.category, ArenaWarning)]
    cast = fit.cast
    size = {"competitors": cast.n_competitors, "annotators": cast.n_annotators}
    return {
        "votes": cast.described_votes,
        "size": {**size, "prompts": len(cast.slice_names.get("prompt", ()))},
        "left_out": left_out(fit),
        "notes": for_readers([*said, *notes]),
        "verdict": verdict_of(fit, board.strength[:, board.order.argsort()], level),
        "cheaper": cheapest_equal(board, level),
        "level": level,
        "board": board,
        "wins": wins,
        "places": rank_shares(board.strength),
        "kinds": kinds,
        "unused": unused_kinds(fit),
        "fitted": fitted(fit, level),
        "people": people_of(fit, judged, elo),
        "settled": settled_of(fit, board, level),
        "made": _made(fit, level, elo),
    }


def _made(fit: Fit, level: float, elo: EloScale) -> dict[str, str]:
    evidence = f" ({fit.evidence})" if fit.evidence else ""
    scale = f"{elo.init:g} + {elo.scale:g} log{elo.base:g}(odds)"
    anchor = f", shifted so that {elo.anchor[0]} has {elo.anchor[1]:g}" if elo.anchor else ""
    interval = resolve_interval(None, fit).about(fit)["interval"]
    return {
        "Model": f"{fit.model.name}, {fit.prior} prior",
        "Method": f"{fit.method}{evidence}",
        **({"Left out on request": ", ".join(fit.dropped)} if fit.dropped else {}),
        **({"Counted in full on request": ", ".join(fit.kept)} if fit.kept else {}),
        **({"Ranked": "; ".join(ranked(fit.about))} if fit.about else {}),
        "Intervals": f"{interval}, {percent(level, 'g')}",
        "Elo scale": scale + anchor,
        "Seed": "0" if fit.seed is None else str(fit.seed),
        "Versions": (
            f"bayes-arena {__version__}, Python {platform.python_version()}, NumPy {np.__version__}, "
            f"SciPy {scipy.__version__}"
        ),
    }


def left_out(fit: Fit) -> str:
    """Say in one line which votes do not count, and why."""
    said = list(_left_out(fit))
    return f"{'; '.join(said)}." if said else f"none of {fit.cast.described_votes}."


def _left_out(fit: Fit) -> Iterator[str]:
    if fit.votes_discounted:
        which = list(map(printable, open_gates(fit)))
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
