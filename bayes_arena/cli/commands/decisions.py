"""``verdict``, ``next``: what the votes settle, and which votes are needed next."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

from typer import Option

from bayes_arena import plots
from bayes_arena.cli.app import app, collected_warnings
from bayes_arena.cli.fit_options import BoardChoice, GoalName, ModelChoice
from bayes_arena.cli.headings import discounted_named, how_fitted, introduced
from bayes_arena.cli.options import MODEL, RANKING, WANTED, takes_options
from bayes_arena.cli.output import Output, chances, digits, plain
from bayes_arena.cli.picture import Picture
from bayes_arena.cli.vote_source import VoteSource
from bayes_arena.markup import ranges

Goal = Annotated[
    GoalName,
    Option(
        help="What the votes are for. best: to find the best competitor. ranking: to put all of them in order.",
        rich_help_panel=MODEL,
    ),
]
Asked = Annotated[int, Option("--pairs", "-n", help="Number of pairs to ask for.", rich_help_panel=MODEL)]


@app.command(rich_help_panel=RANKING)
@takes_options
def verdict(
    *,
    source: VoteSource,
    model: ModelChoice,
    board: BoardChoice,
    level: Annotated[float, Option(help="Probability that settles a question.", rich_help_panel=MODEL)] = 0.95,
    explain: Annotated[
        bool, Option("--explain", help="Also say what is lost if it is wrong, and how many more votes it would take.")
    ] = False,
    picture: Picture,
    output: Output,
) -> None:
    """Say which competitor is best, and which ranks the votes leave open to each."""
    with collected_warnings() as notes:
        import numpy as np

        from bayes_arena.decisions.verdict import verdict as said_of
        from bayes_arena.ratings.decision_draws import best_probabilities, decision_strengths
        from bayes_arena.ratings.intervals.names import resolve_interval
        from bayes_arena.ratings.leaderboard import leaderboard_columns

        result = board.seen(model.fitted(source))
        found = said_of(result, level=level)
        ranked = leaderboard_columns(result, resolve_interval(None, result), level=level)
        p_best = dict(zip(result.cells.competitors, best_probabilities(decision_strengths(result)), strict=True))
    columns = {name: ranked[name] for name in ("rank", "competitor", "elo", "rank_lower", "rank_upper")}
    columns["p_best"] = np.array([p_best[name] for name in columns["competitor"]])
    about, how = how_fitted(result)
    numbers = {name: plain(value) for name, value in asdict(found).items() if name not in ("headline", "level")}
    head = {**about, **result.about, "level": level, "verdict": found.sentence, **numbers, "warnings": notes}
    said = [found.sentence, *(found.explained if explain else ())]
    title = "\n".join([source.title(result.cast), how + discounted_named(result), *said])
    shown = {
        "rank": digits(columns["rank"], "d"),
        "competitor": [str(name) for name in columns["competitor"]],
        "elo": digits(columns["elo"], ".1f"),
        "rank range": ranges(columns["rank_lower"], columns["rank_upper"]),
        "P(best)": chances(columns["p_best"]),
    }
    with picture.beside(lambda: plots.ranks(result)):
        output.write(columns, schema="verdict/1", key="competitors", head=head, title=title, shown=shown)


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
