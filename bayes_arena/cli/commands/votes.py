"""``check`` and ``simulate``: the commands about votes themselves."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from bayes_arena.cli import options
from bayes_arena.cli.app import app, collected_warnings
from bayes_arena.cli.options import OnInvalid
from bayes_arena.cli.output import Format, choose_format, write
from bayes_arena.cli.source import VoteSource, sizes
from bayes_arena.errors import VotesError


@app.command()
def check(
    files: options.Files = None,
    a: options.ColumnA = None,
    b: options.ColumnB = None,
    winner: options.Winner = None,
    annotator: options.Annotator = None,
    no_annotator: options.NoAnnotator = False,
    weight: options.Weight = None,
    outcome: options.Outcome = None,
    dedupe: options.Dedupe = False,
    normalise_names: options.NormaliseNames = False,
    form: options.FormatOption = None,
    output: options.Output = None,
) -> None:
    """Report what the votes can and cannot settle, before any model; exit code 2 if some are invalid."""
    form = choose_format(form, output)
    source = VoteSource(
        files, a, b, winner, annotator, no_annotator, weight, outcome, OnInvalid.drop, None, dedupe, normalise_names
    )
    with collected_warnings() as notes:
        from bayes_arena.votes.checks import check_rows

        cells = source.read()
        rows = check_rows(cells, source.repeats())
    columns = {name: [row[name] for row in rows] for name in rows[0]}
    head = {**sizes(cells), "warnings": notes}
    write(columns, key="checks", head=head, title=source.title(cells), shown=columns, form=form, output=output)
    if cells.dropped:
        source.read(OnInvalid.error)  # quotes the first invalid votes, and ends with exit code 2


@app.command()
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
    """Simulate an arena with known truth; by default the size of the paper's Table 1."""
    import json

    from bayes_arena.likelihood.simulation import simulate as simulate_arena

    form = choose_format(None if output else Format.csv, output)
    if form not in (Format.csv, Format.parquet):
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
    if form is Format.parquet and output is not None:
        arena.votes.write_parquet(output)
    else:
        text = arena.votes.write_csv()
        sys.stdout.write(text) if output is None else output.write_text(text, encoding="utf-8")
    if truth is not None:
        known = {
            "strength": dict(zip(arena.competitors, arena.strength.tolist(), strict=True)),
            "discrimination": dict(zip(arena.annotators, arena.discrimination.tolist(), strict=True)),
            "anomalous": arena.anomalous,
        }
        truth.write_text(json.dumps(known, indent=2) + "\n", encoding="utf-8")
