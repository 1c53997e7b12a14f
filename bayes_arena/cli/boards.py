"""Commands about boards: rank, boards, pairs, next, report."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Annotated

import numpy as np
import typer

from bayes_arena.boards.leaderboard import stacked_columns
from bayes_arena.boards.next_pairs import describe_next, next_pair_columns
from bayes_arena.boards.pairs import gate, pair_columns, what_pairs_lack
from bayes_arena.boards.slices import standings_by
from bayes_arena.boards.standing import Standing, standing_of
from bayes_arena.boards.unexplained import no_ranking_explains
from bayes_arena.boards.verdict import clusters_are_the_limit
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
    numbers,
    tell,
    tell_warnings,
    texts,
    write,
)
from bayes_arena.cli.source import files_in_words, fitted, name_of
from bayes_arena.errors import ModelError, OutputError, plural
from bayes_arena.rating.rating import SHOWN_ROWS, Rating
from bayes_arena.rating.wording import describe_votes, ranges, shown_board
from bayes_arena.said import Note
from bayes_arena.tables import Columns

# What the gate answers by the exit code.
EXIT_CODES = {"yes": 0, "no": 1, "open": 4}
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
        files = files_in_words(votes)
        notes = [with_command(note, files) for note in rating.notes]
        notes += remarks_on(rating, files)
    warned += [note for note in rating.warnings if note not in warned]
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


def with_command(note: Note, files: str) -> Note:
    """Return a note with the command that tells more."""
    if note.more is None:
        return note
    return replace(
        note, text=(note.text, f" More: bayes-arena {note.more.name}{files}")
    )


def remarks_on(rating: Rating, files: str) -> list[Note]:
    """Return where remarks on the file are to be seen, in a line."""
    count = len(rating.votes.remarks)
    if not files or not count:
        return []
    text = f"{plural(count, 'remark')} on the file: bayes-arena check{files}"
    return [Note("remarks", text)]


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
        standings = standings_by(fit, by, boarding.look(fitting.seed))
        columns = stacked_columns(by, standings, elo=boarding.elo, rank_spread=False)
    shown = {by: texts(columns[by]), **shown_board(columns, boarding.level)}
    pooled = "competitors may be stronger there than overall, pooled"
    answer = Answer(
        key="boards",
        columns=columns,
        shown=shown,
        head=[
            describe_votes(fit.votes, name_of(votes)),
            f"One board for each {by}; {pooled}.",
        ],
        facts={"plan": fit.plan},
        spare=SPARE,
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
    require_a_pair(between, require, margin)
    with collected_warnings() as warned:
        fit = fitted(votes, reading, fitting, boarding.left_out)
        standing = standing_of(fit, boarding.look(fitting.seed))
        columns = pair_columns(standing, between, elo=boarding.elo)
        gate_answer = None
        if between is not None and require is not None:
            gate_answer = gate(standing, between, require, margin, elo=boarding.elo)
    shown = columns
    head = [describe_votes(fit.votes, name_of(votes))]
    facts = {"plan": fit.plan}
    if between is None:
        shown = open_pairs(columns)
        head.append(how_many_are_open(shown, columns, boarding.level))
    if gate_answer is not None:
        head.append(f"{require}: {gate_in_words(gate_answer, standing)}.")
        facts["gate"] = gate_answer
    answer = Answer(
        key="pairs",
        columns=columns,
        shown=shown_pairs(shown),
        head=head,
        notes=[
            *standing.notes,
            *what_pairs_lack(standing, columns),
            *no_ranking_explains(fit),
        ],
        facts=facts,
        spare=SPARE_OF_PAIRS,
        n_shown=SHOWN_ROWS,
    )
    write(answer, answering, warned)
    if gate_answer is not None and EXIT_CODES[gate_answer]:
        raise typer.Exit(EXIT_CODES[gate_answer])


def require_a_pair(
    between: tuple[str, str] | None, require: str | None, margin: float
) -> None:
    """Refuse a gate without a pair, and a margin without a gate."""
    if require is not None and between is None:
        raise ModelError("--require goes with --between A B.")
    if margin and require is None:
        raise ModelError("--margin goes with --require.")


def how_many_are_open(shown: Columns, columns: Columns, level: float) -> str:
    """Return how many of all pairs are open, in a line."""
    n_open = len(shown["first"])
    n_pairs = len(columns["first"])
    return f"Open at {level:g}: {n_open:,} of {n_pairs:,} pairs."


def gate_in_words(answer: str, standing: Standing) -> str:
    """Return the answer of a gate, and of what there is too little to say."""
    if answer != "open":
        return answer
    is_limit = clusters_are_the_limit(standing)
    kind = standing.uncertainty.cluster if is_limit else "vote"
    return f"not enough {kind}s to say"


def open_pairs(columns: Columns) -> Columns:
    """Return the pairs whose order is not settled."""
    is_open = np.asarray(columns["more_votes"]) != 0
    return {name: np.asarray(values)[is_open] for name, values in columns.items()}


def shown_pairs(columns: Columns) -> dict[str, list[str]]:
    """Return pairs as texts; nothing if there is none."""
    if not len(columns["first"]):
        return {}
    return {
        "first": texts(columns["first"]),
        "second": texts(columns["second"]),
        "Elo gap": numbers(columns["gap"], ".0f"),
        "interval": ranges(columns["lower"], columns["upper"], " … "),
        "P(first ahead)": numbers(columns["p_ahead"], ".3f"),
        "score": numbers(columns["score"], ".2f"),
        "votes": numbers(columns["votes"], ".0f"),
        "more votes": votes_needed(columns["more_votes"]),
    }


def votes_needed(counts: Iterable[float]) -> list[str]:
    """Return numbers of votes as texts; infinite ones in words, and none for nan."""
    words = {np.inf: "too many"}
    return ["" if np.isnan(n) else words.get(n, f"{n:,.0f}") for n in counts]


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
        standing = standing_of(fit, boarding.look(fitting.seed))
        columns = next_pair_columns(standing, goal, count)
        sentence = describe_next(standing, columns, goal)
    answer = Answer(
        key="next_pairs",
        columns=columns,
        shown=shown_next_pairs(columns),
        head=[describe_votes(fit.votes, name_of(votes)), sentence],
        facts={"plan": fit.plan, "verdict": sentence},
        spare=("votes", "Elo gap", "P(first ahead)"),
    )
    write(answer, answering, warned)


def shown_next_pairs(columns: Columns) -> dict[str, list[str]]:
    """Return the pairs to ask about as texts; nothing if there is none."""
    if not len(columns["first"]):
        return {}
    return {
        "first": texts(columns["first"]),
        "second": texts(columns["second"]),
        "P(first ahead)": numbers(columns["p_ahead"], ".2f"),
        "Elo gap": numbers(columns["gap"], ".0f"),
        "votes": numbers(columns["votes"], ".0f"),
    }


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
    warned += [note for note in rating.warnings if note not in warned]
    tell(f"{saving.output} written.")
    tell_warnings(warned, saving)
