"""All that the page shows, part by part, from one set of draws."""

from __future__ import annotations

import platform
import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy

from bayes_arena.arrays import Columns, Floats
from bayes_arena.decisions.verdict import Verdict, verdict_of
from bayes_arena.errors import ArenaWarning, DiscountedVotesWarning
from bayes_arena.fits.result import Fit
from bayes_arena.markup import percent, ranked
from bayes_arena.page.annotators import People, people_of
from bayes_arena.page.board import Board, board_of, cheapest_equal, win_chances
from bayes_arena.page.meta import Column
from bayes_arena.page.notes import for_readers, left_out
from bayes_arena.page.observed import Fitted, fitted
from bayes_arena.page.settled import Settled, settled_of
from bayes_arena.page.slices import Kind, kinds_of, unused_kinds
from bayes_arena.ratings.decision_draws import rank_shares
from bayes_arena.ratings.elo import EloScale
from bayes_arena.ratings.intervals.names import resolve_interval
from bayes_arena.version import __version__


@dataclass(frozen=True, eq=False)
class Contents:
    """What the page shows, in its order.

    Attributes
    ----------
    votes : str
        Number of votes cast, in words.
    size : dict of str to int
        Numbers of competitors, annotators and prompts.
    left_out : str
        Which votes do not count, and why.
    notes : tuple of str
        Warnings and notes.
    verdict : Verdict
        Which competitor is the best.
    cheaper : str
        The cheapest competitor not told apart from the first, if prices are known.
    level : float
    board : Board
    wins, places : ndarray, shape (n, n)
        Expected scores of rows against columns, and the probability of every place, by row of the board.
    kinds : list of Kind
        Boards by slice.
    unused : list of str
        Slices of the votes that the model does not use.
    fitted : Fitted
    people : People
    settled : Settled
    made : dict of str to str
        How the page was made.
    """

    votes: str
    size: dict[str, int]
    left_out: str
    notes: tuple[str, ...]
    verdict: Verdict
    cheaper: str
    level: float
    board: Board
    wins: Floats
    places: Floats
    kinds: list[Kind]
    unused: list[str]
    fitted: Fitted
    people: People
    settled: Settled
    made: dict[str, str]


def contents(
    fit: Fit, judged: Columns, *, level: float, elo: EloScale, meta: tuple[Column, ...], notes: Sequence[str]
) -> Contents:
    """Compute the contents of the page of a fit, whose annotators were ``judged`` before.

    Raises
    ------
    NotIdentifiedError
        If the votes do not determine the estimate under a flat prior.
    """
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        board = board_of(fit, level, elo, meta)
        wins, kinds = win_chances(fit, board), kinds_of(fit, board, level, elo)
    counted_all = fit.promotions is None or fit.promotions.cast is None
    said = [text for kind, text in fit.notes if counted_all or kind is not DiscountedVotesWarning]  # else left_out says
    said += [str(one.message) for one in caught if issubclass(one.category, ArenaWarning)]
    cast = fit.cast
    size = {"competitors": cast.n_competitors, "annotators": cast.n_annotators}
    return Contents(
        votes=cast.described_votes,
        size={**size, "prompts": len(cast.slice_names.get("prompt", ()))},
        left_out=left_out(fit),
        notes=for_readers([*said, *notes]),
        verdict=verdict_of(fit, board.strength[:, board.order.argsort()], level),
        cheaper=cheapest_equal(board, level),
        level=level,
        board=board,
        wins=wins,
        places=rank_shares(board.strength),
        kinds=kinds,
        unused=unused_kinds(fit),
        fitted=fitted(fit, level),
        people=people_of(fit, judged, elo),
        settled=settled_of(fit, board, level),
        made=_made(fit, level, elo),
    )


def _made(fit: Fit, level: float, elo: EloScale) -> dict[str, str]:
    """Describe how the page was made."""
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
