"""Draws from the posterior, whatever route it came by.

Tables that need more than a mean and a standard deviation read draws. A fit by ``"map"`` or ``"marginal"`` draws from
its Gaussian approximation on the plane of the constraints.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bayes_arena.cells import Floats
from bayes_arena.elo import project
from bayes_arena.result import Fit

DEFAULT_DRAWS = 4000


@dataclass(frozen=True, eq=False)
class Draws:
    """Draws of all parameters of a model.

    Attributes
    ----------
    strength : ndarray, shape (n_draws, n_competitors)
        r in logits.
    elo_strength : ndarray, shape (n_draws, n_competitors)
        r*, on the scale that all models share, in logits.
    common : ndarray, shape (n_draws, c)
        What annotators have in common.
    own : ndarray, shape (n_draws, n_annotators, q)
        The annotators' numbers.
    """

    strength: Floats
    elo_strength: Floats
    common: Floats
    own: Floats


def draw(fit: Fit, *, size: int = DEFAULT_DRAWS, seed: int = 0) -> Draws:
    """Draw from the posterior of a fit.

    Parameters
    ----------
    fit : Fit
        A fitted model.
    size : int
        Number of draws.
    seed : int
        The same seed gives the same draws.

    Returns
    -------
    Draws
    """
    n = fit.cells.n_competitors
    head, own = fit.laplace.factor.draw(np.random.default_rng(seed), size)
    strength = head[:, :n]
    head[:, :n] = strength - (strength @ fit.laplace.shifts) @ fit.laplace.shifts.T
    projection = project(fit.model, fit.target, fit.point, fit.cells.votes_by_annotator())
    shift = head @ projection.by_head.T + own.reshape(size, -1) @ projection.by_own.reshape(n, -1).T
    return Draws(
        strength=fit.strength + head[:, :n],
        elo_strength=projection.strength + shift,
        common=fit.point.common + head[:, n:],
        own=fit.point.own + own,
    )
