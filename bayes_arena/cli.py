"""The ``bayes-arena`` command: votes in, tables out.

Modules that do the work are imported inside the commands, so that ``--help`` starts at once. Answers go to
standard output, everything else to standard error; bad input ends with a message and exit code 2.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayes_arena.errors import ArenaError, ArenaWarning, ModelError, VotesError
from bayes_arena.output import Format, choose_format, write

if TYPE_CHECKING:
    from bayes_arena.cells import Cells
    from bayes_arena.elo import EloScale
    from bayes_arena.point import Fit

app = typer.Typer(
    name="bayes-arena",
    help="Rate language models from pairwise votes: Elo scores with intervals, and how far each annotator can be "
    "trusted. Start with `bayes-arena rank`, which rates a built-in example.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
    rich_markup_mode="markdown",
)


class ModelName(StrEnum):
    """Models."""

    bradley_terry = "bradley-terry"
    m_elo = "m-elo"
    am_elo = "am-elo"


class PriorName(StrEnum):
    """Priors."""

    flat = "flat"
    default = "default"


class IntervalMethod(StrEnum):
    """Kinds of interval."""

    laplace = "laplace"
    profile = "profile"


class OnInvalid(StrEnum):
    """What happens to invalid votes."""

    error = "raise"
    drop = "drop"


VOTES, MODEL, SCALE, OUTPUT = "Votes", "Model", "Scale", "Output"
Files = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="FILE",
        help="Votes as CSV, Parquet or JSONL. Without a file: a built-in simulated example arena.",
        show_default=False,
    ),
]
ColumnA = Annotated[str | None, typer.Option("--a", help="Column of the first competitor.", rich_help_panel=VOTES)]
ColumnB = Annotated[str | None, typer.Option("--b", help="Column of the second competitor.", rich_help_panel=VOTES)]
Winner = Annotated[str | None, typer.Option(help="Column of the winner.", rich_help_panel=VOTES)]
Annotator = Annotated[str | None, typer.Option(help="Column of the annotator.", rich_help_panel=VOTES)]
NoAnnotator = Annotated[bool, typer.Option("--no-annotator", help="Ignore who voted.", rich_help_panel=VOTES)]
Weight = Annotated[str | None, typer.Option(help="Column of weights.", rich_help_panel=VOTES)]
Outcome = Annotated[
    list[str] | None,
    typer.Option(
        metavar="LABEL=OUTCOME",
        help="What a further winner label means: model_a, model_b, tie or both_bad. Repeatable.",
        rich_help_panel=VOTES,
    ),
]
Invalid = Annotated[OnInvalid, typer.Option("--on-invalid", help="Stop at invalid votes, or drop them.", rich_help_panel=VOTES)]
Delta = Annotated[
    int | None,
    typer.Option(min=0, help="Keep annotators with more than this many votes.", rich_help_panel=VOTES),
]
ModelOption = Annotated[
    ModelName | None,
    typer.Option(help="Default: am-elo where annotators are known, else bradley-terry.", rich_help_panel=MODEL),
]
PriorOption = Annotated[
    PriorName,
    typer.Option(help="flat: the paper's maximum likelihood. default: weak Gaussian.", rich_help_panel=MODEL),
]
SigmaStrength = Annotated[
    float | None, typer.Option(help="Prior sd of strengths, in logits.", rich_help_panel=MODEL, show_default=False)
]
SigmaDiscrimination = Annotated[
    float | None, typer.Option(help="Prior sd of theta around 1.", rich_help_panel=MODEL, show_default=False)
]
Level = Annotated[float, typer.Option("--interval", help="Coverage of the intervals.", rich_help_panel=MODEL)]
Method = Annotated[
    IntervalMethod,
    typer.Option("--interval-method", help="profile: profile likelihood, theta = 1 only.", rich_help_panel=MODEL),
]
Init = Annotated[float, typer.Option(help="Mean score.", rich_help_panel=SCALE)]
Scale = Annotated[float, typer.Option(help="Points that mean odds of BASE to 1.", rich_help_panel=SCALE)]
Base = Annotated[float, typer.Option(help="Odds that SCALE points stand for.", rich_help_panel=SCALE)]
Anchor = Annotated[
    str | None,
    typer.Option(metavar="NAME=SCORE", help="Shift all scores so that NAME has SCORE.", rich_help_panel=SCALE),
]
FormatOption = Annotated[
    Format | None,
    typer.Option("--format", help="Default: by the name of the output file, else table.", rich_help_panel=OUTPUT),
]
Output = Annotated[Path | None, typer.Option("--output", "-o", help="File to write.", rich_help_panel=OUTPUT)]


@app.command()
def rank(
    files: Files = None,
    a: ColumnA = None,
    b: ColumnB = None,
    winner: Winner = None,
    annotator: Annotator = None,
    no_annotator: NoAnnotator = False,
    weight: Weight = None,
    outcome: Outcome = None,
    on_invalid: Invalid = OnInvalid.error,
    delta: Delta = None,
    model: ModelOption = None,
    prior: PriorOption = PriorName.default,
    sigma_strength: SigmaStrength = None,
    sigma_discrimination: SigmaDiscrimination = None,
    interval: Level = 0.95,
    interval_method: Method = IntervalMethod.laplace,
    init: Init = 1000.0,
    scale: Scale = 400.0,
    base: Base = 10.0,
    anchor: Anchor = None,
    form: FormatOption = None,
    output: Output = None,
) -> None:
    """Rate the competitors: Elo scores, intervals and the spread of ranks."""
    form = choose_format(form, output)
    elo = _elo(init, scale, base, anchor)
    source = VoteSource(files, a, b, winner, annotator, no_annotator, weight, outcome, on_invalid, delta)
    with _collected_warnings() as notes:
        from bayes_arena.ranking import leaderboard_columns

        result = _fit(source.read(), model, prior, sigma_strength, sigma_discrimination)
        columns = leaderboard_columns(result, level=interval, elo=elo, interval=interval_method.value)
    spread = [f"{best}–{worst}" for best, worst in zip(columns["rank_best"], columns["rank_worst"], strict=True)]
    shown = {
        "rank": _digits(columns["rank"], "d"),
        "competitor": [str(name) for name in columns["competitor"]],
        "elo": _digits(columns["elo"], ".1f"),
        f"{interval:.0%} interval": _between(columns["lower"], columns["upper"], ".1f"),
        "rank spread": spread,
        **{name: _counts(columns[name]) for name in ("votes", "wins", "losses", "ties")},
    }
    _emit(columns, "leaderboard", result, notes, source, shown, form, output)


@app.command()
def annotators(
    files: Files = None,
    a: ColumnA = None,
    b: ColumnB = None,
    winner: Winner = None,
    annotator: Annotator = None,
    weight: Weight = None,
    outcome: Outcome = None,
    on_invalid: Invalid = OnInvalid.error,
    delta: Delta = None,
    model: ModelOption = None,
    prior: PriorOption = PriorName.default,
    sigma_strength: SigmaStrength = None,
    sigma_discrimination: SigmaDiscrimination = None,
    interval: Level = 0.95,
    form: FormatOption = None,
    output: Output = None,
) -> None:
    """List the annotators, least discriminating first: below zero is against the others."""
    form = choose_format(form, output)
    source = VoteSource(files, a, b, winner, annotator, False, weight, outcome, on_invalid, delta)
    with _collected_warnings() as notes:
        from bayes_arena.reliability import annotator_columns

        result = _fit(source.read(), model, prior, sigma_strength, sigma_discrimination)
        columns = annotator_columns(result, level=interval)
    shown = {
        "annotator": [str(name) for name in columns["annotator"]],
        "theta": _digits(columns["theta"], ".2f"),
        f"{interval:.0%} interval": _between(columns["lower"], columns["upper"], ".2f"),
        "theta (sum 1)": _digits(columns["theta_paper"], ".4f"),
        "P(theta < 0)": _digits(columns["p_negative"], ".3f"),
        "votes": _counts(columns["votes"]),
    }
    _emit(columns, "annotators", result, notes, source, shown, form, output)


@app.command()
def check(
    files: Files = None,
    a: ColumnA = None,
    b: ColumnB = None,
    winner: Winner = None,
    annotator: Annotator = None,
    no_annotator: NoAnnotator = False,
    weight: Weight = None,
    outcome: Outcome = None,
    form: FormatOption = None,
    output: Output = None,
) -> None:
    """Report what the votes can and cannot settle, before any model; exit code 2 if some are invalid."""
    form = choose_format(form, output)
    source = VoteSource(files, a, b, winner, annotator, no_annotator, weight, outcome, OnInvalid.drop, None)
    with _collected_warnings() as notes:
        from bayes_arena.checks import check_rows

        cells = source.read()
        rows = check_rows(cells)
    columns = {name: [row[name] for row in rows] for name in rows[0]}
    head = {**_sizes(cells), "warnings": notes}
    write(columns, key="checks", head=head, title=source.title(cells), shown=columns, form=form, output=output)
    if cells.dropped:
        source.read(OnInvalid.error)  # quotes the first invalid votes, and ends with exit code 2


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
    if form is Format.parquet:
        arena.votes.write_parquet(output)
    else:
        arena.votes.write_csv(output or sys.stdout.buffer)
    if truth is not None:
        known = {
            "strength": dict(zip(arena.competitors, arena.strength.tolist(), strict=True)),
            "discrimination": dict(zip(arena.annotators, arena.discrimination.tolist(), strict=True)),
            "anomalous": arena.anomalous,
        }
        truth.write_text(json.dumps(known, indent=2) + "\n", encoding="utf-8")


@dataclass(frozen=True)
class VoteSource:
    """Where the votes of a command come from."""

    files: list[str] | None
    a: str | None
    b: str | None
    winner: str | None
    annotator: str | None
    no_annotator: bool
    weight: str | None
    outcome: list[str] | None
    on_invalid: OnInvalid
    delta: int | None

    def read(self, on_invalid: OnInvalid | None = None) -> Cells:
        """Read the votes, or simulate the example."""
        from bayes_arena.cells import keep_annotators
        from bayes_arena.votes import read_votes

        outcomes = dict(_pair(text, "--outcome", "LABEL=OUTCOME") for text in self.outcome or [])
        cells = read_votes(
            self.files or _example_votes(),
            a=self.a,
            b=self.b,
            winner=self.winner,
            annotator=False if self.no_annotator else self.annotator,
            weight=self.weight,
            outcomes=outcomes,
            on_invalid=(on_invalid or self.on_invalid).value,  # type: ignore[arg-type]
        )
        return cells if self.delta is None else keep_annotators(cells, more_than=self.delta)

    def title(self, cells: Cells) -> str:
        """Say what was read."""
        name = ", ".join(Path(file).name for file in self.files) if self.files else "example arena (simulated)"
        size = _sizes(cells)
        who = f", {size['n_annotators']} annotators" if size["n_annotators"] else ""
        return f"{name}: {size['n_votes']} votes, {size['n_competitors']} competitors{who}"


def _example_votes() -> Any:
    from bayes_arena.simulation import EXAMPLE_ANOMALOUS, example_arena

    print(
        "No file given: this is the built-in example, a simulated arena of the size of the paper's Table 1 with "
        f"{EXAMPLE_ANOMALOUS} annotators who vote against the ranking.",
        file=sys.stderr,
    )
    return example_arena().votes


def _fit(
    cells: Cells,
    model: ModelName | None,
    prior: PriorName,
    sigma_strength: float | None,
    sigma_discrimination: float | None,
) -> Fit:
    from dataclasses import replace

    from bayes_arena.point import fit
    from bayes_arena.priors import NAMED_PRIORS

    scales = {"strength": sigma_strength, "discrimination": sigma_discrimination}
    chosen = replace(NAMED_PRIORS[prior], **{name: value for name, value in scales.items() if value is not None})
    return fit(cells, model=model.value if model else None, prior=chosen)


def _elo(init: float, scale: float, base: float, anchor: str | None) -> EloScale:
    from bayes_arena.elo import EloScale

    if anchor is None:
        return EloScale(init, scale, base)
    name, text = _pair(anchor, "--anchor", "NAME=SCORE")
    try:
        return EloScale(init, scale, base, (name, float(text)))
    except ValueError:
        raise ModelError(f"--anchor takes NAME=SCORE with a number, not {anchor!r}.") from None


def _pair(text: str, option: str, form: str) -> tuple[str, str]:
    name, equals, value = text.rpartition("=")
    if not equals or not name:
        raise ModelError(f"{option} takes {form}, not {text!r}.")
    return name, value


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
        **_sizes(result.cells),
        "mean_loss": result.mean_loss,
        "warnings": notes,
    }
    title = f"{source.title(result.cells)}\n{result.model.name}, {result.prior} prior, mean loss {result.mean_loss:.4f} a vote"
    write(columns, key=key, head=head, title=title, shown=shown, form=form, output=output)


def _sizes(cells: Cells) -> dict[str, float]:
    votes = int(cells.n_votes) if cells.n_votes.is_integer() else cells.n_votes
    return {"n_votes": votes, "n_competitors": cells.n_competitors, "n_annotators": cells.n_annotators}


def _digits(values: Any, spec: str) -> list[str]:
    return [format(value, spec) for value in values.tolist()]


def _counts(values: Any) -> list[str]:
    return [str(value) if isinstance(value, int) else f"{value:.1f}" for value in values.tolist()]


def _between(lower: Any, upper: Any, spec: str) -> list[str]:
    return [f"{low} … {high}" for low, high in zip(_digits(lower, spec), _digits(upper, spec), strict=True)]


@contextmanager
def _collected_warnings() -> Iterator[list[str]]:
    """Collect the package's warnings and print them to standard error at the end."""
    notes: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield notes
    for warning in caught:
        if issubclass(warning.category, ArenaWarning):
            notes.append(str(warning.message))
            print(f"Warning: {warning.message}", file=sys.stderr)


def main(run: Callable[[], None] = app) -> None:
    """Run the command; bad input ends with a short message and exit code 2."""
    try:
        run()
    except (ArenaError, OSError) as error:
        if isinstance(error, BrokenPipeError):  # the reader closed the pipe: `bayes-arena rank | head`
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise SystemExit(1) from None
        print(f"bayes-arena: {error}", file=sys.stderr)
        raise SystemExit(2) from None
