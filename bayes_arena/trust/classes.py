"""How likely somebody's votes are under each kind of annotator.

Given strengths r, annotator k votes by Davidson's model with

    eta = theta_k (r_i - r_j) + b_k + w_k (1[i = c] - 1[j = c]),        ln nu_k = t + u_k,

u_k ~ Normal(0, tie_spread), b_k ~ Normal(b, position_spread), and

==============  ==========================================================================================
regular         theta_k ~ Normal(1, discrimination), w_k = 0
guesser         theta_k = 0, w_k = 0
adversary       theta_k ~ Normal(-1, discrimination), w_k = 0
favours c       theta_k as of somebody regular, w_k > 0 with a density in proportion to w^2 exp(-w^2 / (2 a^2))
hates c         the same with w_k < 0
==============  ==========================================================================================

A density of w that vanishes at zero makes favouring somebody a thing of its own: a slight taste, which everybody has,
is no evidence of it. A guesser is one exactly, as a guesser with some discrimination is a poor regular annotator. The
numbers are integrated out by Laplace's method, for all annotators at once; the log-posterior of each is concave.

References: Davidson (1970), JASA 65; Johnson, V. E. & Rossell, D. (2010), "On the use of non-local prior densities in
Bayesian hypothesis tests", JRSS B 72.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bayes_arena.arrays import Floats, Ints
from bayes_arena.likelihood.outcomes.davidson import LIKELIHOOD
from bayes_arena.likelihood.outcomes.likelihood import ETA, T

FAVOUR = 5.0
"""a, in logits: the density of w peaks at a sqrt(2), and has its mean at 8 logits."""
START = 2.0
"""Logits of favour from which the mode is looked for."""
THETA, POSITION, TIE, PULL = range(4)
"""An annotator's numbers: theta, b, u and |w|."""
COORDINATES = (ETA, ETA, T, ETA)
"""What each of them moves."""
EXACTLY = 1e-6
"""Standard deviation of a theta that is given."""
STEPS, HALVINGS = 50, 20
ENOUGH = 1e-4
"""Newton decrement, in nats, that ends the steps of an annotator."""
ROUNDING = 1e-9
MOST_OF_THE_WAY = 0.8
"""By how much a step may shorten |w|."""


@dataclass(frozen=True)
class Population:
    """How regular annotators scatter: standard deviations of theta, u and b; and means of ln nu and b."""

    discrimination: float = 0.5
    tie_spread: float = 1.0
    position_spread: float = 0.3
    log_tie_propensity: float = 0.0
    position: float = 0.0


@dataclass(frozen=True, eq=False)
class Rows:
    """Votes by group: an annotator, or an annotator in view of one competitor.

    Attributes
    ----------
    group : ndarray of int, shape (n_rows,)
        From 0 to ``size`` - 1.
    size : int
        Number of groups.
    lead : ndarray, shape (n_rows,)
        r_i - r_j.
    counts : ndarray, shape (4, n_rows)
        As the likelihood sees them.
    side : ndarray, shape (n_rows,)
        1 where c is i, -1 where it is j, else 0; of those who hate c the other way round.
    """

    group: Ints
    size: int
    lead: Floats
    counts: Floats
    side: Floats

    def sums(self, values: Floats) -> Floats:
        """Sum values (m, n_rows) by group, shape (size, m)."""
        return np.array([np.bincount(self.group, row, minlength=self.size) for row in values], dtype=np.float64).T

    def of(self, chosen: NDArray[np.bool_]) -> Rows:
        """Return the rows of some groups, numbered anew."""
        rows, number = chosen[self.group], np.cumsum(chosen) - 1
        group = number[self.group[rows]]
        return Rows(group, int(chosen.sum()), self.lead[rows], self.counts[:, rows], self.side[rows])


@dataclass(frozen=True, eq=False)
class Evidence:
    """What votes say of every group under one kind.

    Attributes
    ----------
    value : ndarray, shape (size,)
        Log marginal likelihood, in nats.
    numbers : ndarray, shape (size, q)
        The annotators' numbers at the mode: theta, b, u and, of those who favour somebody, |w|.
    covariance : ndarray, shape (size, q, q)
        Around it.
    """

    value: Floats
    numbers: Floats
    covariance: Floats


