"""``report``: a page that shows a rating."""

from __future__ import annotations

from pathlib import Path
from typing import Unpack

from bayes_arena.boards.standing import expected_scores
from bayes_arena.checks.observed import observed_columns
from bayes_arena.files import written_beside
from bayes_arena.fits.fit import refuse_options
from bayes_arena.page.board import axis_ends, board_rows, settled_pairs
from bayes_arena.page.contents import Contents
from bayes_arena.page.people import about_annotators, annotator_rows
from bayes_arena.page.render import render
from bayes_arena.page.words import fitted_in_words, words_of
from bayes_arena.people.favourites import favourite_rows
from bayes_arena.rating.rating import RateOptions, Rating, rate
from bayes_arena.said import NOWHERE
from bayes_arena.tables import Columns, records

TITLE = "Leaderboard"


def report(
    votes: object,
    path: str | Path,
    *,
    title: str | None = None,
    **options: Unpack[RateOptions],
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


def contents_of(rating: Rating, title: str) -> Contents:
    """Return what the page shows of a rating."""
    standing = rating.standing
    people = rating.annotator_columns
    contested = flagged_competitors(rating.contested_columns)
    rows = board_rows(rating.board_columns, contested)
    annotators = annotator_rows(people)
    return Contents(
        title=title,
        header=tuple(rating.header),
        verdict=rating.verdict,
        notes=tuple(
            note.spelled(NOWHERE) for note in (*rating.notes, *rating.warnings)
        ),
        level=standing.look.level,
        ranked=[row for row in rows if row["rank"] is not None],
        unranked=[row for row in rows if row["rank"] is None],
        ends=axis_ends(rows),
        scores=expected_scores(standing),
        rank_shares=standing.rank_shares,
        settled=settled_pairs(standing),
        about_annotators=about_annotators(people),
        annotators=annotators,
        favourites=favourite_rows(rating.named_favourites),
        contested=contested,
        observed=observed_columns(standing.fit, standing.look.level),
        fitted=fitted_in_words(standing),
        words=words_of(standing.fit.model, bool(annotators)),
    )


def flagged_competitors(columns: Columns) -> list[str]:
    """Return the competitors that a table flags."""
    return [row["competitor"] for row in records(columns) if row["flagged"]]
