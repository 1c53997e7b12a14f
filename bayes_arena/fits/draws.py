"""Draws from the posterior, whatever route it came by.

Tables that need more than a mean and a standard deviation read draws. A fit by ``"nuts"`` carries them; one by
``"map"`` or ``"marginal"`` draws from its Gaussian approximation on the plane of the constraints.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from bayes_arena.arrays import Floats
from bayes_arena.errors import ModelError, require_draws
from bayes_arena.fits.result import Draws, Fit, viewed
from bayes_arena.likelihood.algebra.arrow import DRAWN_AT_ONCE
from bayes_arena.likelihood.algebra.factor import CrossedFactor

DEFAULT_DRAWS, FEWEST_DRAWS = 4000, 500
LARGEST = 100_000_000
"""Numbers drawn by default: where slices have so many that 4000 draws are more, there are fewer draws."""


def require_proper(fit: Fit, what: str) -> None:
    """Refuse what is made of draws where a spread of the prior is infinite."""
    if not fit.target.is_proper:
        raise ModelError(f"{what} needs draws from a posterior, which a flat prior lacks. Use prior='default'.")


def draw(fit: Fit, *, size: int | None = None, seed: int = 0) -> Draws:
    """Draw from the posterior of a fit.

    Parameters
    ----------
    fit : Fit
        A fitted model.
    size : int, optional
        Number of draws from a Gaussian approximation, 4000 by default (no fewer than 500 where slices have so many
        numbers that 4000 draws would be more than 100 million); a sampled fit returns all it has.
    seed : int
        The same seed gives the same draws.

    Returns
    -------
    Draws
    """
    if fit.samples is not None:
        return fit.samples
    if size is None:
        size = max(FEWEST_DRAWS, min(DEFAULT_DRAWS, LARGEST // max(len(fit.point.slices), 1)))
    return with_elo(fit, *draw_parameters(fit, size=size, seed=seed))


def with_elo(fit: Fit, strength: Floats, common: Floats, own: Floats, slices: Floats | None = None) -> Draws:
    """Add the Elo scale's r* to draws of the parameters, to first order around the estimate."""
    slices = np.tile(fit.point.slices, (len(strength), 1)) if slices is None else slices
    return viewed(fit.mode.problem, fit.point, fit.view, strength, common, own, slices)


def draw_parameters(fit: Fit, *, size: int = DEFAULT_DRAWS, seed: int = 0) -> tuple[Floats, Floats, Floats, Floats]:
    """Draw strengths, common, annotators' and slices' numbers, as :func:`draw` does, without the Elo scale's r*."""
    if fit.samples is None and isinstance(fit.laplace.factor, CrossedFactor):
        require_draws(size, seed)
        n, c = fit.cells.n_competitors, fit.cells.n_competitors + len(fit.point.common)
        head, own = fit.laplace.factor.draw(np.random.default_rng(seed), size)
        strength = head[:, :n] - (head[:, :n] @ fit.laplace.shifts) @ fit.laplace.shifts.T
        common, slices = fit.point.common + head[:, n:c], fit.point.slices + head[:, c:]
        return fit.strength + strength, common, fit.point.own + own, slices
    strength, common, parts = draw_in_parts(fit, size=size, seed=seed)
    own = np.empty((len(strength), *fit.point.own.shape))
    for part, drawn in parts:
        own[:, part] = drawn
    slices = np.zeros((len(strength), 0)) if fit.samples is None else fit.samples.slices
    return strength, common, own, slices


def draw_in_parts(fit: Fit, *, size: int, seed: int = 0) -> tuple[Floats, Floats, Iterator[tuple[slice, Floats]]]:
    """Draw from the posterior as :func:`draw_parameters` does, some annotators at a time.

    Returns
    -------
    strength, common : ndarray, shapes (size, n_competitors) and (size, c)
    parts : iterator
        Which annotators, and draws of their numbers (size, m, q).
    """
    if fit.samples is not None or isinstance(fit.laplace.factor, CrossedFactor):
        samples = draw(fit, size=size, seed=seed)
        step = max(1, DRAWN_AT_ONCE // len(samples.strength))
        slices = [slice(first, first + step) for first in range(0, samples.own.shape[1], step)]
        return samples.strength, samples.common, ((part, samples.own[:, part]) for part in slices)
    require_draws(size, seed)
    n, factor, rng = fit.cells.n_competitors, fit.laplace.factor, np.random.default_rng(seed)
    head = factor.draw_head(rng, size)
    parts = ((part, fit.point.own[part] + own) for part, own in factor.draw_tail(rng, head))
    strength = head[:, :n] - (head[:, :n] @ fit.laplace.shifts) @ fit.laplace.shifts.T
    return fit.strength + strength, fit.point.common + head[:, n:], parts
