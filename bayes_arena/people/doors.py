"""Votes, or a fit, as what is asked of annotators needs them."""

from __future__ import annotations

from typing import Unpack

from bayes_arena.errors import FitError, ModelError
from bayes_arena.fits.fit import fit as fit_model, refuse_options
from bayes_arena.fits.options import FitOptions, apart
from bayes_arena.fits.result import Fit
from bayes_arena.reading.options import ReadOptions
from bayes_arena.reading.read import votes_from
from bayes_arena.said import Note, Use, joined
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


def judging(source: object, **options: Unpack[FitOptions]) -> tuple[Votes, Fit | Note]:
    """Return the votes of known annotators, and the fit that judges these.

    A fit with discrimination stays as it is; others, and votes, are fitted by am-Davidson.
    Under the default prior a board needs no such fit: where it has no answer, there is a
    note that says why.
    """
    if isinstance(source, Fit) and source.model.discrimination != "none":
        refuse_options(options)
        return source.votes, source
    columns, options = apart(options)
    if isinstance(source, Fit):
        refuse_options(options)
    votes = votes_of(source, **columns)
    options.setdefault("model", "am-davidson")
    try:
        fit = fit_model(votes, **options)
    except FitError as error:
        if options.get("prior", "default") != "default":
            raise
        text = joined("Annotators were not judged. ", error.text)
        return votes, Note("annotators", text, error.remedies)
    require_discrimination(fit, "am-davidson")
    return votes, fit


def discriminating(source: object, **options: Unpack[FitOptions]) -> Fit:
    """Return a fit with discrimination as it is; else fit am-Davidson.

    Raises
    ------
    FitError
        If that has no answer.
    """
    _, fit = judging(source, **options)
    if isinstance(fit, Note):
        raise FitError(fit.text, *fit.remedies)
    return fit


def require_discrimination(fit: Fit, model: str) -> None:
    """Raise an error for a fit in which annotators do not differ; name a model to use."""
    if fit.model.discrimination == "none":
        raise ModelError(
            f"Model {fit.model.name!r} has no discrimination.", Use(model=model)
        )
