"""Which interval a table shows, and its two bounds.

==============  ====================================================================================================
``laplace``     Gaussian, variance by the delta method from the inverse Hessian; quantiles of the draws of a sampled
                fit
``profile``     where the profile likelihood falls by half a chi-squared quantile (theta = 1 only)
``sandwich``    Gaussian, variance from the scores of the votes, taken as independent
``clustered``   the same from the scores summed by cluster, with quantiles of Student's t for G - 1 degrees of freedom
``bootstrap``   quantiles of fits to votes drawn with replacement
==============  ====================================================================================================

The last three (:mod:`bayes_arena.ratings.intervals.robust`, :mod:`bayes_arena.ratings.intervals.bootstrap`) are for
point estimates (``method="map"``).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from statistics import NormalDist
from typing import Literal, get_args

import numpy as np
from scipy.special import stdtr, stdtrit

from bayes_arena.arrays import Floats
from bayes_arena.errors import ModelError
from bayes_arena.fits.result import Draws, Fit
from bayes_arena.ratings.intervals.bootstrap import bootstrap
from bayes_arena.ratings.intervals.profile import profile_interval
from bayes_arena.ratings.intervals.robust import clustered_variance, sandwich_variance

HIGHEST_LEVEL = 1 - 1e-9
Interval = Literal["laplace", "profile", "sandwich", "clustered", "bootstrap"]


@dataclass(frozen=True, eq=False)
class Quantity:
    """Functions of the parameters.

    Attributes
    ----------
    value : ndarray, shape (m,)
        Their values at the mode.
    by_head : ndarray, shape (m, n) or (m, h)
        Jacobian by the strengths, or by strengths and common numbers.
    by_own : ndarray, shape (m, M, q), or None
        Jacobian by the annotators' numbers; None for zero.
    drawn : callable
        Their values, shape (n_draws, m), under draws of the parameters.
    """

    value: Floats
    by_head: Floats
    by_own: Floats | None
    drawn: Callable[[Draws], Floats]


@dataclass(frozen=True, eq=False)
class Summary:
    """Estimates of functions of the parameters.

    Attributes
    ----------
    value, sd, lower, upper : ndarray, shape (m,)
        Estimates (posterior means, where sampled), standard deviations and bounds.
    freedom : float
        Degrees of freedom of the standard deviations.
    """

    value: Floats
    sd: Floats
    lower: Floats
    upper: Floats
    freedom: float = math.inf

    @property
    def z(self) -> Floats:
        """Wald's statistic against zero, shape (m,); NaN for what has no error."""
        return np.divide(self.value, self.sd, out=np.full_like(self.sd, np.nan), where=self.sd > 0)

    @property
    def p(self) -> Floats:
        """Its two-sided p-value, shape (m,)."""
        return np.asarray(2 * stdtr(self.freedom, -np.abs(self.z)))


def summarise(fit: Fit, quantity: Quantity, *, level: float, interval: Interval, resamples: int, seed: int) -> Summary:
    """Estimate functions of the parameters, with intervals.

    Parameters
    ----------
    fit : Fit
        A fitted model.
    quantity : Quantity
        What to estimate.
    level : float
        Coverage of the intervals.
    interval : str
        One of the table above.
    resamples, seed : int
        Of the bootstrap.

    Returns
    -------
    Summary
        The standard deviations are those of the interval (of ``laplace`` for a profile, which has none).

    Raises
    ------
    ModelError
        If the level is not possible, or the interval is not for this fit.
    ConvergenceError
        If the end of a profile-likelihood interval is not found.
    NotIdentifiedError
        If the estimate has no robust interval.
    """
    half, freedom = half_width(level), math.inf
    if interval not in get_args(Interval):
        raise ModelError(f"Unknown interval {interval!r}. Use one of {', '.join(get_args(Interval))}.")
    if fit.samples is not None:
        if interval != "laplace":
            raise ModelError(f"A sampled fit has intervals by quantiles, not {interval!r}. Use method='map' for those.")
        drawn = quantity.drawn(fit.samples)
        return Summary(drawn.mean(axis=0), drawn.std(axis=0, ddof=1), *equal_tailed(drawn, level))
    if interval == "bootstrap":
        drawn = quantity.drawn(bootstrap(fit, resamples=resamples, seed=seed))
        return Summary(quantity.value, drawn.std(axis=0, ddof=1), *equal_tailed(drawn, level))
    if interval == "sandwich":
        variance = sandwich_variance(fit, quantity.by_head, quantity.by_own)
    elif interval == "clustered":
        variance, clusters = clustered_variance(fit, quantity.by_head, quantity.by_own)
        freedom = float(clusters - 1)
        half = float(stdtrit(freedom, 0.5 + level / 2))
    else:
        variance = fit.laplace.variance(quantity.by_head, quantity.by_own)
    sd = np.sqrt(np.maximum(variance, 0.0))
    if interval == "profile":
        return Summary(quantity.value, sd, *_profile(fit, quantity.by_head, level))
    return Summary(quantity.value, sd, quantity.value - half * sd, quantity.value + half * sd, freedom)


def require_level(level: float) -> None:
    """Refuse a level of an interval that is not strictly between 0 and 1.

    Raises
    ------
    ModelError
        If it is not.
    """
    if not 0 < level <= HIGHEST_LEVEL:
        raise ModelError(f"The level of an interval lies between 0 and 1 (at most {HIGHEST_LEVEL}), not {level!r}.")


def half_width(level: float) -> float:
    """Half-width of a Gaussian interval in standard deviations; a ModelError as by :func:`require_level`."""
    require_level(level)
    return NormalDist().inv_cdf(0.5 + level / 2)


def equal_tailed(drawn: np.ndarray, level: float, *, discrete: bool = False) -> np.ndarray:
    """Equal-tailed interval of draws.

    Parameters
    ----------
    drawn : ndarray, shape (n_draws, ...)
        Draws.
    level : float
        Share of the draws between the bounds.
    discrete : bool
        The draws are ranks or counts: a bound is one of them, nothing in between.

    Returns
    -------
    ndarray, shape (2, ...)
        Lower and upper bound.
    """
    tails = [0.5 - level / 2, 0.5 + level / 2]
    return np.asarray(np.quantile(drawn, tails, axis=0, method="inverted_cdf" if discrete else "linear"))


def _profile(fit: Fit, by_strength: Floats, level: float) -> Floats:
    """Profile-likelihood intervals of functions linear in r, shape (2, m)."""
    target, shifts = fit.target, fit.laplace.shifts
    if target.common or target.own:
        raise ModelError(f"Profile-likelihood intervals are for models of strengths alone, not {fit.model.name!r}.")
    contrasts = by_strength - (by_strength @ shifts) @ shifts.T
    ends = [
        profile_interval(target, fit.strength, fit.laplace, contrast, level) if contrast.any() else (0.0, 0.0)
        for contrast in contrasts
    ]
    return np.array(ends).T
