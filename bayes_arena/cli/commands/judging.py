"""``compare`` and ``diagnose``: which model predicts best, and whether a result can be trusted."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from bayes_arena.cli import options
from bayes_arena.cli.app import app, collected_warnings
from bayes_arena.cli.commands.ratings import fit_votes
from bayes_arena.cli.options import OnInvalid, PriorName
from bayes_arena.cli.output import choose_format, digits, write
from bayes_arena.cli.source import VoteSource, sizes


@app.command()
def compare(
    models: Annotated[str, typer.Option(metavar="A,B,...", help="Models, separated by commas.")],
    files: options.Files = None,
    a: options.ColumnA = None,
    b: options.ColumnB = None,
    winner: options.Winner = None,
    annotator: options.Annotator = None,
    outcome: options.Outcome = None,
    on_invalid: options.Invalid = OnInvalid.error,
    dedupe: options.Dedupe = False,
    normalise_names: options.NormaliseNames = False,
    delta: options.Delta = None,
    ties: options.TiesOption = None,
    method: options.MethodOption = None,
    seed: options.Seed = 0,
    form: options.FormatOption = None,
    output: options.Output = None,
) -> None:
    """Compare models by how well they predict a vote left out (PSIS-LOO), and stack them."""
    from dataclasses import replace

    form = choose_format(form, output)
    source = VoteSource(
        files, a, b, winner, annotator, False, None, outcome, on_invalid, delta, dedupe, normalise_names
    )
    with collected_warnings() as notes:
        from bayes_arena.fits.fitting import fit
        from bayes_arena.likelihood.presets import resolve_model
        from bayes_arena.validation.comparison import compare as compare_fits

        cells = source.read()
        fits = {}
        for name in models.split(","):
            model = resolve_model(name.strip(), annotators_known=cells.n_annotators > 0, sided=cells.sided)
            model = replace(model, ties=ties.value) if ties else model
            route = method.value if method else "marginal"
            fits[model.name] = fit(cells, model=model, method=route, seed=seed)  # type: ignore[arg-type]
        table = compare_fits(fits)
    columns: dict[str, Any] = {str(name): table[name].to_numpy() for name in table}
    shown = {
        "rank": digits(columns["rank"], "d"),
        "model": [str(name) for name in columns["name"]],
        "elpd": digits(columns["elpd_loo"], ".1f"),
        "difference": digits(columns["elpd_diff"], ".1f"),
        "s.e.": digits(columns["dse"], ".1f"),
        "weight": digits(columns["weight"], ".2f"),
        "worst Pareto k": digits(columns["pareto_k"], ".2f"),
    }
    scored, title = int(columns["votes"][0]), source.title(cells)
    if scored < cells.n_votes:
        title += f"\nscored on {scored} votes, those that the models see"
    head = {**sizes(cells), "n_scored": scored, "warnings": notes}
    write(columns, key="comparison", head=head, title=title, shown=shown, form=form, output=output)


@app.command()
def diagnose(
    files: options.Files = None,
    a: options.ColumnA = None,
    b: options.ColumnB = None,
    winner: options.Winner = None,
    annotator: options.Annotator = None,
    no_annotator: options.NoAnnotator = False,
    weight: options.Weight = None,
    outcome: options.Outcome = None,
    on_invalid: options.Invalid = OnInvalid.error,
    dedupe: options.Dedupe = False,
    normalise_names: options.NormaliseNames = False,
    delta: options.Delta = None,
    model: options.ModelOption = None,
    prior: options.PriorOption = PriorName.default,
    method: options.MethodOption = None,
    seed: options.Seed = 0,
    form: options.FormatOption = None,
    output: options.Output = None,
) -> None:
    """Check a fit: graph, optimiser, sampler and prediction, each with a verdict and a remedy."""
    form = choose_format(form, output)
    source = VoteSource(
        files, a, b, winner, annotator, no_annotator, weight, outcome, on_invalid, delta, dedupe, normalise_names
    )
    with collected_warnings() as notes:
        from bayes_arena.validation.diagnostics import diagnosis

        result = fit_votes(source.read(), model, prior, method, seed, None, None)
        rows = diagnosis(result)
    columns = {name: [row[name] for row in rows] for name in rows[0]}
    how = {"model": result.model.name, "prior": str(result.prior), "method": result.method}
    head = {**how, **sizes(result.cells), "warnings": notes}
    title = f"{source.title(result.cells)}\n{', '.join(how.values())}"
    write(columns, key="diagnosis", head=head, title=title, shown=columns, form=form, output=output)
