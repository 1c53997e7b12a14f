"""Commands about boards: rank, boards, pairs, next, report."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Annotated, Any

import numpy as np

from bayes_arena import plots
from bayes_arena.boards.elo import EloScale
from bayes_arena.boards.former import read_former
from bayes_arena.boards.leaderboard import notes_of_boards, stacked_columns
from bayes_arena.boards.next_pairs import describe_next, next_pair_columns
from bayes_arena.boards.pairs import gate, pair_columns, what_pairs_lack
from bayes_arena.boards.slices import standings_by
from bayes_arena.boards.standing import Standing, standing_of
from bayes_arena.boards.uncertainty import in_plural
from bayes_arena.boards.unexplained import no_ranking_explains
from bayes_arena.boards.verdict import limit_of
from bayes_arena.cli.command import command
from bayes_arena.cli.options import (
    Answering,
    Boarding,
    Drawable,
    Fitting,
    Ranking,
    Reading,
    Saving,
    Sources,
    option,
)
from bayes_arena.cli.output import Answer, Done, drawn
from bayes_arena.cli.source import fit_of_sources, name_of
from bayes_arena.columns import BOARD, NEXT_PAIRS, PAIRS, Column
from bayes_arena.errors import ModelError, OutputError
from bayes_arena.people.groups import FOUND_HERE, GROUP, GROUPS
from bayes_arena.rating.content import facts_of, facts_of_votes
from bayes_arena.rating.rating import Rating, rating_of
from bayes_arena.rating.text import SHOWN_ROWS, percentage
from bayes_arena.rating.wording import describe_votes
from bayes_arena.reading.facts import read_facts
from bayes_arena.said import Note
from bayes_arena.tables import Columns
from bayes_arena.votes.votes import Votes

# What the gate answers by the exit code.
EXIT_CODES = {"yes": 0, "no": 1, "open": 4}


@command(Drawable)
def rank(
    votes: Sources = None,
    *,
    show_all: Annotated[bool, option("Print all rows.", "--all")] = False,
    rank_spread: Annotated[
        bool,
        option("Ranks by which intervals overlap, as arenas do.", "--rank-spread"),
    ] = False,
    reading: Reading,
    fitting: Fitting,
    ranking: Ranking,
    writing: Drawable,
) -> Answer | Done:
    """Rank the competitors: scores, intervals, ranks, and who is the best.

    With -o board.png or .svg it is drawn.
    """
    rating = rated(votes, reading, fitting, ranking, rank_spread=rank_spread)
    if writing.output is not None and writing.is_picture:
        return drawn(plots.board(rating).figure, writing.output)
    n_shown = None if show_all else SHOWN_ROWS
    return replace(board_answer(rating), n_shown=n_shown, more="--all")


def rated(
    votes: Sources,
    reading: Reading,
    fitting: Fitting,
    ranking: Ranking,
    *,
    rank_spread: bool = False,
    slices: Sequence[str] = (),
) -> Rating:
    """Fit the votes, and rate the fit; the files beside them are read before any work."""
    former = None if ranking.since is None else read_former(ranking.since)
    facts = None if ranking.about is None else read_facts(ranking.about)
    fit = fit_of_sources(votes, reading, fitting, slices=slices)
    return rating_of(
        fit,
        ranking.look(fitting.seed),
        combined=ranking.combined,
        without=ranking.left_out,
        former=former,
        about=facts,
        rank_spread=rank_spread,
        elo=ranking.elo,
        source=name_of(votes),
    )


def board_answer(rating: Rating) -> Answer:
    """Return a rating as a command answers it."""
    return Answer(
        key="leaderboard",
        columns=rating.board_columns,
        table=rating.board_table,
        head=[*rating.header, "", rating.verdict],
        notes=rating.notes,
        facts=rating.content,
        n_shown=SHOWN_ROWS,
        words={"level": percentage(rating.standing.look.level)},
    )


@command(Answering)
def boards(
    votes: Sources = None,
    *,
    by: Annotated[
        str, option("The slice: category, language, month; or annotator_group.")
    ],
    reading: Reading,
    fitting: Fitting,
    boarding: Boarding,
) -> Answer:
    """Rank the competitors in every level of a slice, pooled."""
    fit = fit_of_sources(votes, reading, fitting, boarding.left_out, by)
    standings = standings_by(fit, by, boarding.look(fitting.seed))
    pooled = "competitors may be stronger there than overall, pooled"
    source = name_of(votes)
    return Answer(
        key="boards",
        columns=stacked_columns(by, standings, elo=boarding.elo, rank_spread=False),
        table=(Column(by, heading=by), *BOARD),
        head=[
            describe_votes(fit.votes, source),
            f"One board for each {by}; {pooled}.",
        ],
        notes=[
            *notes_of_boards({name: each.notes for name, each in standings.items()}),
            *about_groups(fit.votes, by),
        ],
        facts={**facts_of_votes(fit.votes, source), "plan": fit.plan},
        words={"level": percentage(boarding.level)},
    )


def about_groups(votes: Votes, by: str) -> list[Note]:
    """Say that groups of annotators were found in the votes that the boards are of."""
    if by != GROUP or votes.levels[by] != GROUPS:
        return []
    return [Note("groups", FOUND_HERE)]


@dataclass(frozen=True)
class Compared:
    """Pairs of competitors, or one, and whether their order is settled.

    Attributes
    ----------
    standing : Standing
    elo : EloScale
    between : tuple of str, optional
        The one pair.
    require : str, optional
        What a gate asks of it.
    margin : float
    """

    standing: Standing
    elo: EloScale
    between: tuple[str, str] | None = None
    require: str | None = None
    margin: float = 0.0

    @cached_property
    def columns(self) -> Columns:
        """The table of the pairs."""
        return pair_columns(self.standing, self.between, self.elo)

    @cached_property
    def listed(self) -> Columns:
        """The pair, or all that are open."""
        if self.between is not None:
            return self.columns
        is_open = np.asarray(self.columns["more_votes"]) != 0
        return {name: np.asarray(x)[is_open] for name, x in self.columns.items()}

    @cached_property
    def gate(self) -> str | None:
        """What the gate answers."""
        if self.between is None or self.require is None:
            return None
        return gate(
            self.standing, self.between, self.require, self.margin, elo=self.elo
        )

    @property
    def head(self) -> str:
        """How many pairs are open, or what the gate answers, in a line; or nothing."""
        if self.gate == "open":
            limit = limit_of(self.standing)
            needed = "votes" if limit is None else in_plural(limit)
            return f"{self.require}: not enough {needed} to say."
        if self.gate is not None:
            return f"{self.require}: {self.gate}."
        if self.between is not None:
            return ""
        n_open, n_pairs = len(self.listed["first"]), len(self.columns["first"])
        return f"Open at {self.standing.look.level:g}: {n_open:,} of {n_pairs:,} pairs."

    @property
    def notes(self) -> list[Note]:
        """What intervals allow for, what pairs lack, and what no ranking explains."""
        return [
            *self.standing.notes,
            *what_pairs_lack(self.standing, self.columns),
            *no_ranking_explains(self.standing.fit),
        ]

    @property
    def facts(self) -> dict[str, Any]:
        """The answer of the gate, if there is one."""
        return {} if self.gate is None else {"gate": self.gate}


def require_a_pair(
    between: tuple[str, str] | None, require: str | None, margin: float
) -> None:
    """Refuse a gate without a pair, and a margin without a gate."""
    if require is not None and between is None:
        raise ModelError("--require goes with --between A B.")
    if margin and require is None:
        raise ModelError("--margin goes with --require.")


@command(Answering)
def pairs(
    votes: Sources = None,
    *,
    between: Annotated[tuple[str, str] | None, option("Two competitors: A B.")] = None,
    require: Annotated[
        str | None,
        option("A gate for A against B: better, not-worse or settled."),
    ] = None,
    margin: Annotated[
        float, option("Elo points that count as nothing.", show_default=True)
    ] = 0.0,
    reading: Reading,
    fitting: Fitting,
    boarding: Boarding,
) -> Answer:
    """Say how far two competitors are apart, and whether that is settled."""
    require_a_pair(between, require, margin)
    fit = fit_of_sources(votes, reading, fitting, boarding.left_out)
    standing = standing_of(fit, boarding.look(fitting.seed))
    compared = Compared(standing, boarding.elo, between, require, margin)
    source = name_of(votes)
    return Answer(
        key="pairs",
        columns=compared.columns,
        table=PAIRS,
        head=[describe_votes(fit.votes, source), *filter(None, [compared.head])],
        notes=compared.notes,
        facts={**facts_of(standing, source), **compared.facts},
        listed=compared.listed,
        n_shown=SHOWN_ROWS,
        words={"level": percentage(boarding.level)},
        exit_code=EXIT_CODES.get(compared.gate or "yes", 0),
    )


@command(Answering)
def next_pairs(
    votes: Sources = None,
    *,
    goal: Annotated[str, option("best or ranking.", show_default=True)] = "best",
    count: Annotated[int, option("Most pairs.", show_default=True)] = 10,
    reading: Reading,
    fitting: Fitting,
    boarding: Boarding,
) -> Answer:
    """Say which pairs to ask about next."""
    fit = fit_of_sources(votes, reading, fitting, boarding.left_out)
    standing = standing_of(fit, boarding.look(fitting.seed))
    columns = next_pair_columns(standing, goal, count)
    sentence = describe_next(standing, columns, goal)
    source = name_of(votes)
    return Answer(
        key="next_pairs",
        columns=columns,
        table=NEXT_PAIRS,
        head=[describe_votes(fit.votes, source), sentence],
        facts={**facts_of(standing, source), "verdict": sentence},
    )


@command(Saving)
def report(
    votes: Sources = None,
    *,
    title: Annotated[str, option("Heading of the page.")] = "Leaderboard",
    by: Annotated[
        list[str] | None,
        option("Show boards by a slice, too: category. May be repeated."),
    ] = None,
    reading: Reading,
    fitting: Fitting,
    ranking: Ranking,
    writing: Saving,
) -> Done:
    """Write a page with the board, the annotators and all the rest: -o board.html."""
    if writing.output is None:
        raise OutputError("Name the page to write: -o board.html.")
    rating = rated(votes, reading, fitting, ranking, slices=by or ())
    rating.report(writing.output, title=title, by=by or ())
    return Done(f"{writing.output} written.")
