"""``compare`` and ``diagnose``: which model predicts best, and whether a result can be trusted."""

from __future__ import annotations

from dataclasses import replace
from math import isclose
from typing import Annotated, Any

from typer import Option

from bayes_arena.cli.app import app, collected_warnings
from bayes_arena.cli.choices import ModelChoice
from bayes_arena.cli.options import MODEL, Without, takes_options
from bayes_arena.cli.output import Output, digits
from bayes_arena.cli.source import VoteSource, sizes
from bayes_arena.likelihood.specification import Ties

COMPARED = Without(
    "model", "prior", "guard", "answers", "strength_by", "style", "sigma_strength", "sigma_discrimination"
)
ANSWERS = "+answers"
"""What follows the name of a model with answers."""


@app.command()
@takes_options
def compare(
    *,
    models: Annotated[
        str,
        Option(
            metavar="A,B,...",
            help="Models, separated by commas; +answers gives one answers, as in am-davidson+answers.",
        ),
    ],
    source: Annotated[VoteSource, Without("no_annotator", "feature")],
    ties: Annotated[
        Ties | None,
        Option(help="Treat ties alike in all models, so that they can be compared.", rich_help_panel=MODEL),
    ] = None,
    over: Annotated[
        str | None,
        Option(
            help="Leave out whole prompts (prompt), annotators (annotator) or slices of another name; single votes by "
            "default.",
            rich_help_panel=MODEL,
            show_default=False,
        ),
    ] = None,
    route: Annotated[ModelChoice, COMPARED],
    output: Output,
) -> None:
    """Compare models by how well they predict votes left out (PSIS-LOO), and stack them."""
    with collected_warnings() as notes:
        from bayes_arena.fits.fitting import fit
        from bayes_arena.likelihood.presets import resolve_model, with_answers
        from bayes_arena.validation.comparison import compare as compare_fits
        from bayes_arena.votes.groups import shared

        cells = source.read()
        fits = {}
        for name in models.split(","):
            plain, plus, _ = name.strip().partition(ANSWERS)
            model = resolve_model(plain, annotators_known=cells.n_annotators > 0, sided=cells.sided)
            model = replace(model, ties=ties) if ties else model
            model, _ = with_answers(model, cells, bool(plus))
            fits[model.name] = fit(cells, model=model, method=route.method or "marginal", seed=route.seed)
        table = compare_fits(fits, over=over)
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
    scored, title = table["votes"].to_list()[0], source.title(cells)
    if not isclose(scored, cells.n_votes):
        title += f"\nscored on {scored:,.12g} votes, those that the models see"
    if over is not None or shared(cells):
        title += f"\nscored by predicting {table.attrs['question']}"
    asked = {str(name): value for name, value in table.attrs.items()}
    head = {**sizes(cells), "n_scored": scored, **asked, "warnings": notes}
    output.write(columns, key="comparison", head=head, title=title, shown=shown)


@app.command()
@takes_options
def diagnose(
    source: VoteSource,
    model: Annotated[ModelChoice, Without("sigma_strength", "sigma_discrimination")],
    output: Output,
) -> None:
    """Check a fit: graph, optimiser, sampler and prediction, each with a verdict and a remedy."""
    with collected_warnings() as notes:
        from bayes_arena.validation.diagnostics import diagnosis

        result = model.fit(source.read())
        rows = diagnosis(result)
    columns = {name: [row[name] for row in rows] for name in rows[0]}
    how = {"model": result.model.name, "prior": str(result.prior), "method": result.method}
    head = {**how, **sizes(result.cells), "warnings": notes}
    title = f"{source.title(result.cells)}\n{', '.join(how.values())}"
    output.write(columns, key="diagnosis", head=head, title=title, shown=columns)
