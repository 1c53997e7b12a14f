"""The ``bayes-arena`` command: votes in, tables out.

Modules that do the work are imported inside the commands, so that ``--help`` starts at once. Answers go to
standard output, everything else to standard error; bad input ends with a message and exit code 2.
"""

from __future__ import annotations

import io
import os
import sys
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayes_arena.cli import options
from bayes_arena.cli.options import IntervalMethod, MethodName, ModelName, OnInvalid, PriorName
from bayes_arena.cli.output import Format, between, choose_format, counts, digits, write
from bayes_arena.cli.source import VoteSource, sizes, split_pair
from bayes_arena.errors import ArenaError, ArenaWarning, ModelError, VotesError

if TYPE_CHECKING:
    from bayes_arena.cells import Cells
    from bayes_arena.elo import EloScale
    from bayes_arena.result import Fit

app = typer.Typer(
    name="bayes-arena",
    help="Rate language models from pairwise votes: Elo scores with intervals, and how far each annotator can be "
    "trusted. Start with `bayes-arena rank`, which rates a built-in example.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
    rich_markup_mode="markdown",
)


@app.command()
def rank(
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
    sigma_strength: options.SigmaStrength = None,
    sigma_discrimination: options.SigmaDiscrimination = None,
    interval: options.Level = 0.95,
    interval_method: options.Method = IntervalMethod.laplace,
    init: options.Init = 1000.0,
    scale: options.Scale = 400.0,
    base: options.Base = 10.0,
    anchor: options.Anchor = None,
    form: options.FormatOption = None,
    output: options.Output = None,
) -> None:
    """Rate the competitors: Elo scores, intervals and the spread of ranks."""
    form = choose_format(form, output)
    elo = _elo(init, scale, base, anchor)
    source = VoteSource(files, a, b, winner, annotator, no_annotator, weight, outcome, on_invalid, delta)
    with _collected_warnings() as notes:
        from bayes_arena.ranking import leaderboard_columns

        result = _fit(source.read(), model, prior, method, seed, sigma_strength, sigma_discrimination)
        columns = leaderboard_columns(result, level=interval, elo=elo, interval=interval_method.value)
    spread = [f"{best}–{worst}" for best, worst in zip(columns["rank_best"], columns["rank_worst"], strict=True)]
    shown = {
        "rank": digits(columns["rank"], "d"),
        "competitor": [str(name) for name in columns["competitor"]],
        "elo": digits(columns["elo"], ".1f"),
        f"{100 * interval:g} % interval": between(columns["lower"], columns["upper"], ".1f"),
        "rank spread": spread,
        **{name: counts(columns[name]) for name in ("votes", "wins", "losses", "ties")},
    }
    if "p_best" in columns:
        shown["P(best)"] = digits(columns["p_best"], ".3f")
    _emit(columns, "leaderboard", result, notes, source, shown, form, output)


@app.command()
def annotators(
    files: options.Files = None,
    a: options.ColumnA = None,
    b: options.ColumnB = None,
    winner: options.Winner = None,
    annotator: options.Annotator = None,
    weight: options.Weight = None,
    outcome: options.Outcome = None,
    on_invalid: options.Invalid = OnInvalid.error,
    delta: options.Delta = None,
    model: options.ModelOption = None,
    prior: options.PriorOption = PriorName.default,
    method: options.MethodOption = None,
    seed: options.Seed = 0,
    sigma_strength: options.SigmaStrength = None,
    sigma_discrimination: options.SigmaDiscrimination = None,
    interval: options.Level = 0.95,
    form: options.FormatOption = None,
    output: options.Output = None,
) -> None:
    """List the annotators, least discriminating first: below zero is against the others."""
    form = choose_format(form, output)
    source = VoteSource(files, a, b, winner, annotator, False, weight, outcome, on_invalid, delta)
    with _collected_warnings() as notes:
        from bayes_arena.reliability import annotator_columns

        result = _fit(source.read(), model, prior, method, seed, sigma_strength, sigma_discrimination)
        columns = annotator_columns(result, level=interval)
    shown = {
        "annotator": [str(name) for name in columns["annotator"]],
        "theta": digits(columns["theta"], ".2f"),
        f"{100 * interval:g} % interval": between(columns["lower"], columns["upper"], ".2f"),
        "theta (sum 1)": digits(columns["theta_paper"], ".4f"),
        "P(theta < 0)": digits(columns["p_negative"], ".3f"),
        "votes": counts(columns["votes"]),
    }
    _emit(columns, "annotators", result, notes, source, shown, form, output)


@app.command()
def check(
    files: options.Files = None,
    a: options.ColumnA = None,
    b: options.ColumnB = None,
    winner: options.Winner = None,
    annotator: options.Annotator = None,
    no_annotator: options.NoAnnotator = False,
    weight: options.Weight = None,
    outcome: options.Outcome = None,
    form: options.FormatOption = None,
    output: options.Output = None,
) -> None:
    """Report what the votes can and cannot settle, before any model; exit code 2 if some are invalid."""
    form = choose_format(form, output)
    source = VoteSource(files, a, b, winner, annotator, no_annotator, weight, outcome, OnInvalid.drop, None)
    with _collected_warnings() as notes:
        from bayes_arena.checks import check_rows

        cells = source.read()
        rows = check_rows(cells)
    columns = {name: [row[name] for row in rows] for name in rows[0]}
    head = {**sizes(cells), "warnings": notes}
    write(columns, key="checks", head=head, title=source.title(cells), shown=columns, form=form, output=output)
    if cells.dropped:
        source.read(OnInvalid.error)  # quotes the first invalid votes, and ends with exit code 2


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
    source = VoteSource(files, a, b, winner, annotator, False, None, outcome, on_invalid, delta)
    with _collected_warnings() as notes:
        from bayes_arena.comparison import compare as compare_fits
        from bayes_arena.fitting import fit
        from bayes_arena.specification import resolve_model

        cells = source.read()
        fits = {}
        for name in models.split(","):
            model = resolve_model(name.strip(), annotators_known=cells.n_annotators > 0)
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
    head = {**sizes(cells), "warnings": notes}
    write(columns, key="comparison", head=head, title=source.title(cells), shown=shown, form=form, output=output)


