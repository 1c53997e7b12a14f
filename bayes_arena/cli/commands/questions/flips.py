"""``flips``: what a ranking rests on."""

from __future__ import annotations

from math import isinf
from typing import Annotated, Literal

from typer import Option

from bayes_arena.cli.app import app, collected_warnings
from bayes_arena.cli.choices import ModelChoice
from bayes_arena.cli.commands.ratings import how_fitted, left_out_named
from bayes_arena.cli.options import MODEL, RANKING, takes_options
from bayes_arena.cli.output import Output, digits
from bayes_arena.cli.source import VoteSource
from bayes_arena.errors import SHOWN


@app.command(rich_help_panel=RANKING)
@takes_options
def flips(
    *,
    source: VoteSource,
    pairs: Annotated[
        Literal["adjacent", "top"],
        Option(help="adjacent: each competitor and the next. top: the first and the second.", rich_help_panel=MODEL),
    ] = "adjacent",
    by: Annotated[
        str,
        Option(
            help="Change single votes (vote), or all votes of an annotator, a prompt or another slice.",
            rich_help_panel=MODEL,
        ),
    ] = "vote",
    how: Annotated[
        Literal["drop", "flip", "add"],
        Option(
            help="Drop votes, turn them round (flip), or add votes for the second of a pair.", rich_help_panel=MODEL
        ),
    ] = "drop",
    max_share: Annotated[float, Option(help="Largest share of the votes to change.", rich_help_panel=MODEL)] = 0.3,
    model: ModelChoice,
    output: Output,
) -> None:
    """Count the votes, or annotators, without which two competitors would change places."""
    with collected_warnings() as notes:
        from bayes_arena.decisions.changed_votes.flips import flip_columns
        from bayes_arena.votes.groups import plural

        result = model.fit(source.read())
        columns = flip_columns(result, pairs, by=by, how=how, max_share=max_share)
    shown = {name: [str(each) for each in columns[name]] for name in ("competitor", "opponent")}
    shown["gap"] = digits(columns["elo_gap"], ".1f")
    shown["P(better)"] = digits(columns["p_better"], ".3f")
    shown[plural(by)] = [f"{k:,.0f}" for k in columns["k"]]
    shown["linear"] = [f"{k:,.0f}" for k in columns["k_linear"]]
    shown["share"] = ["" if isinf(share) else f"{100 * share:.3g} %" for share in columns["share"]]
    if by != "vote":
        shown["whose"] = [", ".join([*names[:SHOWN], *["..."] * (len(names) > SHOWN)]) for names in columns[by]]
        columns[by] = [", ".join(names) for names in columns[by]]
    elif "annotators" in columns:
        shown["annotators"] = digits(columns["annotators"], "d")
    about, fitted = how_fitted(result)
    head = {**about, "by": by, "how": how, "max_share": max_share, "warnings": notes}
    title = f"{source.title(result.cells)}\n{fitted}{left_out_named(result)}"
    title += f"\n{plural(by)} to {how} until the second is ahead"
    title += f"; inf: more than {100 * max_share:g} % of the votes" if any(map(isinf, columns["k"])) else ""
    output.write(columns, schema="flips/1", key="flips", head=head, title=title, shown=shown, spare=("linear", "gap"))
