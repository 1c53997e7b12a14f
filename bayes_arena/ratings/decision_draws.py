"""The draws of the strengths on which decisions are based.

They are draws of r*, the strengths on the common scale, in logits, for the estimand of the fit's rankings
(:meth:`~bayes_arena.Fit.on`), as wide as the intervals of its leaderboard. Of a Gaussian they come in pairs on either
side of the mean, which is therefore the board's own, and take no draws of the annotators, who may be many. Where the
votes leave open which end of the ranking is the top, a share ``fit.mirror_probability`` of the draws is reversed:
certainty about a leader requires certainty about the direction.
"""

from __future__ import annotations

from weakref import WeakKeyDictionary

import numpy as np

from bayes_arena.arrays import Floats
from bayes_arena.errors import NotIdentifiedError
from bayes_arena.fits.result import Fit
from bayes_arena.ratings.intervals.laplace import Laplace
from bayes_arena.ratings.intervals.names import drawn_by, resolve_interval

PAIRS = 2000
"""Pairs of draws from a Gaussian."""
_DRAWN: WeakKeyDictionary[Fit, Floats] = WeakKeyDictionary()
"""Draws of the fits that still exist, which every decision needs."""


def decision_strengths(fit: Fit) -> Floats:
    """Return draws of r* in logits, some negated where the direction is open, (n_draws, n_competitors), read-only.

    Raises
    ------
    NotIdentifiedError
        If, under a flat prior, there is no finite estimate, or some competitors were never compared, not even through
        others.
    """
    if fit not in _DRAWN:
        strength = _strengths(fit)
        strength[: round((fit.mirror_probability or 0.0) * len(strength))] *= -1
        strength.flags.writeable = False
        _DRAWN[fit] = strength
    return _DRAWN[fit]


def _strengths(fit: Fit) -> Floats:
    """Return draws of r*, the right way up."""
    unconnected = np.isinf(fit.target.strength_sd) and fit.cells.components.any()
    if fit.mode.at_infinity or unconnected:
        raise NotIdentifiedError(
            "Nothing can be decided from an estimate that the votes do not determine: "
            f"{' '.join(fit.warnings)} Use prior='default'."
        )
    interval = resolve_interval(None, fit)
    is_gaussian = fit.samples is None and isinstance(interval, Laplace)
    covariance = fit.board_covariance if is_gaussian else None
    if covariance is None:
        return drawn_by(interval, fit, None)[0].elo_strength.copy()
    values, vectors = np.linalg.eigh(covariance)
    root = vectors * np.sqrt(np.maximum(values, 0.0)) @ vectors.T
    deviation = np.random.default_rng(0).normal(size=(PAIRS, len(root))) @ root
    return np.asarray(fit.board + np.stack([deviation, -deviation], axis=1).reshape(2 * PAIRS, -1))


def best_probabilities(strength: Floats) -> Floats:
    """Return the share of draws (n_draws, n) in which each competitor is the best, shape (n,)."""
    size, n = strength.shape
    return np.asarray(np.bincount(strength.argmax(axis=1), minlength=n) / size)


def rank_shares(strength: Floats) -> Floats:
    """Return the share of draws (n_draws, n) in which each competitor takes each rank, shape (n, n).

    Rows are competitors, columns ranks from the first. A competitor tied for several ranks gets an equal share of each.
    """
    from scipy.stats import rankdata  # slow to import

    size, n = strength.shape
    first, last = (rankdata(-strength, method, axis=1).astype(int) for method in ("min", "max"))
    part, row = 1 / (last - first + 1), np.arange(n) * (n + 1)
    gains, ends = (
        np.bincount((row + place).ravel(), part.ravel(), minlength=n * (n + 1)).reshape(n, n + 1)
        for place in (first - 1, last)
    )
    return np.asarray((gains - ends).cumsum(axis=1)[:, :n] / size)
