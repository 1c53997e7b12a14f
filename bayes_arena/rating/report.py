"""``report``: a page that shows a rating."""

from __future__ import annotations

from pathlib import Path
from typing import Unpack

from bayes_arena.fits.fit import refuse_options
from bayes_arena.rating.rating import RateOptions, Rating, rate


def report(
    votes: object,
    path: str | Path,
    *,
    title: str = "Leaderboard",
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
    **options
        Options of :func:`~bayes_arena.rate`, for votes or a fit.

    Raises
    ------
    OutputError
        If the file cannot be written.
    """
    if isinstance(votes, Rating):
        refuse_options(options)
        rating = votes
    else:
        rating = rate(votes, **options)
    rating.report(path, title=title)
