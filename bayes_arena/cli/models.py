"""Commands about models: fit, diagnose, compare, reproduce."""

from typing import Annotated

import typer

from bayes_arena.cli.options import (
    FITS,
    Answering,
    Drawing,
    Fitting,
    Reading,
    Source,
    option,
    with_options,
)
from bayes_arena.cli.output import (
    Answer,
    all_columns,
    collected_warnings,
    columns_of,
    tell_warnings,
    write,
)
from bayes_arena.cli.source import fitted, name_of, saved_fit
from bayes_arena.errors import ModelError, OutputError
from bayes_arena.rating import describe_votes
from bayes_arena.votes.votes import PROMPT


@with_options
def fit(
    source: Source = None,
    *,
    reading: Reading,
    fitting: Fitting,
    drawing: Drawing,
    answering: Answering,
) -> None:
    """Fit a model and save it: -o board.npz, or -o posterior.nc for --method nuts."""
    if answering.output is None:
        raise OutputError("Name the file to write: -o fit.npz, or -o fit.nc for nuts.")
    from bayes_arena.fits.save import save

    with collected_warnings() as warned:
        work = fitted(source, reading, fitting, drawing.seed)
        save(work.fit, answering.output)
    tell_warnings(warned, answering)


@with_options
def diagnose(
    source: Source = None,
    *,
    reading: Reading,
    fitting: Fitting,
    drawing: Drawing,
    answering: Answering,
) -> None:
    """Say whether a fit can be trusted, and what it predicts worse than it should."""
    from bayes_arena.checks.diagnose import diagnose as diagnose_fit

    with collected_warnings() as warned:
        work = fitted(source, reading, fitting, drawing.seed)
        table = diagnose_fit(work.fit)
        columns = columns_of(table)
    head = [describe_votes(work.votes, work.name), f"{work.fit.plan}."]
    answer = Answer(
        "diagnosis", columns, all_columns(columns), head, facts={"plan": work.fit.plan}
    )
    write(answer, answering, warned)


@with_options
def compare(
    source: Source = None,
    *,
    models: Annotated[
        str, option("Models, with commas between.", FITS, show_default=True)
    ] = "davidson,am-davidson",
    over: Annotated[
        str,
        option(
            "Predict new ones of: vote, annotator, prompt or a slice.",
            FITS,
            show_default=True,
        ),
    ] = "vote",
    reading: Reading,
    drawing: Drawing,
    answering: Answering,
) -> None:
    """Compare models by how well they predict votes that they have not seen."""
    from bayes_arena.checks.held_out import held_out

    names = [name.strip() for name in models.split(",") if name.strip()]
    slices = () if over in ("vote", "annotator", PROMPT) else (over,)
    with collected_warnings() as warned:
        votes = reading.votes(source, slices)
        table = held_out(votes, names, by=over, seed=drawing.seed)
        columns = columns_of(table)
    head = [
        describe_votes(votes, name_of(source)),
        f"Predictions of votes held out by {over}; scores are a vote, higher is better.",
    ]
    write(Answer("comparison", columns, all_columns(columns), head), answering, warned)


@with_options
def reproduce(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="A table or figure: table2, fig5, ...")
    ],
    source: Source = None,
    *,
    reading: Reading,
    answering: Answering,
) -> None:
    """Reproduce a table or figure of the am-ELO paper on your votes."""
    from bayes_arena.paper import reproduce as reproduce_figure

    with collected_warnings() as warned:
        if saved_fit(source) is not None:
            raise ModelError("reproduce takes votes, not a saved fit.")
        result = reproduce_figure(name, reading.votes(source))
        columns = result.summary
    head = [f"{name}, Liu et al. (2025), on {name_of(source)}."]
    notes = [result.note] if result.note else []
    answer = Answer("summary", columns, all_columns(columns), head, notes)
    write(answer, answering, warned)
