"""How many humps the annotators' loadings have: one, if people differ by degrees; several, if there are camps.

The votes of annotator k say v_k ~ N(x_k, U_k) (:func:`bayes_arena.inference.belonging.told_by_votes`). Camps are a
mixture of normal distributions of equal covariance,

    x_k ~ sum_c p_c N(m_c, U_k + T),

fitted by EM from every cut of the annotators along every axis of a half circle. Evidence for C camps is how much BIC
falls below that of one: 2 (l_C - l_1) - (C - 1) (q + 1) ln M. A skewed or heavy-tailed distribution with one hump fits
a mixture better, too. So between any two camps there must also be a valley: on the line between their means, whose
length is d = sqrt((m_c - m_c')'T^-1 (m_c - m_c')), the density p_c phi(t) + p_c' phi(t - d) falls to half of the lower
of its values at the ends, or further.

Source: Schwarz (1978), Annals of Statistics 6.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from bayes_arena.arrays import Floats

MOST = 4
"""Camps that are looked for."""
GAIN = 6.0
"""Fall of BIC from which camps are announced: strong evidence (Kass & Raftery, 1995, JASA 90)."""
VALLEY = 0.5
"""Highest density in the valley between two camps, relative to that at the lower end."""
POINTS = 101
"""Points on the line between two camps at which the density is compared."""
SMALLEST = 1.5
"""Expected annotators of the smallest camp: one by itself is none."""
CUTS = (0.1, 0.3, 0.5, 0.7, 0.9)
"""Quantiles at which annotators are divided at the start."""
ANGLES = 4
"""Axes of a half circle along which they are divided."""
TRIAL, ROUNDS = 20, 500
"""Iterations from every start, and most iterations from the best."""
SETTLED = 1e-7
"""Change of the log-likelihood per annotator that is the last."""
NARROWEST = 0.05
"""Smallest standard deviation of loadings within a camp: people never agree completely."""


@dataclass(frozen=True, eq=False)
class Humps:
    """A mixture of normal distributions of equal covariance: p_c, (C,), m_c, (C, q), T, (q, q), and l_C in nats.

    ``membership`` is the probability that each annotator belongs to each camp, (M, C).
    """

    share: Floats
    mean: Floats
    spread: Floats
    membership: Floats
    log_likelihood: float

    @property
    def size(self) -> int:
        """Number of camps."""
        return len(self.share)

    @property
    def valley(self) -> float:
        """Density in the valley between the camps least apart, relative to that at its lower end; 1 for one camp."""
        depths, precision = [float(self.size == 1)], np.linalg.inv(self.spread)
        for c, d in combinations(range(self.size), 2):
            gap = self.mean[c] - self.mean[d]
            length = math.sqrt(float(gap @ precision @ gap))
            t = np.linspace(0, length, POINTS)
            density = self.share[c] * np.exp(-0.5 * t**2) + self.share[d] * np.exp(-0.5 * (t - length) ** 2)
            depths.append(float(density.min() / min(density[0], density[-1])))
        return max(depths)

    def gain(self, one: Humps, *, named: bool = False) -> float:
        """Return by how much BIC falls below that of one hump; where members are ``named``, shares are not free."""
        further = self.mean.shape[1] + (not named)
        penalty = (self.size - 1) * further * math.log(len(self.membership))
        return float(2 * (self.log_likelihood - one.log_likelihood) - penalty)


def humps(x: Floats, noise: Floats) -> list[Humps]:
    """Return the best mixture for every number of humps, from one on.

    The votes say ``x`` of every annotator, (M, q), with covariance ``noise``, (M, q, q).
    """
    found = [named_humps(x, noise, np.ones((len(x), 1)))]
    for size in range(2, min(MOST, len(x) // 2) + 1):
        starts = [_iterated(x, noise, start, TRIAL) for start in _starts(x, noise, size)]
        best = max(starts, key=lambda one: one.log_likelihood)
        found.append(_iterated(x, noise, best.membership, ROUNDS, best.spread))
    return found


def announced(found: list[Humps]) -> Humps:
    """Return the mixture of the largest gain among those of clear humps with valleys between them; else that of one."""
    one, *further = found
    clear = [
        many
        for many in further
        if many.gain(one) >= GAIN and many.valley <= VALLEY and many.membership.sum(axis=0).min() >= SMALLEST
    ]
    return max(clear, key=lambda many: many.gain(one), default=one)


def named_humps(x: Floats, noise: Floats, membership: Floats) -> Humps:
    """Return the mixture of known members; its likelihood is that of their loadings, given whose they are."""
    return _iterated(x, noise, membership, ROUNDS, fixed=True)


def log_normal(off: Floats, covariance: Floats) -> Floats:
    """Return log N(off; 0, covariance), shape (M,), of off (M, q) and covariances (M, q, q)."""
    bent = np.linalg.solve(covariance, off[..., None])[..., 0]
    size = np.linalg.slogdet(covariance)[1] + off.shape[1] * math.log(2 * math.pi)
    return np.asarray(-0.5 * ((off * bent).sum(axis=1) + size))


def _starts(x: Floats, noise: Floats, size: int) -> list[Floats]:
    """Return memberships (M, C) to start from: annotators cut at quantiles of their loadings along some axis."""
    told = 1 / (1 + np.einsum("kqq->k", noise))
    center = told @ x / told.sum()
    _, axes = np.linalg.eigh((told[:, None] * (x - center)).T @ (x - center))
    first, other = axes[:, -1], axes[:, 0]
    several = x.shape[1] > 1
    angles = math.pi / ANGLES * np.arange(ANGLES if several else 1)
    starts = []
    for angle in angles:
        along = x @ (math.cos(angle) * first + (math.sin(angle) * other if several else 0.0))
        order = np.argsort(along)
        below = np.cumsum(told[order]) / told.sum()
        for cuts in combinations(CUTS, size - 1):
            group = np.empty(len(x), dtype=np.int64)
            group[order] = np.searchsorted(cuts, below)
            starts.append(np.eye(size)[group])
    return starts


def _iterated(
    x: Floats, noise: Floats, membership: Floats, rounds: int, spread: Floats | None = None, *, fixed: bool = False
) -> Humps:
    """Return the mixture after some iterations of EM; with ``fixed`` members do not change."""
    count, q = x.shape
    least = NARROWEST**2
    spread = 0.1 * np.eye(q) if spread is None else spread
    last = -math.inf
    for _ in range(rounds):
        share = np.maximum(membership.mean(axis=0), 0.5 / count)
        share = share / share.sum()
        precision = np.linalg.inv(noise + spread)
        weight = (membership.T @ precision.reshape(count, -1)).reshape(-1, q, q)
        pulled = membership.T @ (precision @ x[..., None])[..., 0]
        mean = np.asarray(np.linalg.solve(weight + 1e-9 * np.eye(q), pulled[..., None])[..., 0], dtype=np.float64)
        off = x[:, None] - mean
        bent = off @ precision
        log_density = -0.5 * (off * bent).sum(axis=2)
        log_density += 0.5 * np.linalg.slogdet(precision)[1][:, None] - 0.5 * q * math.log(2 * math.pi)
        if fixed:
            value = float((membership * log_density).sum())
        else:
            joint = log_density + np.log(share)
            of_all = np.logaddexp.reduce(joint, axis=1, keepdims=True)
            membership, value = np.exp(joint - of_all), float(of_all.sum())
        shrunk = bent @ spread
        left = count * spread - spread @ precision.sum(axis=0) @ spread
        moments = (membership[..., None] * shrunk).reshape(-1, q).T @ shrunk.reshape(-1, q) + left
        size, axes = np.linalg.eigh(moments / count)
        if value - last < SETTLED * count:
            break
        last, spread = value, (axes * np.maximum(size, least)) @ axes.T
    return Humps(share, mean, spread, membership, value)
