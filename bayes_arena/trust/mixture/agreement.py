"""Who hardly votes with the ranking, by the kinds: guessers, adversaries, and of the regular those of low agreement.

With the net agreement D_k of :mod:`bayes_arena.reliability.agreement`, at the strengths of the kinds,

    P(D_k < bar) = P(guesser) + P(adversary) + (1 - P(guesser) - P(adversary)) P(D_k < bar | regular).

D rises with theta and falls with ln nu. So D < bar is theta < theta*(ln nu), one curve for everybody, and given ln nu
theta is normal around the mode (Laplace's method); ln nu is integrated out by Gauss and Hermite's rule.
"""

from __future__ import annotations

import numpy as np
import scipy

from bayes_arena.arrays import Floats
from bayes_arena.likelihood.outcomes import davidson
from bayes_arena.likelihood.outcomes.likelihood import ETA, T
from bayes_arena.trust.classes import THETA, TIE
from bayes_arena.trust.kinds import Kinds
from bayes_arena.trust.mixture.shares import ADVERSARY, GUESSER, REGULAR

LEADS = 25
"""Quantiles of the leads of all pairs that stand for them."""
TIE_NODES = 5
CURVE_POINTS, STEEPEST = 50, 20.0
"""Points of the curve, and largest theta on it: where even that votes too little with the ranking, nobody does."""
THETAS = np.append(np.linspace(0, 2, 200, endpoint=False), np.linspace(2, STEEPEST, 200))
SMALLEST_SD = 1e-9
AT_ONCE = 10_000
"""Annotators whose scores are looked at together."""


def low_agreement(kinds: Kinds, tolerance: float) -> tuple[Floats, Floats]:
    """Return the probabilities that D_k < tolerance * median D, and that it is so or k favours or hates somebody.

    Parameters
    ----------
    kinds : Kinds
        What kind everybody is.
    tolerance : float
        Share of the median annotator's net agreement.

    Returns
    -------
    low, suspect : ndarray, shape (n_annotators,)
    """
    i, j = np.triu_indices(len(kinds.strength), k=1)
    leads = np.quantile(np.abs(kinds.strength[i] - kinds.strength[j]), (np.arange(LEADS) + 0.5) / LEADS)
    useless = kinds.probability[GUESSER] + kinds.probability[ADVERSARY]
    theta, log_tie = kinds.numbers[:, THETA], kinds.numbers[:, TIE]
    bar = tolerance * np.median((1 - useless) * net_agreement(theta, log_tie, leads))
    tie_variance, both = kinds.covariance[:, TIE, TIE], kinds.covariance[:, THETA, TIE]
    rest = np.sqrt(np.maximum(kinds.covariance[:, THETA, THETA] - both**2 / tie_variance, SMALLEST_SD**2))
    nodes, weights = np.polynomial.hermite_e.hermegauss(TIE_NODES)
    off = np.sqrt(tie_variance) * nodes[:, None]
    points = np.linspace((log_tie + off).min(), (log_tie + off).max(), CURVE_POINTS)
    rises = SMALLEST_SD * THETAS  # where competitors are equal, too
    curve = [np.interp(bar, net_agreement(THETAS, point, leads) + rises, THETAS) for point in points]
    least = np.interp(log_tie + off, points, curve)
    below = scipy.special.ndtr((least - theta - both / tie_variance * off) / rest)
    below = (weights @ below) / weights.sum()
    return useless + (1 - useless) * below, 1 - kinds.probability[REGULAR] * (1 - below)


def net_agreement(theta: Floats, log_tie: Floats | float, leads: Floats) -> Floats:
    """D at given numbers: mean over the leads, of some annotators at a time."""
    found, ties = np.empty(len(theta)), np.broadcast_to(np.asarray(log_tie), theta.shape)
    for first in range(0, len(theta), AT_ONCE):
        part = slice(first, first + AT_ONCE)
        z = np.empty((2, len(theta[part]), len(leads)))
        z[ETA], z[T] = theta[part, None] * leads, ties[part, None]
        found[part] = davidson.net_score(z).mean(axis=1)
    return found
