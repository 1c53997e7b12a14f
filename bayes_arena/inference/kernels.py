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
def add_scores(leads, factors, shift, nu, mu, more, weight, sums):  # type: ignore[no-untyped-def]
    """Add expected scores at leads, and their slopes, times weights, to ``sums`` (M, 2 D + 4, leads).

    Its rows are the scores, and their slopes by the lead in each of D dimensions, by its factor there, by eta, by t and
    by m. ``leads`` (D, leads) have ``factors`` (M, D); the first lead is shifted by a number. Exp t, exp m and weights
    are given for each annotator, (M,), and ``more`` (leads,) multiplies exp t.
    """
    dimensions, size = leads.shape
    by_eta = 2 * dimensions + 1
    at = np.empty((2, size))
    for k in range(len(factors)):
        w, first = weight[k], factors[k, 0]
        for s in range(size):
            at[0, s] = first * (leads[0, s] + shift)
        for dimension in range(1, dimensions):
            factor = factors[k, dimension]
            for s in range(size):
                at[0, s] += factor * leads[dimension, s]
        for s in range(size):
            at[0, s], at[1, s] = _shares(at[0, s], nu[k] * more[s] + mu[k])
        for s in range(size):
            sums[k, 0, s] += w * (0.5 + at[1, s])
        by_t, by_m = w * nu[k], w * mu[k]
        for s in range(size):
            cross = at[0, s] * at[1, s]
            sums[k, by_eta + 1, s] -= by_t * more[s] * cross
            sums[k, by_eta + 2, s] -= by_m * cross
        for s in range(size):
            both = nu[k] * more[s] + mu[k]
            at[0, s] = w * (0.25 - 0.25 * both * at[0, s] - at[1, s] * at[1, s])
        for s in range(size):
            sums[k, by_eta, s] += at[0, s]
            sums[k, dimensions + 1, s] += (leads[0, s] + shift) * at[0, s]
        for dimension in range(dimensions):
            factor = factors[k, dimension]
            for s in range(size):
                sums[k, 1 + dimension, s] += factor * at[0, s]
        for dimension in range(1, dimensions):
            for s in range(size):
                sums[k, 1 + dimensions + dimension, s] += leads[dimension, s] * at[0, s]
