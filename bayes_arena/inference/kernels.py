"""Expected scores at many leads and for many annotators, compiled.

It is one file because numba's disk cache checks only the file of the called function: after a change in another file it
would run old code.
"""

from __future__ import annotations

import math

import numpy as np

from bayes_arena.compiled import part, vectorised

INVERSE_LN_2, LN_2 = 1.0 / math.log(2.0), math.log(2.0)


@part
def _shares(eta, both):  # type: ignore[no-untyped-def]
    """Return the factor that turns nu and mu into P(tie) and P(both bad), and (P(win) - P(loss)) / 2.

    Both come from root = exp(-|eta| / 2) = 2^k A / B with A / B Pade's approximant [5/5] of exp within ln(2) / 2 of
    zero, to 1e-15: no branch, no call and one division, so that loops over it vectorise.
    """
    x = max(-0.5 * abs(eta), -700.0)
    k = np.int32(x * INVERSE_LN_2 - 0.5)
    rest = x - k * LN_2
    square = rest * rest
    even, odd = 30240.0 + square * (3360.0 + 30.0 * square), rest * (15120.0 + square * (420.0 + square))
    above, below = (even + odd) * np.int64((np.int64(k) + 1023) << 52).view(np.float64), even - odd
    product, weak, strong = above * below, above * above, below * below
    scale = 1.0 / (strong + weak + both * product)
    return product * scale, math.copysign(0.5, eta) * (strong - weak) * scale


@vectorised
def net_scores(theta, both, nodes, weights, net):  # type: ignore[no-untyped-def]
    """Average P(win) - P(loss) over leads: write ``net`` (M, draws), for ``nodes`` and ``weights`` (K, draws) of leads.

    ``theta`` and ``both``, nu + mu, are given for every annotator and draw, (M, draws).
    """
    size = nodes.shape[1]
    for k in range(len(theta)):
        for d in range(size):
            net[k, d] = 0.0
        for s in range(len(nodes)):
            for d in range(size):
                _, half_net = _shares(theta[k, d] * nodes[s, d], both[k, d])
                net[k, d] += 2.0 * weights[s, d] * half_net


@vectorised
def add_scores(leads, theta, nu, mu, weight, sums):  # type: ignore[no-untyped-def]
    """Add expected scores at leads, and their slopes, times weights, to ``sums`` (M, 6, leads).

    Its rows are the scores, and their slopes by the lead, by theta, by eta, by t and by m. Theta, exp t, exp m and
    weights are given for each annotator, (M,).
    """
    at = np.empty((2, len(leads)))
    for k in range(len(theta)):
        slope, both, w = theta[k], nu[k] + mu[k], weight[k]
        steep, by_t, by_m = w * slope, w * nu[k], w * mu[k]
        for s in range(len(leads)):
            at[0, s], at[1, s] = _shares(slope * leads[s], both)
        for s in range(len(leads)):
            sums[k, 0, s] += w * (0.5 + at[1, s])
        for s in range(len(leads)):
            cross = at[0, s] * at[1, s]
            sums[k, 4, s] -= by_t * cross
            sums[k, 5, s] -= by_m * cross
        for s in range(len(leads)):
            at[0, s] = 0.25 - 0.25 * both * at[0, s] - at[1, s] * at[1, s]
        for s in range(len(leads)):
            sums[k, 1, s] += steep * at[0, s]
            sums[k, 2, s] += w * leads[s] * at[0, s]
            sums[k, 3, s] += w * at[0, s]
