"""Commands about votes: check and simulate."""

import sys
from typing import Annotated

from bayes_arena import tables
from bayes_arena.cli.options import (
    VOTES,
    Answering,
    Drawing,
    Reading,
    Source,
    option,
    with_options,
)
from bayes_arena.cli.output import (
    Answer,
    chosen_format,
    collected_warnings,
    plain,
    tell_warnings,
    write,
)
from bayes_arena.files import written_beside
from bayes_arena.model.simulate import simulate as simulate_arena


@with_options
def check(source: Source = None, *, reading: Reading, answering: Answering) -> None:
    """Say what was read, what was left out, and what the votes can tell."""
    import json

    from bayes_arena.votes.check import check as check_votes

    with collected_warnings() as warned:
        result = check_votes(reading.votes(source))
    form = chosen_format(answering)
    text = f"{result}\n"
    if form == "json":
        text = json.dumps(plain(result.as_dict()), ensure_ascii=False, indent=2) + "\n"
    if answering.output is None:
        sys.stdout.write(text)
    else:
        with written_beside(answering.output) as draft:
            draft.write_text(text, encoding="utf-8")
    tell_warnings(warned, answering)


@with_options
def simulate(
    *,
    competitors: Annotated[int, option("How many.", VOTES, show_default=True)] = 20,
    annotators: Annotated[int, option("How many.", VOTES, show_default=True)] = 42,
    votes: Annotated[int, option("How many.", VOTES, show_default=True)] = 4321,
    guessers: Annotated[int, option("Who toss a coin.", VOTES, show_default=True)] = 0,
    reversed: Annotated[
        int, option("Who vote against the ranking.", VOTES, show_default=True)
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
    text = tables.csv_text(arena.columns)
    if chosen_format(answering) == "json":
        write(Answer("votes", arena.columns, {}), answering, [])
        return
    if answering.output is None:
        sys.stdout.write(text)
        return
    with written_beside(answering.output) as draft:
        draft.write_text(text, encoding="utf-8")
