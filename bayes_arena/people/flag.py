"""Who is flagged: by the probability of an anomaly, or by the paper's rule."""

from __future__ import annotations

from typing import Unpack

import numpy as np

from bayes_arena.errors import require_finite
from bayes_arena.fits.fit import fitted
from bayes_arena.fits.options import FitOptions, UnseededOptions
from bayes_arena.fits.result import Fit
from bayes_arena.people.annotators import annotator_columns, is_low_theta
from bayes_arena.people.doors import discriminating, require_discrimination
from bayes_arena.people.favourites import find_favourites


def flag(
    votes: object, *, seed: int = 0, **options: Unpack[UnseededOptions]
) -> tuple[str, ...]:
    """Return the anomalous annotators, in the order of their table.

    Parameters
    ----------
    votes : Fit, or votes
        As for :func:`~bayes_arena.annotators`, whose verdict this is.
    seed : int
    **options
        Options of :func:`~bayes_arena.fit`, where votes are still to be fitted.

    Returns
    -------
    tuple of str
    """
    fit = discriminating(votes, **options)
    table = annotator_columns(fit.votes, fit, find_favourites(fit.votes), seed)
    anomalous = np.asarray(table["verdict"]) == "anomalous"
    return tuple(np.asarray(table["annotator"])[anomalous])


def flag_by_theta(
    votes: object, epsilon: float = 0.0, **options: Unpack[FitOptions]
) -> tuple[str, ...]:
    """Return the annotators whose theta is at or below epsilon, lowest first.

    This is the paper's rule (Liu et al., 2025, Algorithm 3), with theta of sum one.

    Parameters
    ----------
    votes : Fit, or votes
        A fit of am-ELO, as in the paper; of any other model with discrimination the theta
        are read alike.  Votes are fitted by am-ELO under a flat prior.
    epsilon : float
    **options
        Options of :func:`~bayes_arena.fit`, where votes are still to be fitted.

    Returns
    -------
    tuple of str

    Raises
    ------
    ModelError
        If the fit has no discrimination, or epsilon is not a finite number.
    """
    require_finite(epsilon=epsilon)
    if not isinstance(votes, Fit):
        options.setdefault("model", "am-elo")
        options.setdefault("prior", "flat")
    fit = fitted(votes, **options)
    require_discrimination(fit, "am-elo")
    is_low = is_low_theta(fit, epsilon)
    order = np.argsort(fit.discrimination, kind="stable")
    return tuple(fit.votes.annotators[k] for k in order if is_low[k])
