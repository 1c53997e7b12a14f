"""``arena``: the commands of a Stable Arena, which keeps its votes and its history in one file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayes_arena.cli import options
from bayes_arena.cli.app import app, collected_warnings
from bayes_arena.cli.commands.ratings import chosen_prior, elo_scale, how_fitted, shown_leaderboard
from bayes_arena.cli.options import OnInvalid, PriorName
from bayes_arena.cli.output import Format, choose_format, plain, rows, write
from bayes_arena.cli.source import VoteSource, described
from bayes_arena.errors import listing

if TYPE_CHECKING:
    import pandas as pd

arena = typer.Typer(
    help="Keep votes in one file, rate them round by round, and judge the annotators (Algorithm 3 of the paper).",
    no_args_is_help=True,
)
app.add_typer(arena, name="arena")


ArenaFile = Annotated[Path, typer.Argument(metavar="FILE", help="File of the arena.", show_default=False)]
VoteFiles = Annotated[
    list[str],
    typer.Argument(metavar="VOTES", help="Votes as CSV, Parquet, JSONL or hf:OWNER/NAME.", show_default=False),
]
Id = Annotated[
    str | None,
    typer.Option(
        "--id",
        help="Column of the votes' ids. Without one, votes alike are taken for those added before: right for the same "
        "file again or a longer version of it, wrong for a batch of further votes.",
        rich_help_panel=options.VOTES,
    ),
]
Epsilon = Annotated[
    float,
    typer.Option(help="Warn or exclude annotators with theta (sum 1) not above this.", rich_help_panel=options.MODEL),
]
Exclude = Annotated[
    bool,
    typer.Option(
        "--exclude",
        help="Leave them out of the rounds that follow, until readmitted, instead of warning.",
        rich_help_panel=options.MODEL,
    ),
]


@arena.command()
def init(file: ArenaFile) -> None:
    """Create an empty arena."""
    from bayes_arena.arena.store import create_file

    create_file(file)


@arena.command()
def add(
    file: ArenaFile,
    votes: VoteFiles,
    id: Id = None,
    a: options.ColumnA = None,
    b: options.ColumnB = None,
    winner: options.Winner = None,
    annotator: options.Annotator = None,
    no_annotator: options.NoAnnotator = False,
    weight: options.Weight = None,
    outcome: options.Outcome = None,
    on_invalid: options.Invalid = OnInvalid.error,
    dedupe: options.Dedupe = False,
    normalise_names: options.NormaliseNames = False,
    form: options.FormatOption = None,
    output: options.Output = None,
) -> None:
    """Add votes, all or none; those that are stored already change nothing."""
    form = choose_format(form, output)
    source = VoteSource(
        votes, a, b, winner, annotator, no_annotator, weight, outcome, on_invalid, None, dedupe, normalise_names
    )
    with collected_warnings() as notes:
        from bayes_arena.arena.stable_arena import StableArena

        with StableArena(file) as stable:
            added = stable.add(votes, id=id, **source.reading())
    columns = {"new": [added.new], "known": [added.known], "invalid": [sum(added.dropped.values())]}
    shown = {name: [str(value) for value in values] for name, values in columns.items()}
    head = {"warnings": notes}
    write(columns, key="added", head=head, title=f"{file.name}: votes added", shown=shown, form=form, output=output)


@arena.command()
def rate(
    file: ArenaFile,
    delta: options.Delta = None,
    epsilon: Epsilon = 0.0,
    fdr: options.Fdr = None,
    exclude: Exclude = False,
    model: options.ModelOption = None,
    prior: options.PriorOption = PriorName.default,
    method: options.MethodOption = None,
    seed: options.Seed = 0,
    sigma_strength: options.SigmaStrength = None,
    sigma_discrimination: options.SigmaDiscrimination = None,
    interval: options.Level = 0.95,
    init: options.Init = 1000.0,
    scale: options.Scale = 400.0,
    base: options.Base = 10.0,
    anchor: options.Anchor = None,
    form: options.FormatOption = None,
    output: options.Output = None,
) -> None:
    """Hold a round: rate the votes, publish the result, and judge the annotators."""
    form = choose_format(form, output)
    elo = elo_scale(init, scale, base, anchor)
    with collected_warnings() as notes:
        from bayes_arena.arena.stable_arena import StableArena

        with StableArena(file) as stable:
            round = stable.rate(
                delta=delta or 0,
                epsilon=epsilon,
                fdr=fdr,
                exclude="exclude" if exclude else "warn",
                model=model.value if model else None,
                prior=chosen_prior(prior, sigma_strength, sigma_discrimination),
                method=method.value if method else None,
                seed=seed,
                level=interval,
                elo=elo,
            )
    about, how = how_fitted(round.fit)
    judged = {"waiting": round.waiting, "left out as excluded": round.excluded, round.decision: tuple(round.flagged)}
    lines = [f"{len(names)} {what}: {listing(names)}" for what, names in judged.items() if names]
    title = "\n".join([described(f"{file.name}, round {round.number}", round.fit.cells), how, *lines])
    head = {
        "round": round.number,
        **about,
        "waiting": round.waiting,
        "excluded": round.excluded,
        "decision": round.decision,
        "flagged": round.flagged,
        "warnings": notes,
    }
    shown = shown_leaderboard(round.ratings, interval)
    write(round.ratings, key="leaderboard", head=head, title=title, shown=shown, form=form, output=output)


@arena.command()
def annotators(file: ArenaFile, form: options.FormatOption = None, output: options.Output = None) -> None:
    """List the annotators: their votes, whether they wait, are warned or excluded, and theta of their last round."""
    from bayes_arena.arena.stable_arena import StableArena

    form = choose_format(form, output)
    with StableArena(file, read_only=True) as stable:
        table, decisions = stable.annotators(), stable.decisions()
    formats = {"theta": ".2f", "theta_paper": ".4f", "p_negative": ".3f"}
    formats |= {"anomaly_probability": ".3f", "net_agreement": ".2f"}
    head = {"decisions": rows(_columns(decisions))}
    _write(table, formats, key="annotators", head=head, title=file.name, form=form, output=output)


@arena.command()
def history(file: ArenaFile, form: options.FormatOption = None, output: options.Output = None) -> None:
    """List the ratings of all rounds; JSON says of each round what it was."""
    from bayes_arena.arena.stable_arena import StableArena

    form = choose_format(form, output)
    with StableArena(file, read_only=True) as stable:
        table, rounds = stable.history(), stable.rounds()
    formats = dict.fromkeys(("elo", "lower", "upper"), ".1f")
    head = {"rounds": [row | {"settings": json.loads(row["settings"])} for row in rows(_columns(rounds))]}
    title = f"{file.name}: {len(rounds)} round(s)"
    _write(table, formats, key="history", head=head, title=title, form=form, output=output)


@arena.command()
def readmit(file: ArenaFile, name: Annotated[str, typer.Argument(help="Annotator.", show_default=False)]) -> None:
    """Let an excluded annotator take part in the next rounds, which judge them anew."""
    from bayes_arena.arena.stable_arena import StableArena

    with StableArena(file) as stable:
        stable.readmit(name)


def _write(
    table: pd.DataFrame,
    formats: dict[str, str],
    *,
    key: str,
    head: dict[str, Any],
    title: str,
    form: Format,
    output: Path | None,
) -> None:
    columns = _columns(table)
    shown = {
        name: ["" if value is None else format(value, formats.get(name, "")) for value in values]
        for name, values in columns.items()
    }
    write(columns, key=key, head=head, title=title, shown=shown, form=form, output=output)


def _columns(table: pd.DataFrame) -> dict[str, list[Any]]:
    return {str(name): [plain(value) for value in table[name]] for name in table}
