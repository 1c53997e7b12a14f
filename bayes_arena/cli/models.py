"""Commands about models: fit, diagnose, compare, reproduce."""

from collections.abc import Sequence
from typing import Annotated, Any

import typer

from bayes_arena.cli.options import (
    Answering,
    Drawable,
    Drawing,
    Fitting,
    Reading,
    Saving,
    Sources,
    option,
    with_options,
)
from bayes_arena.cli.output import (
    Answer,
    collected_warnings,
    columns_of,
    numbers,
    tell,
    tell_warnings,
    texts,
    write,
)
from bayes_arena.cli.source import fitted, name_of, saved_fit
from bayes_arena.cli.spelling import spelled
from bayes_arena.errors import ModelError, OutputError
from bayes_arena.files import written_beside
from bayes_arena.fits.fit import fit as fit_model
from bayes_arena.fits.result import Fit
from bayes_arena.model.spec import PRESETS, Preset
from bayes_arena.rating.wording import describe_votes
from bayes_arena.said import Note
from bayes_arena.tables import Columns, Shown
from bayes_arena.votes.votes import PROMPT, Votes


@with_options
def fit(
    votes: Sources = None,
    *,
    reading: Reading,
    fitting: Fitting,
    saving: Saving,
) -> None:
    """Fit a model and save it: -o board.npz, or -o posterior.nc for --method nuts."""
    if saving.output is None:
        raise OutputError("Name the file to write: -o fit.npz, or -o fit.nc for nuts.")
    from bayes_arena.fits.save import save

    with collected_warnings() as warned:
        save(fitted(votes, reading, fitting), saving.output)
    tell(f"{saving.output} written.")
    tell_warnings(warned, saving)


@with_options
def diagnose(
    votes: Sources = None,
    *,
    reading: Reading,
    fitting: Fitting,
    answering: Answering,
) -> None:
    """Say whether a fit can be trusted, and what it predicts worse than it should."""
    from bayes_arena.checks.diagnose import diagnosis_columns

    with collected_warnings() as warned:
        result = fitted(votes, reading, fitting)
        columns = diagnosis_columns(result)
    head = [describe_votes(result.votes, name_of(votes)), f"{result.plan}."]
    answer = Answer("diagnosis", columns, head=head, facts={"plan": result.plan})
    write(answer, answering, warned)


@with_options
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
    answering: Answering,
) -> None:
    """Compare models by how well they predict votes that they have not seen.

    By default votes are left out one at a time; with --over, a fifth of them in ten
    splits.
    """
    names: list[Any] = [name.strip() for name in models.split(",") if name.strip()]
    slices = () if over in (None, "vote", "annotator", PROMPT) else (over,)
    with collected_warnings() as warned:
        cast = reading.with_slices(slices).votes(votes)
        columns = comparison(cast, names, over, drawing.seed)
    head = [
        describe_votes(cast, name_of(votes)),
        f"Predicted: {predicted_in_words(over)}. Log scores are in nats, higher is better.",
    ]
    shown = shown_comparison(columns)
    write(Answer("comparison", columns, shown, head), answering, warned)


def comparison(
    votes: Votes, names: Sequence[Preset], over: str | None, seed: int
) -> Columns:
    """Return a comparison of models: leaving one out, or on votes held out."""
    if over is None:
        from bayes_arena.checks.compare import compare as compare_fits

        models = [PRESETS[name] for name in names if name in PRESETS]
        if votes.annotators and any(model.needs_annotators for model in models):
            votes = votes.known("annotator")  # all models are held to the same votes
        fits: dict[str, Fit] = {name: fit_of(votes, name) for name in names}
        return columns_of(compare_fits(fits))
    from bayes_arena.checks.held_out import held_out

    return columns_of(held_out(votes, names, over=over, seed=seed))


def predicted_in_words(over: str | None) -> str:
    """Return what a comparison predicts."""
    if over is None:
        return "one vote from all others"
    return "votes held out" if over == "vote" else f"votes of every new {over}"


def fit_of(votes: Votes, name: Preset) -> Fit:
    """Return the fit of a model; in errors, name the option of this command."""
    try:
        return fit_model(votes, model=name)
    except ModelError as error:
        raise ModelError(
            spelled(str(error)).replace("--model ", "--models ")
        ) from error


def shown_comparison(columns: Columns) -> Shown:
    """Return a comparison as texts, standard errors beside their numbers."""
    errors = {"elpd": "se", "elpd_diff": "dse"}
    forms = {"elpd": ".1f", "elpd_diff": ".1f", "weight": ".2f", "pareto_k": ".2f"}
    shown = {}
    for name, values in columns.items():
        heading = name.replace("_", " ")
        form = forms.get(name, ".4f")
        error = columns.get(errors.get(name, f"{name}_se"))
        if error is not None:
            cells = zip(numbers(values, form), numbers(error, form), strict=True)
            shown[heading] = [f"{value} ± {se}" for value, se in cells]
        elif name in ("model", "rank"):
            shown[heading] = texts(values)
        elif name in forms:
            shown[heading] = numbers(values, form)
        # All others are standard errors, which stand beside their numbers.
    return shown


@with_options
def reproduce(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="A table or figure: table2, fig5, ...")
    ],
    votes: Sources = None,
    *,
    reading: Reading,
    answering: Drawable,
) -> None:
    """Reproduce a table or figure of the am-ELO paper on your votes: -o fig5.png draws."""
    from bayes_arena.paper import reproduce as reproduce_figure

    with collected_warnings() as warned:
        if saved_fit(votes) is not None:
            raise ModelError("reproduce takes votes, not a saved fit.")
        result = reproduce_figure(name, reading.votes(votes))
    if answering.output is not None and answering.suffix in answering.pictures:
        with written_beside(answering.output) as draft:
            result.draw().savefig(draft)
        tell(f"{answering.output} written.")
        tell_warnings(warned, answering)
        return
    used = describe_votes(result.votes, name_of(votes))
    head = [f"{name}, Liu et al. (2025), on {used}."]
    notes = [Note("note", result.note)] if result.note else []
    answer = Answer("summary", result.summary, head=head, notes=notes)
    write(answer, answering, warned)
