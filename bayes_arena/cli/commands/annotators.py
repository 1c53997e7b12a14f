"""``annotators``, ``integrity``: who votes how, and whose votes a place rests on."""

from __future__ import annotations

from dataclasses import replace
from math import isnan, nan
from typing import TYPE_CHECKING, Annotated, Any

from typer import Option

from bayes_arena import plots
from bayes_arena.cli.app import app, collected_warnings
from bayes_arena.cli.fit_options import IntervalChoice, ModelChoice, ScaleChoice
from bayes_arena.cli.headings import discounted_named, how_fitted, intervals_named, promoters_named
from bayes_arena.cli.options import MODEL, TRUSTED, Without, takes_options
from bayes_arena.cli.output import Output, Picture, between, counts, digits, plain, rows
from bayes_arena.cli.vote_source import VoteSource
from bayes_arena.errors import ColumnError, ModelError
from bayes_arena.markup import percent
from bayes_arena.votes.sizes import sizes

if TYPE_CHECKING:
    from bayes_arena.fits.result import Fit

JUDGE = "A language model as judge"
TSTAMP = "tstamp"
"""Column of times that is looked for."""

Fdr = Annotated[
    float | None,
    Option(help="Flag annotators at this Bayesian false discovery rate, 0.05 for instance.", rich_help_panel=MODEL),
]


@app.command(rich_help_panel=TRUSTED)
@takes_options
def annotators(
    *,
    source: Annotated[VoteSource, Without("no_annotator")],
    model: ModelChoice,
    intervals: IntervalChoice,
    fdr: Fdr = None,
    judge: Annotated[
        str | None,
        Option(
            metavar="NAME",
            help="Report on this one, a program, instead: how it votes beside people, its tastes, and what its votes "
            "are worth.",
            rich_help_panel=JUDGE,
            show_default=False,
        ),
    ] = None,
    own: Annotated[
        list[str] | None,
        Option(
            metavar="NAME",
            help="A competitor of the judge's own family. Repeatable. Default: names that begin like the judge's.",
            rich_help_panel=JUDGE,
            show_default=False,
        ),
    ] = None,
    picture: Picture,
    output: Output,
) -> None:
    """List the annotators, the least reliable first: who votes with the others, against them, or not on the merits.

    With --judge, report on a language model that votes beside people.
    """
    if judge is not None:
        given = {"--fdr": fdr, "--plot": picture.plot, "--interval": intervals.interval, "--by": intervals.by}
        if idle := [name for name, value in given.items() if value is not None]:
            raise ModelError(
                f"The report on a judge takes no {' and no '.join(idle)}. Leave out what it does not take."
            )
        _report_on_judge(judge, own, source, model, intervals.level, output)
        return
    if own is not None:
        raise ModelError("--own goes with --judge NAME.")
    with collected_warnings() as notes:
        from bayes_arena.reliability.annotators import annotator_columns
        from bayes_arena.reliability.flagging import discoveries

        result = model.fitted(source.grouped_by(intervals.by))
        interval = intervals.chosen(model.seed, result)
        columns = annotator_columns(result, interval, level=intervals.level)
        if fdr is not None:
            flagged = set(discoveries(columns["anomaly_probability"], fdr).tolist())
            columns["flagged"] = [row in flagged for row in range(len(columns["annotator"]))]
    shown = {name: [str(value) for value in columns[name]] for name in ("annotator", "verdict", "kind")}
    shown["P(anomaly)"] = digits(columns["anomaly_probability"], ".3f")
    shown["agreement"] = digits(columns["net_agreement"], ".2f")
    interval_of = f"{percent(intervals.level, 'g')} interval"
    shown[interval_of] = between(columns["net_agreement_lower"], columns["net_agreement_upper"], ".2f")
    headings = {"theta": "theta", "tie_propensity": "ties nu", "emphasis": "emphasis", "position": "side b"}
    for name, heading in headings.items():
        if name in columns:
            shown[heading] = digits(columns[name], ".2f")
    shown["votes"] = counts(columns["votes"])
    if "flagged" in columns:
        shown["flagged"] = ["yes" if each else "" for each in columns["flagged"]]
    about, how = how_fitted(result)
    shown_as = interval.about(result)
    head = {**about, "level": intervals.level, **shown_as, "warnings": notes}
    title = f"{source.title(result.cast)}\n{how}{intervals_named(shown_as)}{discounted_named(result)}"
    spare = ("side b", "emphasis", "ties nu", "theta", interval_of, "agreement", "votes")
    with picture.beside(lambda: plots.annotators(result, level=intervals.level, interval=interval)):
        output.write(columns, schema="annotators/1", key="annotators", head=head, title=title, shown=shown, spare=spare)


