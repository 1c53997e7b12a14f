"""``pairs``: who is better than whom, and what would settle or overturn that; of two, also as a gate."""

from __future__ import annotations

from dataclasses import asdict
from math import isinf
from typing import TYPE_CHECKING, Annotated, Any, Literal

from typer import Exit, Option

from bayes_arena.cli.app import app, collected_warnings
from bayes_arena.cli.fit_options import BoardChoice, ModelChoice
from bayes_arena.cli.headings import introduced
from bayes_arena.cli.options import MODEL, RANKING, takes_options
from bayes_arena.cli.output import WARNED, Format, Output, between, chances, counts, digits, plain
from bayes_arena.cli.vote_source import VoteSource
from bayes_arena.errors import ModelError, listing, printable
from bayes_arena.markup import percent

if TYPE_CHECKING:
    from bayes_arena.arrays import Columns

NO, TOO_FEW = 1, 4
"""Exit codes of a gate that is not passed."""
GATE = "Two competitors"


@app.command(rich_help_panel=RANKING)
@takes_options
def pairs(
    *,
    source: VoteSource,
    two: Annotated[
        tuple[str, str] | None,
        Option("--between", metavar="A B", help="Only these two.", rich_help_panel=GATE, show_default=False),
    ] = None,
    require: Annotated[
        Literal["better", "not-worse", "settled"] | None,
        Option(
            help="Answer in one line and by the exit code whether the votes show that A is better, or not worse, "
            f"or which of them is: 0 for yes, {NO} for no, {TOO_FEW} for not enough votes.",
            rich_help_panel=GATE,
            show_default=False,
        ),
    ] = None,
    margin: Annotated[
        float, Option(metavar="ELO", help="Points by which A may be worse, or has to be better.", rich_help_panel=GATE)
    ] = 0.0,
    model: ModelChoice,
    board: BoardChoice,
    most: Annotated[
        int, Option("--pairs", "-n", min=1, help="How many to list, the least settled first.", rich_help_panel=MODEL)
    ] = 50,
    without: Annotated[
        str | None,
        Option(
            metavar="WHAT",
            help="Also count how many votes (vote), or annotators, prompts or members of another slice, would have to "
            "go for the worse to be ahead. Takes up to seconds a pair.",
            rich_help_panel=MODEL,
            show_default=False,
        ),
    ] = None,
    level: Annotated[
        float,
        Option(help="Probability at which an order is settled; coverage of the intervals.", rich_help_panel=MODEL),
    ] = 0.95,
    output: Output,
) -> None:
    """Say who is better than whom, and how sure that is, the least settled pairs first.

    With --between, of two alone; with --require, as a gate for continuous integration.
    """
    if require and two is None:
        raise ModelError("--require goes with --between A B.")
    if margin and require is None:
        raise ModelError("--margin goes with --require better or not-worse.")
    with collected_warnings() as notes:
        from bayes_arena.decisions.flips import MOST, flip_columns
        from bayes_arena.decisions.gate import gate
        from bayes_arena.decisions.versus import pair_columns, versus

        result = board.seen(model.fitted(source))
        sentence = str(versus(result, *two, level=level)) if two else None
        passed = gate(result, *two, required=require, margin=margin, level=level) if two and require else None
        columns, n_pairs, n_unsettled = pair_columns(result, level, most, two)
        overturned: Columns = {}
        if without:
            couples = list(zip(columns["competitor"], columns["opponent"], strict=True))
            found = flip_columns(result, couples, by=without, how="drop", max_share=MOST)
            overturned = {name: found[name] for name in ("k", "share", without, "annotators") if name in found}
    interval = f"{percent(level, 'g')} interval"
    shown = {
        "better" if two is None else "A": [str(name) for name in columns["competitor"]],
        "worse" if two is None else "B": [str(name) for name in columns["opponent"]],
        "P(better)": chances(columns["p_better"]),
        "Elo gap": digits(columns["elo_gap"], ".0f"),
        interval: between(columns["lower"], columns["upper"], ".0f"),
        "win rate": [percent(score) for score in columns["expected_score"].tolist()],
        "votes": counts(columns["votes"]),
        "to settle": [_to_go(votes) for votes in columns["votes_to_go"]],
        **(_shown_overturned(overturned, without) if without else {}),
    }
    columns["votes_to_go"] = [plain(votes) for votes in columns["votes_to_go"]]
    columns |= overturned
    if without in columns:
        columns[without] = [", ".join(names) for names in columns[without]]
    said = sentence or f"not settled at {percent(level, 'g')}: {n_unsettled:,} of {n_pairs:,} pairs"
    said += f"; the {most:,} least settled are shown" if most < n_pairs else ""
    about, title = introduced(source, result, said)
    head: dict[str, Any] = {**about, "level": level, "n_pairs": n_pairs, "n_unsettled": n_unsettled, "warnings": notes}
    if sentence is not None:
        head["sentence"] = sentence
    if passed is not None:
        head["gate"] = {"required": require, "margin": margin, **asdict(passed)}
    if passed is not None and output.form is Format.table:
        output.write_text(f"{printable(str(passed))}\n")
        if output.strict and notes:
            raise Exit(WARNED)
    else:
        spare = ["win rate", "votes", "share", "annotators", interval, "Elo gap"]
        output.write(columns, schema="pairs/1", key="pairs", head=head, title=title, shown=shown, spare=spare)
    if passed is not None and passed.answer != "yes":
        raise Exit(NO if passed.answer == "no" else TOO_FEW)


def _shown_overturned(columns: Columns, what: str) -> dict[str, list[str]]:
    """Return how many votes, or whose, the order of each pair rests on."""
    from bayes_arena.votes.groups import plural

    shown = {
        f"{plural(what)} to drop": ["too many" if isinf(k) else f"{k:,.0f}" for k in columns["k"]],
        "share": ["" if isinf(share) else percent(share, ".3g") for share in columns["share"]],
    }
    if what in columns:
        shown["whose"] = [listing(names) for names in columns[what]]
    elif "annotators" in columns:
        shown["annotators"] = digits(columns["annotators"], "d")
    return shown


def _to_go(votes: float | None) -> str:
    from bayes_arena.decisions.verdict import order_of

    if not votes:
        return "no estimate" if votes is None else "settled"
    return "too many" if isinf(votes) else order_of(votes)
