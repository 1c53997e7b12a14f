"""Whom to exclude: annotators flagged by the probability that they are anomalous, or by the paper's rule on theta.

Let A_k be the probability that annotator k is anomalous (:mod:`bayes_arena.reliability.anomaly`). A set of annotators
is flagged at the Bayesian false discovery rate q if the mean of 1 - A_k over it is at most q and no 1 - A_k in it, the
local rate (Efron, 2007), is above 0.1, so that many clear cases cannot make up for a doubtful one.

The paper's Algorithm 3 keeps the annotators with theta_k > epsilon, so one at the threshold is flagged. At
epsilon = 0 an annotator who calls everything a tie is there: with W = 1/2 in each vote, the likelihood has its maximum
at theta_k = 0, and the solver returns zero up to rounding, of either sign. Newton stops at a decrement d (half its
square), which is within sqrt(2 d) standard deviations of the maximum in every parameter. The standard deviation of
theta_k is of the order of the mean theta or less, so on the scale of mean theta 1 annotators are flagged if

    theta_k <= epsilon M + sqrt(2 d),        sqrt(2 d) = 1.4e-5,

a tolerance smaller than any difference that votes could show.
"""

from __future__ import annotations

import math

import numpy as np

from bayes_arena.arrays import Floats
from bayes_arena.errors import ModelError
from bayes_arena.fits.arguments import held
from bayes_arena.fits.result import Fit
from bayes_arena.inference.mode.newton import DECREMENT
from bayes_arena.reliability.annotators import posterior_theta, require_annotators, suspicion

LARGEST_DOUBT = 0.1
"""Largest 1 - A_k of a flagged annotator."""
ACCURACY = math.sqrt(2 * DECREMENT)
"""Numerical accuracy of theta, scaled to mean 1."""


@held
def flag(fit: Fit, *, fdr: float = 0.05) -> tuple[str, ...]:
    """Name the annotators to exclude, at a false discovery rate.

    Parameters
    ----------
    fit : Fit
        A model with parameters of annotators.
    fdr : float
        Bayesian false discovery rate: the expected share of wrongly flagged annotators among those flagged.

    Returns
    -------
    tuple of str
        The largest set whose mean 1 - A_k is at most ``fdr``, each with A_k of 0.9 or more, the least reliable first.

    Raises
    ------
    ModelError
        If the model has no parameters of annotators, or the rate does not lie between 0 and 1.

    References
    ----------
    Newton, M. A. et al. (2004), "Detecting differential gene expression with a semiparametric hierarchical mixture
    method", Biostatistics 5. Efron, B. (2007), "Size, power and false discovery rates", Annals of Statistics 35.
    """
    require_annotators(fit)
    return tuple(fit.cells.annotators[k] for k in discoveries(suspicion(fit), fdr))


@held
def flag_by_theta(fit: Fit, *, epsilon: float = 0.0) -> tuple[str, ...]:
    """Name the annotators whose discrimination is not above a threshold: the paper's rule.

    At ``epsilon=0`` these are the annotators who vote against the ranking, and those who always call a tie.

    Parameters
    ----------
    fit : Fit
        A model with a discrimination per annotator; the paper's is ``"am-elo"`` under a flat prior.
    epsilon : float
        Threshold on the paper's scale, on which theta sums to 1; the paper takes 0 and 0.005.

    Returns
    -------
    tuple of str
        The smallest theta first.

    Raises
    ------
    ModelError
        If the model has no discriminations, or the threshold is not finite.

    References
    ----------
    Liu et al. (2025), Algorithm 3 and Figure 7.
    """
    if not fit.target.free_discrimination:
        raise ModelError(f"Model {fit.model.name!r} has no theta. Use model='am-elo' or 'am-davidson'.")
    if not np.isfinite(epsilon):
        raise ModelError(f"The threshold on theta must be a finite number, not {epsilon!r}.")
    theta = posterior_theta(fit)
    bar = epsilon * len(theta) + ACCURACY
    return tuple(fit.cells.annotators[k] for k in np.argsort(theta, kind="stable") if theta[k] <= bar)


def discoveries(anomaly: Floats, fdr: float) -> np.ndarray:
    """Return the largest set whose mean 1 - A_k is at most a false discovery rate: indices, the most anomalous first.

    Each has A_k of 0.9 or more. Annotators with equal A_k are included or excluded together, so that their order does
    not matter.
    """
    if not 0 < fdr < 1:
        raise ModelError(f"A false discovery rate must be between 0 and 1, not {fdr!r}.")
    order = np.argsort(-anomaly, kind="stable")
    expected = np.cumsum(1 - anomaly[order]) / np.arange(1, len(order) + 1)
    size = int(np.searchsorted(expected, fdr, side="right"))
    size = min(size, int(np.count_nonzero(anomaly >= 1 - LARGEST_DOUBT)))
    if size < len(order):
        size = min(size, int(np.count_nonzero(anomaly > anomaly[order[size]])))
    return order[:size]
