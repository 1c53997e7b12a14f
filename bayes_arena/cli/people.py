"""The command about annotators."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, Any

import numpy as np

from bayes_arena.cli.options import (
    Answering,
    Fitting,
    Reading,
    Sources,
    option,
    with_options,
)
from bayes_arena.cli.output import (
    Answer,
    collected_warnings,
    numbers,
    texts,
    write,
)
from bayes_arena.cli.source import (
    files_in_words,
    name_of,
    require_defaults,
    saved_fit,
    votes_of,
)
from bayes_arena.errors import plural, require_choice
from bayes_arena.fits.fit import fit
from bayes_arena.fits.result import Fit
from bayes_arena.model.spec import PRESETS
from bayes_arena.people.annotators import (
    FEWEST_VOTES,
    annotator_columns,
    discriminating,
)
from bayes_arena.people.favourites import find_favourites
from bayes_arena.rating import SHOWN_ROWS
from bayes_arena.wording import name_of_model

SHOWN = ("anomalous", "has a favourite", "suspect")
# By their verdict: whom a board can leave out.
WITHOUT = (
    ("anomalous", "the anomalous", "flagged"),
    ("has a favourite", "those with a favourite", "favourites"),
)


@with_options
def annotators(
    votes: Sources = None,
    *,
    makers: Annotated[
        str | None, option("CSV of names and their makers: adds own_maker.")
    ] = None,
    reading: Reading,
    fitting: Fitting,
    answering: Answering,
) -> None:
    """Say who votes how: who guesses, votes reversed, always ties, has a favourite."""
    with collected_warnings() as warned:
        judging = judging_fit(votes, reading, fitting)
        columns: dict[str, Any] = dict(
            annotator_columns(judging, find_favourites(judging.votes), fitting.seed)
        )
        if makers is not None:
            from bayes_arena.people.judges import maker_columns

            columns |= maker_columns(judging.votes, makers, columns["annotator"])
    verdict = np.asarray(columns["verdict"])
    options = judged_by(judging, reading, fitting) if saved_fit(votes) is None else ""
    board = f"bayes-arena rank{files_in_words(votes)}{options}"
    notes = [
        f"To see the board without {whom}: {board} --without {option}"
        for name, whom, option in WITHOUT
        if name in verdict
    ]
    answer = Answer(
        key="annotators",
        columns=columns,
        shown=shown_annotators(columns),
        head=describe(name_of(votes), judging, verdict),
        notes=notes,
        facts={"plan": judging.plan},
        spare=("votes", "P", "why"),
        n_shown=rows_to_show(columns),
    )
    write(answer, answering, warned)


def rows_to_show(columns: dict[str, Any]) -> int:
    """Return how many rows hold all that a reader looks for: the odd, and makers."""
    is_odd = np.isin(columns["verdict"], SHOWN)
    if "own_maker" in columns:
        is_odd |= np.isfinite(np.asarray(columns["own_maker"], float))
    return max(int(np.flatnonzero(is_odd).max(initial=-1)) + 1, SHOWN_ROWS)


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


def judged_by(fit: Fit, reading: Reading, fitting: Fitting) -> str:
    """Return the options by which the annotators were judged, for another command."""
    words = "" if reading.delta is None else f" --delta {reading.delta:g}"
    if fit.model.name == "am-davidson":
        return words
    return f" --model {fit.model.name} --prior {fitting.prior}{words}"


def describe(name: str, fit: Fit, verdict: Any) -> list[str]:
    """Return what was judged, in two lines."""
    n_few = int(np.sum(verdict == "too few votes"))
    n_anomalous = int(np.sum(verdict == "anomalous"))
    cast = f"{name}: {plural(fit.votes.n_votes, 'vote')}"
    by = f"{cast} by {plural(len(verdict), 'annotator')}."
    if len(verdict) == 1:
        return [f"{by} With one annotator no comparison is possible."]
    verb = "is" if n_anomalous == 1 else "are"
    first = f"{by} {n_anomalous} {verb} anomalous (P 0.8 or more)"
    n_others = int(np.sum(verdict == "has a favourite"))
    if n_others:
        first += f", {n_others} {'has' if n_others == 1 else 'have'} a favourite"
    first += "."
    if n_few:
        was = "was" if n_few == 1 else "were"
        first += f" {n_few} with fewer than {FEWEST_VOTES} votes {was} not judged."
    agreement = "Agreement: 0 is chance, 1 is always with the others."
    return [first, f"Judged by {name_of_model(fit)}. {agreement}"]


def shown_annotators(columns: dict[str, Any]) -> dict[str, list[str]]:
    """Return annotators as texts."""
    shown = {
        "annotator": texts(columns["annotator"]),
        "verdict": texts(columns["verdict"]),
        "why": texts(columns["why"]),
        "P": numbers(columns["p_anomaly"], ".2f"),
        "votes": numbers(columns["votes"], ".0f"),
    }
    if "theta_of_sum_one" in columns:
        shown["theta"] = numbers(columns["theta_of_sum_one"], ".4f")
    if "own_maker" in columns:
        shown["own maker"] = numbers(columns["own_maker"], "+.2f")
    return shown
