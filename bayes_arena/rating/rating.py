"""``rate``: the board, the annotators, the verdict, and what a reader has to know."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Unpack

from bayes_arena import tables
from bayes_arena.boards.combined import combined_standing
from bayes_arena.boards.elo import ELO, EloScale, require_scale
from bayes_arena.boards.former import FormerBoard, read_former, require_same_kind
from bayes_arena.boards.look import Interval, Look
from bayes_arena.boards.sensitivity import doubts
from bayes_arena.boards.standing import standing_of
from bayes_arena.errors import ModelError, listing, warn
from bayes_arena.fits.fit import fitted
from bayes_arena.fits.options import OPTIONS, OWN, UnseededOptions
from bayes_arena.fits.result import Fit
from bayes_arena.rating.combining import (
    describe_share,
    require_combinable,
    two_fits,
)
from bayes_arena.rating.content import facts_of
from bayes_arena.rating.left_out import describe_nobody, left_out_names, refitted
from bayes_arena.rating.notes import notes_of
from bayes_arena.rating.rated import Rated
from bayes_arena.rating.text import (
    SHOWN_ROWS,
    board_text,
    html_of,
    shown_board,
    text_of,
)
from bayes_arena.rating.wording import describe_fit, describe_source, describe_votes
from bayes_arena.reading.facts import Facts, read_facts
from bayes_arena.reading.options import require_options
from bayes_arena.said import Note
from bayes_arena.votes.votes import MIN_VOTES


@dataclass(frozen=True, eq=False, repr=False)
class Rating(Rated):
    """A rated arena.

    Attributes
    ----------
    fit : Fit
        The board's: Davidson's, of a combined one.
    standing : Standing
        Scores, intervals, and the draws that ranks and verdict come from.
    elo : EloScale
    source : str
        Where the votes come from.
    rank_spread : bool
        Whether ranges of ranks are the arena's spread.
    warnings : tuple of Note
        What makes the board doubtful.
    without : str or collection of str, optional
        Whom to leave out, as it was asked for.
    left_out : tuple of str
        Annotators whose votes were left out.
    before : Rating, optional
        The rating with their votes.
    former : FormerBoard, optional
        The board that this one is compared with.
    share : float, optional
        How far a combined board goes from equal votes (0) to weighed ones (1).
    weighted : Fit, optional
        Am-Davidson's, of a combined board.
    about : Facts, optional
        Facts about the competitors.
    votes
    verdict
    leaderboard
    frontier
    annotators
    favourites
    contested
    header
    notes

    Methods
    -------
    report
    to_json
    to_text
    """

    @property
    def header(self) -> tuple[str, ...]:
        """What was rated, and how, in plain words."""
        allowance = map(str, self.standing.uncertainty.allowance)
        made = describe_fit(self.fit)
        if self.share is not None:
            made = describe_share(self.share)
        words = " ".join([made, *allowance])
        lines = [describe_votes(self.votes, self.source), words]
        if self.left_out:
            lines.append(f"Without the votes of {listing(self.left_out)}.")
        elif self.without is not None:
            lines.append(describe_nobody(self.without))
        return tuple(lines)

    @cached_property
    def notes(self) -> tuple[Note, ...]:
        """What a reader has to know, a line each; five at most."""
        return notes_of(self)

    @property
    def facts(self) -> dict[str, Any]:
        """Of which votes the board is, and how and when it was made."""
        return {
            **facts_of(self.standing, self.source),
            "points_per_logit": self.elo.points_per_logit,
            "combined": self.share is not None,
            "share": self.share,
            "left_out": self.left_out,
        }

    @property
    def content(self) -> dict[str, Any]:
        """All of it: facts, tables, verdict, notes and warnings."""
        return {
            **self.facts,
            "verdict": self.verdict,
            "since": None if self.changes is None else self.changes.content,
            "leaderboard": tables.records(self.board_columns),
            "frontier": tables.records(self.frontier_columns),
            "annotators": tables.records(self.grouped_columns),
            "favourites": tables.records(self.favourite_columns),
            "contested": tables.records(self.contested_columns),
            "notes": self.notes,
            "warnings": self.warnings,
        }

    @property
    def below(self) -> list[str]:
        """Notes and warnings, a line each."""
        return [*map(str, self.notes), *(f"Warning: {note}" for note in self.warnings)]

    def report(
        self,
        path: str | Path,
        *,
        title: str = "Leaderboard",
        by: str | Sequence[str] = (),
    ) -> None:
        """Write the page of the rating: one file of HTML that opens anywhere.

        With ``by`` it has the boards by one slice or several, as category and language.
        """
        from bayes_arena.rating.page import write_page

        write_page(self, path, title, (by,) if isinstance(by, str) else by)

    def to_json(self) -> str:
        """Return the rating as one object of JSON, as ``rank --format json`` does."""
        return tables.json_text(self.content)

    def to_text(self, rows: int | None = SHOWN_ROWS, width: int | None = None) -> str:
        """Return header, verdict, board and notes as lines."""
        level = self.standing.look.level
        board = board_text(self.board_table, self.board_columns, level, rows, width)
        return text_of(self.header, self.verdict, board, self.below)

    def __repr__(self) -> str:
        """Return the rating as `rank` prints it."""
        return self.to_text()

    def _repr_html_(self) -> str:
        """Return the rating for a notebook."""
        level = self.standing.look.level
        shown = shown_board(self.board_table, self.board_columns, level)
        return html_of([*self.header, self.verdict], shown, self.below)


class RateOptions(UnseededOptions, total=False):
    """The options of ``rate``, for functions that pass them on."""

    interval: Interval | None
    cluster: str | None
    level: float
    min_votes: float
    combined: bool
    without: str | Collection[str] | None
    since: str | Path | None
    about: object
    rank_spread: bool
    elo: EloScale
    seed: int


def rate(
    votes: object,
    *,
    interval: Interval | None = None,
    cluster: str | None = None,
    level: float = 0.95,
    min_votes: float = MIN_VOTES,
    combined: bool = False,
    without: str | Collection[str] | None = None,
    since: str | Path | None = None,
    about: object = None,
    rank_spread: bool = False,
    elo: EloScale = ELO,
    seed: int = 0,
    **options: Unpack[UnseededOptions],
) -> Rating:
    """Rate an arena: its board, its annotators, and a verdict.

    Parameters
    ----------
    votes : Fit, Votes, path, dataframe or list of records
        What :func:`~bayes_arena.fit` takes, or has fitted.
    interval, cluster, level, min_votes, rank_spread, elo, seed
        As in :func:`~bayes_arena.leaderboard`.
    combined : bool
        Move the board towards that of votes weighed by how closely their annotator
        follows the ranking, as far as is safe (Stein's rule): for the default model of
        five competitors and more, by known annotators.
    without : {"flagged", "favourites"} or collection of str, optional
        Annotators to leave out: the anomalous, those with a favourite, or by name; several
        together.  The result has the board before and after.
    since : path, optional
        JSON of a former rating (``Rating.to_json``, ``rank -o last.json``).  The board
        has the rank and score before, on the scale of this board, and the change of the
        score with its interval; a note says who is new, gone, or surely changed.
    about : path, dataframe or list of records, optional
        Facts about the competitors, as maker, licence, price and url: a row for each,
        named in a column called competitor, model or name, or else the first.  They
        follow in the columns of the board, and where a column is called price or cost,
        or has such a word in its name, scores are held against it: ``frontier``.
    **options
        Options of :func:`~bayes_arena.fit`, where votes are still to be fitted: ``model``,
        ``prior``, ``method`` and columns.  Annotators are judged beside Davidson's board.

    Returns
    -------
    Rating
        Prints as ``bayes-arena rank`` does; its tables are ``leaderboard``,
        ``annotators``, ``favourites`` and ``contested``.

    Raises
    ------
    ArenaError
        If the votes cannot be read or fitted, an option is unknown, or the former board
        was made in another way.

    Warns
    -----
    ArenaWarning
        If scores are not comparable, or depend on the prior.

    Examples
    --------
    >>> import bayes_arena as ba
    >>> rating = ba.rate(ba.example_arena().votes)
    >>> rating.verdict
    'model-18 is the best (P above 0.99).'
    """
    require_options(options, [*OPTIONS, *(rate.__kwdefaults__ or ())])
    require_scale(elo)
    look = Look(interval, cluster, level, min_votes, seed)
    former = None if since is None else read_former(since)
    facts = None if about is None else read_facts(about)
    return rating_of(
        fitted(votes, **options),
        look,
        combined=combined,
        without=without,
        former=former,
        about=facts,
        rank_spread=rank_spread,
        elo=elo,
        source=describe_source(votes),
    )


def rating_of(
    fit: Fit,
    look: Look,
    *,
    combined: bool = False,
    without: str | Collection[str] | None = None,
    former: FormerBoard | None = None,
    about: Facts | None = None,
    rank_spread: bool = False,
    elo: EloScale = ELO,
    source: str = "votes",
) -> Rating:
    """Return the rating of a fit, or of one without some annotators."""
    if about is not None:
        about.require_any_of(fit.votes.competitors)
    rating = Rating(
        **board_of(fit, look, combined),
        elo=elo,
        source=source,
        rank_spread=rank_spread,
        without=without,
        about=about,
    )
    names = left_out_names(rating, without)
    if names:
        require_refittable(fit)
        board = board_of(refitted(rating.fit, names), look, combined)
        before = replace(rating, without=None)
        rating = replace(rating, **board, left_out=names, before=before)
    if former is not None:
        require_same_kind(former, rating.facts)
        rating = replace(rating, former=former)
    for note in rating.warnings:
        if note not in rating.fit.warnings:  # which were given when it was fitted
            warn(note)
    return rating


def require_refittable(fit: Fit) -> None:
    """Refuse to leave votes out of draws that were made with them."""
    if fit.method == OWN:
        raise ModelError(
            "Draws of your own are of all the votes. Sample again on the votes without "
            "these annotators."
        )


def board_of(fit: Fit, look: Look, combined: bool) -> dict[str, Any]:
    """Return what a rating has of its fit: where competitors stand, and what is doubtful.

    Of a combined board these are also the fit of weighed votes, and how far it goes there.
    """
    if not combined:
        warnings = doubts(fit, look.min_votes)
        return {"fit": fit, "standing": standing_of(fit, look), "warnings": warnings}
    require_combinable(fit, look)
    plain, weighted = two_fits(fit)
    standing, share = combined_standing(plain, weighted, look)
    return {
        "fit": plain,
        "weighted": weighted,
        "standing": standing,
        "share": share,
        "warnings": doubts(plain, look.min_votes),
    }
