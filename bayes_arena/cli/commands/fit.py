"""``fit``: a fit in a file, which every command takes in place of the votes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from typer import Exit, Option

from bayes_arena.cli.app import app, collected_warnings, tell
from bayes_arena.cli.fit_options import ModelChoice
from bayes_arena.cli.options import OUTPUT, RANKING, takes_options
from bayes_arena.cli.output import WARNED, Strict
from bayes_arena.cli.vote_source import VoteSource


@app.command(rich_help_panel=RANKING)
@takes_options
def fit(
    *,
    source: VoteSource,
    model: ModelChoice,
    output: Annotated[
        Path, Option("--output", "-o", metavar="FILE", help="File to write, *.nc.", rich_help_panel=OUTPUT)
    ],
    strict: Strict = False,
) -> None:
    """Fit once and save, to ask many questions: other commands take the file in place of the votes."""
    with collected_warnings() as notes:
        from bayes_arena.fits.saved.storage import save

        save(model.fit(model.read(source)), output)
    tell(f"Wrote {output}, {output.stat().st_size / 1000:,.0f} kB.")
    if strict and notes:
        raise Exit(WARNED)
