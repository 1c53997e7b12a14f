"""What kind of annotator everybody is: the posterior given strengths.

How common the kinds are, and how regular annotators scatter, is what the votes make likeliest under weak priors (EM);
the scale of the strengths is such that regular annotators have mean theta 1. Then whom somebody may favour is looked
for (:mod:`bayes_arena.trust.mixture`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from bayes_arena.arrays import Floats, Ints
from bayes_arena.likelihood.point import Point
from bayes_arena.trust.classes import POSITION, PULL, THETA, TIE, Evidence, Population, Rows, evidence
from bayes_arena.trust.mixture.shares import (
    FAVOUR,
    OPENS,
    REGULAR,
    USUAL,
    Mixture,
    find_aims,
    kind_posterior,
    mended,
    mix,
)
from bayes_arena.trust.mixture.suspicions import Suspicions, find_suspicions
from bayes_arena.trust.strengths import DAVIDSON
from bayes_arena.votes.cells import Cells, Tally

MEANS = (1.0, 0.0, -1.0)
"""Of theta, of those who favour nobody."""
SURE = 0.95
"""Probability from which an annotator needs no share of a competitor's own to be found."""
ROUNDS, STANDS_STILL = 50, 1e-3
"""Rounds of EM at most, and change of a share or of how the regular scatter that ends them."""
USUAL_SCATTER = {THETA: (0.5, 10.0), POSITION: (0.3, 5.0), TIE: (0.7, 5.0)}
"""Standard deviations of the numbers before the votes are seen, and how many annotators that is worth."""
NARROWEST, WIDEST = 0.05, 0.8
"""Of theta: wider, the regular would be taken for adversaries."""
MOST_AIMS = 4
LARGEST_SCALE = 2.0
"""Of the strengths."""


@dataclass(frozen=True, eq=False)
class Kinds:
    """What kind everybody is.

    Attributes
    ----------
    probability : ndarray, shape (4, n_annotators)
        Of being regular, a guesser, an adversary, and of favouring or hating one competitor.
    competitor : ndarray of int, shape (n_annotators,)
        Whom they favour or hate, if they do.
    hates : ndarray of bool, shape (n_annotators,)
        Which of the two.
    aims : tuple of (int, bool)
        Competitors with a share of their own, and whether it is of those who hate them.
    likely_aims : tuple of (int, bool)
        Those, and others for which there is some evidence that they should have one.
    numbers, covariance : ndarray, shapes (n_annotators, 4) and (n_annotators, 4, 4)
        Theta, b, ln nu and w of somebody who favours or hates that competitor, where that is likelier than not; else
        those of somebody regular, with w = 0.
    strength : ndarray, shape (n_competitors,)
        At which they have these numbers: regular annotators have mean theta 1.
    evidence : float
        Log-likelihood of the votes of those of whom shares were estimated, given the strengths, in nats.
    """

    probability: Floats
    competitor: Ints
    hates: NDArray[np.bool_]
    aims: tuple[tuple[int, bool], ...]
    likely_aims: tuple[tuple[int, bool], ...]
    numbers: Floats
    covariance: Floats
    strength: Floats
    evidence: float

    @property
    def favour(self) -> Floats:
        """Probability of favouring or hating one competitor, shape (n_annotators,)."""
        return np.asarray(self.probability[FAVOUR])


def find_kinds(cells: Cells, point: Point, active: NDArray[np.bool_], weight: Floats) -> Kinds:
    """Find out what kind everybody is, given strengths.

    Parameters
    ----------
    cells : Cells
        Votes.
    point : Point
        Strengths, and the common tie propensity.
    active : ndarray of bool, shape (n_annotators,)
        Who is one of the annotators of whom shares are estimated.
    weight : ndarray, shape (n_annotators,)
        Probability that somebody favours and hates nobody, as far as is known: by how much they count where it is
        estimated how regular annotators scatter.

    Returns
    -------
    Kinds
    """
    tally = cells.tally(by_annotator=True, by_side=cells.sided)
    lead = point.strength[tally.i] - point.strength[tally.j]
    rows = Rows(tally.k, cells.n_annotators, lead, DAVIDSON.seen_counts(tally.counts), np.zeros(len(lead)))
    crowd = _Crowd.of(rows, Population(log_tie_propensity=float(point.common[0])), weight)
    suspicions = find_suspicions(tally, crowd.rows, crowd.regular, crowd.population, cells.n_competitors, weight)
    mixture = mix(crowd.value, suspicions, {}, crowd.shares, active, cells.n_competitors)
    aims: dict[int, float] = {}
    while True:
        unsure = active & (mixture.posterior[FAVOUR] < SURE)
        found = find_aims(crowd.value, mixture.shares, suspicions, unsure, _met(tally, cells))
        further = {aim: share for aim, (share, gain) in found.items() if gain > OPENS and aim not in aims}
        likely = [*aims, *(aim for aim in found if aim not in aims)]
        if not further or len(aims) == MOST_AIMS:
            break
        first = max(further, key=lambda aim: found[aim][1])  # who favours it is then no longer held to hate its rivals
        aims = aims | {first: further[first]}
        mixture = mix(crowd.value, suspicions, aims, mixture.shares, active, cells.n_competitors)
    return _summary(mixture, suspicions, aims, likely, crowd, point)


