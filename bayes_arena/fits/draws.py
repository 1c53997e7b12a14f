"""Draws from a posterior."""

from __future__ import annotations

import numpy as np

from bayes_arena.arrays import Floats
from bayes_arena.errors import ModelError, require_seed
from bayes_arena.fits.result import Fit, parameter_index, parameter_vectors
from bayes_arena.threads import threads_for


def draw(fit: Fit, size: int = 1000, seed: int = 0) -> dict[str, Floats]:
    """Draw parameters from the posterior of a fit.

    Parameters
    ----------
    fit : Fit
    size : int
        Number of draws.
    seed : int

    Returns
    -------
    dict of str to ndarray, shape (size, parameters)
        By effect, in logits: "strength"; "discrimination", the annotators' theta;
        "position", "tie" and others.  Samples of NUTS are drawn with replacement.

    Raises
    ------
    ModelError
        If the size is not positive, or the seed negative.
    """
    vectors = draw_vectors(fit, size, seed)
    draws = {}
    for block in fit.posterior.design.blocks:
        name = block.effect.name
        draws[name] = vectors[:, parameter_index(fit.posterior, name)]
    if "discrimination" in draws:
        draws["discrimination"] = 1 + draws["discrimination"]
    return draws


def draw_vectors(fit: Fit, size: int, seed: int) -> Floats:
    """Return draws of all parameters, (size, parameters)."""
    require_seed(seed)
    if size < 1:
        raise ModelError(f"The number of draws must be positive; not {size}.")
    if fit.samples is not None:
        vectors = parameter_vectors(fit.posterior, fit.samples)
        rows = np.random.default_rng(seed).integers(len(vectors), size=size)
        return vectors[rows]
    covariance = fit.posterior.covariance
    with threads_for(covariance.layout.width):
        deviations = covariance.draws(size, seed)
    return fit.posterior.mean + deviations.T


def board_draws(
    fit: Fit,
    size: int,
    seed: int = 0,
    *,
    covariance: Floats | None = None,
    df: float = np.inf,
) -> Floats:
    """Return draws of the strengths on the common scale, in logits, (size, competitors).

    Parameters
    ----------
    fit : Fit
    size, seed : int
    covariance : ndarray, shape (competitors, competitors), optional
        That of another kind of interval; by default the posterior's own.
    df : float
        Degrees of freedom of a multivariate t distribution; by default normal.
    """
    rng = np.random.default_rng(seed)
    if fit.samples is not None and covariance is None:
        rows = rng.integers(len(fit.board_samples), size=size)
        return fit.board_samples[rows]
    board = fit.board
    mask = fit.estimable
    if covariance is None:
        covariance = board.covariance
    with threads_for(len(mask)):
        # The strengths sum to zero, so their covariance is singular: it has a root by its
        # eigenvalues, and no factor of Cholesky's.
        values, vectors = np.linalg.eigh(covariance[np.ix_(mask, mask)])
        root = vectors * np.sqrt(np.maximum(values, 0.0))
        deviations = rng.normal(size=(size, len(values))) @ root.T
    if np.isfinite(df):
        # A t vector is a normal one over the root of a chi-square number by df.
        deviations *= np.sqrt(df / rng.chisquare(df, size))[:, None]
    draws = np.full((size, len(mask)), np.nan)
    draws[:, mask] = board.strength[mask] + deviations
    return draws
