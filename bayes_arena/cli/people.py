"""The command about annotators."""

from typing import Annotated, Any

import numpy as np

from bayes_arena.cli.options import (
    BOARDS,
    Answering,
    Drawing,
    Fitting,
    Reading,
    Source,
    option,
    with_options,
)
from bayes_arena.cli.output import (
    Answer,
    all_columns,
    collected_warnings,
    numbers,
    write,
)
from bayes_arena.cli.source import fitted
from bayes_arena.people.annotators import (
    FEWEST_VOTES,
    annotator_columns,
    discriminating,
)
from bayes_arena.people.favourites import find_favourites
from bayes_arena.rating import plural

SHOWN = ("anomalous", "has a favourite", "suspect")


@with_options
def annotators(
    source: Source = None,
    *,
    makers: Annotated[
        str | None, option("CSV of names and their makers: adds own_maker.", BOARDS)
    ] = None,
    show_all: Annotated[bool, option("Print all rows.", BOARDS, "--all")] = False,
    reading: Reading,
    fitting: Fitting,
    drawing: Drawing,
    answering: Answering,
) -> None:
    """Say who votes how: who guesses, votes reversed, always ties, has a favourite."""
    with collected_warnings() as warned:
        work = fitted(source, reading, fitting, drawing.seed)
        fit = discriminating(work.fit)
        columns: dict[str, Any] = dict(
            annotator_columns(fit, find_favourites(fit.votes), drawing.seed)
        )
        if makers is not None:
            from bayes_arena.people.judges import maker_columns

            columns |= maker_columns(fit.votes, makers, columns["annotator"])
    verdict = np.asarray(columns["verdict"])
    shown = shown_annotators(columns)
    if answering.explain:
        shown = all_columns(columns)
    hidden = 0
    if not (show_all or answering.explain):
        n_shown = int(np.isin(verdict, SHOWN).sum())
        n_shown = min(max(n_shown, 10), len(verdict))
        hidden = len(verdict) - n_shown
        shown = {name: values[:n_shown] for name, values in shown.items()}
    notes = []
    if "anomalous" in verdict:
        name = source or "VOTES"
        notes.append(
            f"To see the board without them: bayes-arena rank {name} --without flagged"
        )
    answer = Answer(
        "annotators",
        columns,
        shown,
        describe(work.name, fit.votes.n_votes, verdict),
        notes,
        {"plan": fit.plan},
        ("why",),
        hidden,
    )
    write(answer, answering, warned)


def describe(name: str, n_votes: float, verdict: Any) -> list[str]:
    """Return what was judged, in two lines."""
    n_few = int(np.sum(verdict == "too few votes"))
    n_anomalous = int(np.sum(verdict == "anomalous"))
    verb = "is" if n_anomalous == 1 else "are"
    first = (
        f"{name}: {plural(n_votes, 'vote')} by {plural(len(verdict), 'annotator')}. "
        f"{n_anomalous} {verb} anomalous (P 0.8 or more)."
    )
    if n_few:
        was = "was" if n_few == 1 else "were"
        first += f" {n_few} with fewer than {FEWEST_VOTES} votes {was} not judged."
    return [
        first,
        "Judged by am-Davidson. Agreement: 0 is chance, 1 is always with the others.",
    ]


def shown_annotators(columns: dict[str, Any]) -> dict[str, list[str]]:
    """Return annotators as texts."""
    shown = {
        "annotator": [str(name) for name in columns["annotator"]],
        "verdict": [str(text) for text in columns["verdict"]],
        "why": [str(text) for text in columns["why"]],
        "P": numbers(columns["p_anomaly"], ".2f"),
        "votes": numbers(columns["votes"], ".0f"),
    }
    if "theta_of_sum_one" in columns:
        shown["theta"] = numbers(columns["theta_of_sum_one"], ".4f")
    if "own_maker" in columns:
        shown["own maker"] = numbers(columns["own_maker"], "+.2f")
    return shown
