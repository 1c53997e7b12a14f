"""Annotators integrated out one after the other, compiled: what :mod:`~bayes_arena.trust.classes` needs of each group.

The loss of a group at numbers x = (theta, b, u) and, where there is a favour or a taste, w, is

    f(x) = - sum over votes of ln P(o | eta, t + u) + sum_p ((x_p - mean_p) / sd_p)^2 / 2 + (w / a)^2 / 2 - c ln w,

with c = 2 and w > 0 of a favour, c = 0 of a taste,

its minimum found by Newton's steps, halved where they lead up. Everything is in this file since numba's cache on disk
looks at the file of the function called alone.
"""

from __future__ import annotations

import math

import numpy as np

from bayes_arena.compiled import compiled
from bayes_arena.votes.cells import LOSS, TIE, WIN

POSITION, TIE_PROPENSITY, PULL = 1, 2, 3
STEPS, HALVINGS = 50, 20
ENOUGH = 1e-4
"""Newton decrement, in nats, that ends the steps."""
ROUNDING = 1e-9
MOST_OF_THE_WAY = 0.8
"""By how much a step may shorten w."""


@compiled
def find_modes(first, lead, counts, side, mean, sd, log_tie, guesses, width, power, numbers, value, covariance):  # type: ignore[no-untyped-def]
    """Move ``numbers`` (size, q) to the modes; write the loss there and the inverse of its Hessian.

    The rows of group g are ``first[g]`` to ``first[g + 1]``; ``counts`` is (n_rows, 3), ``width`` a, ``power`` c.
    """
    q = numbers.shape[1]
    slope, curve, factor = np.empty(q), np.empty((q, q)), np.empty((q, q))
    step, trial = np.empty(q), np.empty(q)
    for g in range(len(first) - 1):
        rows, x = slice(first[g], first[g + 1]), numbers[g]
        parts = lead[rows], counts[rows], side[rows], mean, sd, log_tie, guesses, width, power
        value[g] = _loss(x, *parts, slope, curve)
        for _ in range(STEPS):
            _factorise(curve, factor)
            _solve(factor, slope, step)
            decrement = 0.0
            for p in range(q):
                decrement += slope[p] * step[p]
            if not decrement > ENOUGH:
                break
            length = 1.0
            if q > PULL and power and step[PULL] > MOST_OF_THE_WAY * x[PULL]:
                length = MOST_OF_THE_WAY * x[PULL] / step[PULL]
            for _ in range(HALVINGS):
                for p in range(q):
                    trial[p] = x[p] - length * step[p]
                found = _loss(trial, *parts, slope, curve)
                if found <= value[g] + ROUNDING:
                    break
                length *= 0.5
            x[:] = trial
            value[g] = found
        _factorise(curve, factor)
        for p in range(q):
            slope[:] = 0.0
            slope[p] = 1.0
            _solve(factor, slope, covariance[g, p])


@compiled
def _loss(x, lead, counts, side, mean, sd, log_tie, guesses, width, power, slope, curve):  # type: ignore[no-untyped-def]
    """f(x); ``slope`` and ``curve`` get its gradient and Hessian."""
    q = len(x)
    slope[:] = 0.0
    curve[:] = 0.0
    value = 0.0
    t = log_tie + x[TIE_PROPENSITY]
    nu = math.exp(t)
    basis = np.zeros(q)
    basis[POSITION] = 1.0
    for row in range(len(lead)):
        if not guesses:
            basis[0] = lead[row]
        if q > PULL:
            basis[PULL] = side[row]
        eta = 0.0
        for p in range(q):
            eta += x[p] * basis[p]
        wins, losses, ties = counts[row, WIN], counts[row, LOSS], counts[row, TIE]
        n = wins + losses + ties
        root = math.exp(-0.5 * abs(eta))
        weak, tie = root * root, nu * root
        total = 1.0 + weak + tie
        value += n * (math.log(total) + 0.5 * abs(eta)) - 0.5 * (wins - losses) * eta - ties * t
        tie /= total
        half_net = (0.5 if eta > 0 else -0.5) * (1.0 - weak) / total
        by_eta = n * half_net - 0.5 * (wins - losses)
        by_eta_twice, by_both = n * (0.25 * (1.0 - tie) - half_net * half_net), -n * half_net * tie
        slope[TIE_PROPENSITY] += n * tie - ties
        curve[TIE_PROPENSITY, TIE_PROPENSITY] += n * tie * (1.0 - tie)
        for p in range(q):
            slope[p] += by_eta * basis[p]
            curve[TIE_PROPENSITY, p] += by_both * basis[p]
            for r in range(p + 1):
                curve[p, r] += by_eta_twice * basis[p] * basis[r]
    if q > PULL:
        curve[PULL, TIE_PROPENSITY] = curve[TIE_PROPENSITY, PULL]
        w = x[PULL]
        value += 0.5 * (w / width) ** 2
        slope[PULL] += w / width**2
        curve[PULL, PULL] += width**-2.0
        if power:
            value -= power * math.log(w)
            slope[PULL] -= power / w
            curve[PULL, PULL] += power / w**2
    for p in range(PULL):
        scaled = (x[p] - mean[p]) / sd[p]
        value += 0.5 * scaled * scaled
        slope[p] += scaled / sd[p]
        curve[p, p] += sd[p] ** -2.0
    return value


@compiled
def _factorise(matrix, lower):  # type: ignore[no-untyped-def]
    """Cholesky's factor, read from the lower triangle."""
    for p in range(len(matrix)):
        for r in range(p + 1):
            rest = matrix[p, r]
            for s in range(r):
                rest -= lower[p, s] * lower[r, s]
            lower[p, r] = math.sqrt(rest) if p == r else rest / lower[r, r]


@compiled
def _solve(lower, right, x):  # type: ignore[no-untyped-def]
    for p in range(len(right)):
        rest = right[p]
        for s in range(p):
            rest -= lower[p, s] * x[s]
        x[p] = rest / lower[p, p]
    for p in range(len(right) - 1, -1, -1):
        rest = x[p]
        for s in range(p + 1, len(right)):
            rest -= lower[s, p] * x[s]
        x[p] = rest / lower[p, p]
