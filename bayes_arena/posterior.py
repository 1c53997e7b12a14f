"""Draws from the posterior, whatever route it came by.

Tables that need more than a mean and a standard deviation read draws. A fit by ``"nuts"`` carries them; one by
``"map"`` or ``"marginal"`` draws from its Gaussian approximation on the plane of the constraints.
"""

from __future__ import annotations

import numpy as np

from bayes_arena.cells import Floats
from bayes_arena.projection import project
from bayes_arena.result import Draws, Fit

DEFAULT_DRAWS = 4000


def draw(fit: Fit, *, size: int = DEFAULT_DRAWS, seed: int = 0) -> Draws:
    """Draw from the posterior of a fit.

    Parameters
    ----------
    fit : Fit
        A fitted model.
    size : int
        Number of draws from a Gaussian approximation; a sampled fit returns all it has.
    seed : int
        The same seed gives the same draws.

    Returns
    -------
    Draws
    """
    if fit.samples is not None:
        return fit.samples
    strength, common, own = draw_parameters(fit, size=size, seed=seed)
    n = fit.cells.n_competitors
    projection = project(fit.model, fit.target, fit.point, fit.cells.votes_by_annotator())
    head = np.column_stack([strength, common]) - fit.point.head
    moved = (own - fit.point.own).reshape(len(own), -1)
    shift = head @ projection.by_head.T + moved @ projection.by_own.reshape(n, -1).T
    return Draws(strength=strength, elo_strength=projection.strength + shift, common=common, own=own)


def draw_parameters(fit: Fit, *, size: int = DEFAULT_DRAWS, seed: int = 0) -> tuple[Floats, Floats, Floats]:
    """Draw strengths, common numbers and annotators' numbers, as :func:`draw` does, without the Elo scale's r*."""
    if fit.samples is not None:
        return fit.samples.strength, fit.samples.common, fit.samples.own
    n = fit.cells.n_competitors
    head, own = fit.laplace.factor.draw(np.random.default_rng(seed), size)
    strength = head[:, :n]
    strength = strength - (strength @ fit.laplace.shifts) @ fit.laplace.shifts.T
    return fit.strength + strength, fit.point.common + head[:, n:], fit.point.own + own
