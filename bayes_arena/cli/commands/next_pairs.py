"""``next``: which votes are needed next."""

from __future__ import annotations

from typing import Annotated

from typer import Option

from bayes_arena.cli.app import app, collected_warnings
from bayes_arena.cli.fit_options import BoardChoice, GoalName, ModelChoice
from bayes_arena.cli.headings import introduced
from bayes_arena.cli.options import MODEL, WANTED, takes_options
from bayes_arena.cli.output import Output
from bayes_arena.cli.vote_source import VoteSource

Goal = Annotated[
    GoalName,
    Option(
        help="What the votes are for. best: to find the best competitor. ranking: to put all of them in order.",
        rich_help_panel=MODEL,
    ),
]
Asked = Annotated[int, Option("--pairs", "-n", help="Number of pairs to ask for.", rich_help_panel=MODEL)]


@app.command("next", rich_help_panel=WANTED)
@takes_options
def next_(
    *,
    source: VoteSource,
    model: ModelChoice,
    board: BoardChoice,
    pairs: Asked = 20,
    goal: Goal = "best",
    output: Output,
) -> None:
    """Choose the pairs whose votes would help most."""
    with collected_warnings() as notes:
        from bayes_arena.decisions.next_pairs import next_columns

        result = board.seen(model.fitted(source))
        columns = next_columns(result, pairs, goal=goal, seed=model.seed)
    about, title = introduced(source, result)
    head = {**about, "goal": goal, "seed": model.seed, "warnings": notes}
    output.write(columns, schema="next/1", key="pairs", head=head, title=title, shown=columns)
