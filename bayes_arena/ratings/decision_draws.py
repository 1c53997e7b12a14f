"""The draws of the strengths on which decisions are based.

They are draws of r*, the strengths on the common scale, in logits, for the estimand of the fit's rankings
(:meth:`~bayes_arena.Fit.on`). They are as wide as the intervals of its leaderboard: clustered by annotator where
annotators cannot be judged. Where the votes leave open which end of the ranking is the top, a share
``fit.mirror_probability`` of the draws is reversed: certainty about a leader requires certainty about the direction.
"""

from __future__ import annotations

from dataclasses import replace
from weakref import WeakKeyDictionary

import numpy as np

from bayes_arena.arrays import Floats
from bayes_arena.errors import NotIdentifiedError
from bayes_arena.fits.draws import Draws
from bayes_arena.fits.result import Fit
from bayes_arena.ratings.intervals.names import drawn_by

_DRAWN: WeakKeyDictionary[Fit, Floats] = WeakKeyDictionary()
"""Draws of the fits that still exist: every decision needs them, and with many annotators they take long."""


def decision_strengths(fit: Fit) -> Floats:
    """Return draws of r* in logits, shape (n_draws, n_competitors), read-only.

    Raises
    ------
    NotIdentifiedError
        As :func:`draws_for_decisions` does.
    """
    if fit not in _DRAWN:
        _DRAWN[fit] = draws_for_decisions(fit).elo_strength.view()
        _DRAWN[fit].flags.writeable = False
    return _DRAWN[fit]


def draws_for_decisions(fit: Fit) -> Draws:
    """Return the draws, some with r* negated where the direction of the ranking is open.

    Raises
    ------
    NotIdentifiedError
        If, under a flat prior, there is no finite estimate, or some competitors were never compared, not even through
        others.
    """
    unconnected = np.isinf(fit.target.strength_sd) and fit.cells.components.any()
    if fit.mode.at_infinity or unconnected:
        raise NotIdentifiedError(
            "Nothing can be decided from an estimate that the votes do not determine: "
            f"{' '.join(fit.warnings)} Use prior='default'."
        )
    draws = drawn_by(None, fit, None)[0]
    upside_down = round((fit.mirror_probability or 0.0) * len(draws.elo_strength))
    if not upside_down:
        return draws
    strength = draws.elo_strength.copy()
    strength[:upside_down] *= -1
    return replace(draws, elo_strength=strength)


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
