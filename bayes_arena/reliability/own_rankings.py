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

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from bayes_arena.arrays import Floats, Ints, sum_by
from bayes_arena.fits.result import Fit
from bayes_arena.likelihood.objective import Objective
from bayes_arena.likelihood.outcomes.likelihood import ETA
from bayes_arena.reliability.kinds import FEW, GUESSES, Kinds
from bayes_arena.threads import each, one_thread

STEPS, NEAR = 30, 1e-6
"""Most Newton steps, and the decrement, in nats, that is the last."""
LONGEST = 3.0
"""Longest step, in logits."""
ROUNDS = 100
"""Iterations of EM for the odds."""
AT_ONCE = 1 << 20
"""Numbers of the matrices of annotators who are looked at together."""


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
    size = fit.target.n_annotators
    sd = of.mean * float(of.point.strength.std())
    z = fit.target.coordinates(of.guessing())
    log_bayes, net, consistency = np.full(size, -np.inf), np.zeros(size), np.zeros(size)

    def look(crowd: _Crowd) -> None:
        log_bayes[crowd.annotators], y = _ranked(fit.target, z, crowd, sd)
        net[crowd.annotators], consistency[crowd.annotators] = _agreement(fit.target, of.point.strength, z, crowd, y)

    with one_thread():
        for _ in each(look, _crowds(fit.target, asked)):
            pass
    with np.errstate(divide="ignore"):
        log_odds = log_bayes + np.log(of.probability[GUESSES])
    ratio, probability = 1.0, np.zeros(size)
    for _ in range(ROUNDS):
        probability = expit(log_odds + np.log(ratio))
        guess = float((of.probability[GUESSES] * (1 - probability)).sum())
        ratio = (float(probability.sum()) + FEW[GUESSES]) / (guess + FEW[GUESSES])
    return OwnRankings(log_bayes, probability, net, consistency)


@dataclass(frozen=True, eq=False)
class _Crowd:
    """Annotators who met the same number s of competitors.

    ``annotators`` (B,) are their indices, ``met`` (B, s) whom they met, ``rows`` (V,) those of their votes,
    ``who`` (V,) the annotator of a row, and ``i`` and ``j`` (V,) the competitors, as places in ``met``.
    """

    annotators: Ints
    met: Ints
    rows: Ints
    who: Ints
    i: Ints
    j: Ints


def _crowds(target: Objective, asked: Ints) -> Iterator[_Crowd]:
    """Divide annotators by how many competitors they met, into crowds of a bounded size."""
    tally, n = target.tally, target.n_competitors
    rows = np.flatnonzero(np.isin(tally.k, asked))
    pairs, place = np.unique(
        [tally.k[rows] * n + tally.i[rows], tally.k[rows] * n + tally.j[rows]], return_inverse=True
    )
    annotators, first, sizes = np.unique(pairs // n, return_index=True, return_counts=True)
    order = np.argsort(sizes, kind="stable")
    who = np.argsort(order)[np.searchsorted(annotators, tally.k[rows])]  # places in that order
    i, j = place.reshape(2, -1) - first[order][who]
    by_annotator = np.argsort(who, kind="stable")
    votes, sizes = np.bincount(who, minlength=len(order)), sizes[order]
    parts = np.cumsum(sizes**2 + votes) // AT_ONCE
    for some in np.split(np.arange(len(order)), 1 + np.flatnonzero((np.diff(sizes) > 0) | (np.diff(parts) > 0))):
        if len(some):
            here = by_annotator[np.searchsorted(who[by_annotator], some[0]) :][: votes[some].sum()]
            met = pairs[first[order[some]][:, None] + np.arange(sizes[some[0]])] % n
            yield _Crowd(annotators[order[some]], met, rows[here], who[here] - some[0], i[here], j[here])


def _ranked(target: Objective, z: Floats, crowd: _Crowd, sd: float) -> tuple[Floats, Floats]:
    """Return ln B, and y of largest density, in logits, shape (B, s); z are coordinates of rows without a ranking."""
    (size, s), counts, base = crowd.met.shape, target.counts[:, crowd.rows], z[:, crowd.rows]
    of_i, of_j = crowd.who * s + crowd.i, crowd.who * s + crowd.j
    entries = [(a * s + b, sign) for a, b, sign in ((of_i, crowd.i, 1), (of_j, crowd.j, 1), (of_i, crowd.j, -1))]

    def at(y: Floats) -> tuple[Floats, Floats, Floats]:
        """Return the negative log-density, its gradient, and the information of the votes; y in units of sd."""
        there = base.copy()
        there[ETA] += sd * (y.ravel()[of_i] - y.ravel()[of_j])
        terms = target.likelihood.rows(counts, there)
        slope, bend = sd * terms.gradient[ETA], sd**2 * terms.hessian[ETA, ETA]
        gradient = sum_by(of_i, slope, size * s) - sum_by(of_j, slope, size * s)
        summed = [sign * sum_by(entry, bend, size * s * s).reshape(size, s, s) for entry, sign in entries]
        hessian = summed[0] + summed[1] + summed[2] + summed[2].swapaxes(1, 2)
        value = sum_by(crowd.who, terms.value, size) + 0.5 * (y**2).sum(axis=1)
        return value, gradient.reshape(size, s) + y, hessian

    y = np.zeros((size, s))
    value, gradient, hessian = at(y)
    none = value
    for _ in range(STEPS):
        curvature, axes = np.linalg.eigh(hessian)  # beside many votes the prior's 1 would be lost to rounding
        along = np.einsum("bst,bs->bt", axes, gradient) / (1 + np.maximum(curvature, 0))
        step = -np.einsum("bst,bt->bs", axes, along)
        moving = -0.5 * (gradient * step).sum(axis=1) >= NEAR
        if not moving.any():
            break
        furthest = sd * np.maximum(np.abs(step).max(axis=1), 1e-300)
        length = np.where(moving, np.minimum(1.0, LONGEST / furthest), 0.0)
        there = at(y + length[:, None] * step)
        while (worse := (there[0] > value) & (length > NEAR)).any():
            length = np.where(worse, length / 2, length)
            there = at(y + length[:, None] * step)
        y, (value, gradient, hessian) = y + length[:, None] * step, there
    log_bayes = none - value - 0.5 * np.log1p(np.maximum(np.linalg.eigvalsh(hessian), 0)).sum(axis=1)
    return log_bayes, sd * y


def _agreement(target: Objective, strength: Floats, z: Floats, crowd: _Crowd, y: Floats) -> tuple[Floats, Floats]:
    """Return net agreement and consistency of rankings y, over all pairs of competitors that an annotator met."""
    one, other = np.triu_indices(crowd.met.shape[1], 1)
    votes = np.bincount(crowd.who)
    between = np.array([sum_by(crowd.who, row[crowd.rows], len(votes)) / votes for row in z])
    between = np.repeat(between, len(one), axis=1)
    between[ETA] = (y[:, one] - y[:, other]).ravel()
    score = target.likelihood.net_score(between).reshape(len(votes), -1)
    agrees = np.sign(strength[crowd.met[:, one]] - strength[crowd.met[:, other]])
    return (agrees * score).mean(axis=1), np.abs(score).mean(axis=1)
