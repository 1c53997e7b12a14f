"""Commands about boards: rank, boards, pairs, next, report."""

import shlex
from collections.abc import Iterable, Sequence
from typing import Annotated

import numpy as np
import typer

from bayes_arena.boards.leaderboard import stacked_columns
from bayes_arena.boards.next_pairs import describe_next, next_pair_columns
from bayes_arena.boards.pairs import gate, pair_columns
from bayes_arena.boards.slices import standings_by
from bayes_arena.boards.standing import standing_of
from bayes_arena.cli.options import (
    Answering,
    Boarding,
    Fitting,
    Reading,
    Saving,
    Sources,
    option,
    with_options,
)
from bayes_arena.cli.output import (
    Answer,
    collected_warnings,
    intervals,
    numbers,
    tell_warnings,
    write,
)
from bayes_arena.cli.source import fitted, name_of
from bayes_arena.errors import ModelError, OutputError
from bayes_arena.rating import (
    ANNOTATORS,
    SHOWN_ROWS,
    Rating,
)
from bayes_arena.tables import Columns
from bayes_arena.wording import describe_votes, shown_board

NO, OPEN = 1, 4  # exit codes of the gate
SPARE = ("before", "votes", "rank range", "95% interval", "rank")
SPARE_OF_PAIRS = ("score", "votes", "more votes", "interval", "P(first ahead)")


@with_options
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
    boarding: Boarding,
    answering: Answering,
) -> None:
    """Rank the competitors: scores, intervals, ranks, and who is the best."""
    with collected_warnings() as warned:
        fit = fitted(votes, reading, fitting)
        rating = boarding.rating(
            fit, name_of(votes), fitting.seed, rank_spread=rank_spread
        )
        notes = [*map(with_command, rating.notes), *remarks_on(rating, votes)]
    warned += [text for text in rating.warnings if text not in warned]
    answer = Answer(
        key="leaderboard",
        columns=rating.board_columns,
        shown=shown_board(rating.board_columns, boarding.level),
        head=[*rating.header, "", rating.verdict],
        notes=notes,
        facts={"plan": fit.plan, "verdict": rating.verdict},
        spare=SPARE,
        n_shown=None if show_all else SHOWN_ROWS,
        more="--all",
    )
    write(answer, answering, warned)


def with_command(note: str) -> str:
    """Return a note with the command that tells more."""
    is_short = note.startswith(f"{ANNOTATORS}: ")
    return f"{note} More: bayes-arena annotators." if is_short else note


def remarks_on(rating: Rating, sources: Sequence[str] | None) -> list[str]:
    """Return where remarks on the file are to be seen, in a line."""
    count = len(rating.votes.remarks)
    if not sources or not count:
        return []
    noun = "remark" if count == 1 else "remarks"
    files = " ".join(map(shlex.quote, sources))
    return [f"{count} {noun} on the file: bayes-arena check {files}"]


@with_options
def boards(
    votes: Sources = None,
    *,
    by: Annotated[str, option("The slice: category, language, month.")],
    reading: Reading,
    fitting: Fitting,
    boarding: Boarding,
    answering: Answering,
) -> None:
    """Rank the competitors in every level of a slice, pooled."""
    with collected_warnings() as warned:
        fit = fitted(votes, reading, fitting, boarding.left_out, by)
        options = boarding.standing_options(fitting.seed)
        standings = standings_by(fit, by, **options)
        columns = stacked_columns(by, standings, elo=boarding.elo, rank_spread=False)
    shown = {
        by: [str(name) for name in columns[by]],
        **shown_board(columns, boarding.level),
    }
    head = [
        describe_votes(fit.votes, name_of(votes)),
        f"One board for each {by}; competitors may be stronger there than overall, pooled.",
    ]
    answer = Answer(
        "boards", columns, shown, head, facts={"plan": fit.plan}, spare=SPARE
    )
    write(answer, answering, warned)


@with_options
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
    answering: Answering,
) -> None:
    """Say how far two competitors are apart, and whether that is settled."""
    if require is not None and between is None:
        raise ModelError("--require goes with --between A B.")
    if margin and require is None:
        raise ModelError("--margin goes with --require.")
    with collected_warnings() as warned:
        fit = fitted(votes, reading, fitting, boarding.left_out)
        standing = standing_of(fit, **boarding.standing_options(fitting.seed))
        columns = pair_columns(standing, between, elo=boarding.elo)
        is_open = np.asarray(columns["more_votes"]) != 0
        passed = None
        if between is not None and require is not None:
            passed = gate(standing, between, require, margin, elo=boarding.elo)
    head = [describe_votes(fit.votes, name_of(votes))]
    chosen = np.arange(len(is_open))
    if between is None:
        chosen = np.flatnonzero(is_open)[:SHOWN_ROWS]
        head.append(
            f"Open at {boarding.level:g}: {is_open.sum():,} of {len(is_open):,} pairs."
        )
    facts = {"plan": fit.plan}
    if passed is not None:
        words = {"yes": "yes", "no": "no", "open": "not enough votes to say"}
        head.append(f"{require}: {words[passed]}.")
        facts["gate"] = passed
    shown = shown_pairs({name: np.asarray(v)[chosen] for name, v in columns.items()})
    answer = Answer(
        "pairs", columns, shown, head, standing.notes, facts, SPARE_OF_PAIRS
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
        "more votes": votes_needed(columns["more_votes"]),
    }


def votes_needed(counts: Iterable[float]) -> list[str]:
    """Return numbers of votes as texts; infinite ones in words."""
    return ["too many" if np.isinf(n) else f"{n:,.0f}" for n in counts]


@with_options
def next_pairs(
    votes: Sources = None,
    *,
    goal: Annotated[str, option("best or ranking.", show_default=True)] = "best",
    count: Annotated[int, option("Most pairs.", show_default=True)] = 10,
    reading: Reading,
    fitting: Fitting,
    boarding: Boarding,
    answering: Answering,
) -> None:
    """Say which pairs to ask about next."""
    with collected_warnings() as warned:
        fit = fitted(votes, reading, fitting, boarding.left_out)
        standing = standing_of(fit, **boarding.standing_options(fitting.seed))
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
    head = [describe_votes(fit.votes, name_of(votes)), sentence]
    facts = {"plan": fit.plan, "verdict": sentence}
    spare = ("votes", "Elo gap", "P(first ahead)")
    answer = Answer("next_pairs", columns, shown, head, facts=facts, spare=spare)
    write(answer, answering, warned)


@with_options
def report(
    votes: Sources = None,
    *,
    title: Annotated[str | None, option("Heading of the page.")] = None,
    reading: Reading,
    fitting: Fitting,
    boarding: Boarding,
    saving: Saving,
) -> None:
    """Write a page with the board, the annotators and all the rest: -o board.html."""
    if saving.output is None:
        raise OutputError("Name the page to write: -o board.html.")
    with collected_warnings() as warned:
        fit = fitted(votes, reading, fitting)
        rating = boarding.rating(fit, name_of(votes), fitting.seed)
        rating.report(saving.output, title=title)
    warned += [text for text in rating.warnings if text not in warned]
    tell_warnings(warned, saving)
