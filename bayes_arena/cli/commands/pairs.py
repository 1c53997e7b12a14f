"""``pairs``, ``versus``, ``flips``: who is better than whom, and what would settle or overturn that."""

from __future__ import annotations

from math import isinf
from typing import Annotated, Any, Literal

from typer import Argument, Exit, Option

from bayes_arena.cli.app import app, collected_warnings
from bayes_arena.cli.fit_options import BoardChoice, ModelChoice
from bayes_arena.cli.headings import discounted_named, how_fitted, introduced
from bayes_arena.cli.options import MODEL, RANKING, takes_options
from bayes_arena.cli.output import WARNED, Format, Output, between, chances, counts, digits, plain
from bayes_arena.cli.vote_source import VoteSource
from bayes_arena.errors import SHOWN, ModelError, printable
from bayes_arena.markup import percent

NO, TOO_FEW = 1, 4
"""Exit codes of a gate that is not passed."""
GATE = "Gate"
RequiredName = Literal["better", "not-worse", "settled"]
Level = Annotated[
    float, Option(help="Probability at which an order is settled; coverage of the intervals.", rich_help_panel=MODEL)
]


@app.command(rich_help_panel=RANKING)
@takes_options
def pairs(
    *,
    source: VoteSource,
    model: ModelChoice,
    board: BoardChoice,
    most: Annotated[
        int, Option("--pairs", "-n", min=1, help="How many to list, the least settled first.", rich_help_panel=MODEL)
    ] = 50,
    level: Level = 0.95,
    output: Output,
) -> None:
    """List who is better than whom, and how likely that is, the least settled pairs first."""
    with collected_warnings() as notes:
        from bayes_arena.decisions.versus import pair_columns

        result = board.seen(model.fitted(source))
        columns, n_pairs, n_unsettled = pair_columns(result, level, most)
    shown = {
        "better": [str(name) for name in columns["stronger"]],
        "worse": [str(name) for name in columns["weaker"]],
        "P(better)": chances(columns["p_better"]),
        "Elo gap": digits(columns["elo_gap"].round() + 0.0, ".0f"),
        _interval(level): between(columns["lower"], columns["upper"], ".0f"),
        "win rate": [percent(share) for share in columns["expected_score"].tolist()],
        "votes": counts(columns["votes"]),
        "to settle": [_to_go(votes) for votes in columns["votes_to_go"]],
    }
    columns["votes_to_go"] = [plain(votes) for votes in columns["votes_to_go"]]
    said = f"not settled at {percent(level, 'g')}: {n_unsettled:,} of {n_pairs:,} pairs"
    said += f"; the {most:,} least settled are shown" if most < n_pairs else ""
    about, title = introduced(source, result, said)
    head = {**about, "level": level, "n_pairs": n_pairs, "n_unsettled": n_unsettled, "warnings": notes}
    spare = ["win rate", "votes"]
    output.write(columns, schema="pairs/1", key="pairs", head=head, title=title, shown=shown, spare=spare)


