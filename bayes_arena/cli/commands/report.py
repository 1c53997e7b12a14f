"""``report``: a fit as a page that opens anywhere."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import Annotated

from typer import Exit, Option

from bayes_arena.cli.app import app, collected_warnings, tell
from bayes_arena.cli.choices import BoardChoice, ModelChoice, ScaleChoice
from bayes_arena.cli.options import KEPT, MODEL, OUTPUT, takes_options
from bayes_arena.cli.output import WARNED, Strict
from bayes_arena.cli.source import VoteSource


@app.command(rich_help_panel=KEPT)
@takes_options
def report(
    *,
    source: VoteSource,
    model: ModelChoice,
    board: BoardChoice,
    level: Annotated[
        float, Option(help="Coverage of the intervals, and the probability that settles.", rich_help_panel=MODEL)
    ] = 0.95,
    scale: ScaleChoice,
    output: Annotated[Path, Option("--output", "-o", help="File to write.", rich_help_panel=OUTPUT)] = Path(
        "report.html"
    ),
    title: Annotated[str, Option(help="What stands on top of the page.", rich_help_panel=OUTPUT)] = "Leaderboard",
    meta: Annotated[
        Path | None,
        Option(
            metavar="FILE",
            help="What else is known of the competitors, prices say: a file with a column competitor, model or name.",
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    pseudonyms: Annotated[
        bool, Option("--pseudonyms", help="Number the annotators instead of naming them.", rich_help_panel=OUTPUT)
    ] = False,
    strict: Strict = False,
) -> None:
    """Write a page to show and to send: the verdict, the ranking, how sure it is, and who voted how."""
    from bayes_arena.page.report import report as report_of

    with collected_warnings() as notes:
        cells = source.read()
    with collected_warnings() as of_fit:
        over, slice = board.chosen()
        page = report_of(
            model.fit(cells).on(over, slice),
            title=title,
            source=source.named,
            level=level,
            elo=scale.elo(),
            meta=meta,
            pseudonyms=pseudonyms,
            notes=notes,
            command=shlex.join(["bayes-arena", *sys.argv[1:]]),
        )
    page.save(output)
    tell(f"Wrote {output}, {len(page.html.encode()) / 1000:.0f} kB.")
    if strict and (notes or of_fit):
        raise Exit(WARNED)
