"""``check`` and ``simulate``: the commands about votes themselves."""

from __future__ import annotations

import warnings
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bayes_arena.cli.app import app, collected_warnings
from bayes_arena.cli.options import WANTED, Without, takes_options
from bayes_arena.cli.output import Format, Output
from bayes_arena.cli.vote_source import VoteSource
from bayes_arena.errors import VotesError
from bayes_arena.markup import percent
from bayes_arena.votes.sizes import sizes

if TYPE_CHECKING:
    from bayes_arena.votes.cells import Cells


@app.command(rich_help_panel=WANTED)
@takes_options
def check(source: Annotated[VoteSource, Without("on_invalid", "delta")], output: Output) -> None:
    """Report what the votes can and cannot settle, and what a fit would choose. Exit code 2 if some are invalid."""
    source = replace(source, on_invalid="drop")
    with collected_warnings() as notes:
        from bayes_arena.votes.reading.checks import check_rows

        cells = source.read()
        rows = check_rows(cells, source.repeats())
        if cells.n_annotators:
            rows += _both_orders(cells)
        rows += _plan(cells)
    columns = {name: [row[name] for row in rows] for name in rows[0]}
    head = {**sizes(cells), "warnings": notes}
    output = replace(output, strict=output.strict and not cells.dropped)  # invalid votes end it below
    output.write(columns, schema="check/1", key="checks", head=head, title=source.title(cells), shown=columns)
    if cells.dropped:
        with warnings.catch_warnings(action="ignore"):
            replace(source, on_invalid="raise").read()  # quotes the first invalid votes, and ends with exit code 2


@app.command(rich_help_panel=WANTED)
def simulate(
    output: Annotated[Path | None, typer.Option("--output", "-o", help="File to write (.csv or .parquet).")] = None,
    truth: Annotated[Path | None, typer.Option(help="JSON file for the true strengths and discriminations.")] = None,
    competitors: Annotated[int, typer.Option(help="Competitors.")] = 20,
    annotators: Annotated[int, typer.Option(help="Annotators.")] = 42,
    votes: Annotated[int, typer.Option(help="Votes.")] = 4321,
    anomalous: Annotated[int, typer.Option(help="Annotators who vote against the ranking.")] = 0,
    strength_sd: Annotated[float, typer.Option(help="Spread of strengths, in logits.")] = 1.0,
    discrimination_sd: Annotated[float, typer.Option(help="Spread of theta around 1.")] = 0.5,
    tie_propensity: Annotated[float, typer.Option(help="Davidson's nu; 0 for no ties.")] = 1.0,
    seed: Annotated[int, typer.Option(help="The same seed gives the same votes.")] = 0,
) -> None:
    """Simulate an arena whose truth is known, by default of the size of the paper's Table 1."""
    import json

    from bayes_arena.likelihood.simulation import simulate as simulate_arena
    from bayes_arena.replacing import write_parquet

    out = Output(None if output else Format.csv, output)
    if out.form not in (Format.csv, Format.parquet):
        raise VotesError("Simulated votes are written as .csv or .parquet.")
    arena = simulate_arena(
        competitors=competitors,
        annotators=annotators,
        votes=votes,
        anomalous=anomalous,
        strength_sd=strength_sd,
        discrimination_sd=discrimination_sd,
        tie_propensity=tie_propensity,
        seed=seed,
    )
    if out.form is Format.parquet and output is not None:
        write_parquet(arena.votes, output)
    else:
        out.write_text(arena.votes.write_csv())
    if truth is not None:
        known = {
            "strength": dict(zip(arena.competitors, arena.strength.tolist(), strict=True)),
            "discrimination": dict(zip(arena.annotators, arena.discrimination.tolist(), strict=True)),
            "anomalous": arena.anomalous,
        }
        Output(Format.json, truth).write_text(json.dumps(known, indent=2) + "\n")


def _both_orders(cells: Cells) -> list[dict[str, str]]:
    """Return the check of how often verdicts agree between both orders of a pair, if any prompt was seen in both."""
    from bayes_arena.reliability.concordance import across_orders
    from bayes_arena.votes.names import PROMPT
    from bayes_arena.votes.reading.checks import check_row

    consistency, items = across_orders(cells) if PROMPT in cells.slices else (None, 0)
    if consistency is None:
        return []
    found = (
        f"{percent(consistency, '.1f')} of verdicts stay the same when the two are swapped; {items} seen in both orders"
    )
    return [check_row("both orders", found)]


def _plan(cells: Cells) -> list[dict[str, str]]:
    """Return what a fit of the default model would choose, and why."""
    from bayes_arena.errors import FitError
    from bayes_arena.fits.plan import planned
    from bayes_arena.likelihood.problem import Problem
    from bayes_arena.votes.reading.checks import check_row

    try:
        problem = Problem.of(cells, None, "default")
        choices = planned(problem, preset=True).choices
    except FitError as error:
        return [check_row("a default fit", f"not possible: {error}", problem=True)]
    return [check_row(f"default {one.what}", f"{one.taken} ({one.why})") for one in choices]
