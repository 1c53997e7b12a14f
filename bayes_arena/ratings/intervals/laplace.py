"""The interval of the posterior itself: from the curvature at its mode, or from its draws where it was sampled."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from bayes_arena.algebra.sparse_bordered import SparseBorderedFactor
from bayes_arena.algebra.sparse_factor import SparseFactor
from bayes_arena.fits.result import Fit
from bayes_arena.ratings.intervals.contract import Interval, Quantity, Summary, equal_tailed, symmetric


@dataclass(frozen=True)
class Laplace(Interval):
    """Gaussian intervals by the delta method from the inverse Hessian; for a sampled fit, quantiles of its draws.

    Under a flat prior the inverse Hessian is the inverse observed Fisher information. This is the default, and the only
    interval that every fit has.

    Examples
    --------
    >>> table = leaderboard(fit(example_arena().votes), interval=Laplace())  # or interval="laplace"
    >>> table.attrs["interval"]
    'laplace'
    """

    name: ClassVar[str] = "laplace"

    def summarise(self, fit: Fit, quantity: Quantity, level: float) -> Summary:
        """Estimate functions of the parameters."""
        if fit.samples is None:
            if quantity.covariance is not None:
                return symmetric(quantity.value, quantity.covariance.diagonal(), level)
            variance = fit.laplace.variance(quantity.by_head, quantity.by_own) + quantity.more_variance
            return symmetric(quantity.value, variance, level)
        drawn = quantity.drawn(fit.samples)
        return Summary(drawn.mean(axis=0), drawn.std(axis=0, ddof=1), *equal_tailed(drawn, level))

    def sampled(self, fit: Fit) -> Fit:
        """Return the fit unchanged: it has draws, or tables draw from its Gaussian approximation."""
        return fit

    def about(self, fit: Fit) -> dict[str, Any]:
        """Return the interval, for the ``attrs`` of a table."""
        return {"interval": self.name if fit.samples is None else "quantiles"}


def error_of_sd(fit: Fit, interval: Interval) -> dict[str, float]:
    """Return the largest relative error of the competitors' standard deviations, where these are estimated."""
    factor, is_laplace = fit.laplace.factor, fit.samples is None and isinstance(interval, Laplace)
    if is_laplace and isinstance(factor, SparseFactor | SparseBorderedFactor):
        return {"sd_error": factor.variance_error}
    return {}