@dataclass(frozen=True, eq=False)
class _Crowd:
    """Annotators who favour nobody.

    Attributes
    ----------
    rows : Rows
        Their votes, at the strengths at which regular annotators have mean theta 1.
    scale : float
        Those strengths relative to the given ones.
    population : Population
        How regular annotators scatter.
    shares : ndarray, shape (4,)
        Of the kinds.
    value : ndarray, shape (3, n_annotators)
        Log marginal likelihood of everybody's votes under each of the first three.
    regular : Evidence
        Of being regular.
    """

    rows: Rows
    scale: float
    population: Population
    shares: Floats
    value: Floats
    regular: Evidence

    @classmethod
    def of(cls, rows: Rows, population: Population, weight: Floats) -> _Crowd:
        """Find what makes their votes likeliest; ``weight`` is by how much everybody counts."""
        shares, scale, lead = USUAL, 1.0, rows.lead
        starts: list[Floats | None] = [None] * len(MEANS)
        for _ in range(ROUNDS):
            rows = replace(rows, lead=scale * lead)
            found = [
                evidence(rows, population, theta=theta, start=start) for theta, start in zip(MEANS, starts, strict=True)
            ]
            starts = [one.numbers for one in found]
            value = np.array([one.value for one in found])
            posterior = kind_posterior(value, shares[:FAVOUR])
            crowd = cls(rows, scale, population, mended(np.append(posterior @ weight, 0.0)), value, found[REGULAR])
            moved, stretch = _scatter(found[REGULAR], posterior[REGULAR] * weight, population)
            change = np.abs([*(crowd.shares - shares), moved.discrimination - population.discrimination, stretch - 1])
            if change.max() < STANDS_STILL:
                break
            shares, population = crowd.shares, moved
            scale = float(np.clip(scale * stretch, 1 / LARGEST_SCALE, LARGEST_SCALE))
        return crowd


def _scatter(regular: Evidence, weight: Floats, population: Population) -> tuple[Population, float]:
    """Return how regular annotators scatter, and the factor of the strengths that gives them mean theta 1."""
    total, variance = weight.sum(), np.diagonal(regular.covariance, axis1=1, axis2=2)
    mean = {number: float(weight @ regular.numbers[:, number]) / max(total, 1.0) for number in USUAL_SCATTER}
    sd = {}
    for number, (usual, worth) in USUAL_SCATTER.items():
        squares = weight @ ((regular.numbers[:, number] - mean[number]) ** 2 + variance[:, number])
        sd[number] = float(np.sqrt((squares + worth * usual**2) / (total + worth)))
    stretch = max(mean[THETA], NARROWEST)
    moved = Population(
        discrimination=float(np.clip(sd[THETA] / stretch, NARROWEST, WIDEST)),
        tie_spread=sd[TIE],
        position_spread=sd[POSITION],
        log_tie_propensity=population.log_tie_propensity + mean[TIE],
        position=mean[POSITION] * total / (total + USUAL_SCATTER[POSITION][1]),
    )
    return moved, stretch


def _met(tally: Tally, cells: Cells) -> Floats:
    """How many annotators voted on every competitor."""
    n = cells.n_competitors
    pairs = np.unique(np.concatenate([tally.k * n + tally.i, tally.k * n + tally.j]))
    return np.bincount(pairs % n, minlength=n).astype(float)


def _summary(
    mixture: Mixture,
    suspicions: Suspicions,
    aims: Iterable[int],
    likely_aims: Iterable[int],
    crowd: _Crowd,
    point: Point,
) -> Kinds:
    """Put together what is known of everybody."""
    posterior, size = mixture.posterior, mixture.posterior.shape[1]
    numbers, covariance = np.zeros((size, 4)), np.zeros((size, 4, 4))
    numbers[:, :PULL], covariance[:, :PULL, :PULL] = crowd.regular.numbers, crowd.regular.covariance
    competitor, hates = np.zeros(size, dtype=np.int64), np.zeros(size, dtype=bool)
    order = np.lexsort((-mixture.weighed, suspicions.annotator))
    _, first = np.unique(suspicions.annotator[order], return_index=True)
    best = order[first]
    who = suspicions.annotator[best]
    competitor[who], hates[who] = suspicions.competitor[best], suspicions.hates[best]
    likely = posterior[FAVOUR, who] > 0.5
    sign = np.where(suspicions.hates[best], -1.0, 1.0)[likely]
    turn = np.ones((len(sign), 4))
    turn[:, PULL] = sign
    numbers[who[likely]] = suspicions.evidence.numbers[best[likely]] * turn
    covariance[who[likely]] = suspicions.evidence.covariance[best[likely]] * turn[:, :, None] * turn[:, None, :]
    numbers[:, TIE] += crowd.population.log_tie_propensity
    named, asked = (tuple((one // 2, bool(one % 2)) for one in keys) for keys in (aims, likely_aims))
    strength = crowd.scale * point.strength
    return Kinds(posterior, competitor, hates, named, asked, numbers, covariance, strength, mixture.evidence)
