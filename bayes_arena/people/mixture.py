"""Two groups of numbers with known errors, or one.

A number x with the standard error e, in a group of the centre mu and the spread tau, is
N(mu, tau^2 + e^2).  Both groups have the same tau.  For every tau of a grid their centres
and shares are found by EM (Dempster, Laird & Rubin, 1977); a single group has the weighted
mean as its centre.  Of one group and of two the likeliest tau is taken.
"""

from __future__ import annotations

import numpy as np

from bayes_arena.arrays import Array, Floats
from bayes_arena.model.constants import TINY

SHARES = np.array([0.1, 0.3, 0.5, 0.7, 0.9])  # of the higher group, to search from
SPREADS = np.linspace(0.0, 1.0, 21)  # tau, in standard deviations of all numbers
STEPS = 30  # of the search; with 200, nine shares and a finer grid ratios are the same


def two_groups(x: Floats, errors: Floats) -> tuple[float, Array]:
    """Return twice the log-likelihood ratio of two groups to one, and the higher one.

    Parameters
    ----------
    x, errors : ndarray, shape (m,)

    Returns
    -------
    ratio : float
    is_high : ndarray of bool, shape (m,)
    """
    one = []
    two = []
    for spread in SPREADS * x.std():
        variance = errors**2 + spread**2
        centre = np.average(x, weights=1 / variance)
        one.append(log_normal(x, centre, variance).sum())
        two.append(best_division(x, variance))
    likelihood, is_high = max(two, key=lambda division: division[0])
    return 2 * max(likelihood - float(max(one)), 0.0), is_high


def best_division(x: Floats, variance: Floats) -> tuple[float, Array]:
    """Return the log-likelihood of two groups, and who is in the higher one.

    Searches (EM) from several shares run together: arrays are (groups, searches, ...).
    """
    share = np.stack([1 - SHARES, SHARES])[..., None]
    centre = np.quantile(x, [(1 - SHARES) / 2, 1 - SHARES / 2])[..., None]
    for _ in range(STEPS):
        joint = np.log(share) + log_normal(x, centre, variance)
        total = np.logaddexp(*joint)
        weight = np.exp(joint - total) + TINY
        share = weight.mean(axis=-1, keepdims=True)
        precision = weight / variance
        centre = (precision @ x / precision.sum(axis=-1))[..., None]
    best = np.argmax(total.sum(axis=-1))
    return float(total[best].sum()), joint[1, best] > joint[0, best]


def log_normal(x: Floats, mean: Array, variance: Floats) -> Floats:
    """Return the logarithm of the normal density, without its constant."""
    return -0.5 * (np.log(variance) + (x - mean) ** 2 / variance)
