"""The command about annotators."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, Any

import numpy as np

from bayes_arena.cli.command import command
from bayes_arena.cli.options import (
    WITHOUT_HELP,
    Answering,
    Fitting,
    Reading,
    Sources,
    names_in,
    option,
)
from bayes_arena.cli.output import Answer
from bayes_arena.cli.source import (
    is_saved_fit,
    name_of,
    require_defaults,
    saved_fit,
    votes_of,
)
from bayes_arena.columns import ANNOTATORS
from bayes_arena.errors import listing, plural, require_choice
from bayes_arena.fits.result import Fit
from bayes_arena.model.spec import PRESETS
from bayes_arena.people.annotators import annotator_columns, votes_apart
from bayes_arena.people.doors import judging
from bayes_arena.people.favourites import (
    Favourites,
    favourite_columns,
    find_favourites,
    named_favourites,
)
from bayes_arena.people.groups import (
    BOARDS_BY_GROUP,
    Groups,
    describe_groups,
    find_groups,
)
from bayes_arena.rating.content import facts_of_votes
from bayes_arena.rating.rating import rate
from bayes_arena.rating.text import SHOWN_ROWS
from bayes_arena.rating.wording import RING, describe_favouring, name_of_model
from bayes_arena.said import Call, Note
from bayes_arena.tables import Columns
from bayes_arena.votes.votes import MIN_VOTES, Votes

SHOWN = ("anomalous", "has a favourite", "suspect", "differs")
# Verdicts that are counted beside the anomalous, of one and of many.
COUNTED = (
    ("has a favourite", "has a favourite", "have a favourite"),
    ("differs", "has a ranking of its own", "have rankings of their own"),
)
# By their verdict: whom a board can leave out.
WITHOUT = (
    ("anomalous", "the anomalous", "flagged"),
    ("has a favourite", "those with a favourite", "favourites"),
)


@command(Answering)
def annotators(
    votes: Sources = None,
    *,
    makers: Annotated[
        str | None, option("CSV of names and their makers: adds own_maker.")
    ] = None,
    without: Annotated[str | None, option(WITHOUT_HELP)] = None,
    reading: Reading,
    fitting: Fitting,
) -> Answer:
    """Say who votes how: who votes reversed, always ties, has a favourite."""
    cast, known, judge = judged_votes(votes, reading, fitting, without)
    favourites = find_favourites(known)
    columns: dict[str, Any] = dict(
        annotator_columns(known, judge, favourites, fitting.seed)
    )
    found = Groups() if isinstance(judge, Note) else find_groups(judge, fitting.seed)
    odd = named_favourites(favourite_columns(known, favourites), columns)
    columns |= found.columns_of(columns["annotator"])
    if makers is not None:
        from bayes_arena.people.makers import maker_columns

        columns |= maker_columns(known, makers, columns["annotator"])
    source = name_of(votes)
    asked = {} if is_saved_fit(votes) else fitting.judging
    notes = [*together(odd, columns), *about_groups(found, columns)]
    if without is None:
        notes += board_without(columns, asked)
    return Answer(
        key="annotators",
        columns=columns,
        table=ANNOTATORS,
        head=described(source, cast, judge, columns, favourites),
        notes=[judge, *notes] if isinstance(judge, Note) else notes,
        facts={
            **facts_of_votes(known, source),
            "plan": judge.plan if isinstance(judge, Fit) else None,
            "seed": fitting.seed,
        },
        n_shown=rows_to_show(columns),
    )


def together(favourites: Columns, columns: Columns) -> list[Note]:
    """Say which accounts work together: for one competitor, or by the same votes."""
    rings = [f"{text}." for text in describe_favouring(favourites, fewest=RING)]
    if "copies" in columns["reason"]:
        rings.append(
            "Of accounts that cast the same votes, which is the original cannot be told."
        )
    return [Note("annotators", text) for text in rings]


def about_groups(found: Groups, columns: Columns) -> list[Note]:
    """Say whether annotators fall into two groups, and who is in the smaller one."""
    if not found.sentence:
        return []
    if not found.members:
        return [Note("groups", found.sentence)]
    who = f"They are {listing(found.members)}."
    text = f"{describe_groups(found, columns)} {who}"
    return [Note("groups", text, more=BOARDS_BY_GROUP)]


def board_without(columns: Columns, judging: dict[str, str]) -> list[Note]:
    """Return the call that shows the board without those who are odd."""
    odd = [entry for entry in WITHOUT if entry[0] in columns["verdict"]]
    if not odd:
        return []
    whom = " and ".join(whom for _, whom, _ in odd)
    values = tuple(value for _, _, value in odd)
    board = Call("rate", **judging, without=values if len(odd) > 1 else values[0])
    return [Note("annotators", (f"To see the board without {whom}: ", board))]


def rows_to_show(columns: dict[str, Any]) -> int:
    """Return how many rows hold all that a reader looks for: the odd, and makers."""
    is_looked_for = np.isin(columns["verdict"], SHOWN)
    if "own_maker" in columns:
        is_looked_for |= np.isfinite(np.asarray(columns["own_maker"], float))
    last = int(np.flatnonzero(is_looked_for).max(initial=-1))
    return max(last + 1, SHOWN_ROWS)


def judged_votes(
    sources: Sequence[str] | None,
    reading: Reading,
    fitting: Fitting,
    without: str | None,
) -> tuple[Votes, Votes, Fit | Note]:
    """Return all votes, those of known annotators, and the fit that judges these.

    It is the fit that is asked for, if annotators differ in it, else am-Davidson's.
    The votes of the annotators ``without`` are left out.
    """
    saved = saved_fit(sources)
    if saved is not None:
        require_defaults(reading, fitting)
        if without is not None:
            saved = rate(saved, without=names_in(without)).fit
        return (saved.votes, *judging(saved))
    require_choice("model", fitting.model, PRESETS)
    if PRESETS[fitting.model].discrimination == "none":
        fitting = replace(fitting, model="am-davidson")
    votes = votes_of(sources, reading, fitting)
    if without is not None:
        votes = votes.drop(annotators=rate(votes, without=names_in(without)).left_out)
    return (votes, *judging(votes, **fitting.options()))


def described(
    name: str,
    cast: Votes,
    judge: Fit | Note,
    columns: dict[str, Any],
    favourites: Favourites,
) -> list[str]:
    """Return whose votes were judged, with what result, and how."""
    n_votes, n = float(np.sum(columns["votes"])), len(columns["votes"])
    text = f"{name}: {plural(n_votes, 'vote')} by {plural(n, 'annotator')}."
    if gap := cast.n_votes - n_votes:
        text += f" {plural(gap, 'vote')} more {'lacks' if gap == 1 else 'lack'} one."
    if isinstance(judge, Note):
        return [text]
    if n == 1:
        return [f"{text} With one annotator no comparison is possible."]
    agreement = "Agreement: 0 is chance, 1 is always with the others."
    fans = ""
    if votes_apart(judge, favourites) is not None:
        fans = "; votes that make a favourite have no part in the verdicts on others"
    return [
        " ".join([text, *counted_verdicts(columns)]),
        f"Judged by {name_of_model(judge)}{fans}. {agreement}",
    ]


def counted_verdicts(columns: dict[str, Any]) -> list[str]:
    """Return how many annotators are odd, and how many were not judged, in sentences."""
    verdict = np.asarray(columns["verdict"])
    of_another = bool(np.any(np.asarray(columns["reason"]) == "copies"))
    anomalous = f"anomalous (P 0.8 or more{', or the votes of another' * of_another})"
    odd = [counted(verdict, "anomalous", f"is {anomalous}", f"are {anomalous}")]
    for name, one, many in COUNTED:
        if name in verdict:
            odd.append(counted(verdict, name, one, many))
    few = f"with fewer than {MIN_VOTES} votes"
    sentences = [f"{', '.join(odd)}."]
    if "too few votes" in verdict:
        one, many = f"{few} was not judged.", f"{few} were not judged."
        sentences.append(counted(verdict, "too few votes", one, many))
    return sentences


def counted(verdict: Any, name: str, one: str, many: str) -> str:
    """Return how many have a verdict, with the words for one and for many."""
    n = int(np.sum(verdict == name))
    return f"{n:,} {one if n == 1 else many}"
