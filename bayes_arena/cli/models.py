"""Commands about models: fit, diagnose, compare, reproduce."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, Any

import typer

from bayes_arena.cli.command import command
from bayes_arena.cli.options import (
    Answering,
    Drawable,
    Drawing,
    Fitting,
    Reading,
    Saving,
    Sources,
    option,
)
from bayes_arena.cli.output import Answer, Done, columns_of, drawn
from bayes_arena.cli.source import fit_of_sources, name_of, saved_fit
from bayes_arena.cli.terminal import Terminal
from bayes_arena.columns import COMPARISON, DIAGNOSIS, HELD_OUT
from bayes_arena.errors import ModelError, OutputError
from bayes_arena.fits.fit import fit as fit_model
from bayes_arena.fits.result import Fit
from bayes_arena.model.spec import PRESETS, Preset
from bayes_arena.rating.content import facts_of_votes
from bayes_arena.rating.wording import describe_votes
from bayes_arena.said import Note
from bayes_arena.tables import Columns
from bayes_arena.votes.votes import PROMPT, Votes


@command(Saving)
def fit(
    votes: Sources = None,
    *,
    reading: Reading,
    fitting: Fitting,
    writing: Saving,
) -> Done:
    """Fit a model and save it: -o board.npz, or -o posterior.nc for --method nuts."""
    if writing.output is None:
        raise OutputError("Name the file to write: -o fit.npz, or -o fit.nc for nuts.")
    from bayes_arena.fits.save import save

    save(fit_of_sources(votes, reading, fitting), writing.output)
    return Done(f"{writing.output} written.")


@command(Answering)
def diagnose(
    votes: Sources = None,
    *,
    reading: Reading,
    fitting: Fitting,
    terminal: Terminal,
) -> Answer:
    """Say whether a fit can be trusted, and what it predicts worse than it should."""
    from bayes_arena.checks.diagnose import diagnosis_columns

    result = fit_of_sources(votes, reading, fitting)
    source = name_of(votes)
    return Answer(
        key="diagnosis",
        columns=diagnosis_columns(result, terminal),
        table=DIAGNOSIS,
        head=[describe_votes(result.votes, source), f"{result.plan}."],
        facts={
            **facts_of_votes(result.votes, source),
            "plan": result.plan,
            "seed": result.seed,
        },
    )


@command(Answering)
def compare(
    votes: Sources = None,
    *,
    models: Annotated[
        str, option("Models, with commas between.", show_default=True)
    ] = "davidson,am-davidson",
    over: Annotated[
        str | None,
        option("Predict new ones of: vote, annotator, prompt or a slice."),
    ] = None,
    reading: Reading,
    drawing: Drawing,
) -> Answer:
    """Compare models by how well they predict votes that they have not seen.

    By default votes are left out one at a time; with --over, a fifth of them in ten
    splits.
    """
    names: list[Any] = [name.strip() for name in models.split(",") if name.strip()]
    slices = () if over in (None, "vote", "annotator", PROMPT) else (over,)
    cast = reading.with_slices(slices).votes(votes)
    columns = comparison(cast, names, over, drawing.seed)
    source = name_of(votes)
    predicted = f"Predicted: {predicted_in_words(over)}."
    return Answer(
        key="comparison",
        columns=columns,
        table=COMPARISON if over is None else HELD_OUT,
        head=[
            describe_votes(cast, source),
            f"{predicted} Log scores are in nats, higher is better.",
        ],
        facts={**facts_of_votes(cast, source), "seed": drawing.seed},
    )


def comparison(
    votes: Votes, names: Sequence[Preset], over: str | None, seed: int
) -> Columns:
    """Return a comparison of models: leaving one out, or on votes held out."""
    if over is None:
        from bayes_arena.checks.compare import compare as compare_fits

        models = [PRESETS[name] for name in names if name in PRESETS]
        if votes.annotators and any(model.needs_annotators for model in models):
            votes = votes.known("annotator")  # all models are held to the same votes
        fits: dict[str, Fit] = {n: fit_model(votes, model=n) for n in names}
        return columns_of(compare_fits(fits))
    from bayes_arena.checks.held_out import held_out

    return columns_of(held_out(votes, names, over=over, seed=seed))


def predicted_in_words(over: str | None) -> str:
    """Return what a comparison predicts."""
    if over is None:
        return "one vote from all others"
    return "votes held out" if over == "vote" else f"votes of every new {over}"


@command(Drawable)
def reproduce(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME",
            help="table1, table2, fig1, fig3, fig4, fig5, fig6 or fig7.",
        ),
    ],
    votes: Sources = None,
    *,
    reading: Reading,
    writing: Drawable,
) -> Answer | Done:
    """Reproduce a table or figure of the am-ELO paper on your votes: -o fig5.png draws."""
    from bayes_arena.paper.reproduce import DELTA, reproduce as reproduce_figure

    if saved_fit(votes) is not None:
        raise ModelError("reproduce takes votes, not a saved fit.")
    delta = DELTA if reading.delta is None else reading.delta
    everyone = replace(reading, delta=None).votes(votes)
    result = reproduce_figure(name, everyone, delta=delta)
    if writing.output is not None and writing.is_picture:
        return drawn(result.draw(), writing.output)
    used = describe_votes(result.votes, name_of(votes))
    return Answer(
        key="summary",
        columns=result.summary,
        head=[f"{name}, Liu et al. (2025), on {used}."],
        notes=[Note("note", result.note)] if result.note else [],
        facts=facts_of_votes(result.votes, name_of(votes)),
    )
