"""Draws from the posterior of a fit, whatever method it was fitted by.

Tables that need more than a mean and a standard deviation read draws. A fit by ``"nuts"`` has them; for one by
``"map"`` or ``"marginal"`` they come from its Gaussian approximation, within the constraints.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

import numpy as np

from bayes_arena.algebra.factorising import DenseFactor
from bayes_arena.algebra.units import batches_of
from bayes_arena.arrays import Floats, Ints
from bayes_arena.errors import ModelError, require_draws
from bayes_arena.fits.arguments import held
from bayes_arena.fits.draws import Draws, viewed
from bayes_arena.fits.result import Fit

DEFAULT_DRAWS, FEWEST_DRAWS = 4000, 500
LARGEST = 100_000_000
"""Most parameters of slices times draws by default: where 4000 draws would be more, there are fewer."""
LARGEST_BOARD = 20_000_000
"""The same for the strengths of many competitors."""


def require_proper(fit: Fit, what: str) -> None:
    """Refuse to draw where a spread of the prior is infinite."""
    if not fit.target.is_proper:
        raise ModelError(f"{what} needs draws from a posterior, which a flat prior lacks. Use prior='default'.")


@held
def draw(fit: Fit, *, size: int | None = None, seed: int = 0) -> Draws:
    """Draw from the posterior of a fit.

    Parameters
    ----------
    fit : Fit
        A fitted model.
    size : int, optional
        Number of draws from a Gaussian approximation, 4000 by default (fewer, but at least 500, if 4000 draws would
        hold more than 100 million parameters of slices or 20 million strengths); a sampled fit returns all it has.
    seed : int
        The same seed gives the same draws.

    Returns
    -------
    Draws
    """
    if fit.samples is not None:
        return fit.samples
    if size is None:
        size = _usual_size(fit)
    return with_elo(fit, *draw_parameters(fit, size=size, seed=seed))


def _usual_size(fit: Fit) -> int:
    """Return the default number of draws of a fit."""
    most = min(LARGEST // max(len(fit.point.slices), 1), LARGEST_BOARD // len(fit.strength))
    return max(FEWEST_DRAWS, min(DEFAULT_DRAWS, most))


def draw_without_annotators(fit: Fit, *, size: int | None = None) -> Draws:
    """Draw as :func:`draw` does, but only strengths and common parameters unless the fit is sampled or has slices.

    The average annotator needs no more, and annotators may be many: their parameters, and so r*, are left empty.
    """
    if fit.samples is not None or fit.target.slices:
        return draw(fit, size=size)
    strength, common, _ = draw_in_parts(fit, size=size or _usual_size(fit))
    return Draws(strength, strength[:, :0], common, np.zeros((len(strength), 0, 0)))


def with_elo(fit: Fit, strength: Floats, common: Floats, own: Floats, slices: Floats | None = None) -> Draws:
    """Add the Elo scale's r* to draws of the parameters, to first order around the estimate."""
    slices = np.tile(fit.point.slices, (len(strength), 1)) if slices is None else slices
    return viewed(fit.projection, fit.point, fit.view, strength, common, own, slices)


def draw_parameters(fit: Fit, *, size: int = DEFAULT_DRAWS, seed: int = 0) -> tuple[Floats, Floats, Floats, Floats]:
    """Draw strengths, common, annotators' and slices' parameters as :func:`draw` does, without the Elo scale's r*."""
    if fit.samples is None and fit.target.slices:
        require_draws(size, seed)
        n, c = fit.cells.n_competitors, fit.cells.n_competitors + len(fit.point.common)
        head, own = cast(DenseFactor, fit.laplace.factor).draw(np.random.default_rng(seed), size)
        strength = head[:, :n] - (head[:, :n] @ fit.laplace.shifts) @ fit.laplace.shifts.T
        common, slices = fit.point.common + head[:, n:c], fit.point.slices + head[:, c:]
        return fit.strength + strength, common, fit.point.own + own, slices
    strength, common, parts = draw_in_parts(fit, size=size, seed=seed)
    own = np.empty((len(strength), *fit.point.own.shape))
    for part, drawn in parts:
        own[:, part] = drawn
    slices = np.zeros((len(strength), 0)) if fit.samples is None else fit.samples.slices
    return strength, common, own, slices


def draw_in_parts(
    fit: Fit, *, size: int, seed: int = 0, of: Ints | None = None
) -> tuple[Floats, Floats, Iterator[tuple[Ints, Floats]]]:
    """Draw from the posterior as :func:`draw_parameters` does, in batches of annotators, without slices.

    With slices the draws differ from those of :func:`draw_parameters`.

    Parameters
    ----------
    fit : Fit
    size, seed : int
    of : ndarray of int, optional
        Only these annotators, in order. The draws then differ from those of :func:`draw_parameters`.

    Returns
    -------
    strength, common : ndarray, shapes (size, n_competitors) and (size, c)
    parts : iterator
        Indices of annotators, and draws of their parameters (size, m, q).
    """
    if fit.samples is not None:
        drawn = fit.samples.own
        parts = ((part, drawn[:, part]) for part in batches_of(len(drawn), drawn.shape[1], of))
        return fit.samples.strength, fit.samples.common, parts
    require_draws(size, seed)
    n, c = fit.cells.n_competitors, fit.cells.n_competitors + len(fit.point.common)
    factor, rng = fit.laplace.factor, np.random.default_rng(seed)
    head = factor.draw_head(rng, size)
    parts = ((part, fit.point.own[part] + own) for part, own in factor.draw_own(rng, head, of=of))
    strength = head[:, :n] - (head[:, :n] @ fit.laplace.shifts) @ fit.laplace.shifts.T
    return fit.strength + strength, fit.point.common + head[:, n:c], parts
