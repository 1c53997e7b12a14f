"""``rank`` and ``annotators``: a fit as tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Annotated, Any

from typer import Option

from bayes_arena import plots
from bayes_arena.cli.app import app, collected_warnings
from bayes_arena.cli.choices import BoardChoice, IntervalChoice, ModelChoice, ScaleChoice
from bayes_arena.cli.options import MODEL, RANKING, TRUSTED, Without, takes_options
from bayes_arena.cli.output import Output, between, counts, digits
from bayes_arena.cli.picture import Picture
from bayes_arena.cli.source import VoteSource, sizes
from bayes_arena.errors import listing

if TYPE_CHECKING:
    from bayes_arena.fits.result import Fit
    from bayes_arena.trust.judgement import Judgement

Fdr = Annotated[
    float | None,
    Option(help="Flag annotators at this Bayesian false discovery rate, 0.05 say.", rich_help_panel=MODEL),
]


RECORD = "ties", "losses", "wins"
"""Columns of a leaderboard that a narrow terminal can do without."""


@app.command(rich_help_panel=RANKING)
@takes_options
def rank(
    source: VoteSource,
    model: ModelChoice,
    board: BoardChoice,
    intervals: IntervalChoice,
    scale: ScaleChoice,
    picture: Picture,
    output: Output,
) -> None:
    """Rate the competitors: Elo scores, intervals and the spread of ranks."""
    elo = scale.elo()
    with collected_warnings() as notes:
        from bayes_arena.likelihood.presets import PRESETS
        from bayes_arena.ratings.intervals.laplace import error_of_sd
        from bayes_arena.ratings.leaderboard import leaderboard_columns

        over, slice = board.chosen()
        asked = source.annotator is not None or source.delta is not None or source.program is not None
        asked = asked or intervals.by_annotator or model.by_annotator
        if model.model is not None and not PRESETS[model.model].needs_annotators and not asked:
            source = replace(source, no_annotator=True)  # votes grouped by annotators take several times as long
        result = model.fit(source.grouped_by(intervals.by).read()).on(over, slice)
        interval = intervals.chosen(model.seed, result)
        columns = leaderboard_columns(result, interval, level=intervals.level, elo=elo)
    about, how = how_fitted(result)
    shown_as = interval.about(result) | error_of_sd(result, interval) | result.about
    head = {**about, "intervals": shown_as["interval"], "level": intervals.level, **shown_as, "warnings": notes}
    shown = shown_leaderboard(columns, intervals.level)
    title = f"{source.title(result.cells)}\n{how}{board_named(shown_as)}{left_out_named(result)}"
    with picture.beside(lambda: plots.board(result, level=intervals.level, elo=elo, interval=interval)):
        output.write(
            columns,
            schema="rank/1",
            key="leaderboard",
            head=head,
            title=title,
            shown=shown,
            spare=("ties", "losses", "wins"),
        )


@app.command(rich_help_panel=TRUSTED)
@takes_options
def annotators(
    *,
    source: Annotated[VoteSource, Without("no_annotator")],
    model: ModelChoice,
    intervals: IntervalChoice,
    fdr: Fdr = None,
    picture: Picture,
    output: Output,
) -> None:
    """List the annotators, the most suspect first: who votes with the others, against them, or not on the merits."""
    with collected_warnings() as notes:
        from bayes_arena.reliability.annotators import annotator_columns
        from bayes_arena.reliability.anomaly import suspicion_in
        from bayes_arena.reliability.flagging import discoveries

        result = model.fit(source.grouped_by(intervals.by).read())
        interval = intervals.chosen(model.seed, result)
        columns = annotator_columns(result, interval, level=intervals.level)
        if fdr is not None:
            flagged = set(discoveries(suspicion_in(columns, result), fdr).tolist())
            columns["flagged"] = [row in flagged for row in range(len(columns["annotator"]))]
    shown = {name: [str(value) for value in columns[name]] for name in ("annotator", "verdict", "kind")}
    shown["P(anomaly)"] = digits(columns["anomaly_probability"], ".3f")
    shown["agreement"] = digits(columns["net_agreement"], ".2f")
    shown[f"{100 * intervals.level:g} % interval"] = between(
        columns["net_agreement_lower"], columns["net_agreement_upper"], ".2f"
    )
    for name, heading in (("theta", "theta"), ("tie_propensity", "ties nu"), ("position", "side b")):
        if name in columns:
            shown[heading] = digits(columns[name], ".2f")
    shown["votes"] = counts(columns["votes"])
    if "flagged" in columns:
        shown["flagged"] = ["yes" if each else "" for each in columns["flagged"]]
    if any(columns.get("how", ())):
        shown["P(favours)"] = digits(columns["favour_probability"], ".3f")
        shown["how"] = [str(said) for said in columns["how"]]
    about, how = how_fitted(result)
    shown_as = interval.about(result)
    head = {**about, "level": intervals.level, **shown_as, "warnings": notes}
    title = f"{source.title(result.cells)}\n{how}{_intervals_named(shown_as)}{left_out_named(result)}"
    spare = ("side b", "ties nu", "theta", f"{100 * intervals.level:g} % interval", "P(favours)", "agreement", "votes")
    with picture.beside(lambda: plots.annotators(result, level=intervals.level, interval=interval)):
        output.write(columns, schema="annotators/1", key="annotators", head=head, title=title, shown=shown, spare=spare)


def shown_leaderboard(columns: Mapping[str, Any], level: float) -> dict[str, list[str]]:
    """Return a leaderboard as people read it."""
    spread = [f"{best}–{worst}" for best, worst in zip(columns["rank_best"], columns["rank_worst"], strict=True)]
    shown = {
        "rank": digits(columns["rank"], "d"),
        "competitor": [str(name) for name in columns["competitor"]],
        "elo": digits(columns["elo"], ".1f"),
        f"{100 * level:g} % interval": between(columns["lower"], columns["upper"], ".1f"),
        "rank spread": spread,
        **{name: counts(columns[name]) for name in ("votes", "wins", "losses", "ties")},
    }
    if "p_best" in columns:
        shown["P(best)"] = digits(columns["p_best"], ".3f")
    return shown


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
        "trust": None if result.trust is None else _trust(result.trust),
    }
    method = f"{result.method} by quadrature" if result.evidence == "quadrature" else result.method
    return about, f"{result.model.name}, {result.prior} prior, {method}, mean loss {result.mean_loss:.4f} a vote"


def introduced(source: VoteSource, result: Fit, *said: str) -> tuple[dict[str, Any], str]:
    """Return what was fitted and what its rankings are about, for programs and, with what is said, for people."""
    about, how = how_fitted(result)
    lines = source.title(result.cells), f"{how}{_ranked_on(result.about)}{left_out_named(result)}", *said
    return about | result.about, "\n".join(lines)


def _trust(trust: Judgement) -> dict[str, Any]:
    """Say whose votes do not count, and why, for programs."""
    from bayes_arena.votes.outcomes import whole_counts

    cells, votes = trust.cells, whole_counts(trust.cells.votes_by_annotator()).tolist()
    left_out = [
        {
            "annotator": cells.annotators[k],
            "kind": trust.favours(k),
            "probability": float(trust.favour[k]),
            "votes": votes[k],
        }
        for k in trust.left_out.nonzero()[0].tolist()
    ]
    campaigns = [
        {
            "competitor": cells.competitors[one.competitor],
            "down": one.down,
            "accounts": int((trust.campaign == number).sum()),
        }
        for number, one in enumerate(trust.campaigns)
    ]
    drips = [asdict(one) | {"competitor": cells.competitors[one.competitor]} for one in trust.drips]
    return {"unjudged": trust.unjudged or None, "left_out": left_out, "campaigns": campaigns, "drips": drips}


def left_out_named(result: Fit) -> str:
    """Say how many votes a table leaves out, and whom they are about, for a title; nothing where all count."""
    trust = result.trust
    if trust is None or not (trust.unjudged or result.votes_left_out):
        return ""
    if trust.unjudged:
        return "\nno annotator is judged: see the warning"
    names = trust.cells.competitors
    aims = [trust.aim(k)[0] for k in trust.left_out.nonzero()[0].tolist()] + [one.competitor for one in trust.drips]
    about = listing(names[competitor] for competitor in dict.fromkeys(aims))
    return f"\nleft out: {result.votes_left_out:,.12g} votes, cast to move {about}"


def board_named(shown_as: Mapping[str, Any]) -> str:
    """Name the intervals of a board, unless they are the posterior's own, and what it is over, for a title."""
    estimated = f"\nstandard deviations estimated to {shown_as['sd_error']:.2%}" if "sd_error" in shown_as else ""
    return _intervals_named(shown_as) + estimated + _ranked_on(shown_as)


def _ranked_on(about: Mapping[str, str]) -> str:
    """Name the slices that a ranking is about, if they differ, for a title."""
    slices = " of ".join(about[word] for word in ("over", "slice") if word in about)
    return f"\nranked on {slices}" if slices else ""


def _intervals_named(shown_as: Mapping[str, Any]) -> str:
    """Name the intervals of a table, unless they are the posterior's own, for a title."""
    name = shown_as["interval"]
    return "" if name in ("laplace", "quantiles") else f", {name} intervals"
