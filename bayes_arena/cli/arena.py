"""Commands about a Stable Arena: create, add, round, publish, history."""

from typing import Annotated

import typer

from bayes_arena.arena.stable_arena import StableArena
from bayes_arena.cli.options import (
    Answering,
    Reading,
    option,
    source_of,
    with_options,
)
from bayes_arena.cli.output import (
    Answer,
    collected_warnings,
    columns_of,
    numbers,
    tell,
    texts,
    write,
)
from bayes_arena.cli.spelling import spelled
from bayes_arena.errors import ModelError, listing, plural
from bayes_arena.rating.rating import SHOWN_ROWS
from bayes_arena.rating.wording import ranges

ArenaFile = Annotated[str, typer.Argument(metavar="ARENA", help="File of the arena.")]

app = typer.Typer(
    help="Keep an arena that grows, by the paper's Algorithm 3.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@app.command()
def create(
    path: ArenaFile,
    delta: Annotated[
        float,
        option("Annotators need more votes than this.", show_default=True),
    ] = 50,
    epsilon: Annotated[
        float,
        option("Annotators need a theta above this.", show_default=True),
    ] = 0.0,
) -> None:
    """Create an arena."""
    StableArena.create(path, delta=delta, epsilon=epsilon)
    tell(f"{path}: an arena without votes.")


@with_options
def add(
    path: ArenaFile,
    votes: Annotated[
        list[str], typer.Argument(metavar="VOTES", help="Files of votes.")
    ],
    *,
    reading: Reading,
) -> None:
    """Add the votes of files, all or none."""
    if reading.delta is not None:
        raise ModelError("--delta belongs to the arena: arena create --delta.")
    with collected_warnings() as warned:
        added = StableArena.open(path).add(source_of(votes), **reading.columns())
    known = f", {added.known:,} known already" if added.known else ""
    tell(f"{path}: {plural(added.new, 'vote')} added{known}.")
    for note in warned:
        tell(f"Warning: {spelled(str(note))}")


@with_options
def run_round(path: ArenaFile, *, answering: Answering) -> None:
    """Fit am-ELO, and exclude annotators whose theta is at or below epsilon."""
    with collected_warnings() as warned:
        result = StableArena.open(path).round()
    columns = {
        "round": [result.number],
        "annotators": [result.fit.votes.n_annotators],
        "excluded": [len(result.excluded)],
        "waiting": [len(result.waiting)],
    }
    head = [
        f"Round {result.number}: {plural(len(result.excluded), 'annotator')} excluded."
    ]
    if result.excluded:
        head.append(f"Excluded: {listing(result.excluded)}.")
    write(Answer("round", columns, head=head), answering, warned)


@with_options
def publish(path: ArenaFile, *, answering: Answering) -> None:
    """Print the board of the last round."""
    with collected_warnings() as warned:
        arena = StableArena.open(path)
        columns = columns_of(arena.publish())
        head = describe_last_round(arena)
    shown = {
        "rank": numbers(columns["rank"], ".0f"),
        "competitor": texts(columns["competitor"]),
        "Elo": numbers(columns["elo"], ".0f"),
        "95% interval": ranges(columns["lower"], columns["upper"], " … "),
        "votes": numbers(columns["votes"], ".0f"),
    }
    answer = Answer("leaderboard", columns, shown, head, n_shown=SHOWN_ROWS)
    write(answer, answering, warned)


def describe_last_round(arena: StableArena) -> list[str]:
    """Return what the last round rated, and whose votes count no more after it."""
    last = arena.history("rounds").iloc[-1]
    decisions = arena.history("decisions")
    is_new = (decisions["round"] == last["round"]) & (
        decisions["decision"] == "excluded"
    )
    left_out = last["waiting"] + last["left_out"]
    head = [
        f"Round {last['round']}: {plural(last['votes'], 'vote')} on "
        f"{plural(last['competitors'], 'competitor')} by "
        f"{plural(last['annotators'], 'annotator')}; {left_out:,.0f} others wait for "
        "more votes, or were excluded before.",
        "am-ELO by maximum likelihood. Votes are taken as independent.",
    ]
    if is_new.any():
        names = listing(decisions["annotator"][is_new])
        head.append(f"Excluded after it, for the next round: {names}.")
    return head


@with_options
def history(
    path: ArenaFile,
    of: Annotated[
        str,
        typer.Argument(help="competitors, annotators, rounds or decisions."),
    ] = "competitors",
    *,
    answering: Answering,
) -> None:
    """Print what every round said."""
    with collected_warnings() as warned:
        table = StableArena.open(path).history(of)  # type: ignore[arg-type]
    write(Answer("history", columns_of(table)), answering, warned)


app.command("add")(add)
app.command("round")(run_round)
app.command("publish")(publish)
app.command("history")(history)
