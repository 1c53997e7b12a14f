"""``rate``: the board, the annotators, the verdict, and what a reader has to know.

The board is Davidson's: all votes have equal weight.  Where annotators are known they are
judged by am-Davidson, and the two boards are compared.  Each fit is made once.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
from scipy.special import expit

from bayes_arena import tables
from bayes_arena.arrays import Array
from bayes_arena.boards.elo import EloScale
from bayes_arena.boards.leaderboard import leaderboard_columns
from bayes_arena.boards.look import Interval, Look
from bayes_arena.boards.sensitivity import prior_sensitivity
from bayes_arena.boards.standing import Standing, standing_of
from bayes_arena.boards.unexplained import no_ranking_explains
from bayes_arena.boards.verdict import verdict_of
from bayes_arena.errors import (
    ArenaError,
    ArenaWarning,
    ModelError,
    did_you_mean,
    listing,
    plural,
    printable,
    require_choice,
    warn,
)
from bayes_arena.fits.fit import MOST_WITH_ANNOTATORS, fit as fit_model, fitted
from bayes_arena.fits.options import UnseededOptions
from bayes_arena.fits.result import Fit
from bayes_arena.inference.direction import direction_is_open
from bayes_arena.people.annotators import annotator_columns
from bayes_arena.people.contested import (
    contested_columns,
    describe_contested,
    find_contested,
)
from bayes_arena.people.doors import discriminating
from bayes_arena.people.favourites import (
    Favourites,
    favourite_columns,
    find_favourites,
)
from bayes_arena.people.shared import RANDOM_EXPOSURE, SURE, compare_boards
from bayes_arena.rating.wording import (
    MOST_NAMED,
    describe_favouring,
    describe_fit,
    describe_source,
    describe_votes,
    ordinal,
    shown_board,
)
from bayes_arena.said import Call, Note, Said, Use
from bayes_arena.tables import Columns
from bayes_arena.votes.votes import MIN_VOTES, Votes

if TYPE_CHECKING:
    import pandas as pd

ELO = EloScale()
WITHOUT = {"flagged": "is anomalous", "favourites": "has a favourite"}
MOST_JUDGED = 5_000  # annotators that `rate` judges
MOST_NOTES = 5
SURE_SIDE = 2.0  # standard deviations from which a side is said to win more often
SHOWN_ROWS = 10  # of a board on the screen
# Of tables without rows, where annotators are not judged.
ANNOTATOR_COLUMNS = (
    *(
        "annotator",
        "verdict",
        "why",
        "reason",
        "p_anomaly",
        "agreement",
        "lower",
        "upper",
    ),
    *("theta", "ties", "side", "votes"),
)
FAVOURITE_COLUMNS = (
    *("annotator", "competitor", "direction", "votes", "wins", "score", "expected"),
    *("p_value", "flagged"),
)
CONTESTED_COLUMNS = ("competitor", "disagreement", "flagged")


@dataclass(frozen=True, eq=False)
class Rating:
    """A rated arena.

    Attributes
    ----------
    fit : Fit
        The board's.
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
    votes
    verdict
    leaderboard
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

    fit: Fit
    standing: Standing
    elo: EloScale = ELO
    source: str = "votes"
    rank_spread: bool = False
    warnings: tuple[Note, ...] = ()
    without: str | Collection[str] | None = None
    left_out: tuple[str, ...] = ()
    before: Rating | None = None

    @property
    def votes(self) -> Votes:
        """The votes that were rated."""
        return self.fit.votes

    @property
    def is_full(self) -> bool:
        """Whether annotators are judged and boards compared: beside Davidson's."""
        return self.fit.model.name == "davidson"

    @property
    def judges_annotators(self) -> bool:
        """Whether annotators are judged."""
        is_small = self.votes.n_competitors <= MOST_WITH_ANNOTATORS
        is_known = 1 < self.votes.n_annotators <= MOST_JUDGED
        return self.is_full and is_small and is_known

    @cached_property
    def known_votes(self) -> Votes:
        """The votes of known annotators, which are judged by them."""
        return self.votes.known("annotator")

    @cached_property
    def annotator_fit(self) -> Fit | None:
        """The fit that judges annotators; None where there is none."""
        if not self.judges_annotators:
            return None
        try:
            with warnings.catch_warnings():  # they are not about the board
                warnings.simplefilter("ignore", ArenaWarning)
                return fit_model(self.known_votes, model="am-davidson")
        except ArenaError:
            return None

    @cached_property
    def found_favourites(self) -> Favourites | None:
        """Whom annotators favour; None where they are not judged."""
        return find_favourites(self.known_votes) if self.judges_annotators else None

    @cached_property
    def disagreement(self) -> Array | None:
        """How contested each competitor is; None where annotators are not judged."""
        return find_contested(self.known_votes) if self.judges_annotators else None

    @cached_property
    def board_columns(self) -> Columns:
        """The board's columns, and who is contested and what was before."""
        spread = self.rank_spread
        board = leaderboard_columns(self.standing, elo=self.elo, rank_spread=spread)
        columns = dict(board)
        if self.before is not None:
            former = self.before.board_columns
            row_of = {name: row for row, name in enumerate(former["competitor"])}
            rows = [row_of[name] for name in columns["competitor"]]
            columns["rank_before"] = np.asarray(former["rank"])[rows]
            columns["elo_before"] = np.asarray(former["elo"])[rows]
        return columns

    @cached_property
    def annotator_columns(self) -> Columns:
        """The columns of the annotators; none where they are not judged."""
        if self.annotator_fit is None or self.found_favourites is None:
            return {}
        seed = self.standing.look.seed
        return annotator_columns(self.annotator_fit, self.found_favourites, seed)

    @cached_property
    def favourite_columns(self) -> Columns:
        """The columns of the favourites; none where annotators are not judged."""
        if self.found_favourites is None:
            return {}
        return favourite_columns(self.known_votes, self.found_favourites)

    @cached_property
    def named_favourites(self) -> Columns:
        """The clearest favourite of each annotator for whom that is what is odd.

        Votes for one competitor are votes against the others, and a reversed annotator's
        votes for the weak are flagged, too.
        """
        columns, table = self.favourite_columns, self.annotator_columns
        if not table:
            return {}
        is_odd = np.asarray(table["reason"]) == "favourite"
        odd = set(np.asarray(table["annotator"])[is_odd])
        names, clearest = np.unique(columns["annotator"], return_index=True)
        rows = np.sort(clearest[[name in odd for name in names]])
        return {name: np.asarray(values)[rows] for name, values in columns.items()}

    @cached_property
    def contested_columns(self) -> Columns:
        """The columns of contested competitors; none where annotators are not judged."""
        if self.disagreement is None:
            return {}
        return contested_columns(self.known_votes, self.disagreement)

    @property
    def leaderboard(self) -> pd.DataFrame:
        """The board: see :func:`~bayes_arena.leaderboard`."""
        return tables.dataframe(self.board_columns)

    @property
    def annotators(self) -> pd.DataFrame:
        """Who votes how: see :func:`~bayes_arena.annotators`."""
        return table_of(self.annotator_columns, ANNOTATOR_COLUMNS)

    @property
    def favourites(self) -> pd.DataFrame:
        """Whom annotators favour: see :func:`~bayes_arena.favourites`."""
        return table_of(self.favourite_columns, FAVOURITE_COLUMNS)

    @property
    def contested(self) -> pd.DataFrame:
        """About whom annotators disagree: see :func:`~bayes_arena.contested`."""
        return table_of(self.contested_columns, CONTESTED_COLUMNS)

    @cached_property
    def verdict(self) -> str:
        """Who is the best, in a sentence or two."""
        is_divided = self.annotator_fit is not None and direction_is_open(
            self.annotator_fit.posterior
        )
        return verdict_of(self.standing, is_divided=is_divided)

    @property
    def header(self) -> tuple[str, ...]:
        """What was rated, and how, in plain words."""
        allowance = map(str, self.standing.uncertainty.allowance)
        words = " ".join([describe_fit(self.fit), *allowance])
        lines = [describe_votes(self.votes, self.source), words]
        if self.left_out:
            lines.append(f"Without the votes of {listing(self.left_out)}.")
        elif isinstance(self.without, str):
            lines.append(f"Nobody was left out: nobody {WITHOUT[self.without]}.")
        return tuple(lines)

    @cached_property
    def notes(self) -> tuple[Note, ...]:
        """What a reader has to know, a line each; five at most."""
        notes = [
            *self.gap_notes(),
            *self.annotator_notes(),
            *self.contested_notes(),
            *self.ranking_notes(),
            *no_ranking_explains(self.fit),
            *self.standing.reservations,
            *self.side_notes(),
        ]
        return tuple(notes[:MOST_NOTES])

    def gap_notes(self) -> list[Note]:
        """Say how many votes lack an annotator, where annotators are judged."""
        if not self.judges_annotators:
            return []
        n = self.votes.n_votes - self.known_votes.n_votes
        if not n:
            return []
        verb = "lacks" if n == 1 else "lack"
        text = f"{n:,.0f} of {plural(self.votes.n_votes, 'vote')} {verb} an annotator"
        return [Note("gaps", f"{text}: annotators are judged by the others.")]

    def annotator_notes(self) -> list[Note]:
        """Say who is anomalous, and who has a favourite."""
        if self.is_full and self.votes.n_annotators > 1 and not self.judges_annotators:
            text = (
                f"The {self.votes.n_annotators:,} annotators were not judged: that takes "
                "minutes with so many of them, or of competitors."
            )
            return [Note("annotators", text)]
        if self.judges_annotators and self.annotator_fit is None:
            text = "Annotators were not judged: their fit found no answer."
            return [Note("annotators", text)]
        if self.annotator_fit is None:
            return []
        is_anomalous = np.asarray(self.annotator_columns["verdict"]) == "anomalous"
        names = np.asarray(self.annotator_columns["annotator"])[is_anomalous]
        parts = []
        if direction_is_open(self.annotator_fit.posterior):
            parts.append(
                "about half vote against the ranking of the others, and which half is "
                "right, votes cannot tell"
            )
        if len(names):
            verb = "is" if len(names) == 1 else "are"
            who = f" ({', '.join(names)})" if len(names) <= MOST_NAMED else ""
            parts.append(f"{len(names)} of {len(is_anomalous):,} {verb} anomalous{who}")
        parts += describe_favouring(self.named_favourites)[:MOST_NAMED]
        if not parts:
            return []
        text = f"Annotators: {'; '.join(parts)}."
        return [Note("annotators", text, more=Call("annotators"))]

    def contested_notes(self) -> list[Note]:
        """Say about whom annotators disagree far more than about others."""
        if self.disagreement is None:
            return []
        sentences = describe_contested(self.known_votes, self.disagreement)
        return [Note("contested", text) for text in sentences[:1]]

    def ranking_notes(self) -> list[Note]:
        """Say whether the two boards differ by more than chance, and who moves most."""
        if self.annotator_fit is None or not np.isfinite(self.fit.strength).all():
            return []
        plain = self.fit
        if self.known_votes is not self.votes:
            plain = fit_model(self.known_votes, prior=self.fit.prior)
        result = compare_boards(plain, self.annotator_fit)
        if result.p_value >= SURE:
            return []
        moved = int(np.argmax(np.abs(result.gap)))
        before, after = (
            1 + int(np.sum(board.value > board.value[moved]))
            for board in (self.fit.marginals.board, self.annotator_fit.marginals.board)
        )
        name = self.votes.competitors[moved]
        size = abs(result.gap[moved])
        places = f"from {ordinal(before)} to {ordinal(after)}"
        moves = f"'{name}' the most: {size:.0f} Elo, {places}"
        weighed = Use(model="am-davidson")
        text: Said = (
            f"{result.reading} Weighting them by discrimination",
            (" (", weighed, ")"),
            f" would move {moves}.",
        )
        if result.exposure > RANDOM_EXPOSURE:
            text = f"{result.reading} It would move {moves}."
        return [Note("boards", text)]

    def side_notes(self) -> list[Note]:
        """Say whether the side shown first wins more often."""
        if not self.fit.posterior.design.has("position"):
            return []
        b = self.fit.posterior.common("position")
        if abs(b) < SURE_SIDE * float(self.fit.posterior.sd_of("position")[0]):
            return []
        side = "first" if b > 0 else "second"
        share = 100 * float(expit(abs(b)))
        text = (
            f"Between equals the {side} side wins {share:.0f} % of the decided votes; "
            "scores allow for it."
        )
        return [Note("advantage", text)]

    def report(self, path: str | Path, *, title: str | None = None) -> None:
        """Write the page of the rating: one file of HTML that opens anywhere."""
        from bayes_arena.rating.report import report

        report(self, path, title=title)

    def to_json(self) -> str:
        """Return the rating as one object of JSON: tables, plan, verdict and notes."""
        content = {
            "leaderboard": tables.records(self.board_columns),
            "annotators": tables.records(self.annotator_columns),
            "favourites": tables.records(self.favourite_columns),
            "contested": tables.records(self.contested_columns),
            "plan": self.fit.plan,
            "verdict": self.verdict,
            "notes": [note.row() for note in self.notes],
            "warnings": [note.row() for note in self.warnings],
        }
        return json.dumps(content, ensure_ascii=False, indent=2)

    def to_text(self, rows: int | None = SHOWN_ROWS, width: int | None = None) -> str:
        """Return header, verdict, board and notes as lines."""
        table = self.board_text(rows, width)
        parts = ["\n".join(map(printable, self.header)), printable(self.verdict), table]
        below = [*map(str, self.notes), *(f"Warning: {note}" for note in self.warnings)]
        if below:
            parts.append("\n".join(map(printable, below)))
        return "\n\n".join(parts) + "\n"

    def board_text(self, rows: int | None, width: int | None) -> str:
        """Return the first rows of the board as lines, and how many there are more."""
        shown = shown_board(self.board_columns, self.standing.look.level)
        shown = {name: values[:rows] for name, values in shown.items()}
        table = tables.text_table(shown, width, spare=("votes", "rank range")).rstrip(
            "\n"
        )
        n_hidden = len(self.board_columns["rank"]) - len(shown["rank"])
        return f"{table}\n    …  {n_hidden:,} more" if n_hidden else table

    def __repr__(self) -> str:
        """Return the rating as `rank` prints it."""
        return self.to_text()

    def _repr_html_(self) -> str:
        """Return the rating for a notebook."""
        shown = shown_board(self.board_columns, self.standing.look.level)
        head = [*self.header, self.verdict]
        paragraphs = [f"<p>{tables.html_text(text)}</p>" for text in head]
        below = [*map(str, self.notes), *(f"Warning: {note}" for note in self.warnings)]
        notes = [f"<p>{tables.html_text(text)}</p>" for text in below]
        return "\n".join([*paragraphs, tables.html_table(shown), *notes])


