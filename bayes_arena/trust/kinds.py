"""What kind of annotator everybody is: the posterior given strengths.

How common the kinds are, and how regular annotators scatter, is what the votes make likeliest under weak priors (EM);
the scale of the strengths is such that regular annotators have mean theta 1. Then whom somebody may favour is looked
for (:mod:`bayes_arena.trust.mixture`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bayes_arena.arrays import Floats, Ints
from bayes_arena.likelihood.point import Point
from bayes_arena.trust.classes import PULL, TIE, Population
from bayes_arena.trust.mixture.aims import OPENS, find_aims
from bayes_arena.trust.mixture.crowd import Crowd, Habits
from bayes_arena.trust.mixture.mixing import Mixture, mix
from bayes_arena.trust.mixture.shares import FAVOUR
from bayes_arena.trust.mixture.suspicions import Suspicions, find_suspicions
from bayes_arena.trust.plain.ballots import Ballots

SURE = 0.95
"""Probability from which an annotator needs no share of a competitor's own to be found."""
MOST_AIMS = 4


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


def find_kinds(
    ballots: Ballots, point: Point, active: NDArray[np.bool_], weight: Floats, habits: Habits | None = None
) -> tuple[Kinds, Habits]:
    """Find out what kind everybody is, given strengths.

    Parameters
    ----------
    ballots : Ballots
        Votes.
    point : Point
        Strengths, and the common tie propensity.
    active : ndarray of bool, shape (n_annotators,)
        Who is one of the annotators of whom shares are estimated.
    weight : ndarray, shape (n_annotators,)
        Probability that somebody favours and hates nobody, as far as is known: by how much they count where it is
        estimated how regular annotators scatter.
    habits : Habits, optional
        What annotators have in common at similar strengths, to start from.

    Returns
    -------
    Kinds
    Habits
        What annotators who favour nobody have in common.
    """
    usual = Habits(Population(log_tie_propensity=float(point.common[0])))
    crowd = Crowd.of(ballots, point.strength, weight, habits or usual)
    suspicions = find_suspicions(ballots, crowd, weight)
    mixture = mix(crowd.value, suspicions, {}, crowd.habits.shares, active, ballots.n_competitors)
    aims: dict[int, float] = {}
    while True:
        unsure = active & (mixture.posterior[FAVOUR] < SURE)
        found = find_aims(ballots, crowd, mixture.shares, suspicions, unsure)
        further = {aim: share for aim, (share, gain) in found.items() if gain > OPENS and aim not in aims}
        likely = [*aims, *(aim for aim in found if aim not in aims)]
        if not further or len(aims) == MOST_AIMS:
            break
        first = max(further, key=lambda aim: found[aim][1])  # who favours it is then no longer held to hate its rivals
        aims = aims | {first: further[first]}
        mixture = mix(crowd.value, suspicions, aims, mixture.shares, active, ballots.n_competitors)
    return _summary(mixture, suspicions, aims, likely, crowd, point), crowd.habits


def _summary(
    mixture: Mixture,
    suspicions: Suspicions,
    aims: Iterable[int],
    likely_aims: Iterable[int],
    crowd: Crowd,
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
    numbers[:, TIE] += crowd.habits.population.log_tie_propensity
    named, asked = (tuple((one // 2, bool(one % 2)) for one in keys) for keys in (aims, likely_aims))
    strength = crowd.habits.scale * point.strength
    return Kinds(posterior, competitor, hates, named, asked, numbers, covariance, strength, mixture.evidence)
