"""The draws of the strengths on which decisions are based.

They are draws of r*, the strengths on the common scale, in logits, for the estimand of the fit's rankings
(:meth:`~bayes_arena.Fit.on`), as wide as the intervals of its leaderboard. Of a Gaussian they come in pairs on either
side of the mean, which is therefore the board's own, and take no draws of the annotators, who may be many. Where the
votes leave open which end of the ranking is the top, a share ``fit.mirror_probability`` of the draws is reversed:
certainty about a leader requires certainty about the direction.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import scipy

from bayes_arena.arrays import Floats
from bayes_arena.errors import NotIdentifiedError
from bayes_arena.fits.draws import Draws
from bayes_arena.fits.result import Fit
from bayes_arena.ratings.intervals.contract import Interval
from bayes_arena.ratings.intervals.laplace import Laplace
from bayes_arena.ratings.intervals.names import drawn_by, resolve_interval
from bayes_arena.threads import one_thread

PAIRS = 2000
"""Pairs of draws from a Gaussian."""
_DRAWN: WeakKeyDictionary[Fit, Floats] = WeakKeyDictionary()
"""Draws of the fits that still exist, which every decision needs."""


def decision_strengths(fit: Fit) -> Floats:
    """Return draws of r* in logits, some negated where the direction is open, (n_draws, n_competitors), read-only.

    An estimate that is not determined, under a flat prior, is a NotIdentifiedError.
    """
    if fit not in _DRAWN:
        _require_determined(fit)
        drawn = _turned(fit, drawn_strengths(None, fit, None)[0])
        drawn.flags.writeable = False
        _DRAWN[fit] = drawn
    return _DRAWN[fit]


def drawn_strengths(interval: Interval | str | None, fit: Fit, draws: Draws | None) -> tuple[Floats, dict[str, Any]]:
    """Return draws of r*, the right way up, and the ``attrs`` of a table made from them, as ``drawn_by`` does."""
    chosen = resolve_interval(interval, fit)
    is_gaussian = draws is None and fit.samples is None and isinstance(chosen, Laplace)
    covariance = fit.board_covariance if is_gaussian else None
    if covariance is None:
        drawn, about = drawn_by(interval, fit, draws)
        return drawn.elo_strength, about
    return fit.board + _deviations(covariance, fit.board), {**chosen.about(fit), **fit.about}


def joint_strengths(rankings: Sequence[Fit]) -> Floats:
    """Return such draws of several rankings of one fit, of the same parameters each, (n_rankings, n_draws, n)."""
    fit = rankings[0]
    _require_determined(fit)
    if fit.samples is not None:
        return np.array([_turned(fit, one.samples.elo_strength) for one in rankings if one.samples])
    projections = [one.projection for one in rankings]
    by_head, own = (
        np.concatenate(each) for each in zip(*((one.by_head[:], one.own) for one in projections), strict=True)
    )
    by_mean = scipy.linalg.block_diag(*(one.by_mean[:] for one in projections))
    with one_thread():
        covariance = fit.laplace.covariance(by_head, own)
    covariance += by_mean * np.concatenate([one.view.unseen for one in rankings]) @ by_mean.T
    boards = np.array([one.board for one in rankings])
    drawn = boards.ravel() + _deviations(covariance, boards)
    return _turned(fit, drawn.reshape(len(drawn), len(rankings), -1).swapaxes(0, 1))


def _turned(fit: Fit, strength: Floats) -> Floats:
    """Return draws (..., n_draws, n) of which the share is negated that the votes leave open, in whole pairs."""
    sign = np.ones((strength.shape[-2], 1))
    sign[: 2 * round((fit.mirror_probability or 0.0) * len(sign) / 2)] = -1.0
    return sign * strength


def _deviations(covariance: Floats, boards: Floats) -> Floats:
    """Return draws of this covariance around zero, in pairs of opposite sign.

    Which random numbers a competitor gets follows from its place on its board, not from its name.
    """
    values, vectors = np.linalg.eigh(covariance)
    root = vectors * np.sqrt(np.maximum(values, 0.0)) @ vectors.T
    place = boards.argsort(axis=-1).argsort(axis=-1)
    place += np.arange(0, len(root), boards.shape[-1]).reshape((*boards.shape[:-1], 1))
    half = np.random.default_rng(0).normal(size=(PAIRS, len(root)))[:, place.ravel()] @ root
    return np.stack([half, -half], axis=1).reshape(2 * PAIRS, -1)


def _require_determined(fit: Fit) -> None:
    """Refuse a flat prior's estimate that is infinite or not unique."""
    unconnected = np.isinf(fit.target.strength_sd) and fit.cells.components.any()
    if fit.mode.at_infinity or unconnected:
        raise NotIdentifiedError(
            "Nothing can be decided from an estimate that the votes do not determine: "
            f"{' '.join(fit.warnings)} Use prior='default'."
        )


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
