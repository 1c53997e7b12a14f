"""Annotators one after the other, compiled: their numbers integrated out, and what these leave unexplained.

The loss of a view at numbers x = (theta, b, u) and, where there is a favour or a taste, w, is

    f(x) = - sum over votes of ln P(o | eta, t + u) + sum_p ((x_p - mean_p) / sd_p)^2 / 2 + (w / a)^2 / 2 - c ln w,

with c = 2 and w > 0 of a favour, c = 0 of a taste,

its minimum found by Newton's steps, halved where they lead up. Everything is in this file since numba's cache on disk
looks at the file of the function called alone.
"""

from __future__ import annotations

import math

import numpy as np

from bayes_arena.compiled import compiled
from bayes_arena.votes.outcomes import LOSS, TIE, WIN

THETA, POSITION, TIE_PROPENSITY, PULL = 0, 1, 2, 3
STEPS, HALVINGS = 50, 20
ENOUGH = 1e-4
"""Newton decrement, in nats, that ends the steps."""
ROUNDING = 1e-9
MOST_OF_THE_WAY = 0.8
"""By how much a step may shorten w."""


@compiled
def find_modes(first, last, competitor, sign, i, j, lead, counts, mean, sd, log_tie, width, power, numbers, value, covariance):  # type: ignore[no-untyped-def]  # fmt: skip # noqa: E501
    """Move ``numbers`` (size, q) to the modes; write the loss there plus ln |H| / 2, and the inverse of the Hessian H.

    View g is of the rows ``first[g]`` to ``last[g]`` and, where there is a pull, of ``competitor[g]``; ``sign[g]`` is
    -1 of those who hate it. ``counts`` is (3, n_rows), ``width`` a, ``power`` c.
    """
    q = numbers.shape[1]
    slope, curve, factor = np.empty(q), np.empty((q, q)), np.empty((q, q))
    step, trial = np.empty(q), np.empty(q)
    for g in range(len(first)):
        x = numbers[g]
        view = first[g], last[g], competitor[g], sign[g]
        value[g] = _loss(x, view, i, j, lead, counts, mean, sd, log_tie, width, power, slope, curve)
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
            found = value[g]
            for _ in range(HALVINGS):
                for p in range(q):
                    trial[p] = x[p] - length * step[p]
                found = _loss(trial, view, i, j, lead, counts, mean, sd, log_tie, width, power, slope, curve)
                if found <= value[g] + ROUNDING:
                    break
                length *= 0.5
            x[:] = trial
            value[g] = found
        _factorise(curve, factor)
        for p in range(q):
            value[g] += math.log(factor[p, p])
            slope[:] = 0.0
            slope[p] = 1.0
            _solve(factor, slope, covariance[g, p])


@compiled
def add_pulls(begin, end, rows, at_i, at_j, lead, counts, numbers, log_tie, pull, variance):  # type: ignore[no-untyped-def]
    """Add the scores of annotators ``begin`` to ``end``, less the expected ones, to their meetings; and the variances.

    ``rows[k]`` to ``rows[k + 1]`` are an annotator's rows, ``numbers[k]`` theta, b and u.
    """
    for k in range(begin, end):
        theta, position, nu = numbers[k, THETA], numbers[k, POSITION], math.exp(log_tie + numbers[k, TIE_PROPENSITY])
        for row in range(rows[k], rows[k + 1]):
            eta = theta * lead[row] + position
            root = math.exp(-0.5 * abs(eta))
            tie = nu * root
            total = 1.0 + root * root + tie
            half_net = (0.5 if eta > 0 else -0.5) * (1.0 - root * root) / total
            wins, losses, ties = counts[WIN, row], counts[LOSS, row], counts[TIE, row]
            n = wins + losses + ties
            score = 0.5 * (wins - losses) - n * half_net
            spread = n * (0.25 * (1.0 - tie / total) - half_net * half_net)
            pull[at_i[row]] += score
            pull[at_j[row]] -= score
            variance[at_i[row]] += spread
            variance[at_j[row]] += spread


@compiled
def _loss(x, view, i, j, lead, counts, mean, sd, log_tie, width, power, slope, curve):  # type: ignore[no-untyped-def]
    """f(x); ``slope`` and ``curve`` get its gradient and Hessian."""
    first, last, competitor, sign = view
    pulled = len(x) > PULL
    theta, position, t = x[THETA], x[POSITION], log_tie + x[TIE_PROPENSITY]
    w = x[PULL] if pulled else 0.0
    nu = math.exp(t)
    value = tie_slope = tie_curve = 0.0
    slope_lead = slope_one = slope_side = 0.0
    lead_lead = lead_one = lead_tie = one_one = one_tie = 0.0
    side_lead = side_one = side_tie = side_side = 0.0
    for row in range(first, last):
        d = lead[row]
        eta = theta * d + position
        side = 0.0
        if pulled:
            if i[row] == competitor:
                side = sign
            elif j[row] == competitor:
                side = -sign
            eta += w * side
        wins, losses, ties = counts[WIN, row], counts[LOSS, row], counts[TIE, row]
        n = wins + losses + ties
        far = abs(eta)
        root = math.exp(-0.5 * far)
        weak, tie = root * root, nu * root
        total = 1.0 + weak + tie
        value += n * (math.log(total) + 0.5 * far) - 0.5 * (wins - losses) * eta - ties * t
        inverse = 1.0 / total
        tie *= inverse
        half_net = (0.5 if eta > 0 else -0.5) * (1.0 - weak) * inverse
        by_eta = n * half_net - 0.5 * (wins - losses)
        by_eta_twice, by_both = n * (0.25 * (1.0 - tie) - half_net * half_net), -n * half_net * tie
        tie_slope += n * tie - ties
        tie_curve += n * tie * (1.0 - tie)
        slope_lead += by_eta * d
        slope_one += by_eta
        lead_lead += by_eta_twice * d * d
        lead_one += by_eta_twice * d
        one_one += by_eta_twice
        lead_tie += by_both * d
        one_tie += by_both
        if side != 0.0:
            slope_side += by_eta * side
            side_lead += by_eta_twice * d * side
            side_one += by_eta_twice * side
            side_side += by_eta_twice
            side_tie += by_both * side
    slope[THETA], slope[POSITION], slope[TIE_PROPENSITY] = slope_lead, slope_one, tie_slope
    curve[THETA, THETA], curve[POSITION, THETA], curve[POSITION, POSITION] = lead_lead, lead_one, one_one
    curve[TIE_PROPENSITY, THETA], curve[TIE_PROPENSITY, POSITION] = lead_tie, one_tie
    curve[TIE_PROPENSITY, TIE_PROPENSITY] = tie_curve
    if pulled:
        slope[PULL] = slope_side + w / width**2
        curve[PULL, PULL] = side_side + 1.0 / width**2
        curve[PULL, THETA], curve[PULL, POSITION], curve[PULL, TIE_PROPENSITY] = side_lead, side_one, side_tie
        value += 0.5 * (w / width) ** 2
        if power:
            value -= power * math.log(w)
            slope[PULL] -= power / w
            curve[PULL, PULL] += power / w**2
    for p in range(PULL):
        scaled = (x[p] - mean[p]) / sd[p]
        value += 0.5 * scaled * scaled
        slope[p] += scaled / sd[p]
        curve[p, p] += 1.0 / sd[p] ** 2
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
