"""Draws from a posterior."""

from __future__ import annotations

from bayes_arena.arrays import Floats
from bayes_arena.fits.marginals import by_effect
from bayes_arena.fits.result import Fit, require_fit


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
    require_fit(fit)
    draws = by_effect(fit.posterior, fit.marginals.draws(size, seed))
    if "discrimination" in draws:
        draws["discrimination"] = 1 + draws["discrimination"]
    return draws
