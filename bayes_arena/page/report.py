"""``report``: a page that shows a rating."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from bayes_arena.files import written_beside
from bayes_arena.fits.fit import refuse_options
from bayes_arena.page.contents import contents_of
from bayes_arena.page.render import render
from bayes_arena.rating import Rating, rate

TITLE = "Leaderboard"


def report(
    votes: object, path: str | Path, *, title: str | None = None, **options: Any
) -> None:
    """Write a page that shows a rating: one file of HTML that opens anywhere.

    Parameters
    ----------
    votes : Rating, Fit, or votes
        What :func:`~bayes_arena.rate` takes, or has rated.
    path : path
        The file; what is there is replaced.
    title : str, optional
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
    html = render(contents_of(rating, TITLE if title is None else title))
    with written_beside(path) as draft:
        draft.write_text(html, encoding="utf-8")
