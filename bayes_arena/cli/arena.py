"""Commands about a Stable Arena: create, add, round, publish, history."""

import shlex
from dataclasses import replace
from typing import Annotated

import typer

from bayes_arena.arena.stable_arena import StableArena
from bayes_arena.cli.boards import board_answer
from bayes_arena.cli.command import command
from bayes_arena.cli.options import Answering, Reading, option, source_of
from bayes_arena.cli.output import Answer, Done, columns_of
from bayes_arena.columns import BOARD, ROUND
from bayes_arena.errors import ModelError, listing, plural
from bayes_arena.rating.text import SHOWN_ROWS

ArenaFile = Annotated[str, typer.Argument(metavar="ARENA", help="File of the arena.")]

app = typer.Typer(
    help="Keep an arena that grows, by the paper's Algorithm 3.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@command(None)
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
) -> Done:
    """Create an arena."""
    StableArena.create(path, delta=delta, epsilon=epsilon)
    return Done(f"{path}: an arena without votes.")


@command(None)
def add(
    path: ArenaFile,
    votes: Annotated[
        list[str], typer.Argument(metavar="VOTES", help="Files of votes.")
    ],
    *,
    id: Annotated[
        str | None, option("Column of the ids of votes: the same id is one vote.")
    ] = None,
    reading: Reading,
) -> Done:
    """Add the votes of files, all or none."""
    if reading.delta is not None:
        raise ModelError("--delta belongs to the arena: arena create --delta.")
    arena = StableArena.open(path)
    added = arena.add(source_of(votes), id=id, **reading.columns())
    known = f", {added.known:,} known already" if added.known else ""
    return Done(f"{path}: {plural(added.new, 'vote')} added{known}.")


@command(Answering)
def run_round(path: ArenaFile) -> Answer:
    """Fit am-ELO, and exclude annotators whose theta is at or below epsilon."""
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
    return Answer("round", columns, ROUND, head=head)


@command(Answering)
def publish(
    path: ArenaFile,
    *,
    board: Annotated[
        bool,
        option("Print and keep the default board, and what changed.", "--board"),
    ] = False,
) -> Answer:
    """Print the board of the last round."""
    arena = StableArena.open(path)
    if board:
        answer = board_answer(arena.rate())
        # No other command reads the votes of an arena.
        notes = [replace(note, more=None) for note in answer.notes]
        return replace(answer, notes=notes)
    return Answer(
        key="leaderboard",
        columns=columns_of(arena.publish()),
        table=BOARD,
        head=describe_last_round(arena),
        n_shown=SHOWN_ROWS,
        words={"level": "95%"},
    )


def describe_last_round(arena: StableArena) -> list[str]:
    """Return what the last round rated, and whose votes count no more after it."""
    last = arena.history("rounds").iloc[-1]
    decisions = arena.history("decisions")
    is_new = (decisions["round"] == last["round"]) & (
        decisions["decision"] == "excluded"
    )
    head = [
        f"Round {last['round']}: {plural(last['votes'], 'vote')} on "
        f"{plural(last['competitors'], 'competitor')} by "
        f"{plural(last['annotators'], 'annotator')}. Of the others "
        f"{last['waiting']:,.0f} wait for more votes, and {last['left_out']:,.0f} were "
        "excluded before.",
        "am-ELO by maximum likelihood. Votes are taken as independent.",
    ]
    if is_new.any():
        names = listing(decisions["annotator"][is_new])
        head.append(f"Excluded after it, for the next round: {names}.")
    return head


@command(Answering)
def history(
    path: ArenaFile,
    of: Annotated[
        str,
        typer.Argument(help="competitors, boards, annotators, rounds or decisions."),
    ] = "competitors",
) -> Answer:
    """Print what every round said."""
    table = StableArena.open(path).history(of)  # type: ignore[arg-type]
    is_of_boards = of == "boards"
    missing = "no board was kept yet" if is_of_boards else "no round was held yet"
    maker = "publish --board" if is_of_boards else "round"
    empty = f"{path}: {missing} (bayes-arena arena {maker} {shlex.quote(path)})."
    return Answer("history", columns_of(table), head=[] if len(table) else [empty])


for name, function in {
    "create": create,
    "add": add,
    "round": run_round,
    "publish": publish,
    "history": history,
}.items():
    app.command(name)(function)
