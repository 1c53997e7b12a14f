"""Annotators, the most suspect first, and the competitors that suspects favour or hate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from bayes_arena.fits.result import Fit
from bayes_arena.page.pseudonyms import judges_annotators
from bayes_arena.ratings.elo import EloScale
from bayes_arena.ratings.intervals.names import resolve_interval
from bayes_arena.reliability.annotators import annotator_columns
from bayes_arena.reliability.integrity import integrity_columns, unjudged

FEWEST, WATCHED, MOST = 12, 25, 60
"""Annotators that are listed at least, with those to be watched, and at most."""

NOBODY = {"favours": "", "how": "", "favour_probability": 0.0}
"""What is said of annotators where it was not looked at whom they favour."""


@dataclass(frozen=True)
class People:
    """Who voted.

    Attributes
    ----------
    silence : str
        Why nothing is said of annotators; empty if something is.
    verdicts : dict of str to int
        How many are anomalous, to be watched, reliable.
    rows : tuple of dict
        Of the most suspect, as in :func:`~bayes_arena.annotators`.
    total : int
    carried : tuple of dict
        Competitors that suspects favour or hate, as in :func:`~bayes_arena.integrity`.
    """

    silence: str
    verdicts: dict[str, int]
    rows: tuple[dict[str, Any], ...]
    total: int
    carried: tuple[dict[str, Any], ...]


def people_of(fit: Fit, level: float, elo: EloScale) -> People:
    """Return who voted, and whom suspects carry."""
    total = (fit.cells if fit.trust is None else fit.trust.cells).n_annotators
    carried = tuple(row for row in _rows(integrity_columns(fit, elo=elo)) if row["honest_only_if"]) if fit.trust else ()
    if not judges_annotators(fit):
        return People(_silence(fit), {}, (), total, carried)
    found = _rows(annotator_columns(fit, resolve_interval("laplace"), level=level))
    rows = [NOBODY | row for row in found]
    verdicts = {word: sum(row["verdict"] == word for row in rows) for word in ("anomalous", "watch", "reliable")}
    suspect = verdicts["anomalous"] + verdicts["watch"]
    shown = max(FEWEST, min(verdicts["anomalous"], MOST), min(suspect, WATCHED))
    return People("", verdicts, tuple(rows[:shown]), total, carried)


def _silence(fit: Fit) -> str:
    if fit.trust is not None and fit.trust.unjudged:
        return unjudged(fit.trust)
    if not fit.cells.n_annotators:
        return "The votes do not say who cast them, so nothing can be said of annotators."
    return f"The model {fit.model.name} takes all annotators for equally reliable, so it says nothing of them."


def _rows(columns: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        dict(zip(columns, row, strict=True)) for row in zip(*(one.tolist() for one in columns.values()), strict=True)
    ]
