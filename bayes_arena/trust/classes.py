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
from numpy.typing import NDArray

from bayes_arena.arrays import Floats, Ints
from bayes_arena.compiled import made_ready
from bayes_arena.likelihood.outcomes.likelihood import ETA, T
from bayes_arena.threads import in_blocks

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
    """Votes, sorted by annotator.

    Attributes
    ----------
    i, j : ndarray of int, shape (n_rows,)
        Competitors.
    lead : ndarray, shape (n_rows,)
        r_i - r_j.
    counts : ndarray, shape (3, n_rows) or more
        Wins of i, wins of j and ties, as the likelihood sees them.
    """

    i: Ints
    j: Ints
    lead: Floats
    counts: Floats


@dataclass(frozen=True, eq=False)
class Views:
    """Groups of rows: an annotator's, or an annotator's in view of one competitor.

    Attributes
    ----------
    first, last : ndarray of int, shape (size,)
        The rows of a view are those from ``first`` up to, and without, ``last``.
    competitor : ndarray of int, shape (size,)
        c; -1 where there is none in view.
    sign : ndarray, shape (size,)
        1 where a pull is towards c, -1 where it is away from it.
    """

    first: Ints
    last: Ints
    competitor: Ints
    sign: Floats

    @classmethod
    def of_annotators(cls, first: Ints) -> Views:
        """Return the views of annotators, of whom one's rows begin where the last one's end."""
        size = len(first) - 1
        return cls(first[:-1], first[1:], np.full(size, -1), np.ones(size))

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self.first)

    def take(self, chosen: Ints | NDArray[np.bool_] | slice) -> Views:
        """Return some of them."""
        return Views(self.first[chosen], self.last[chosen], self.competitor[chosen], self.sign[chosen])

    def towards(self, competitor: Ints, sign: Floats) -> Views:
        """Return the same groups in view of competitors."""
        return Views(self.first, self.last, competitor, sign)


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
    views: Views,
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
    views : Views
        Of which of them, and of which competitor.
    population : Population
        How the numbers scatter.
    theta : float
        Mean of theta; that of guessers, 0, is exact.
    favours : bool
        Whether there is a pull w > 0 at the competitor in view.
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
    q, size = len(begin), len(views)
    numbers = np.tile(begin, (size, 1)) if start is None else start.copy()
    value, covariance = np.empty(size), np.empty((size, q, q))
    modes = kernels.find_modes

    def find(block: slice) -> None:
        of = views.take(block)
        modes(
            of.first, of.last, of.competitor, of.sign, rows.i, rows.j, rows.lead, rows.counts, mean, sd,
            population.log_tie_propensity, width, power, numbers[block], value[block], covariance[block],
        )  # fmt: skip

    made_ready(modes, lambda: find(slice(0, 0)), "the evidence of annotators' kinds")  # of nobody
    in_blocks(find, size)
    log_normaliser = np.log(sd).sum() + 1.5 * math.log(2 * math.pi) - 0.5 * q * math.log(2 * math.pi)
    if taste:
        log_normaliser += math.log(taste) + 0.5 * math.log(2 * math.pi)
    if favours:
        log_normaliser += math.log(FAVOUR**3 * math.sqrt(math.pi / 2))
    return Evidence(-value - log_normaliser, numbers, covariance)
