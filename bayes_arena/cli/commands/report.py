"""``report``: a fit as a page that opens anywhere."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from typer import Exit, Option

from bayes_arena.cli.app import app, collected_warnings, tell
from bayes_arena.cli.fit_options import BoardChoice, ModelChoice, ScaleChoice
from bayes_arena.cli.options import KEPT, MODEL, OUTPUT, takes_options
from bayes_arena.cli.output import WARNED, Strict
from bayes_arena.cli.vote_source import VoteSource

if TYPE_CHECKING:
    from bayes_arena.fits.result import Fit
    from bayes_arena.page.report import Report
    from bayes_arena.ratings.elo import EloScale

NAME = "NAME"
"""In place of the name of an annotator."""


@dataclass(frozen=True)
class PageChoice:
    """Options of a page: its title, further columns, and whether it names annotators."""

    panel: ClassVar[str] = OUTPUT
    title: Annotated[str, Option(help="Title of the page.")] = "Leaderboard"
    meta: Annotated[
        Path | None,
        Option(
            metavar="FILE",
            help="Further columns about competitors, such as prices: a file with a column competitor, model or name.",
        ),
    ] = None
    names: Annotated[bool, Option("--names", help="Name the annotators on the page instead of numbering them.")] = False

    def made(self, fit: Fit, *, source: str, level: float, elo: EloScale, notes: Sequence[str] = ()) -> Report:
        """Return the page of a fit, which ends with the command that made it."""
        from bayes_arena.page.report import report as report_of

        words = sys.argv[1:]
        if not self.names:
            named = {name for name in (*fit.kept, *fit.dropped) if name not in fit.cells.programs}
            words = [_unnamed(word, named) for word in words]
        command = shlex.join(["bayes-arena", *words])
        about: dict[str, Any] = {"source": source, "level": level, "elo": elo, "notes": notes, "command": command}
        return report_of(fit, title=self.title, meta=self.meta, names=self.names, **about)


def _unnamed(word: str, names: Collection[str]) -> str:
    """Return a word of the command without the name of an annotator that it gives."""
    option, equals, name = word.partition("=")
    if word in names:
        return NAME
    return f"{option}={NAME}" if equals and option in ("--keep", "--drop") and name in names else word


@app.command(rich_help_panel=KEPT)
@takes_options
def report(
    *,
    source: VoteSource,
    model: ModelChoice,
    board: BoardChoice,
    level: Annotated[
        float,
        Option(help="Coverage of the intervals, and the probability that settles a question.", rich_help_panel=MODEL),
    ] = 0.95,
    scale: ScaleChoice,
    output: Annotated[Path, Option("--output", "-o", help="File to write.", rich_help_panel=OUTPUT)] = Path(
        "report.html"
    ),
    page: PageChoice,
    strict: Strict = False,
) -> None:
    """Write a page to share: the verdict, the ranking, how sure it is, and how annotators vote."""
    with collected_warnings() as notes:
        cells = None if source.is_saved else model.read(source)
    with collected_warnings() as of_fit:
        fit = board.seen(model.fitted(source) if cells is None else model.fit(cells))
        made = page.made(fit, source=source.named, level=level, elo=scale.elo(), notes=notes)
    made.save(output)
    tell(f"Wrote {output}, {len(made.html.encode()) / 1000:.0f} kB.")
    if strict and (notes or of_fit):
        raise Exit(WARNED)
