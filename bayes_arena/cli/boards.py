"""Commands about boards: rank, boards, pairs, next, report."""

from dataclasses import replace
from typing import Annotated

import numpy as np
import typer

from bayes_arena.boards.leaderboard import stacked_columns
from bayes_arena.boards.next_pairs import describe_next, next_pair_columns
from bayes_arena.boards.pairs import gate, pair_columns
from bayes_arena.boards.slices import standings_by
from bayes_arena.boards.standing import standing_of
from bayes_arena.cli.options import (
    BOARDS,
    Answering,
    Boarding,
    Drawing,
    Fitting,
    Reading,
    Source,
    option,
    with_options,
)
from bayes_arena.cli.output import (
    Answer,
    all_columns,
    collected_warnings,
    intervals,
    numbers,
    tell_warnings,
    write,
)
from bayes_arena.cli.source import fitted
from bayes_arena.errors import ModelError, OutputError
from bayes_arena.rating import SHOWN_ROWS, Rating, describe_votes, shown_board
from bayes_arena.tables import Columns

NO, OPEN = 1, 4  # exit codes of the gate
SPARE = ("before", "votes", "rank range")


@with_options
def rank(
    source: Source = None,
    *,
    show_all: Annotated[bool, option("Print all rows.", BOARDS, "--all")] = False,
    rank_spread: Annotated[
        bool,
        option(
            "Ranks by which intervals overlap, as arenas do.", BOARDS, "--rank-spread"
        ),
    ] = False,
    reading: Reading,
    fitting: Fitting,
    drawing: Drawing,
    boarding: Boarding,
    answering: Answering,
) -> None:
    """Rank the competitors: scores, intervals, ranks, and who is the best."""
    with collected_warnings() as warned:
        work = fitted(source, reading, fitting, drawing.seed)
        rating = boarding.rating(
            work.fit, work.name, drawing.seed, rank_spread=rank_spread
        )
        columns = rating.board_columns
        notes = [*rating.notes, *more_about(rating, source)]
    warned += [text for text in rating.warnings if text not in warned]
    shown = shown_board(columns, boarding.level)
    if answering.explain:
        shown = all_columns(columns)
    is_short = not (show_all or answering.explain)
    hidden = max(len(columns["rank"]) - SHOWN_ROWS, 0) if is_short else 0
    if hidden:
        shown = {name: values[:SHOWN_ROWS] for name, values in shown.items()}
    answer = Answer(
        key="leaderboard",
        columns=columns,
        shown=shown,
        head=[*rating.header, "", rating.verdict],
        notes=notes,
        facts={"plan": work.fit.plan, "verdict": rating.verdict},
        spare=SPARE,
        hidden=hidden,
    )
    write(answer, answering, warned)


def more_about(rating: Rating, source: str | None) -> list[str]:
    """Return where more is to be seen, in a line or two."""
    notes = []
    remarks = [*rating.votes.remarks, *rating.votes.dropped]
    if source is not None and len(remarks):
        count = len(remarks)
        noun = "remark" if count == 1 else "remarks"
        notes.append(f"{count} {noun} on the file: bayes-arena check {source}")
    return notes


@with_options
def boards(
    source: Source = None,
    *,
    by: Annotated[str, option("The slice: category, language, month.", BOARDS)],
    reading: Reading,
    fitting: Fitting,
    drawing: Drawing,
    boarding: Boarding,
    answering: Answering,
) -> None:
    """Rank the competitors in every level of a slice, pooled."""
    with collected_warnings() as warned:
        pooled = replace(fitting, strength_by=[*(fitting.strength_by or ()), by])
        work = fitted(source, reading, pooled, drawing.seed)
        options = boarding.standing_options(drawing.seed)
        standings = standings_by(work.fit, by, **options)
        columns = stacked_columns(by, standings, elo=boarding.elo, rank_spread=False)
    shown = {
        by: [str(name) for name in columns[by]],
        **shown_board(columns, boarding.level),
    }
    head = [
        describe_votes(work.votes, work.name),
        f"One board for each {by}; competitors may be stronger there than overall, pooled.",
    ]
    answer = Answer(
        "boards", columns, shown, head, facts={"plan": work.fit.plan}, spare=SPARE
    )
    write(answer, answering, warned)