class RateOptions(UnseededOptions, total=False):
    """The options of ``rate``, for functions that pass them on."""

    interval: Interval | None
    cluster: str | None
    level: float
    min_votes: float
    without: str | Collection[str] | None
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
    without: str | Collection[str] | None = None,
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
    without : {"flagged", "favourites"} or collection of str, optional
        Annotators to leave out: the anomalous, those with a favourite, or by name.  The
        result has the board before and after.
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
        If the votes cannot be read or fitted, or an option is unknown.

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
    look = Look(interval, cluster, level, min_votes, seed)
    return rated(
        fitted(votes, **options),
        look,
        without=without,
        rank_spread=rank_spread,
        elo=elo,
        source=describe_source(votes),
    )


def rated(
    fit: Fit,
    look: Look,
    *,
    without: str | Collection[str] | None,
    rank_spread: bool,
    elo: EloScale,
    source: str,
) -> Rating:
    """Return the rating of a fit, and of one without some annotators."""
    rating = Rating(
        fit=fit,
        standing=standing_of(fit, look),
        elo=elo,
        source=source,
        rank_spread=rank_spread,
        warnings=warnings_on(fit, look.min_votes),
        without=without,
    )
    names = left_out_names(rating, without)
    if names:
        fit = refitted(fit, names)
        rating = replace(
            rating,
            fit=fit,
            standing=standing_of(fit, look),
            warnings=warnings_on(fit, look.min_votes),
            left_out=names,
            before=rating,
        )
    for note in rating.warnings:
        if note not in fit.warnings:  # which were given when it was fitted
            warn(note)
    return rating


