"""Whose votes a rating leaves out."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np

from bayes_arena.errors import (
    FitError,
    ModelError,
    did_you_mean,
    listing,
)
from bayes_arena.fits.fit import fit as fit_model
from bayes_arena.fits.result import Fit
from bayes_arena.people.annotators import annotator_columns
from bayes_arena.people.doors import judging
from bayes_arena.people.favourites import find_favourites
from bayes_arena.rating.rated import Rated
from bayes_arena.said import Note, Use

# Who can be left out together, and what is said of them if there is nobody.
WITHOUT = {"flagged": "is anomalous", "favourites": "has a favourite"}


def refitted(fit: Fit, left_out: Collection[str]) -> Fit:
    """Return the same model fitted to the votes without some annotators."""
    votes = fit.votes.drop(annotators=left_out)
    options: dict[str, Any] = {"prior": fit.prior, "method": fit.method}
    return fit_model(votes, model=fit.model, seed=fit.seed, **options)


def left_out_names(
    rated: Rated, without: str | Collection[str] | None
) -> tuple[str, ...]:
    """Return the annotators to leave out."""
    if without is None:
        return ()
    rated.votes.require_annotators()
    annotators = rated.votes.annotators
    names: list[str] = []
    for asked in asked_for(without):
        names += names_of_kind(rated, asked) if asked in WITHOUT else [asked]
    unknown = [name for name in names if name not in annotators]
    if unknown:
        hint = did_you_mean(unknown[0], (*WITHOUT, *annotators))
        raise ModelError(
            f"No votes of {listing(map(repr, unknown))}.{hint}",
            *(Use(without=kind) for kind in WITHOUT),
        )
    return tuple(dict.fromkeys(names))


def asked_for(without: str | Collection[str]) -> tuple[str, ...]:
    """Return what was asked to be left out: kinds of annotators, or names."""
    if not isinstance(without, Collection):
        kinds = " or ".join(map(repr, WITHOUT))
        text = f" must be names of annotators, or {kinds}."
        raise ModelError((Use(without=without), text))
    return (without,) if isinstance(without, str) else tuple(without)


def describe_nobody(without: str | Collection[str]) -> str:
    """Say that nobody was left out, of the kinds that were asked for."""
    kinds = [WITHOUT[asked] for asked in asked_for(without) if asked in WITHOUT]
    return f"Nobody was left out: nobody {' or '.join(kinds)}."


def names_of_kind(rated: Rated, kind: str) -> tuple[str, ...]:
    """Return the annotators who are anomalous, or have a favourite."""
    columns, judge = rated.annotator_columns, rated.judge
    if judge is None:
        votes, judge = judging(rated.fit)
        columns = annotator_columns(votes, judge, find_favourites(votes))
    if kind == "flagged" and isinstance(judge, Note):
        raise FitError(judge.text, *judge.remedies)
    names = np.asarray(columns["annotator"])
    if kind == "flagged":
        return tuple(names[np.asarray(columns["verdict"]) == "anomalous"])
    return tuple(names[np.asarray(columns["reason"]) == "favourite"])