@with_options
def pairs(
    source: Source = None,
    *,
    between: Annotated[
        tuple[str, str] | None, option("Two competitors: A B.", BOARDS)
    ] = None,
    require: Annotated[
        str | None,
        option("A gate for A against B: better, not-worse or settled.", BOARDS),
    ] = None,
    margin: Annotated[
        float, option("Elo points that count as nothing.", BOARDS, show_default=True)
    ] = 0.0,
    reading: Reading,
    fitting: Fitting,
    drawing: Drawing,
    boarding: Boarding,
    answering: Answering,
) -> None:
    """Say how far two competitors are apart, and whether that is settled."""
    if require is not None and between is None:
        raise ModelError("--require goes with --between A B.")
    with collected_warnings() as warned:
        work = fitted(source, reading, fitting, drawing.seed)
        standing = standing_of(work.fit, **boarding.standing_options(drawing.seed))
        columns = pair_columns(standing, between, elo=boarding.elo)
        passed = None
        if between is not None and require is not None:
            passed = gate(standing, between, require, margin, elo=boarding.elo)
    shown = all_columns(columns) if answering.explain else shown_pairs(columns)
    is_open = (np.asarray(columns["lower"]) < 0) & (np.asarray(columns["upper"]) > 0)
    head = [describe_votes(work.votes, work.name)]
    if between is None:
        head.append(
            f"Open at {boarding.level:g}: {is_open.sum():,} of {len(is_open):,} pairs."
        )
    facts = {"plan": work.fit.plan}
    if passed is not None:
        words = {"yes": "yes", "no": "no", "open": "not enough votes to say"}
        head.append(f"{require}: {words[passed]}.")
        facts["gate"] = passed
    answer = Answer(
        "pairs", columns, shown, head, standing.notes, facts, ("score", "votes")
    )
    write(answer, answering, warned)
    if passed in ("no", "open"):
        raise typer.Exit(NO if passed == "no" else OPEN)


def shown_pairs(columns: Columns) -> dict[str, list[str]]:
    """Return pairs as texts."""
    return {
        "first": [str(name) for name in columns["first"]],
        "second": [str(name) for name in columns["second"]],
        "Elo gap": numbers(columns["gap"], ".0f"),
        "interval": intervals(columns["lower"], columns["upper"], ".0f"),
        "P(first ahead)": numbers(columns["p_ahead"], ".3f"),
        "score": numbers(columns["score"], ".2f"),
        "votes": numbers(columns["votes"], ".0f"),
        "more votes": numbers(columns["more_votes"], ",.0f"),
    }


@with_options
def next_pairs(
    source: Source = None,
    *,
    goal: Annotated[
        str, option("best or ranking.", BOARDS, show_default=True)
    ] = "best",
    count: Annotated[int, option("Most pairs.", BOARDS, show_default=True)] = 10,
    reading: Reading,
    fitting: Fitting,
    drawing: Drawing,
    boarding: Boarding,
    answering: Answering,
) -> None:
    """Say which pairs to ask about next."""
    with collected_warnings() as warned:
        work = fitted(source, reading, fitting, drawing.seed)
        standing = standing_of(work.fit, **boarding.standing_options(drawing.seed))
        columns = next_pair_columns(standing, goal, count)
        sentence = describe_next(standing, columns)
    shown = {}
    if len(columns["first"]):
        shown = {
            "first": [str(name) for name in columns["first"]],
            "second": [str(name) for name in columns["second"]],
            "P(first ahead)": numbers(columns["p_ahead"], ".2f"),
            "Elo gap": numbers(columns["gap"], ".0f"),
            "votes": numbers(columns["votes"], ".0f"),
        }
    head = [describe_votes(work.votes, work.name), sentence]
    facts = {"plan": work.fit.plan, "verdict": sentence}
    write(Answer("next", columns, shown, head, facts=facts), answering, warned)


@with_options
def report(
    source: Source = None,
    *,
    title: Annotated[str | None, option("Heading of the page.", BOARDS)] = None,
    reading: Reading,
    fitting: Fitting,
    drawing: Drawing,
    boarding: Boarding,
    answering: Answering,
) -> None:
    """Write a page with the board, the annotators and all the rest: -o board.html."""
    if answering.output is None:
        raise OutputError("Name the page to write: -o board.html.")
    with collected_warnings() as warned:
        work = fitted(source, reading, fitting, drawing.seed)
        rating = boarding.rating(work.fit, work.name, drawing.seed)
        rating.report(answering.output, title=title)
    tell_warnings(warned, answering)