def _report_on_judge(
    judge: str, own: list[str] | None, source: VoteSource, model: ModelChoice, level: float, output: Output
) -> None:
    with collected_warnings() as notes:
        import numpy as np

        from bayes_arena.reliability.judges import COUNTED, Estimate, judge_report

        if not source.is_saved:
            source = replace(source, program=sorted({judge, *(source.program or ())}))
        result = model.fitted(source)
        found = judge_report(result, judge, own=own, level=level)
    facts, missing = found.rows(), Estimate(nan, nan, nan)
    estimates = [one if isinstance(one, Estimate) else replace(missing, value=one) for one in facts.values()]
    columns: dict[str, Any] = {"what": list(facts)}
    columns |= {name: np.array([getattr(one, name) for one in estimates]) for name in ("value", "lower", "upper")}
    bounds = between(columns["lower"], columns["upper"], ".2f")
    shown = {
        "what": columns["what"],
        "value": [f"{one.value:,.0f}" if abs(one.value) >= COUNTED else f"{one.value:z.2f}" for one in estimates],
        f"{percent(level, 'g')} interval": [
            "" if isnan(one.lower) else text for one, text in zip(estimates, bounds, strict=True)
        ],
    }
    head = {"judge": judge, "sentence": found.sentence, "model": found.model, **sizes(result.cast), "warnings": notes}
    title = f"{source.title(result.cast)}\n{found.model}\n{found.sentence}"
    output.write(columns, schema="annotators-judge/1", key="report", head=head, title=title, shown=shown)


@app.command(rich_help_panel=TRUSTED)
@takes_options
def integrity(
    *,
    source: Annotated[VoteSource, Without("no_annotator", "period")],
    model: Annotated[ModelChoice, Without("robust", "drift")],
    scale: ScaleChoice,
    output: Output,
) -> None:
    """Show whose votes each place rests on, what it would be if all counted alike, its price, and bursts of votes."""
    with collected_warnings() as notes:
        from bayes_arena.decisions.integrity import integrity_columns, promoter_columns
        from bayes_arena.reliability.bursts import burst_columns

        result, time = _timed(source, replace(model, robust="on"))
        columns, who = integrity_columns(result, elo=scale.elo()), promoter_columns(result)
        bursts = rows(burst_columns(result, result.cast, time=time, seed=model.seed)) if time else None
    shown = {
        "competitor": [str(name) for name in columns["competitor"]],
        "rank": digits(columns["rank"], "d"),
        "all alike": digits(columns["rank_alike"], "d"),
        "elo": digits(columns["elo"], ".1f"),
        "elo all alike": digits(columns["elo_alike"], ".1f"),
        "votes": counts(columns["votes"]),
        "do not count": digits(columns["discounted"], ".0f"),
        "accounts": counts(columns["accounts"]),
        "largest": [percent(share) for share in columns["largest_share"].tolist()],
        "plain votes up": ["" if isnan(votes) else f"{votes:,.0f}" for votes in columns["plain_votes"]],
        "soft votes up": ["" if isnan(votes) else f"{votes:,.0f}" for votes in columns["soft_votes"]],
    }
    if not all(map(isnan, columns["contested"])):
        shown["contested"] = ["" if isnan(one) else f"{one:.0f}" for one in columns["contested"]]
    about, how = how_fitted(result)
    head = {**about, "promoters": rows(who), "time": time, "bursts": bursts, "warnings": notes}
    said = [source.title(result.cast), f"{how}{discounted_named(result)}", *promoters_named(who)]
    said += [
        f"{one['competitor']}: {one['score']:.1f} of {one['votes']:,.12g} won from {plain(one['start'])} to "
        f"{plain(one['end'])}, where {one['expected']:.1f} are expected (p {one['p_value']:.2g})"
        for one in bursts or ()
    ]
    said.append("votes up: those that would move it up a rank, plain or soft, if all counted; inf: too many")
    title, spare = "\n".join(said), ("largest", "accounts", "elo all alike", "votes", "elo", "plain votes up")
    output.write(columns, schema="integrity/1", key="integrity", head=head, title=title, shown=shown, spare=spare)


def _timed(source: VoteSource, model: ModelChoice) -> tuple[Fit, str | None]:
    """Return a fit to votes with their exact times, not by period, and the column of these; None if they have none."""
    asked = source.time
    column, source = asked or TSTAMP, replace(source, time=None)
    if source.is_saved:
        result = replace(model, robust="auto").fitted(source)
        if result.promotions is None or (asked and asked not in result.cast.slices):
            lacks = f"the votes' times (--slice {asked})" if result.promotions else "whose votes count (--robust on)"
            raise ModelError(f"{source.named} lacks {lacks}. Make it again with that, or give the votes in its place.")
        return result, column if column in result.cast.slices else None
    if source.no_time:
        return model.fit(model.read(source)), None
    try:
        return model.fit(model.read(source.grouped_by(column))), column
    except ColumnError:
        if asked:
            raise
        return model.fit(model.read(source)), None
