"""``diagnose``: whether a result can be trusted."""

from __future__ import annotations

from bayes_arena.cli import options
from bayes_arena.cli.app import app, collected_warnings
from bayes_arena.cli.options import OnInvalid, PriorName
from bayes_arena.cli.output import choose_format, write
from bayes_arena.cli.ratings import fit_votes
from bayes_arena.cli.source import VoteSource, sizes


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
    source = VoteSource(files, a, b, winner, annotator, no_annotator, weight, outcome, on_invalid, delta)
    with collected_warnings() as notes:
        from bayes_arena.diagnostics import diagnosis

        result = fit_votes(source.read(), model, prior, method, seed, None, None)
        rows = diagnosis(result)
    columns = {name: [row[name] for row in rows] for name in rows[0]}
    how = {"model": result.model.name, "prior": str(result.prior), "method": result.method}
    head = {**how, **sizes(result.cells), "warnings": notes}
    title = f"{source.title(result.cells)}\n{', '.join(how.values())}"
    write(columns, key="diagnosis", head=head, title=title, shown=columns, form=form, output=output)
