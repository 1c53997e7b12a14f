"""``rank`` and ``annotators``: a fit as tables."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bayes_arena.cli import options
from bayes_arena.cli.app import app, collected_warnings
from bayes_arena.cli.options import IntervalMethod, MethodName, ModelName, OnInvalid, PriorName
from bayes_arena.cli.output import Format, between, choose_format, counts, digits, write
from bayes_arena.cli.source import VoteSource, sizes, split_pair
from bayes_arena.errors import ModelError

if TYPE_CHECKING:
    from bayes_arena.fits.result import Fit
    from bayes_arena.likelihood.priors import Prior
    from bayes_arena.ratings.elo import EloScale
    from bayes_arena.votes.cells import Cells


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
    dedupe: options.Dedupe = False,
    normalise_names: options.NormaliseNames = False,
    delta: options.Delta = None,
    model: options.ModelOption = None,
    prior: options.PriorOption = PriorName.default,
    method: options.MethodOption = None,
    seed: options.Seed = 0,
    sigma_strength: options.SigmaStrength = None,
    sigma_discrimination: options.SigmaDiscrimination = None,
    interval: options.Level = 0.95,
    interval_method: options.Method = IntervalMethod.laplace,
    resamples: options.Resamples = 200,
    init: options.Init = 1000.0,
    scale: options.Scale = 400.0,
    base: options.Base = 10.0,
    anchor: options.Anchor = None,
    form: options.FormatOption = None,
    output: options.Output = None,
) -> None:
    """Rate the competitors: Elo scores, intervals and the spread of ranks."""
    form = choose_format(form, output)
    elo = elo_scale(init, scale, base, anchor)
    with collected_warnings() as notes:
        from bayes_arena.likelihood.presets import PRESETS
        from bayes_arena.ratings.leaderboard import leaderboard_columns

        asked = annotator is not None or delta is not None or interval_method is IntervalMethod.clustered
        alike = model is not None and not PRESETS[model.value].needs_annotators
        ignored = no_annotator or (alike and not asked)  # votes grouped by annotators take several times as long
        source = VoteSource(
            files, a, b, winner, annotator, ignored, weight, outcome, on_invalid, delta, dedupe, normalise_names
        )

        result = fit_votes(source.read(), model, prior, method, seed, sigma_strength, sigma_discrimination)
        columns = leaderboard_columns(
            result, level=interval, elo=elo, interval=interval_method.value, resamples=resamples, seed=seed
        )
    shown = shown_leaderboard(columns, interval)
    kind = "quantiles" if result.samples else interval_method.value
    _emit(columns, "leaderboard", result, notes, source, shown, form, output, intervals=kind)


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
    dedupe: options.Dedupe = False,
    normalise_names: options.NormaliseNames = False,
    delta: options.Delta = None,
    model: options.ModelOption = None,
    prior: options.PriorOption = PriorName.default,
    method: options.MethodOption = None,
    seed: options.Seed = 0,
    sigma_strength: options.SigmaStrength = None,
    sigma_discrimination: options.SigmaDiscrimination = None,
    interval: options.Level = 0.95,
    fdr: options.Fdr = None,
    form: options.FormatOption = None,
    output: options.Output = None,
) -> None:
    """List the annotators, the most suspect first: who votes with the others, against them, or not on the merits."""
    form = choose_format(form, output)
    source = VoteSource(
        files, a, b, winner, annotator, False, weight, outcome, on_invalid, delta, dedupe, normalise_names
    )
    with collected_warnings() as notes:
        from bayes_arena.reliability.annotators import annotator_columns
        from bayes_arena.reliability.flagging import discoveries

        result = fit_votes(source.read(), model, prior, method, seed, sigma_strength, sigma_discrimination)
        columns = annotator_columns(result, level=interval)
        if fdr is not None:
            flagged = set(discoveries(columns["anomaly_probability"], fdr).tolist())
            columns["flagged"] = [row in flagged for row in range(len(columns["annotator"]))]
    shown = {name: [str(value) for value in columns[name]] for name in ("annotator", "verdict", "kind")}
    shown["P(anomaly)"] = digits(columns["anomaly_probability"], ".3f")
    shown["agreement"] = digits(columns["net_agreement"], ".2f")
    shown[f"{100 * interval:g} % interval"] = between(
        columns["net_agreement_lower"], columns["net_agreement_upper"], ".2f"
    )
    for name, heading in (("theta", "theta"), ("tie_propensity", "ties nu"), ("position", "side b")):
        if name in columns:
            shown[heading] = digits(columns[name], ".2f")
    shown["votes"] = counts(columns["votes"])
    if "flagged" in columns:
        shown["flagged"] = ["yes" if each else "" for each in columns["flagged"]]
    _emit(columns, "annotators", result, notes, source, shown, form, output)


def shown_leaderboard(columns: Mapping[str, Any], interval: float) -> dict[str, list[str]]:
    """Return a leaderboard as people read it."""
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
    return shown


def fit_votes(
    cells: Cells,
    model: ModelName | None,
    prior: PriorName,
    method: MethodName | None,
    seed: int,
    sigma_strength: float | None,
    sigma_discrimination: float | None,
) -> Fit:
    """Fit what the options say."""
    from bayes_arena.fits.fitting import fit

    chosen = chosen_prior(prior, sigma_strength, sigma_discrimination)
    name, route = (choice.value if choice else None for choice in (model, method))
    return fit(cells, model=name, prior=chosen, method=route, seed=seed)  # type: ignore[arg-type]


def chosen_prior(prior: PriorName, sigma_strength: float | None, sigma_discrimination: float | None) -> Prior:
    """Return the prior that the options say."""
    from dataclasses import replace

    from bayes_arena.likelihood.priors import NAMED_PRIORS

    chosen = NAMED_PRIORS[prior]
    if sigma_strength is not None:
        chosen = replace(chosen, strength=sigma_strength, hyper=None)
    if sigma_discrimination is not None:
        chosen = replace(chosen, discrimination=sigma_discrimination, hyper=None)
    return chosen


def elo_scale(init: float, scale: float, base: float, anchor: str | None) -> EloScale:
    """Return the Elo scale that the options say."""
    from bayes_arena.ratings.elo import EloScale

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
    intervals: str | None = None,
) -> None:
    about, how = how_fitted(result)
    if intervals is not None:
        about["intervals"] = intervals
    if intervals not in (None, IntervalMethod.laplace, "quantiles"):
        how += f", {intervals} intervals"
    title = f"{source.title(result.cells)}\n{how}"
    write(columns, key=key, head={**about, "warnings": notes}, title=title, shown=shown, form=form, output=output)


def how_fitted(result: Fit) -> tuple[dict[str, Any], str]:
    """Return what was fitted and how, for programs and for people."""
    about = {
        "model": result.model.name,
        "prior": str(result.prior),
        "method": result.method,
        "evidence": result.evidence,
        **sizes(result.cells),
        "mean_loss": result.mean_loss,
        "mirror_probability": result.mirror_probability,
    }
    method = f"{result.method} by quadrature" if result.evidence == "quadrature" else result.method
    return about, f"{result.model.name}, {result.prior} prior, {method}, mean loss {result.mean_loss:.4f} a vote"
