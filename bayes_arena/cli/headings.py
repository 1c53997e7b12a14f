"""How a fit is described above its table and in JSON: the model, the intervals, the votes that do not count."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from bayes_arena.cli.output import between, chances, counts, digits, plain, rows
from bayes_arena.cli.vote_source import VoteSource
from bayes_arena.errors import NotIdentifiedError, listing, printable
from bayes_arena.markup import percent, ranges, ranked

if TYPE_CHECKING:
    from bayes_arena.arrays import Columns
    from bayes_arena.decisions.verdict import Verdict
    from bayes_arena.fits.result import Fit

RECORD = "ties", "losses", "wins"
"""Columns of a leaderboard that a narrow terminal can do without."""


def shown_leaderboard(columns: Mapping[str, Any], level: float) -> dict[str, list[str]]:
    """Return a leaderboard with formatted values."""
    shown = {
        "rank": digits(columns["rank"], "d"),
        "competitor": [str(name) for name in columns["competitor"]],
        "elo": digits(columns["elo"], ".1f"),
        f"{percent(level, 'g')} interval": between(columns["lower"], columns["upper"], ".1f"),
        "rank range": ranges(columns["rank_lower"], columns["rank_upper"]),
        **{name: counts(columns[name]) for name in ("votes", "wins", "losses", "ties")},
    }
    if "p_best" in columns:
        shown["P(best)"] = chances(columns["p_best"])
    return shown


def verdict_of(result: Fit, level: float) -> Verdict | None:
    """Return the verdict; None where the votes determine no estimate, as warnings say."""
    from bayes_arena.decisions.verdict import verdict

    try:
        return verdict(result, level=level)
    except NotIdentifiedError:
        return None


def verdict_as_json(said: Verdict | None) -> dict[str, Any] | None:
    """Return a verdict as a field of JSON."""
    if said is None:
        return None
    numbers = {name: plain(value) for name, value in asdict(said).items() if name not in ("headline", "level")}
    return {"sentence": said.sentence, **numbers}


def how_fitted(result: Fit) -> tuple[dict[str, Any], str]:
    """Return what was fitted and how, as fields of JSON and as a line of text."""
    about = {
        "model": result.model.name,
        "prior": str(result.prior),
        "method": result.method,
        "evidence": result.evidence,
        **result.numbers,
        "mean_loss": result.mean_loss,
        "mirror_probability": result.mirror_probability,
        "plan": [asdict(choice) for choice in result.plan.choices],
        "discounted": _discounted(result),
    }
    return about, f"{result.model.name}, {result.prior} prior, {result.method}, mean loss {result.mean_loss:.4f} a vote"


def introduced(source: VoteSource, result: Fit, *said: str) -> tuple[dict[str, Any], str]:
    """Return what was fitted and what its rankings are over, as fields of JSON and, with further lines, as a title."""
    about, how = how_fitted(result)
    lines = source.title(result.cast), f"{how}{_ranked_on(result.about)}{discounted_named(result)}", *said
    return about | result.about, "\n".join(lines)


def _discounted(result: Fit) -> list[dict[str, Any]] | None:
    """Return the competitors on which votes do not count, as fields of JSON; None if the fit did not look for them."""
    if result.promotions is None:
        return None
    if result.promotions.cast is None:
        return []
    from bayes_arena.decisions.integrity import integrity_columns, open_gates

    found, is_open = integrity_columns(result), set(open_gates(result))
    columns = {name: found[name] for name in ("competitor", "rank", "rank_alike", "votes", "discounted")}
    columns["contested"] = [not math.isnan(second) for second in found["contested"]]
    return [row for row in rows(columns) if row["competitor"] in is_open]


def discounted_named(result: Fit) -> str:
    """Return lines of a title on votes that do not count, or were left out on request; empty if there are none."""
    lines = []
    if result.votes_discounted:
        from bayes_arena.decisions.integrity import open_gates

        lines.append(f"{result.votes_discounted:,.0f} votes on {listing(open_gates(result))} do not count")
    if result.dropped:
        lines.append(f"left out on request: {listing(result.dropped)}")
    if result.kept:
        lines.append(f"counted in full on request: {listing(result.kept)}")
    return "".join(f"\n{line}" for line in lines)


def promoters_named(who: Columns) -> list[str]:
    """Say who promotes or demotes whom, by the annotators whom the evidence is strict enough to name."""
    return [
        f"{printable(row['annotator'])} {'promotes' if row['promotes'] else 'demotes'} {printable(row['competitor'])}: "
        f"votes {'for' if row['promotes'] else 'against'} it in {row['meant']:,.12g} of {row['votes']:,.12g} battles, "
        f"where {row['expected']:,.0f} are expected"
        for row in rows(who)
        if row["named"]
    ]


def board_named(shown_as: Mapping[str, Any]) -> str:
    """Return a part of a title: the intervals of a board, unless they are the posterior's own, and what it is over."""
    estimated = (
        f"\nstandard deviations estimated to {percent(shown_as['sd_error'], '.2f')}" if "sd_error" in shown_as else ""
    )
    return intervals_named(shown_as) + estimated + _ranked_on(shown_as)


def _ranked_on(about: Mapping[str, str]) -> str:
    return "".join(f"\nranked {one}" for one in ranked(about))


def intervals_named(shown_as: Mapping[str, Any]) -> str:
    """Return a part of a title: the intervals of a table, unless they are the posterior's own."""
    name = shown_as["interval"]
    return "" if name in ("laplace", "quantiles") else f", {name} intervals"
