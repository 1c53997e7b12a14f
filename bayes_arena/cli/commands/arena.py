"""``arena``: the commands of a Stable Arena, which keeps its votes and its history in one file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayes_arena import plots
from bayes_arena.cli.app import app, collected_warnings
from bayes_arena.cli.commands.annotators import Fdr
from bayes_arena.cli.commands.next_pairs import Asked, Goal
from bayes_arena.cli.commands.report import PageChoice
from bayes_arena.cli.fit_options import IntervalChoice, ModelChoice, ScaleChoice
from bayes_arena.cli.headings import (
    RECORD,
    board_named,
    discounted_named,
    how_fitted,
    shown_leaderboard,
    verdict_as_json,
    verdict_of,
)
from bayes_arena.cli.options import KEPT, MODEL, OUTPUT, VOTES, Without, takes_options
from bayes_arena.cli.output import Output, Picture, plain, rows
from bayes_arena.cli.vote_source import Delta, VoteSource, described
from bayes_arena.errors import listing

if TYPE_CHECKING:
    from bayes_arena.arena.stable_arena import StableArena
    from bayes_arena.arrays import DataFrame

arena = typer.Typer(
    help="Keep votes in one file, rate them round by round, and judge the annotators (Algorithm 3 of the paper).",
    no_args_is_help=True,
)
app.add_typer(arena, name="arena", rich_help_panel=KEPT)

HEADINGS = {
    "anomaly_probability": "P(anomaly)",
    "net_agreement": "agreement",
    "theta_paper": "theta, sum 1",
    "p_negative": "P(theta < 0)",
}
"""Headings of columns that are called otherwise in Python."""

ArenaFile = Annotated[Path, typer.Argument(metavar="FILE", help="File of the arena.", show_default=False)]
VoteFiles = Annotated[
    list[str],
    typer.Argument(metavar="VOTES", help="Votes as CSV, TSV, Parquet, JSONL or hf:OWNER/NAME.", show_default=False),
]
Id = Annotated[
    str | None,
    typer.Option(
        "--id",
        help="Column of the ids of votes. Without ids, a vote that equals a stored one is taken for the same: right "
        "for a file that is added again or has grown, wrong for a batch of new votes.",
        rich_help_panel=VOTES,
    ),
]
Epsilon = Annotated[
    float, typer.Option(help="Flag annotators whose theta (sum 1) is not above this.", rich_help_panel=MODEL)
]
Exclude = Annotated[
    bool,
    typer.Option(
        "--exclude",
        help="Exclude flagged annotators from later rounds, until they are readmitted, instead of warning.",
        rich_help_panel=MODEL,
    ),
]


@arena.command()
def init(file: ArenaFile) -> None:
    """Create an empty arena."""
    from bayes_arena.arena.store import create_file

    create_file(file)


@arena.command()
@takes_options
def add(
    *,
    file: ArenaFile,
    votes: VoteFiles,
    id: Id = None,
    source: Annotated[VoteSource, Without("files", "delta")],
    output: Output,
) -> None:
    """Add votes, all or none; votes that are stored already are ignored."""
    with collected_warnings() as notes, _opened(file) as stable:
        added = stable.add(votes, id=id, **source.reading())
    columns = {"new": [added.new], "known": [added.known], "invalid": [sum(added.dropped.values())]}
    shown = {name: [f"{value:,}" for value in values] for name, values in columns.items()}
    head = {"warnings": notes}
    output.write(columns, schema="arena-add/1", key="added", head=head, title=f"{file.name}: votes added", shown=shown)


@arena.command()
@takes_options
def rate(
    *,
    file: ArenaFile,
    delta: Delta = None,
    epsilon: Epsilon = 0.0,
    fdr: Fdr = None,
    exclude: Exclude = False,
    model: Annotated[ModelChoice, Without("strength_by", "style")],
    intervals: Annotated[IntervalChoice, Without("interval", "by", "resamples")],
    scale: ScaleChoice,
    report: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Also write a page of the round.", rich_help_panel=OUTPUT)
    ] = None,
    page: PageChoice,
    output: Output,
) -> None:
    """Hold a round: rate the votes, publish the result, and judge the annotators."""
    elo = scale.elo()
    with collected_warnings() as notes:
        with _opened(file) as stable:
            round = stable.rate(
                delta=delta or 0,
                epsilon=epsilon,
                fdr=fdr,
                exclude="exclude" if exclude else "warn",
                model=model.model,
                prior=model.spreads(),
                **model.asked,
                seed=model.seed,
                level=intervals.level,
                elo=elo,
            )
        said = verdict_of(round.fit, intervals.level)
    named = f"{file.name}, round {round.number}"
    if report is not None:
        whose = f"Besides, earlier rounds excluded annotators: {len(round.excluded)}. Their votes are left out."
        kept_out = [whose] if round.excluded else []
        page.made(round.fit, source=named, level=intervals.level, elo=elo, notes=kept_out).save(report)
    about, how = how_fitted(round.fit)
    judged = {"waiting": round.waiting, "left out as excluded": round.excluded, round.decision: tuple(round.flagged)}
    lines = [f"{len(names)} {what}: {listing(names)}" for what, names in judged.items() if names]
    shown_as = intervals.chosen(model.seed, round.fit).about(round.fit) | round.fit.about
    how += board_named(shown_as) + discounted_named(round.fit)
    title = "\n".join([described(named, round.fit.cast), how, *([said.sentence] if said else []), *lines])
    head = {
        "round": round.number,
        **about,
        "level": intervals.level,
        **shown_as,
        "waiting": round.waiting,
        "excluded": round.excluded,
        "decision": round.decision,
        "flagged": round.flagged,
        "verdict": verdict_as_json(said),
        "warnings": notes,
    }
    shown = shown_leaderboard(round.ratings, intervals.level)
    output.write(
        round.ratings, schema="arena-rate/1", key="leaderboard", head=head, title=title, shown=shown, spare=RECORD
    )


@arena.command()
@takes_options
def annotators(file: ArenaFile, output: Output) -> None:
    """List the annotators: votes, status (waiting, warned, excluded ...), and theta in their last round."""
    with _opened(file, read_only=True) as stable:
        table, decisions = stable.annotators(), stable.decisions()
    formats = {"theta": ".2f", "theta_paper": ".4f", "p_negative": ".3f"}
    formats |= {"anomaly_probability": ".3f", "net_agreement": ".2f"}
    head = {"decisions": rows(_columns(decisions))}
    _write(table, formats, schema="arena-annotators/1", key="annotators", head=head, title=file.name, output=output)


@arena.command()
@takes_options
def history(file: ArenaFile, picture: Picture, output: Output) -> None:
    """List the ratings of all rounds; JSON also has the settings of each round and its decisions about annotators."""
    with _opened(file, read_only=True) as stable:
        table, rounds, decisions = stable.history(), stable.rounds(), stable.decisions()
    formats = dict.fromkeys(("elo", "lower", "upper"), ".1f")
    head = {
        "rounds": [row | {"settings": json.loads(row["settings"])} for row in rows(_columns(rounds))],
        "decisions": rows(_columns(decisions)),
    }
    title = f"{file.name}: {len(rounds)} round{'s' * (len(rounds) != 1)}"
    with picture.beside(lambda: plots.rounds(table)):
        _write(table, formats, schema="arena-history/1", key="history", head=head, title=title, output=output)


@arena.command("next")
@takes_options
def next_(
    *,
    file: ArenaFile,
    pairs: Asked = 20,
    goal: Goal = "best",
    seed: Annotated[int, typer.Option(help="The same seed asks for the same pairs.")] = 0,
    output: Output,
) -> None:
    """Choose the pairs whose votes would help most."""
    with collected_warnings() as notes, _opened(file, read_only=True) as stable:
        table = stable.next_pairs(pairs, goal=goal, seed=seed)
    head = {**{str(name): value for name, value in table.attrs.items()}, "warnings": notes}
    _write(
        table,
        {},
        schema="arena-next/1",
        key="pairs",
        head=head,
        title=f"{file.name}: pairs to vote on next",
        output=output,
    )


@arena.command()
def readmit(file: ArenaFile, name: Annotated[str, typer.Argument(help="Annotator.", show_default=False)]) -> None:
    """Readmit an excluded annotator to later rounds, which judge them again."""
    with _opened(file) as stable:
        stable.readmit(name)


def _opened(file: Path, *, read_only: bool = False) -> StableArena:
    from bayes_arena.arena.stable_arena import StableArena

    return StableArena(file, read_only=read_only)


def _write(
    table: DataFrame,
    formats: dict[str, str],
    *,
    schema: str,
    key: str,
    head: dict[str, Any],
    title: str,
    output: Output,
) -> None:
    columns = _columns(table)
    shown = {
        HEADINGS.get(name, name): ["" if value is None else format(value, formats.get(name, "")) for value in values]
        for name, values in columns.items()
    }
    output.write(columns, schema=schema, key=key, head=head, title=title, shown=shown)


def _columns(table: DataFrame) -> dict[str, list[Any]]:
    known = table.astype(object).where(table.notna(), None)  # pandas has several missing values
    return {str(name): [plain(value) for value in known[name]] for name in known}
