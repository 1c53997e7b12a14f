"""``verdict``, ``tiers``, ``next``: what the votes settle, and which votes are needed next."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Annotated, Any

from typer import Option

from bayes_arena import plots
from bayes_arena.cli.app import app, collected_warnings
from bayes_arena.cli.fit_options import BoardChoice, GoalName, ModelChoice
from bayes_arena.cli.headings import discounted_named, how_fitted, introduced
from bayes_arena.cli.options import MODEL, RANKING, WANTED, takes_options
from bayes_arena.cli.output import Output, digits, plain
from bayes_arena.cli.picture import Picture
from bayes_arena.cli.vote_source import VoteSource

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
    goal: Goal = "best",
    level: Annotated[float, Option(help="Probability that settles a question.", rich_help_panel=MODEL)] = 0.95,
    picture: Picture,
    output: Output,
) -> None:
    """Say which competitor is best, whether there are enough votes, and which cannot be told apart."""
    with collected_warnings() as notes:
        from bayes_arena.decisions.enough import enough
        from bayes_arena.decisions.tiers import tier_columns
        from bayes_arena.decisions.verdict import verdict as said_of

        result = board.seen(model.fit(source.read()))
        said, found = said_of(result), enough(result, goal=goal, level=level)
        columns, z = tier_columns(result, level)
    about, how = how_fitted(result)
    numbers = {name: plain(value) for name, value in asdict(found).items()}
    head = {**about, **result.about, "level": level, "verdict": said, "enough": numbers, "z": z, "warnings": notes}
    title = "\n".join([source.title(result.cast), how + discounted_named(result), said, str(found)])
    with picture.beside(lambda: plots.ranks(result)):
        output.write(columns, schema="verdict/1", key="tiers", head=head, title=title, shown=_shown_tiers(columns))


@app.command(rich_help_panel=RANKING)
@takes_options
def tiers(
    *,
    source: VoteSource,
    model: ModelChoice,
    board: BoardChoice,
    level: Annotated[
        float, Option(help="Probability that all claims of the tiers hold at once.", rich_help_panel=MODEL)
    ] = 0.95,
    output: Output,
) -> None:
    """Group the competitors into tiers of those that cannot be told apart."""
    with collected_warnings() as notes:
        from bayes_arena.decisions.tiers import tier_columns

        result = board.seen(model.fit(source.read()))
        columns, z = tier_columns(result, level)
    about, title = introduced(source, result)
    head = {**about, "level": level, "z": z, "warnings": notes}
    output.write(columns, schema="tiers/1", key="tiers", head=head, title=title, shown=_shown_tiers(columns))


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

        result = board.seen(model.fit(source.read()))
        columns = next_columns(result, pairs, goal=goal, seed=model.seed)
    about, title = introduced(source, result)
    head = {**about, "goal": goal, "seed": model.seed, "warnings": notes}
    output.write(columns, schema="next/1", key="pairs", head=head, title=title, shown=columns)


def _shown_tiers(columns: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return tiers with formatted values."""
    return {
        "tier": digits(columns["tier"], "d"),
        "competitor": [str(name) for name in columns["competitor"]],
        "elo": digits(columns["elo"], ".1f"),
        "places": _range(columns["place_best"], columns["place_worst"]),
        "rank spread": _range(columns["rank_best"], columns["rank_worst"]),
    }


def _range(first: Any, last: Any) -> list[str]:
    """Format ranges of places."""
    return [f"{best}–{worst}" for best, worst in zip(first, last, strict=True)]
