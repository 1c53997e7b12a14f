"""How surprising scores are, and which of many surprises are discoveries.

The chance that m votes have a mean score x or beyond, where q is expected, is at most
exp(-m KL(x, q)) (Hoeffding, 1963).  Where what is expected is not certain, the bound is
averaged over it.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.special import xlogy

from bayes_arena.arrays import Array, Floats
from bayes_arena.model.constants import TINY

LEAST_VOTES = 5  # from which a score is tested
FALSE_RATE = 0.05  # of the discoveries
NODES = np.arange(-2.0, 8.01, 0.25)  # of an uncertain shift, in standard deviations
WEIGHTS = 0.25 * np.exp(-(NODES**2) / 2) / np.sqrt(2 * np.pi)


def tail_bounds(
    score: Floats, votes: Floats, expected_at: Callable[[Floats], Floats], sd: Floats
) -> tuple[Floats, Floats]:
    """Return bounds on the chance of scores as high, and as low, (m,) each.

    Parameters
    ----------
    score, votes : ndarray, shape (m,)
        Mean scores, and of how many votes.
    expected_at : callable
        The scores expected at some shifts (m,), in logits.
    sd : ndarray, shape (m,)
        Of the shift, which is normal around 0: a positive one makes a high score likelier,
        a negative one a low one.
    """
    high = np.zeros(len(score))
    low = np.zeros(len(score))
    for node, weight in zip(NODES, WEIGHTS, strict=True):
        above = expected_at(node * sd)
        below = expected_at(-node * sd)
        high += weight * np.where(score > above, hoeffding(score, votes, above), 1.0)
        low += weight * np.where(score < below, hoeffding(score, votes, below), 1.0)
    return high, low


def hoeffding(score: Floats, votes: Floats, mean: Floats) -> Floats:
    """Return the bound on the chance of mean scores, or of ones beyond, (m,)."""
    return np.exp(-votes * divergence(score, mean))


def divergence(x: Floats, q: Floats) -> Floats:
    """Return the Kullback-Leibler divergence of Bernoulli(x) from Bernoulli(q)."""
    q = np.clip(q, TINY, 1 - TINY)
    x = np.clip(x, 0.0, 1.0)
    return xlogy(x, x / q) + xlogy(1 - x, (1 - x) / (1 - q))


def discoveries(p: Floats, rate: float) -> Array:
    """Return which p-values are discoveries (Benjamini & Hochberg, 1995)."""
    order = np.argsort(p)
    passed = np.flatnonzero(p[order] <= rate * np.arange(1, len(p) + 1) / len(p))
    result = np.zeros(len(p), bool)
    if len(passed):
        result[order[: passed[-1] + 1]] = True
    return result
