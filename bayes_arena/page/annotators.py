"""The annotators on the page: the least reliable first, the competitors on which votes do not count, and pseudonyms.

A pseudonymous fit has numbers in place of the annotators' names, so that no table or warning can name them. Numbers
follow the order of the table of annotators, or where there is none the numbers of votes: if they followed the names, a
reader who knows the names could tell which number is whose.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bayes_arena.arrays import Columns, rows_of
from bayes_arena.decisions.integrity import integrity_columns, open_gates
from bayes_arena.fits.plan import asked_for
from bayes_arena.fits.result import KNOWN, Fit
from bayes_arena.ratings.elo import EloScale
from bayes_arena.ratings.intervals.names import resolve_interval
from bayes_arena.reliability.annotators import annotator_columns
from bayes_arena.votes.reading.checks import FEW_VOTES

UNNAMED = "an annotator"
"""In place of the name of somebody whose votes were left out on request."""
FEWEST, MOST = 5, 25
"""Annotators listed: at least, and at most, if so many are not reliable."""


@dataclass(frozen=True)
class People:
    """The annotators of a page.

    Attributes
    ----------
    silence : str
        Why the page says nothing about annotators; empty if it does.
    verdicts : dict of str to int
        Number of anomalous, watched and reliable annotators, of those with more than ``FEW_VOTES`` votes: of few votes
        nobody is called anomalous in public.
    rows, discounted : tuple of dict
        The least reliable of them, as in :func:`~bayes_arena.annotators`, and the competitors on which votes do not
        count, as in :func:`~bayes_arena.integrity`.
    total : int
        Number of all annotators.
    """

    silence: str
    verdicts: dict[str, int]
    rows: tuple[dict[str, Any], ...]
    total: int
    discounted: tuple[dict[str, Any], ...]


def judged(fit: Fit, level: float) -> Columns:
    """Return the columns of the table of annotators; none where the fit says nothing about them."""
    return annotator_columns(fit, resolve_interval("laplace"), level=level) if fit.target.own else {}


def people_of(fit: Fit, judged: Columns, elo: EloScale) -> People:
    """Return the annotators, as ``judged``, and the competitors on which votes do not count."""
    total, found = fit.cells.n_annotators, fit.promotions
    discounted: tuple[dict[str, Any], ...] = ()
    if found is not None and found.cast is not None:
        named, rows = open_gates(fit), rows_of(integrity_columns(fit, elo=elo))
        discounted = tuple(row for row in rows if row["competitor"] in named)
    if not judged:
        return People(_silence(fit), {}, (), total, discounted)
    rows = [row for row in rows_of(judged) if row["votes"] > FEW_VOTES]
    verdicts = {word: sum(row["verdict"] == word for row in rows) for word in ("anomalous", "watch", "reliable")}
    unsure = verdicts["anomalous"] + verdicts["watch"]
    return People("", verdicts, tuple(rows[: min(max(FEWEST, unsure), MOST)]), total, discounted)


def _silence(fit: Fit) -> str:
    if not fit.cells.n_annotators:
        return "The votes do not name their annotators, so nothing can be said about them."
    return f"The model {fit.model.name} treats all annotators as equally reliable, so it says nothing about them."


def pseudonymous(fit: Fit, judged: Columns) -> tuple[Fit, Columns]:
    """Return a fit, and its annotators as judged, with numbers for names; programs keep theirs."""
    cells = fit.cells
    if not cells.n_annotators:
        return fit, judged
    by_votes = [cells.annotators[k] for k in np.argsort(-fit.cast.votes_by_annotator(), kind="stable")]
    people = [name for name in judged.get("annotator", by_votes) if name not in cells.programs]
    digits = len(str(len(people)))
    names = {name: f"annotator {number:0{digits}}" for number, name in enumerate(people, 1)}
    problem = fit.mode.problem
    kept, dropped = (
        tuple(name if name in cells.programs else names.get(name, UNNAMED) for name in some)
        for some in (fit.kept, fit.dropped)
    )
    if "votes" in problem.reasons:  # they begin with who was kept and dropped
        why = problem.reasons["votes"].removeprefix(asked_for(fit.kept, fit.dropped))
        problem = problem.because(votes=f"{asked_for(kept, dropped)}{why}")
    renamed = replace(cells, annotators=tuple(names.get(name, name) for name in cells.annotators))
    mode = replace(fit.mode, problem=replace(problem, cells=renamed))
    known = {name: fit.__dict__[name] for name in KNOWN if name in fit.__dict__}
    hidden = replace(fit, mode=mode, kept=kept, dropped=dropped).with_known(known)
    if judged:
        shown = [names.get(name, name) for name in judged["annotator"]]
        judged = judged | {"annotator": np.array(shown, dtype=object)}
    return hidden, judged
