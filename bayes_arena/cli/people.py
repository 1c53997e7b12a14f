"""The command about annotators."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, Any

import numpy as np

from bayes_arena.cli.command import command
from bayes_arena.cli.options import (
    Answering,
    Fitting,
    Reading,
    Sources,
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
from bayes_arena.fits.fit import fit
from bayes_arena.fits.result import Fit
from bayes_arena.model.spec import PRESETS
from bayes_arena.people.annotators import annotator_columns
from bayes_arena.people.doors import discriminating
from bayes_arena.people.favourites import find_favourites
from bayes_arena.people.groups import BOARDS_BY_GROUP, Groups, find_groups
from bayes_arena.rating.content import facts_of_votes
from bayes_arena.rating.text import SHOWN_ROWS
from bayes_arena.rating.wording import name_of_model
from bayes_arena.said import Call, Note
from bayes_arena.votes.votes import MIN_VOTES

SHOWN = ("anomalous", "has a favourite", "suspect", "differs")
# Verdicts that are counted beside the anomalous, of one and of many.
COUNTED = (
    ("has a favourite", "has a favourite", "have a favourite"),
    ("differs", "votes by a ranking of its own", "vote by rankings of their own"),
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
    reading: Reading,
    fitting: Fitting,
) -> Answer:
    """Say who votes how: who votes reversed, always ties, has a favourite."""
    judging = judging_fit(votes, reading, fitting)
    columns: dict[str, Any] = dict(
        annotator_columns(judging, find_favourites(judging.votes), fitting.seed)
    )
    found = find_groups(judging, fitting.seed)
    columns |= found.columns_of(columns["annotator"])
    if makers is not None:
        from bayes_arena.people.makers import maker_columns

        columns |= maker_columns(judging.votes, makers, columns["annotator"])
    source = name_of(votes)
    return Answer(
        key="annotators",
        columns=columns,
        table=ANNOTATORS,
        head=describe(source, judging, columns),
        notes=[
            *about_groups(found),
            *boards_without(columns, {} if is_saved_fit(votes) else fitting.judging),
        ],
        facts={
            **facts_of_votes(judging.votes, source),
            "plan": judging.plan,
            "seed": fitting.seed,
        },
        n_shown=rows_to_show(columns),
    )


def about_groups(found: Groups) -> list[Note]:
    """Say whether annotators fall into two groups, and who is in the smaller one."""
    if not found.sentence:
        return []
    if not found.members:
        return [Note("groups", found.sentence)]
    who = f"They are {listing(found.members)}."
    return [Note("groups", f"{found.sentence} {who}", more=BOARDS_BY_GROUP)]


def boards_without(columns: dict[str, Any], judging: dict[str, str]) -> list[Note]:
    """Return the calls that show the board without those who are odd."""
    notes = []
    for name, whom, value in WITHOUT:
        if name in columns["verdict"]:
            board = Call("rate", **judging, without=value)
            text = (f"To see the board without {whom}: ", board)
            notes.append(Note("annotators", text))
    return notes


def rows_to_show(columns: dict[str, Any]) -> int:
    """Return how many rows hold all that a reader looks for: the odd, and makers."""
    is_looked_for = np.isin(columns["verdict"], SHOWN)
    if "own_maker" in columns:
        is_looked_for |= np.isfinite(np.asarray(columns["own_maker"], float))
    last = int(np.flatnonzero(is_looked_for).max(initial=-1))
    return max(last + 1, SHOWN_ROWS)


def judging_fit(
    sources: Sequence[str] | None, reading: Reading, fitting: Fitting
) -> Fit:
    """Return a fit with discrimination: the one that is asked for, else am-Davidson."""
    saved = saved_fit(sources)
    if saved is not None:
        require_defaults(reading, fitting)
        return discriminating(saved)
    require_choice("model", fitting.model, PRESETS)
    if PRESETS[fitting.model].discrimination == "none":
        fitting = replace(fitting, model="am-davidson", method="gaussian")
    votes = votes_of(sources, reading, fitting)
    votes.require_annotators()
    return fit(votes, **fitting.options())


def describe(name: str, fit: Fit, columns: dict[str, Any]) -> list[str]:
    """Return what was judged, in two lines."""
    cast = plural(fit.votes.n_votes, "vote")
    by = f"{name}: {cast} by {plural(fit.votes.n_annotators, 'annotator')}."
    if fit.votes.n_annotators == 1:
        return [f"{by} With one annotator no comparison is possible."]
    agreement = "Agreement: 0 is chance, 1 is always with the others."
    return [
        " ".join([by, *counted_verdicts(columns)]),
        f"Judged by {name_of_model(fit)}. {agreement}",
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