def warnings_on(fit: Fit, min_votes: float) -> tuple[Note, ...]:
    """Return what makes a board doubtful: a fit's warnings, and scores of the prior."""
    sensitivity = prior_sensitivity(fit, min_votes=min_votes)
    return fit.warnings if sensitivity is None else (*fit.warnings, sensitivity)


def table_of(columns: Columns, names: Sequence[str]) -> pd.DataFrame:
    """Return a dataframe; without rows, one of these columns where there are none."""
    return tables.dataframe(columns or {name: [] for name in names})


def refitted(fit: Fit, left_out: Collection[str]) -> Fit:
    """Return the same model fitted to the votes without some annotators."""
    votes = fit.votes.drop(annotators=left_out)
    options: dict[str, Any] = {"prior": fit.prior, "method": fit.method}
    return fit_model(votes, model=fit.model, seed=fit.seed, **options)


def left_out_names(
    rating: Rating, without: str | Collection[str] | None
) -> tuple[str, ...]:
    """Return the annotators to leave out."""
    if without is None:
        return ()
    rating.votes.require_annotators()
    if isinstance(without, str) and without in WITHOUT:
        return names_of_kind(rating, without)
    annotators = rating.votes.annotators
    if isinstance(without, str):
        if without not in annotators:
            require_choice("without", without, (*WITHOUT, "names of annotators"))
        return (without,)
    unknown = [name for name in without if name not in annotators]
    if unknown:
        raise ModelError(
            f"No votes of {listing(map(repr, unknown))}."
            f"{did_you_mean(unknown[0], annotators)}"
        )
    return tuple(dict.fromkeys(without))


def names_of_kind(rating: Rating, kind: str) -> tuple[str, ...]:
    """Return the annotators who are anomalous, or have a favourite."""
    columns = rating.annotator_columns or annotator_columns(
        discriminating(rating.fit), find_favourites(rating.known_votes)
    )
    names = np.asarray(columns["annotator"])
    if kind == "flagged":
        return tuple(names[np.asarray(columns["verdict"]) == "anomalous"])
    return tuple(names[np.asarray(columns["reason"]) == "favourite"])
