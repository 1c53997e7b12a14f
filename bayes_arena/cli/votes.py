"""Commands about votes: check and simulate."""

from collections.abc import Sequence
from typing import Annotated

from bayes_arena.cli.command import command
from bayes_arena.cli.options import (
    Answering,
    Drawing,
    Reading,
    Sources,
    option,
    source_of,
)
from bayes_arena.cli.output import Answer
from bayes_arena.cli.source import name_of, require_defaults, saved_fit
from bayes_arena.cli.terminal import Terminal
from bayes_arena.reading.check import Check, check as check_votes
from bayes_arena.simulation import simulate as simulate_arena
from bayes_arena.version import SCHEMA, __version__


@command(Answering)
def check(votes: Sources = None, *, reading: Reading, terminal: Terminal) -> Answer:
    """Say what was read, what was left out, and what the votes can tell."""
    result = checked(votes, reading)
    made = {"schema": SCHEMA, "version": __version__, "source": name_of(votes)}
    return Answer(
        key="check",
        columns={},
        head=result.spelled(terminal).splitlines(),
        facts={**made, **result.as_dict(terminal)},
    )


def checked(sources: Sequence[str] | None, reading: Reading) -> Check:
    """Return what there is to say of a file, or of the votes of a saved fit."""
    saved = saved_fit(sources)
    if saved is not None:
        require_defaults(reading)
        return check_votes(saved.votes)
    if reading.delta is not None:
        return check_votes(reading.votes(sources))
    return check_votes(source_of(sources), **reading.columns())


@command(Answering)
def simulate(
    *,
    competitors: Annotated[int, option("How many.", show_default=True)] = 20,
    annotators: Annotated[int, option("How many.", show_default=True)] = 42,
    votes: Annotated[int, option("How many.", show_default=True)] = 4321,
    guessers: Annotated[int, option("Who toss a coin.", show_default=True)] = 0,
    reversed: Annotated[
        int, option("Who vote against the ranking.", show_default=True)
    ] = 0,
    drawing: Drawing,
) -> Answer:
    """Write the votes of a simulated arena as CSV."""
    arena = simulate_arena(
        competitors=competitors,
        annotators=annotators,
        votes=votes,
        guessers=guessers,
        reversed=reversed,
        seed=drawing.seed,
    )
    facts = {"seed": drawing.seed}
    return Answer("votes", arena.columns, facts=facts, form="csv")
