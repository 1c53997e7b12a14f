"""What a table asks of an interval, and what the interval returns.

A table asks either for bounds on functions of the parameters (it passes a :class:`Quantity` and gets a
:class:`Summary`), or for draws of the parameters, from which it computes what it shows. An interval is a frozen object
that supplies the first and, if it has draws, the second. A new one needs a file with a subclass of :class:`Interval`,
and a short form in :mod:`bayes_arena.ratings.intervals.names`.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import asdict, dataclass
from statistics import NormalDist
from typing import Any, ClassVar

import numpy as np
import scipy

from bayes_arena.algebra.own_jacobian import OwnJacobian
from bayes_arena.algebra.thin_jacobian import Jacobian
from bayes_arena.arrays import Columns, Floats
from bayes_arena.errors import ModelError, NotIdentifiedError, listing
from bayes_arena.fits.draws import Draws
from bayes_arena.fits.result import Fit
from bayes_arena.votes.names import TIME

HIGHEST_LEVEL = 1 - 1e-9


@dataclass(frozen=True, eq=False)
class Quantity:
    """Functions of the parameters.

    Attributes
    ----------
    value : ndarray, shape (m,)
        Their values at the mode.
    by_head : ndarray or ThinJacobian, shape (m, n) or (m, h)
        Jacobian with respect to strengths, or to strengths, common effects and effects of slices.
    by_own : OwnJacobian, shape (m, M, q), or None
        Jacobian with respect to the annotators' parameters; None for zero.
    drawn : callable
        Returns their values, shape (n_draws, m), under draws of the parameters.
    more_variance : ndarray, shape (m,), or 0
        Additional variance from effects that no vote informs.
    covariance : ndarray, shape (m, m), or None
        Their covariance in the posterior, that included, where it is known.
    """

    value: Floats
    by_head: Jacobian
    by_own: OwnJacobian | None
    drawn: Callable[[Draws], Floats]
    more_variance: Floats | float = 0.0
    covariance: Floats | None = None


@dataclass(frozen=True, eq=False)
class Summary:
    """Estimates of functions of the parameters (posterior means, where sampled), with sd and bounds, shape (m,) each.

    ``freedom`` are the degrees of freedom of the standard deviations.
    """

    value: Floats
    sd: Floats
    lower: Floats
    upper: Floats
    freedom: float = math.inf

    @property
    def z(self) -> Floats:
        """Wald's statistic against zero, shape (m,); NaN where the standard deviation is zero."""
        return np.divide(self.value, self.sd, out=np.full_like(self.sd, np.nan), where=self.sd > 0)

    @property
    def p(self) -> Floats:
        """Its two-sided p-value, shape (m,)."""
        return np.asarray(2 * scipy.special.stdtr(self.freedom, -np.abs(self.z)))

    def columns(self, what: str) -> Columns:
        """Return the columns of a table of estimates, which are called ``what``."""
        tested = {what: self.value, "sd": self.sd, "z": self.z, "p": self.p}
        return tested | {"lower": self.lower, "upper": self.upper}


@dataclass(frozen=True)
class Interval(ABC):
    """A way of quantifying the uncertainty of an estimate.

    Attributes
    ----------
    name : str
        The short name, which stands for the object with default fields.
    """

    name: ClassVar[str]

    @abstractmethod
    def summarise(self, fit: Fit, quantity: Quantity, level: float) -> Summary:
        """Summarise functions of the parameters.

        Parameters
        ----------
        fit : Fit
            A fitted model.
        quantity : Quantity
            What to estimate.
        level : float
            Coverage of the bounds, between 0 and 1.

        Raises
        ------
        ModelError
            If the interval does not apply to this fit.
        NotIdentifiedError
            If the estimate has no such interval.
        """

    def sampled(self, fit: Fit) -> Fit:
        """Return the fit with draws of the parameters that have the interval's spread.

        Raises
        ------
        ModelError
            If the interval does not apply to this fit, or has no draws.
        NotIdentifiedError
            If the estimate has no such interval.
        """
        raise ModelError(
            f"This table needs draws of the parameters, and the interval {self.name!r} has none. Use 'laplace', "
            "'sandwich', 'clustered' or 'bootstrap'."
        )

    def about(self, fit: Fit) -> dict[str, Any]:
        """Return the interval and its fields, for the ``attrs`` of a table."""
        return {"interval": self.name} | {name: value for name, value in asdict(self).items() if value is not None}


