"""Spreads estimated from the votes: empirical Bayes by the Laplace evidence.

For a spread sigma of M numbers with zero sum, posterior mode l and posterior variances V, the Laplace evidence times
the half-normal hyperprior of scale s, as a density of ln sigma, has no slope where

    sigma^4 / s^2 + (gamma - 1) sigma^2 - sum l^2 = 0,      gamma = (M - 1) - sum V / sigma^2,

gamma being the number of directions that the votes, not the prior, determine (MacKay, 1992). As a density of ln sigma
it vanishes at sigma = 0, so few votes leave a spread near s rather than pretend that all annotators are alike (Chung et
al., 2013). Each round finds the mode from the one before, then solves this for every spread; a spread that begins to
swing takes shorter steps.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from scipy.special import expit

from bayes_arena.cells import Cells, Floats
from bayes_arena.errors import ConvergenceError
from bayes_arena.point import Mode, find_mode
from bayes_arena.priors import Prior
from bayes_arena.specification import Model

MAX_ROUNDS = 200
MAX_PASSES = 3
SAME_MODE = 1e-6
"""Nats by which two modes may differ and still be one."""
TOLERANCE = 1e-3
"""Largest relative change of a spread at which the rounds stop."""
SMALLEST = 0.01
"""Spreads below this are held here: they no longer matter, and rounds approach zero ever more slowly."""

SPREAD_OF = {"discrimination": "discrimination", "tie_propensity": "tie_spread", "position": "position_spread"}
"""Name of a prior's spread, by the name of the annotators' parameter."""


def estimate_spreads(cells: Cells, model: Model, prior: Prior) -> tuple[Prior, Mode]:
    """Estimate the spreads of a prior, and find the mode under them.

    Parameters
    ----------
    cells : Cells
        Votes.
    model : Model
    prior : Prior
        Start and hyperpriors (``hyper`` is not None).

    Returns
    -------
    prior : Prior
        The same with estimated spreads.
    mode : Mode
        The mode under it.

    Raises
    ------
    ConvergenceError
        If the spreads do not settle.

    References
    ----------
    MacKay, D. J. C. (1992), "Bayesian interpolation", Neural Computation 4. Chung, Y. et al. (2013), "A nondegenerate
    penalized likelihood estimator for variance parameters in multilevel models", Psychometrika 78.
    """
    mode = find_mode(cells, model, prior, thorough=False)
    for _ in range(MAX_PASSES):
        prior, mode = _settle(cells, model, prior, mode)
        best = find_mode(cells, model, prior)
        if best.target.value(best.point) > mode.target.value(mode.point) - SAME_MODE:
            break
        mode = best  # another mode is better: its spreads differ
    return _settle_direction(cells, model, prior, best)


def _settle_direction(cells: Cells, model: Model, prior: Prior, best: Mode) -> tuple[Prior, Mode]:
    """Give the mode with the reversed ranking spreads of its own, and return the direction with more evidence."""
    if best.mirror is None:
        return prior, best
    other_prior, other = _settle(cells, model, prior, find_mode(cells, model, prior, start=best.mirror))
    if other.point.strength @ best.point.strength > 0:
        return prior, best  # at those spreads it is no mode any more
    odds = _log_evidence(other_prior, other) - _log_evidence(prior, best)
    if odds > 0:
        prior, best, odds = other_prior, other, -odds
    return prior, replace(best, mirror_probability=float(expit(odds)))


def _log_evidence(prior: Prior, mode: Mode) -> float:
    """Logarithm of the Laplace evidence times the hyperprior as a density of ln sigma, up to a constant."""
    evidence = -mode.target.value(mode.point) - 0.5 * mode.laplace.log_determinant
    sizes = {"strength": len(mode.point.strength)}
    sizes |= {SPREAD_OF[term.name]: mode.target.n_annotators for term in mode.target.own}
    for name, size in sizes.items():
        spread = getattr(prior, name)
        evidence -= (size - 2) * math.log(spread) + 0.5 * (spread / getattr(prior.hyper, name)) ** 2
    return evidence


def _settle(cells: Cells, model: Model, prior: Prior, mode: Mode) -> tuple[Prior, Mode]:
    """Alternate between spreads and mode until the spreads stand still."""
    names = ["strength", *(SPREAD_OF[term.name] for term in mode.target.own)]
    logs = np.log([getattr(prior, name) for name in names])
    last, stride = np.zeros(len(names)), np.ones(len(names))
    for _ in range(MAX_ROUNDS):
        change = _proposal(prior, names, mode) - logs
        stride = np.where(change * last < 0, 0.5 * stride, np.minimum(1.2 * stride, 1.0))
        logs, last = logs + stride * change, change
        prior = replace(prior, **dict(zip(names, np.exp(logs).tolist(), strict=True)))
        mode = find_mode(cells, model, prior, start=mode.point)
        if np.abs(change).max() < TOLERANCE:
            return prior, mode
    raise ConvergenceError(
        f"The spreads of the prior did not settle in {MAX_ROUNDS} rounds (last change {np.abs(change).max():.1%}). "
        "Fix them with a Prior whose hyper is None, or use method='map'."
    )


def information(prior: Prior, mode: Mode) -> dict[str, float]:
    """Say how precisely the votes alone determine a single number of each kind.

    Parameters
    ----------
    prior : Prior
        With estimated spreads.
    mode : Mode
        The mode under it.

    Returns
    -------
    dict of str to float
        By name of the spread: (M - 1) / sum V - 1 / sigma^2, the mean posterior precision without that of the prior.
    """
    variances = _total_variances(mode)
    sizes = [len(mode.point.strength) - 1, *[mode.target.n_annotators - 1] * len(mode.target.own)]
    precisions = (size / total for size, total in zip(sizes, variances.values(), strict=True))
    pairs = zip(variances, precisions, strict=True)
    return {name: max(precision - getattr(prior, name) ** -2, 0.0) for name, precision in pairs}


def _total_variances(mode: Mode) -> dict[str, float]:
    """Sum of the posterior variances V, by name of the spread."""
    names = ["strength", *(SPREAD_OF[term.name] for term in mode.target.own)]
    totals = [np.trace(mode.laplace.strength_covariance()), *np.einsum("mqq->q", mode.laplace.own_covariance())]
    return dict(zip(names, map(float, totals), strict=True))


def _proposal(prior: Prior, names: list[str], mode: Mode) -> Floats:
    """Logarithms of the spreads that solve the equation of the module at the present mode and variances."""
    deviations = [mode.point.strength, *(mode.point.own - [term.mean for term in mode.target.own]).T]
    variances = _total_variances(mode)
    return np.log([spread_of(prior, name, one, variances[name]) for name, one in zip(names, deviations, strict=True)])


def spread_of(prior: Prior, name: str, deviations: Floats, variance: float) -> float:
    """Solve the equation of the module for one spread.

    Parameters
    ----------
    prior : Prior
        The spread before, and its hyperprior.
    name : str
        Which spread.
    deviations : ndarray, shape (M,)
        Mode of the numbers, less their prior mean.
    variance : float
        Sum of their posterior variances.
    """
    scale = getattr(prior.hyper, name)
    old = getattr(prior, name)
    excess = max(len(deviations) - 1 - variance / old**2, 0.0) - 1
    total = float(deviations @ deviations)
    squared = 0.5 * scale**2 * (math.sqrt(excess**2 + 4 * total / scale**2) - excess)
    return max(math.sqrt(squared), SMALLEST)