def evidence(
    rows: Rows, population: Population, *, theta: float = 1.0, favours: bool = False, start: Floats | None = None
) -> Evidence:
    """Integrate the annotators' numbers out.

    Parameters
    ----------
    rows : Rows
        Votes.
    population : Population
        How the numbers scatter.
    theta : float
        Mean of theta; that of guessers, 0, is exact.
    favours : bool
        Whether there is a pull w at the competitor of ``rows.side``.
    start : ndarray, shape (size, q), optional
        Numbers to start from.

    Returns
    -------
    Evidence
    """
    posterior = _Posterior(population, theta, favours)
    numbers = np.tile(posterior.start, (rows.size, 1)) if start is None else start.copy()
    value, slope, curve = posterior(rows, numbers)
    moving = np.ones(rows.size, dtype=bool)
    for _ in range(STEPS):
        step = -np.linalg.solve(curve[moving], slope[moving][..., None])[..., 0]
        unfinished = -(slope[moving] * step).sum(axis=1) > ENOUGH
        moving[moving] = unfinished
        if not moving.any():
            break
        step, part, before = step[unfinished], rows.of(moving), numbers[moving]
        length = posterior.longest(before, step)
        for _ in range(HALVINGS):
            trial = before + length[:, None] * step
            found = posterior(part, trial)
            worse = ~(found[0] <= value[moving] + ROUNDING)
            if not worse.any():
                break
            length[worse] *= 0.5
        numbers[moving], value[moving], slope[moving], curve[moving] = trial, *found
    volume = 0.5 * len(posterior.start) * math.log(2 * math.pi) - 0.5 * np.linalg.slogdet(curve)[1]
    return Evidence(
        volume - value - posterior.log_normaliser, numbers, np.asarray(np.linalg.inv(curve), dtype=np.float64)
    )


class _Posterior:
    """The negative log-posterior of the numbers of every group, up to ``log_normaliser`` of the prior."""

    def __init__(self, population: Population, theta: float, favours: bool) -> None:
        spread = population.discrimination if theta else EXACTLY
        self.mean = np.array([theta, population.position, 0.0])
        self.sd = np.array([spread, population.position_spread, population.tie_spread])
        self.log_tie_propensity, self.guesses, self.favours = population.log_tie_propensity, not theta, favours
        self.start = np.append(self.mean, START) if favours else self.mean
        self.log_normaliser = float(np.log(self.sd).sum()) + 1.5 * math.log(2 * math.pi)
        if favours:
            self.log_normaliser += math.log(FAVOUR**3 * math.sqrt(math.pi / 2))

    def __call__(self, rows: Rows, numbers: Floats) -> tuple[Floats, Floats, Floats]:
        """Return its values (size,), gradients (size, q) and Hessians (size, q, q)."""
        q, one = len(self.start), np.ones_like(rows.lead)
        bases = [np.zeros_like(rows.lead) if self.guesses else rows.lead, one, one, rows.side][:q]
        own = numbers[rows.group].T
        eta = sum(own[p] * bases[p] for p in range(q) if COORDINATES[p] == ETA)
        terms = LIKELIHOOD.rows(rows.counts, np.array([eta, self.log_tie_propensity + own[TIE]]))
        slopes = [terms.gradient[COORDINATES[p]] * bases[p] for p in range(q)]
        lower = np.tril_indices(q)
        curves = [
            terms.hessian[COORDINATES[p], COORDINATES[s]] * bases[p] * bases[s] for p, s in zip(*lower, strict=True)
        ]
        sums = rows.sums(np.array([terms.value, *slopes, *curves]))
        value, slope, curve = sums[:, 0].copy(), sums[:, 1 : q + 1].copy(), np.empty((rows.size, q, q))
        curve[:, lower[0], lower[1]] = curve[:, lower[1], lower[0]] = sums[:, q + 1 :]
        scaled = (numbers[:, :PULL] - self.mean) / self.sd
        value += 0.5 * (scaled**2).sum(axis=1)
        slope[:, :PULL] += scaled / self.sd
        curve[:, range(PULL), range(PULL)] += self.sd**-2.0
        if self.favours:
            w = numbers[:, PULL]
            value += 0.5 * (w / FAVOUR) ** 2 - 2 * np.log(w)
            slope[:, PULL] += w / FAVOUR**2 - 2 / w
            curve[:, PULL, PULL] += FAVOUR**-2 + 2 / w**2
        return value, slope, curve

    def longest(self, numbers: Floats, step: Floats) -> Floats:
        """Return the largest share of every step, at most 1, that leaves |w| positive."""
        if not self.favours:
            return np.ones(len(step))
        shortens = step[:, PULL] < -MOST_OF_THE_WAY * numbers[:, PULL]
        return np.where(shortens, MOST_OF_THE_WAY * numbers[:, PULL] / -np.where(shortens, step[:, PULL], -1.0), 1.0)
