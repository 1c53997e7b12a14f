"""Commands about votes: check and simulate."""

from collections.abc import Sequence
from typing import Annotated, Any

from bayes_arena import tables
from bayes_arena.cli.options import (
    Answering,
    Drawing,
    Reading,
    Sources,
    option,
    source_of,
    with_options,
)
from bayes_arena.cli.output import (
    Answer,
    collected_warnings,
    json_text,
    rows_of,
    tell_warnings,
    write,
    write_text,
)
from bayes_arena.cli.source import require_defaults, saved_fit
from bayes_arena.cli.spelling import spelled
from bayes_arena.errors import printable
from bayes_arena.reading.check import Check, check as check_votes
from bayes_arena.simulation import simulate as simulate_arena


@with_options
def check(votes: Sources = None, *, reading: Reading, answering: Answering) -> None:
    """Say what was read, what was left out, and what the votes can tell."""
    with collected_warnings() as warned:
        result = checked(votes, reading)
    if answering.form == "json":
        text = json_text({**plain(result.as_dict()), "warnings": rows_of(warned)})
    else:
        lines = [printable(spelled(line)) for line in str(result).splitlines()]
        text = "\n".join(lines) + "\n"
    write_text(text, answering)
    tell_warnings(warned, answering)


def checked(sources: Sequence[str] | None, reading: Reading) -> Check:
    """Return what there is to say of a file, or of the votes of a saved fit."""
    saved = saved_fit(sources)
    if saved is not None:
        require_defaults(reading)
        return check_votes(saved.votes)
    if reading.delta is not None:
        return check_votes(reading.votes(sources))
    return check_votes(source_of(sources), **reading.columns())


def plain(value: Any) -> Any:
    """Return a value as JSON has it."""
    if isinstance(value, dict):
        return {name: plain(entry) for name, entry in value.items()}
    if isinstance(value, list | tuple):
        return [plain(entry) for entry in value]
    return tables.plain_value(value)


@with_options
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
    answering: Answering,
) -> None:
    """Write the votes of a simulated arena as CSV."""
    arena = simulate_arena(
        competitors=competitors,
        annotators=annotators,
        votes=votes,
        guessers=guessers,
        reversed=reversed,
        seed=drawing.seed,
    )
    if answering.form == "json":
        write(Answer("votes", arena.columns), answering, [])
    else:
        write_text(tables.csv_text(arena.columns), answering)
