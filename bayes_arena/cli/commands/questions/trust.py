"""``integrity`` and ``bursts``: who carries a competitor, and when."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

from typer import Option

from bayes_arena.cli.app import app, collected_warnings
from bayes_arena.cli.choices import ModelChoice, ScaleChoice
from bayes_arena.cli.commands.ratings import how_fitted
from bayes_arena.cli.options import MODEL, TRUSTED, VOTES, Without, takes_options
from bayes_arena.cli.output import Output, counts, digits, plain
from bayes_arena.cli.source import VoteSource


@app.command(rich_help_panel=TRUSTED)
@takes_options
def integrity(
    source: Annotated[VoteSource, Without("no_annotator")],
    model: Annotated[ModelChoice, Without("no_guard")],
    scale: ScaleChoice,
    output: Output,
) -> None:
    """Show whose votes carry each competitor, the most doubtful first, and where it would stand without suspects."""
    with collected_warnings() as notes:
        from bayes_arena.reliability.suspicion.integrity import integrity_columns, require_trust, unjudged

        result = model.fit(source.read(), guard=True)
        columns = integrity_columns(result, elo=scale.elo())
        why = unjudged(require_trust(result))
    shown = {
        "competitor": [str(name) for name in columns["competitor"]],
        "rank without suspects": digits(columns["rank_without"], "d"),
        "rank with": digits(columns["rank_with"], "d"),
        "elo without": digits(columns["elo_without"], ".1f"),
        "elo with": digits(columns["elo_with"], ".1f"),
        **{name: counts(columns[name]) for name in ("votes", "accounts")},
        "largest": digits(columns["largest_share"], ".0%"),
        "P(favour)": digits(columns["favour_probability"], ".3f"),
    }
    if any(columns["honest_only_if"]):
        shown["honest only if"] = [str(said) for said in columns["honest_only_if"]]
    about, how = how_fitted(result)
    head = {**about, "unjudged": why, "warnings": notes}
    title = "\n".join(filter(None, [source.title(result.cells), how, why]))
    spare = ("largest", "accounts", "elo with", "votes", "elo without")
    output.write(columns, schema="integrity/1", key="integrity", head=head, title=title, shown=shown, spare=spare)


@app.command(rich_help_panel=TRUSTED)
@takes_options
def bursts(
    *,
    source: VoteSource,
    time: Annotated[
        str, Option(metavar="COLUMN", help="Column of the votes' times: numbers or dates.", rich_help_panel=VOTES)
    ] = "tstamp",
    model: ModelChoice,
    level: Annotated[
        float,
        Option(help="Probability of a false alarm, where time does not matter.", rich_help_panel=MODEL),
    ] = 0.05,
    output: Output,
) -> None:
    """Find periods in which a competitor won more, or less, than its strength explains."""
    source = replace(source, slice=[*(source.slice or []), f"{time}={time}"])
    with collected_warnings() as notes:
        from bayes_arena.reliability.suspicion.bursts import burst_columns

        cells = source.read()
        result = model.fit(cells)
        columns = burst_columns(result, cells, time=time, level=level, seed=model.seed)
    shown = {
        "competitor": [str(name) for name in columns["competitor"]],
        "from … to": [f"{plain(a)} … {plain(b)}" for a, b in zip(columns["start"], columns["end"], strict=True)],
        "votes": counts(columns["votes"]),
        **{name: digits(columns[name], ".1f") for name in ("score", "expected", "z")},
        "p": digits(columns["p_value"], ".2g"),
    }
    if "accounts" in columns:
        shown |= {"accounts": counts(columns["accounts"]), "largest": digits(columns["largest_share"], ".0%")}
    about, how = how_fitted(result)
    head = {**about, "time": time, "level": level, "warnings": notes}
    said = "" if len(columns["z"]) else "no burst"
    title = "\n".join(filter(None, [source.title(result.cells), how, said]))
    spare = ("z", "largest", "accounts")
    output.write(columns, schema="bursts/1", key="bursts", head=head, title=title, shown=shown, spare=spare)