@app.command()
def simulate(
    output: Annotated[Path | None, typer.Option("--output", "-o", help="File to write (.csv or .parquet).")] = None,
    truth: Annotated[Path | None, typer.Option(help="JSON file for the true strengths and discriminations.")] = None,
    competitors: Annotated[int, typer.Option(help="Competitors.")] = 20,
    annotators: Annotated[int, typer.Option(help="Annotators.")] = 42,
    votes: Annotated[int, typer.Option(help="Votes.")] = 4321,
    anomalous: Annotated[int, typer.Option(help="Annotators who vote against the ranking.")] = 0,
    strength_sd: Annotated[float, typer.Option(help="Spread of strengths, in logits.")] = 1.0,
    discrimination_sd: Annotated[float, typer.Option(help="Spread of theta around 1.")] = 0.5,
    tie_propensity: Annotated[float, typer.Option(help="Davidson's nu; 0 for no ties.")] = 1.0,
    seed: Annotated[int, typer.Option(help="The same seed gives the same votes.")] = 0,
) -> None:
    """Simulate an arena with known truth; by default the size of the paper's Table 1."""
    import json

    from bayes_arena.simulation import simulate as simulate_arena

    form = choose_format(None if output else Format.csv, output)
    if form not in (Format.csv, Format.parquet):
        raise VotesError("Simulated votes are written as .csv or .parquet.")
    arena = simulate_arena(
        competitors=competitors,
        annotators=annotators,
        votes=votes,
        anomalous=anomalous,
        strength_sd=strength_sd,
        discrimination_sd=discrimination_sd,
        tie_propensity=tie_propensity,
        seed=seed,
    )
    if form is Format.parquet and output is not None:
        arena.votes.write_parquet(output)
    else:
        text = arena.votes.write_csv()
        sys.stdout.write(text) if output is None else output.write_text(text, encoding="utf-8")
    if truth is not None:
        known = {
            "strength": dict(zip(arena.competitors, arena.strength.tolist(), strict=True)),
            "discrimination": dict(zip(arena.annotators, arena.discrimination.tolist(), strict=True)),
            "anomalous": arena.anomalous,
        }
        truth.write_text(json.dumps(known, indent=2) + "\n", encoding="utf-8")


def _fit(
    cells: Cells,
    model: ModelName | None,
    prior: PriorName,
    method: MethodName | None,
    seed: int,
    sigma_strength: float | None,
    sigma_discrimination: float | None,
) -> Fit:
    from dataclasses import replace

    from bayes_arena.fitting import fit
    from bayes_arena.priors import NAMED_PRIORS

    chosen = NAMED_PRIORS[prior]
    if sigma_strength is not None:
        chosen = replace(chosen, strength=sigma_strength, hyper=None)
    if sigma_discrimination is not None:
        chosen = replace(chosen, discrimination=sigma_discrimination, hyper=None)
    name, route = (choice.value if choice else None for choice in (model, method))
    return fit(cells, model=name, prior=chosen, method=route, seed=seed)  # type: ignore[arg-type]


def _elo(init: float, scale: float, base: float, anchor: str | None) -> EloScale:
    from bayes_arena.elo import EloScale

    if anchor is None:
        return EloScale(init, scale, base)
    name, text = split_pair(anchor, "--anchor", "NAME=SCORE")
    try:
        return EloScale(init, scale, base, (name, float(text)))
    except ValueError:
        raise ModelError(f"--anchor takes NAME=SCORE with a number, not {anchor!r}.") from None


def _emit(
    columns: Mapping[str, Any],
    key: str,
    result: Fit,
    notes: list[str],
    source: VoteSource,
    shown: Mapping[str, list[str]],
    form: Format,
    output: Path | None,
) -> None:
    head = {
        "model": result.model.name,
        "prior": str(result.prior),
        "method": result.method,
        **sizes(result.cells),
        "mean_loss": result.mean_loss,
        "warnings": notes,
    }
    how = f"{result.model.name}, {result.prior} prior, {result.method}, mean loss {result.mean_loss:.4f} a vote"
    title = f"{source.title(result.cells)}\n{how}"
    write(columns, key=key, head=head, title=title, shown=shown, form=form, output=output)


@contextmanager
def _collected_warnings() -> Iterator[list[str]]:
    """Collect the package's warnings and print them to standard error at the end."""
    notes: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            yield notes
        finally:
            for warning in caught:
                if issubclass(warning.category, ArenaWarning):
                    notes.append(str(warning.message))
                    print(f"Warning: {warning.message}", file=sys.stderr)


def main() -> None:
    """Run the command; bad input ends with a short message and exit code 2."""
    if sys.stdout is None:
        raise SystemExit(2)  # closed from outside: there is nowhere to put the answer
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8")
    try:
        app()
    except (ArenaError, OSError) as error:
        if isinstance(error, BrokenPipeError):  # the reader closed the pipe: `bayes-arena rank | head`
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise SystemExit(1) from None
        print(f"bayes-arena: {error}", file=sys.stderr)
        raise SystemExit(2) from None
