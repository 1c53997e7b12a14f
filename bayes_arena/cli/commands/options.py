"""``options``: the options that commands share, each explained once."""

from __future__ import annotations

from functools import partial

from typer import Context, echo

from bayes_arena.cli.app import app
from bayes_arena.cli.fit_options import BoardChoice, IntervalChoice, ModelChoice, ScaleChoice
from bayes_arena.cli.options import KEPT, takes_options
from bayes_arena.cli.output import Output, Picture
from bayes_arena.cli.vote_source import VoteSource


@app.command(rich_help_panel=KEPT)
@partial(takes_options, shown=None)
def options(
    context: Context,
    source: VoteSource,
    model: ModelChoice,
    board: BoardChoice,
    intervals: IntervalChoice,
    scale: ScaleChoice,
    picture: Picture,
    output: Output,
) -> None:
    """Explain the options that commands share: each takes those that apply to it, shown in its own help or not."""
    echo(context.get_help())
