"""``report``: a page that shows a rating."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Unpack

from bayes_arena.fits.fit import refuse_options
from bayes_arena.fits.result import Fit
from bayes_arena.rating.rating import RateOptions, Rating, rate
from bayes_arena.votes.votes import PROMPT, Votes


def report(
    votes: object,
    path: str | Path,
    *,
    title: str = "Leaderboard",
    by: str | Sequence[str] = (),
    **options: Unpack[RateOptions],
) -> None:
    """Write a page that shows a rating: one file of HTML that opens anywhere.

    Parameters
    ----------
    votes : Rating, Fit, or votes
        What :func:`~bayes_arena.rate` takes, or has rated.
    path : path
        The file; what is there is replaced.
    title : str
        Heading of the page.
    by : str or sequence of str
        Slices, as category and language, by which the page has boards, too: a matrix of
        ranks and scores, and a board of each level, pooled towards the whole board.
    **options
        Options of :func:`~bayes_arena.rate`, for votes or a fit.

    Raises
    ------
    ModelError
        If the votes lack a slice, it has more than 30 levels, or the board is combined.
    OutputError
        If the file cannot be written.
    """
    names = (by,) if isinstance(by, str) else tuple(by)
    if isinstance(votes, Rating):
        refuse_options(options)
        rating = votes
    else:
        if names and not isinstance(votes, Fit | Votes):
            options.setdefault("slices", [name for name in names if name != PROMPT])
        rating = rate(votes, **options)
    rating.report(path, title=title, by=names)