@app.command(rich_help_panel=RANKING)
@takes_options
def versus(
    *,
    competitor: Annotated[str, Argument(metavar="A", help="A competitor.", show_default=False)],
    opponent: Annotated[str, Argument(metavar="B", help="Another one.", show_default=False)],
    source: VoteSource,
    require: Annotated[
        RequiredName | None,
        Option(
            help="Answer in one line and by the exit code whether the votes show that A is better, or not worse, "
            f"or which of them is: 0 for yes, {NO} for no, {TOO_FEW} for not enough votes.",
            rich_help_panel=GATE,
            show_default=False,
        ),
    ] = None,
    margin: Annotated[
        float,
        Option(metavar="ELO", help="Points by which A may be worse, or has to be better.", rich_help_panel=GATE),
    ] = 0.0,
    model: ModelChoice,
    board: BoardChoice,
    level: Level = 0.95,
    output: Output,
) -> None:
    """Say which of two competitors is better, by how much; with --require, as a gate for continuous integration."""
    if margin and require is None:
        raise ModelError("--margin goes with --require better or not-worse.")
    with collected_warnings() as notes:
        from dataclasses import asdict

        from bayes_arena.decisions.gate import gate
        from bayes_arena.decisions.versus import versus as compared

        result = board.seen(model.fitted(source))
        found = compared(result, competitor, opponent, level=level)
        passed = gate(result, competitor, opponent, required=require, margin=margin, level=level) if require else None
    numbers: dict[str, Any] = {name: plain(value) for name, value in asdict(found).items()}
    del numbers["level"]  # told above
    values = {
        f"P({competitor} is better)": chances([found.p_better])[0],
        "Elo gap": f"{found.elo_gap:.1f}",
        _interval(level): f"{found.lower:.1f} … {found.upper:.1f}",
        "expected win rate": percent(found.expected_score, ".1f"),
        "votes between them": f"{found.votes:,.12g}",
        "won, lost, tied": f"{found.wins:,.12g}, {found.losses:,.12g}, {found.ties:,.12g}",
        "more votes to settle it": _to_go(found.votes_to_go),
    }
    about, title = introduced(source, result, str(found))
    head = {**about, "level": level, "sentence": str(found), "warnings": notes}
    columns = {name: [value] for name, value in numbers.items()}
    shown = {f"{competitor} against {opponent}": list(values), "": list(values.values())}
    if passed is not None:
        head["gate"] = {"required": require, "margin": margin, **asdict(passed)}
    if passed is not None and output.form is Format.table:
        output.write_text(f"{printable(str(passed))}\n")
        if output.strict and notes:
            raise Exit(WARNED)
    else:
        output.write(columns, schema="versus/1", key="versus", head=head, title=title, shown=shown)
    if passed is not None and passed.answer != "yes":
        raise Exit(NO if passed.answer == "no" else TOO_FEW)


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
        Option(help="Drop votes, reverse them (flip), or add votes for the second of a pair.", rich_help_panel=MODEL),
    ] = "drop",
    max_share: Annotated[float, Option(help="Largest share of the votes to change.", rich_help_panel=MODEL)] = 0.3,
    model: ModelChoice,
    output: Output,
) -> None:
    """Count the votes, or annotators, without which two competitors would change places."""
    with collected_warnings() as notes:
        from bayes_arena.decisions.flips import flip_columns
        from bayes_arena.votes.groups import plural

        result = model.fitted(source)
        columns = flip_columns(result, pairs, by=by, how=how, max_share=max_share)
    shown = {name: [str(each) for each in columns[name]] for name in ("competitor", "opponent")}
    shown["Elo gap"] = digits(columns["elo_gap"], ".1f")
    shown["P(better)"] = chances(columns["p_better"])
    shown[plural(by)] = [f"{k:,.0f}" for k in columns["k"]]
    shown["linear"] = [f"{k:,.0f}" for k in columns["k_linear"]]
    shown["share"] = ["" if isinf(share) else percent(share, ".3g") for share in columns["share"]]
    if by != "vote":
        shown["whose"] = [", ".join([*names[:SHOWN], *["..."] * (len(names) > SHOWN)]) for names in columns[by]]
        columns[by] = [", ".join(names) for names in columns[by]]
    elif "annotators" in columns:
        shown["annotators"] = digits(columns["annotators"], "d")
    about, fitted = how_fitted(result)
    head = {**about, "by": by, "how": how, "max_share": max_share, "warnings": notes}
    title = f"{source.title(result.cast)}\n{fitted}{discounted_named(result)}"
    title += f"\n{plural(by)} to {how} until the second is ahead"
    title += f"; inf: more than {percent(max_share, 'g')} of the votes" if any(map(isinf, columns["k"])) else ""
    spare = ("linear", "Elo gap")
    output.write(columns, schema="flips/1", key="flips", head=head, title=title, shown=shown, spare=spare)


def _interval(level: float) -> str:
    return f"{percent(level, 'g')} interval"


def _to_go(votes: float | None) -> str:
    """Format how many votes would settle a pair."""
    from bayes_arena.decisions.verdict import order_of

    if not votes:
        return "no estimate" if votes is None else "settled"
    return "too many" if isinf(votes) else order_of(votes)