def symmetric(value: Floats, variance: Floats, level: float, freedom: float = math.inf) -> Summary:
    """Return intervals from estimates and variances: Gaussian, or Student's t for finite degrees of freedom."""
    half = half_width(level) if math.isinf(freedom) else float(scipy.special.stdtrit(freedom, 0.5 + level / 2))
    sd = np.sqrt(np.maximum(variance, 0.0))
    return Summary(value, sd, value - half * sd, value + half * sd, freedom)


def require_point_estimate(fit: Fit, interval: str) -> None:
    """Refuse a fit by draws, one whose mode is not finite, or one that has slice parameters or directions.

    The votes' scores show only how well the parameters of the slices seen are known, not how much other slices would
    differ from them: intervals would be several times too narrow.
    """
    if fit.model.dimensions:
        raise ModelError(
            f"The interval {interval!r} is for models of one dimension, and {fit.model.name!r} has directions in which "
            "annotators disagree. Use 'laplace', or a Model with dimensions=0."
        )
    if fit.model.is_crossed:
        by = dict.fromkeys((*fit.model.strength_by, *fit.model.ties_by, *([TIME] if fit.model.drift else [])))
        raise ModelError(
            f"The interval {interval!r} is for models without slice parameters, and {fit.model.name!r} has them by "
            f"{listing(by)}. Use 'laplace', or a model without them: answers=False (--answers off), no groups or drift."
        )
    if fit.method not in ("map", "marginal"):
        raise ModelError(
            f"The interval {interval!r} is for point estimates; a fit by {fit.method!r} has the intervals of its "
            "posterior. Use method='map' (--method map)."
        )
    if fit.mode.at_infinity:
        raise NotIdentifiedError(
            f"There is no {interval!r} interval, as there is no finite maximum-likelihood estimate. Use "
            "prior='default'."
        )


def require_level(level: float) -> None:
    """Refuse a level that is not strictly between 0 and 1."""
    if not 0 < level <= HIGHEST_LEVEL:
        raise ModelError(f"The level of an interval must lie between 0 and 1 (at most {HIGHEST_LEVEL}), not {level!r}.")


def half_width(level: float) -> float:
    """Return the half-width of a Gaussian interval in standard deviations; raise as :func:`require_level` does."""
    require_level(level)
    return NormalDist().inv_cdf(0.5 + level / 2)


def equal_tailed(drawn: np.ndarray, level: float, *, discrete: bool = False) -> np.ndarray:
    """Return the lower and upper bound, shape (2, ...), between which a share of the draws (n_draws, ...) lies.

    Of ``discrete`` draws, ranks or counts, each bound is one of them, without interpolation.
    """
    tails = np.array([0.5 - level / 2, 0.5 + level / 2])
    if discrete:
        return np.asarray(np.quantile(drawn, tails, axis=0, method="inverted_cdf"))
    ordered, place = np.sort(drawn, axis=0), tails * (len(drawn) - 1)  # a tenth of the time that np.quantile takes
    below = np.floor(place).astype(np.int64)
    low, high = ordered[below], ordered[np.minimum(below + 1, len(drawn) - 1)]
    part, step = (place - below).reshape(-1, *[1] * (drawn.ndim - 1)), high - low
    return np.asarray(np.where(part < 0.5, low + step * part, high - step * (1 - part)))
