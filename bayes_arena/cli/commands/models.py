"""``compare`` and ``diagnose``: which model predicts best, and whether its fit can be trusted."""

from __future__ import annotations

from dataclasses import replace
from math import isclose
from typing import Annotated, Any

from typer import Option

from bayes_arena import plots
from bayes_arena.cli.app import app, collected_warnings
from bayes_arena.cli.fit_options import ModelChoice
from bayes_arena.cli.headings import how_fitted
from bayes_arena.cli.options import FITTED, MODEL, Without, takes_options
from bayes_arena.cli.output import Output, Picture, digits
from bayes_arena.cli.vote_source import VoteSource
from bayes_arena.likelihood.specification import Ties
from bayes_arena.progress import report
from bayes_arena.votes.sizes import sizes

COMPARED = Without(
    *("model", "prior", "robust", "keep", "drop", "answers", "dimensions", "drift", "groups", "strength_by", "style"),
    *("sigma_strength", "sigma_discrimination"),
)
ANSWERS = "+answers"
"""Suffix of the name of a model with answers."""


@app.command(rich_help_panel=FITTED)
@takes_options
def compare(
    *,
    models: Annotated[
        str,
        Option(
            metavar="A,B,...",
            help="Models, separated by commas; with +answers, as in am-davidson+answers, a model rates answers.",
        ),
    ],
    source: Annotated[VoteSource, Without("no_annotator", "feature")],
    ties: Annotated[
        Ties | None,
        Option(help="Treat ties in the same way in all models, so that they can be compared.", rich_help_panel=MODEL),
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
    sample: Annotated[
        int | None,
        Option(
            metavar="N",
            help="Leave out a sample of N kinds of votes. Default: all, up to 100,000 kinds; 5,000 if there are more.",
            rich_help_panel=MODEL,
            show_default=False,
        ),
    ] = None,
    route: Annotated[ModelChoice, COMPARED],
    output: Output,
) -> None:
    """Compare models by how well they predict held-out votes (PSIS-LOO), and stack them."""
    with collected_warnings() as notes:
        from bayes_arena.fits.fitting import fit
        from bayes_arena.likelihood.presets import with_answers
        from bayes_arena.likelihood.problem import Problem
        from bayes_arena.validation.comparison import compare as compare_fits
        from bayes_arena.votes.groups import shared

        cells = source.read()
        fits = {}
        names = models.split(",")
        for number, name in enumerate(names):
            report(f"fitting {name.strip()}", number, len(names))
            plain, plus, _ = name.strip().partition(ANSWERS)
            model = Problem.of(cells, plain, "default").model
            model = replace(model, ties=ties) if ties else model
            model, _, _ = with_answers(model, cells, bool(plus))
            fits[model.name] = fit(cells, model=model, method=route.method or "marginal", seed=route.seed)
        report("")
        table = compare_fits(fits, over=over, sample="auto" if sample is None else sample)
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
    if "sampled" in table.attrs:
        title += f"\nestimated from a sample of {table.attrs['sampled']:,} kinds of votes"
    asked = {str(name): value for name, value in table.attrs.items()}
    head = {**sizes(cells), "n_scored": scored, **asked, "warnings": notes}
    output.write(columns, schema="compare/1", key="comparison", head=head, title=title, shown=shown, spare=("s.e.",))


@app.command(rich_help_panel=FITTED)
@takes_options
def diagnose(
    source: VoteSource,
    model: Annotated[ModelChoice, Without("sigma_strength", "sigma_discrimination")],
    picture: Picture,
    output: Output,
) -> None:
    """Check a fit: graph, optimiser, sampler and prediction, each with a verdict and a remedy."""
    with collected_warnings() as notes:
        from bayes_arena.validation.diagnostics import diagnosis

        result = model.fitted(source)
        rows = diagnosis(result)
    columns = {name: [row[name] for row in rows] for name in rows[0]}
    how = {"model": result.model.name, "prior": str(result.prior), "method": result.method}
    head = {**how, **sizes(result.cast), "warnings": notes}
    title = f"{source.title(result.cast)}\n{how_fitted(result)[1]}"
    with picture.beside(lambda: plots.calibration(result, seed=model.seed)):
        output.write(columns, schema="diagnose/1", key="diagnosis", head=head, title=title, shown=columns)
