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

Regular annotators have tastes, too: towards every competitor a w_k ~ Normal(0, taste). Favour is held against that, one
competitor at a time. A density of w that vanishes at zero makes favouring somebody a thing of its own: a slight taste,
which everybody has, is no evidence of it. A guesser is one exactly, as a guesser with some discrimination is a poor
regular annotator. The numbers are integrated out by Laplace's method; the log-posterior of each annotator is concave.

References: Davidson (1970), JASA 65; Johnson, V. E. & Rossell, D. (2010), "On the use of non-local prior densities in
Bayesian hypothesis tests", JRSS B 72.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from bayes_arena.arrays import Floats, Ints
from bayes_arena.compiled import made_ready
from bayes_arena.likelihood.outcomes.likelihood import ETA, T
from bayes_arena.votes.cells import BOTH_BAD

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
    rows: Rows,
    population: Population,
    *,
    theta: float = 1.0,
    favours: bool = False,
    taste: float = 0.0,
    start: Floats | None = None,
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
        Whether there is a pull w > 0 at the competitor of ``rows.side``.
    taste : float
        Standard deviation of a pull of either sign, as regular annotators have it; 0 for none.
    start : ndarray, shape (size, q), optional
        Numbers to start from.

    Returns
    -------
    Evidence
    """
    from bayes_arena.trust import kernels

    spread = population.discrimination if theta else EXACTLY
    mean = np.array([theta, population.position, 0.0])
    sd = np.array([spread, population.position_spread, population.tie_spread])
    begin = np.append(mean, START * favours) if favours or taste else mean
    width, power = (FAVOUR, 2.0) if favours else (taste, 0.0)
    q = len(begin)
    numbers = np.tile(begin, (rows.size, 1)) if start is None else start.copy()
    value, covariance = np.empty(rows.size), np.empty((rows.size, q, q))
    order = np.argsort(rows.group, kind="stable")
    first = np.searchsorted(rows.group[order], np.arange(rows.size + 1))
    counts = np.ascontiguousarray(rows.counts[:BOTH_BAD, order].T)
    parts = first, rows.lead[order], counts, rows.side[order], mean, sd, population.log_tie_propensity, not theta
    modes = kernels.find_modes

    def find() -> None:
        modes(*parts, width, power, numbers, value, covariance)

    made_ready(modes, find, "the evidence of annotators' kinds")
    volume = 0.5 * q * math.log(2 * math.pi) + 0.5 * np.linalg.slogdet(covariance)[1]
    log_normaliser = np.log(sd).sum() + 1.5 * math.log(2 * math.pi)
    if taste:
        log_normaliser += math.log(taste) + 0.5 * math.log(2 * math.pi)
    if favours:
        log_normaliser += math.log(FAVOUR**3 * math.sqrt(math.pi / 2))
    return Evidence(volume - value - log_normaliser, numbers, covariance)
