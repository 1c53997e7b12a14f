"""How a fit is described above its table and in JSON: the model, the intervals, the votes left out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from bayes_arena.cli.output import between, counts, digits
from bayes_arena.cli.vote_source import VoteSource, sizes
from bayes_arena.errors import listing

if TYPE_CHECKING:
    from bayes_arena.fits.result import Fit
    from bayes_arena.trust.judgement import Judgement

RECORD = "ties", "losses", "wins"
"""Columns of a leaderboard that a narrow terminal can do without."""


def shown_leaderboard(columns: Mapping[str, Any], level: float) -> dict[str, list[str]]:
    """Return a leaderboard with formatted values."""
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
    """Return what was fitted and how, as fields of JSON and as a line of text."""
    about = {
        "model": result.model.name,
        "prior": str(result.prior),
        "method": result.method,
        "evidence": result.evidence,
        **sizes(result.cells),
        "mean_loss": result.mean_loss,
        "mirror_probability": result.mirror_probability,
        "plan": [asdict(choice) for choice in result.plan.choices],
        "trust": None if result.trust is None else _trust(result.trust),
    }
    return about, f"{result.model.name}, {result.prior} prior, {result.method}, mean loss {result.mean_loss:.4f} a vote"


def introduced(source: VoteSource, result: Fit, *said: str) -> tuple[dict[str, Any], str]:
    """Return what was fitted and what its rankings are over, as fields of JSON and, with further lines, as a title."""
    about, how = how_fitted(result)
    lines = source.title(result.cells), f"{how}{_ranked_on(result.about)}{left_out_named(result)}", *said
    return about | result.about, "\n".join(lines)


def _trust(trust: Judgement) -> dict[str, Any]:
    """Return whose votes are left out, and why, as fields of JSON."""
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
    """Return a line of a title on the votes left out and the competitors that they aim at; empty if there are none."""
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
    """Return a part of a title: the intervals of a board, unless they are the posterior's own, and what it is over."""
    estimated = f"\nstandard deviations estimated to {shown_as['sd_error']:.2%}" if "sd_error" in shown_as else ""
    return intervals_named(shown_as) + estimated + _ranked_on(shown_as)


def _ranked_on(about: Mapping[str, str]) -> str:
    """Return lines of a title: what a ranking is over, if it is over some slices or prompts, and whose votes it is."""
    slices = " of ".join(about[word] for word in ("over", "slice") if word in about)
    return (f"\nranked on {slices}" if slices else "") + (f"\nranked by {about['crowd']}" if "crowd" in about else "")


def intervals_named(shown_as: Mapping[str, Any]) -> str:
    """Return a part of a title: the intervals of a table, unless they are the posterior's own."""
    name = shown_as["interval"]
    return "" if name in ("laplace", "quantiles") else f", {name} intervals"
