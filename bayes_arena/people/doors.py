"""Votes, or a fit, as what is asked of annotators needs them."""

from __future__ import annotations

from typing import Unpack

from bayes_arena.errors import ModelError
from bayes_arena.fits.fit import fit as fit_model, refuse_options
from bayes_arena.fits.options import FitOptions, apart
from bayes_arena.fits.result import Fit
from bayes_arena.reading.options import ReadOptions
from bayes_arena.reading.read import votes_from
from bayes_arena.said import Use
from bayes_arena.votes.votes import Votes


def votes_of(source: object, **columns: Unpack[ReadOptions]) -> Votes:
    """Return the votes of a fit, or votes that are read: those of a known annotator.

    Raises
    ------
    VotesError
        If annotators are unknown.
    """
    if isinstance(source, Fit):
        refuse_options(columns)
        votes = source.votes
    else:
        votes = votes_from(source, **columns)
    return votes.known("annotator")


def discriminating(source: object, **options: Unpack[FitOptions]) -> Fit:
    """Return a fit with discrimination as it is; else fit am-Davidson."""
    if isinstance(source, Fit) and source.model.discrimination != "none":
        refuse_options(options)
        return source
    columns, options = apart(options)
    if isinstance(source, Fit):
        refuse_options(options)
    votes = votes_of(source, **columns)
    options.setdefault("model", "am-davidson")
    fit = fit_model(votes, **options)
    require_discrimination(fit, "am-davidson")
    return fit


def require_discrimination(fit: Fit, model: str) -> None:
    """Raise an error for a fit in which annotators do not differ; name a model to use."""
    if fit.model.discrimination == "none":
        raise ModelError(
            f"Model {fit.model.name!r} has no discrimination.", Use(model=model)
        )
