"""Annotators who seem to guess, or to be reversed, and have a ranking of their own.

Somebody whose ranking has little to do with the common one, and who is too lonely for a direction to show it, has a
theta near zero, as somebody who guesses has. What tells them apart is whether their votes contradict each other. If k
has strengths y_k of their own,

    eta = y_ki - y_kj + rest,        y_k ~ N(0, tau^2),        tau = m sd(r),

tau being how far strengths lie apart for the mean annotator. By Laplace's method around the y of largest density, with
information H of the votes in it, the log Bayes factor of that over guessing is

    ln B_k = l(y) - l(0) - |y|^2 / (2 tau^2) - ln |1 + tau^2 H| / 2,

the rest (side, ties) being that of somebody who guesses. With P_k the probability that k guesses where nobody has a
ranking of their own, and o the odds in this crowd of the one to the other,

    P(own ranking) = o B_k P_k / (1 + o B_k P_k);

o is the ratio of expected numbers of both, of each of which a quarter of an annotator is added (EM). Such a ranking may
be the common one turned round, or hardly any: then it changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from bayes_arena.arrays import Floats
from bayes_arena.fits.result import Fit
from bayes_arena.likelihood.objective import Objective
from bayes_arena.likelihood.outcomes.likelihood import ETA
from bayes_arena.reliability.kinds import FEW, GUESSES, Kinds

STEPS, NEAR = 30, 1e-6
"""Most Newton steps, and the decrement, in nats, that is the last."""
LONGEST = 3.0
"""Longest step, in logits."""
ROUNDS = 100
"""Iterations of EM for the odds."""


@dataclass(frozen=True, eq=False)
class OwnRankings:
    """Who has a ranking of their own, of annotators who were asked about; of the others nothing is said. All are (M,).

    ``log_bayes`` is ln B_k in nats, ``probability`` that of a ranking of their own; ``net`` and ``consistency`` are D_k
    and E_k by that ranking, over pairs of competitors that they met.
    """

    log_bayes: Floats
    probability: Floats
    net: Floats
    consistency: Floats


def own_rankings(fit: Fit, of: Kinds, asked: np.ndarray) -> OwnRankings:
    """Find which of the annotators who are ``asked`` about (indices) have a ranking of their own."""
    target, point = fit.target, of.point
    size = target.n_annotators
    sd = of.mean * float(point.strength.std())
    z = target.coordinates(of.guessing())
    order = np.argsort(target.tally.k, kind="stable")
    begin = np.searchsorted(target.tally.k[order], np.arange(size + 1))
    log_bayes, net, consistency = np.full(size, -np.inf), np.zeros(size), np.zeros(size)
    for k in asked.tolist():
        rows = order[begin[k] : begin[k + 1]]
        log_bayes[k], net[k], consistency[k] = _of_one(target, point.strength, z[:, rows], rows, sd)
    with np.errstate(divide="ignore"):
        log_odds = log_bayes + np.log(of.probability[GUESSES])
    ratio, probability = 1.0, np.zeros(size)
    for _ in range(ROUNDS):
        probability = expit(log_odds + np.log(ratio))
        guess = float((of.probability[GUESSES] * (1 - probability)).sum())
        ratio = (float(probability.sum()) + FEW[GUESSES]) / (guess + FEW[GUESSES])
    return OwnRankings(log_bayes, probability, net, consistency)


def _of_one(target: Objective, strength: Floats, z: Floats, rows: np.ndarray, sd: float) -> tuple[float, float, float]:
    """Return ln B, net agreement and consistency of an annotator whose rows have coordinates z without a ranking."""
    met, place = np.unique([target.tally.i[rows], target.tally.j[rows]], return_inverse=True)
    i, j = place.reshape(2, -1)
    unit = np.eye(len(met))
    design, counts = sd * (unit[i] - unit[j]), target.counts[:, rows]  # of strengths in units of their spread

    def at(y: Floats) -> tuple[float, Floats, Floats]:
        there = z.copy()
        there[ETA] += design @ y
        terms = target.likelihood.rows(counts, there)
        hessian = (design.T * terms.hessian[ETA, ETA]) @ design
        return float(terms.value.sum() + 0.5 * y @ y), design.T @ terms.gradient[ETA] + y, hessian

    y = np.zeros(len(met))
    value, gradient, hessian = at(y)
    none = value
    for _ in range(STEPS):
        curvature, axes = np.linalg.eigh(hessian)  # beside many votes the prior's 1 would be lost to rounding
        curvature = 1 + np.maximum(curvature, 0)
        step = -axes @ (axes.T @ gradient / curvature)
        if -0.5 * gradient @ step < NEAR:
            break
        length = min(1.0, LONGEST / (sd * float(np.abs(step).max())))
        while (there := at(y + length * step))[0] > value and length > NEAR:
            length /= 2
        y, (value, gradient, hessian) = y + length * step, there
    log_bayes = none - value - 0.5 * float(np.log1p(np.maximum(np.linalg.eigvalsh(hessian), 0)).sum())
    one, other = np.triu_indices(len(met), 1)
    between = np.repeat(z.mean(axis=1)[:, None], len(one), axis=1)
    between[ETA] = sd * (y[one] - y[other])
    score = target.likelihood.net_score(between)
    net = float((np.sign(strength[met[one]] - strength[met[other]]) * score).mean())
    return log_bayes, net, float(np.abs(score).mean())
