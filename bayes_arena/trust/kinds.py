"""What kind of annotator everybody is: the posterior given strengths.

The kinds' shares, and how regular annotators scatter, are what the votes make likeliest under priors worth ``PSEUDO``
annotators (EM). Whom somebody favours or hates is as likely one competitor as another, unless so many do that a share
of its own makes the votes ``OPENS`` nats likelier, as where somebody pays for votes: the competitor is then an *aim*.
The scale of the strengths is such that regular annotators have mean theta 1.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from bayes_arena.arrays import Floats, Ints
from bayes_arena.likelihood.point import Point
from bayes_arena.trust.classes import POSITION, PULL, THETA, TIE, Evidence, Population, Rows, evidence
from bayes_arena.trust.strengths import DAVIDSON
from bayes_arena.votes.cells import TIE as TIES, WIN, Cells, Tally

REGULAR, GUESSER, ADVERSARY, FAVOUR = range(4)
MEANS = (1.0, 0.0, -1.0)
"""Of theta, of the first three."""
USUAL = np.array([0.935, 0.03, 0.03, 0.005])
"""Shares of the kinds before the votes are seen."""
PSEUDO = 20.0
LARGEST = 0.4
"""Share of guessers and adversaries together: beyond, nobody could be told from the rest."""
OPENS, LIKELY = 16.0, 5.0
"""Honest arenas reach 6, and 15 where annotators' own tastes have a standard deviation of .8 logits."""
SURE = 0.95
"""Probability from which an annotator needs no share of a competitor's own to be found."""
OWN_SHARES = np.array([0.005, 0.01, 0.02, 0.05, 0.1, 0.2])
"""Shares that an aim may have."""
STANDS_OUT, AT_AIMS = 2.5, 1.5
"""Standard errors of a residual from which favour is looked for, and from which it is on those competitors where most
stand out: below, it is not likelier than not, whatever its share."""
LIKELIEST_AIMS = 4
BELOW = 0.5
"""Bayes factor that stands for those below."""
ROUNDS, EM_STEPS, STANDS_STILL = 4, 100, 1e-4
USUAL_SCATTER = {THETA: (0.5, 10.0), POSITION: (0.3, 5.0), TIE: (0.7, 5.0)}
"""Standard deviations of the numbers before the votes are seen, and how many annotators that is worth."""
NARROWEST, WIDEST = 0.05, 0.8
"""Of theta: wider, the regular would be taken for adversaries."""
EXACT = 1e-9
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
    population, shares, scale = Population(log_tie_propensity=float(point.common[0])), USUAL, 1.0
    starts: list[Floats | None] = [None] * len(MEANS)
    for _ in range(ROUNDS):
        rows = replace(rows, lead=scale * lead)
        found = [
            evidence(rows, population, theta=theta, start=start) for theta, start in zip(MEANS, starts, strict=True)
        ]
        starts = [one.numbers for one in found]
        value = np.array([one.value for one in found])
        posterior = _posterior(value, shares[:FAVOUR])
        settled = rows, population
        shares = _mended(np.append(posterior @ weight, 0.0))
        population, stretch = _scatter(found[REGULAR], posterior[REGULAR] * weight, population)
        scale = float(np.clip(scale * stretch, 1 / LARGEST_SCALE, LARGEST_SCALE))
    rows, population = settled
    suspicions = _suspicions(tally, rows, found[REGULAR], population, cells.n_competitors)
    mixture = _mix(value, suspicions, {}, shares, active, cells.n_competitors)
    unsure = active & (mixture.posterior[FAVOUR] < SURE)
    likely = _aims(value, mixture.shares, suspicions, unsure, _met(tally, cells))
    aims = {aim: share for aim, (share, gain) in likely.items() if gain > OPENS}
    if aims:
        mixture = _mix(value, suspicions, aims, mixture.shares, active, cells.n_competitors)
    return _summary(mixture, suspicions, aims, likely, found[REGULAR], population)


@dataclass(frozen=True, eq=False)
class Suspicions:
    """Annotators in view of competitors on whom they stand out, sorted by annotator.

    Attributes
    ----------
    annotator, competitor : ndarray of int, shape (S,)
    hates : ndarray of bool, shape (S,)
    evidence : Evidence
        If they favour the competitor, or hate it.
    value : ndarray, shape (S,)
        Log evidence, less what a taste for it would explain.
    """

    annotator: Ints
    competitor: Ints
    hates: NDArray[np.bool_]
    evidence: Evidence
    value: Floats

    @property
    def key(self) -> Ints:
        """Number of competitor and way."""
        return 2 * self.competitor + self.hates


def _posterior(value: Floats, shares: Floats) -> Floats:
    """Probabilities of kinds, shape (kinds, M)."""
    weighed = value + np.log(shares)[:, None]
    return np.asarray(np.exp(weighed - logsumexp(weighed, axis=0)))


def _mended(expected: Floats) -> Floats:
    """Shares for expected numbers of annotators of each kind."""
    shares = (expected + PSEUDO * USUAL) / (expected.sum() + PSEUDO)
    shares[FAVOUR] = USUAL[FAVOUR]
    others = shares[GUESSER] + shares[ADVERSARY]
    shares[[GUESSER, ADVERSARY]] *= min(1.0, LARGEST / others)
    shares[REGULAR] = 1 - shares[GUESSER:].sum()
    return np.asarray(shares)


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


def _suspicions(tally: Tally, rows: Rows, regular: Evidence, population: Population, n: int) -> Suspicions:
    """Look for favour where an annotator's votes on a competitor stand out from their others."""
    own = regular.numbers[tally.k].T
    coordinates = np.array([own[THETA] * rows.lead + own[POSITION], population.log_tie_propensity + own[TIE]])
    expected, _ = DAVIDSON.likelihood.expected_score(coordinates)
    p = np.exp(DAVIDSON.likelihood.log_probabilities(coordinates))
    votes = rows.counts.sum(axis=0)
    residual = rows.counts[WIN] + 0.5 * rows.counts[TIES] - votes * expected
    variance = votes * (p[WIN] + 0.25 * p[TIES] - expected**2)
    pairs = np.concatenate([tally.k * n + tally.i, tally.k * n + tally.j])
    key, place = np.unique(pairs, return_inverse=True)
    pull: Floats = np.bincount(place, np.concatenate([residual, -residual])).astype(np.float64)
    error = np.sqrt(np.bincount(place, np.tile(variance, 2)))
    z, hates = np.abs(pull) / np.maximum(error, EXACT), pull < 0
    aim = 2 * (key % n) + hates
    excess = np.bincount(aim, np.maximum(z - AT_AIMS, 0.0) ** 2, 2 * n)
    at_aims = np.isin(aim, np.argsort(-excess, kind="stable")[:LIKELIEST_AIMS]) & (z > AT_AIMS)
    chosen = at_aims | (z > STANDS_OUT)
    annotator, competitor, hates = key[chosen] // n, key[chosen] % n, hates[chosen]
    size = np.bincount(tally.k, minlength=rows.size)
    first, length = (np.cumsum(size) - size)[annotator], size[annotator]
    group = np.repeat(np.arange(len(annotator)), length)
    row = np.arange(len(group)) + np.repeat(first - np.cumsum(length) + length, length)
    side = np.where(tally.i[row] == competitor[group], 1.0, 0.0) - (tally.j[row] == competitor[group])
    side *= np.where(hates[group], -1.0, 1.0)
    views = Rows(group, len(annotator), rows.lead[row], rows.counts[:, row], side)
    favours, taste = (
        evidence(views, population, favours=True),
        _taste(key // n, pull, error),
    )
    besides = np.zeros(len(annotator))
    if taste > NARROWEST:
        besides = evidence(views, population, taste=taste).value - regular.value[annotator]
    return Suspicions(annotator, competitor, hates, favours, favours.value - besides)


def _taste(annotator: Ints, pull: Floats, error: Floats) -> float:
    """Estimate the standard deviation of the middle annotator's tastes, in logits.

    Residuals have the variance V + taste^2 V^2, V that of the votes. Each annotator gives an estimate; their median,
    weighted by the information, does not mind those who favour somebody, as long as these are not many. Its standard
    error is taken off, as chance must not shield anybody.
    """
    variance = error**2
    excess = np.bincount(annotator, pull**2 - variance)
    information = np.bincount(annotator, variance**2)
    known = information > 0
    each, weight = excess[known] / information[known], np.sqrt(information[known])
    middle = _median(each, weight)
    middle_error = 1.25 * 1.48 * _median(np.abs(each - middle), weight) * np.linalg.norm(weight) / weight.sum()
    return math.sqrt(max(middle - float(middle_error), 0.0))


def _median(values: Floats, weight: Floats) -> float:
    """Return the weighted median."""
    order = np.argsort(values)
    upto = np.cumsum(weight[order])
    return float(values[order][np.searchsorted(upto, 0.5 * upto[-1])])


@dataclass(frozen=True, eq=False)
class Mixture:
    """The kinds' shares and what follows from them.

    Attributes
    ----------
    posterior : ndarray, shape (4, M)
        Probabilities of the kinds.
    weighed : ndarray, shape (S,)
        Log evidence of each suspicion, with its share.
    shares : ndarray, shape (4,)
    evidence : float
        Log-likelihood of the votes of the active, each competitor with a share as large as is expected.
    """

    posterior: Floats
    weighed: Floats
    shares: Floats
    evidence: float


def _mix(
    value: Floats, suspicions: Suspicions, aims: dict[int, float], shares: Floats, active: NDArray[np.bool_], n: int
) -> Mixture:
    """Find the shares that make the votes likeliest, given those of the aims."""
    own = np.full(2 * n, USUAL[FAVOUR] / (2 * n))
    own[list(aims)] = list(aims.values())
    weighed = suspicions.value + np.log(own[suspicions.key])
    favour = _by_annotator(suspicions, weighed, value.shape[1])
    for _ in range(EM_STEPS):
        scaled = shares[:FAVOUR] / shares[:FAVOUR].sum() * max(1 - own.sum(), 1 - LARGEST)
        together = np.vstack([value + np.log(scaled)[:, None], favour])
        posterior = np.exp(together - logsumexp(together, axis=0))
        before, shares = shares, _mended(posterior[:, active].sum(axis=1))
        if np.abs(shares - before).max() < STANDS_STILL:
            break
    expected = np.exp(weighed - favour[suspicions.annotator]) * posterior[FAVOUR, suspicions.annotator]
    expected *= active[suspicions.annotator]
    own = USUAL[FAVOUR] / (2 * n) + np.bincount(suspicions.key, expected, 2 * n) / active.sum()
    found = _by_annotator(suspicions, suspicions.evidence.value + np.log(own[suspicions.key]), value.shape[1])
    left = np.log(shares[:FAVOUR] / shares[:FAVOUR].sum() * max(1 - own.sum(), NARROWEST))
    total = logsumexp(np.vstack([value + left[:, None], found]), axis=0)
    return Mixture(posterior, weighed, shares, float(total[active].sum()))


def _by_annotator(suspicions: Suspicions, weighed: Floats, size: int) -> Floats:
    """Log of the sum of the evidence of everybody's suspicions, shape (size,)."""
    favour = np.full(size, -np.inf)
    who, first = np.unique(suspicions.annotator, return_index=True)
    if len(who):
        favour[who] = np.logaddexp.reduceat(weighed, first)
    return favour


def _aims(
    value: Floats, shares: Floats, suspicions: Suspicions, unsure: NDArray[np.bool_], met: Floats
) -> dict[int, tuple[float, float]]:
    """Return likely aims: the own share that makes the votes likeliest, and by how many nats.

    ``met`` counts who voted on each competitor.

    Those of whom one is sure anyway say nothing of the others.
    """
    rest = logsumexp(value + np.log(shares[:FAVOUR])[:, None], axis=0)
    log_factor = suspicions.value - rest[suspicions.annotator]
    seen = unsure[suspicions.annotator]
    key = suspicions.key[seen]
    gains = np.logaddexp(np.log1p(-OWN_SHARES)[:, None], np.log(OWN_SHARES)[:, None] + log_factor[seen])
    size = 2 * len(met)
    gain = np.array([np.bincount(key, one, size) for one in gains], dtype=np.float64)
    unseen = np.maximum(np.repeat(met, 2) - np.bincount(key, minlength=size), 0.0)
    gain += np.log1p(OWN_SHARES * (BELOW - 1))[:, None] * unseen
    best, most = gain.argmax(axis=0), gain.max(axis=0)
    return {int(one): (float(OWN_SHARES[best[one]]), float(most[one])) for one in np.flatnonzero(most > LIKELY)}


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
    regular: Evidence,
    population: Population,
) -> Kinds:
    """Put together what is known of everybody."""
    posterior, size = mixture.posterior, mixture.posterior.shape[1]
    numbers, covariance = np.zeros((size, 4)), np.zeros((size, 4, 4))
    numbers[:, :PULL], covariance[:, :PULL, :PULL] = regular.numbers, regular.covariance
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
    numbers[:, TIE] += population.log_tie_propensity
    named, asked = (tuple((one // 2, bool(one % 2)) for one in keys) for keys in (aims, likely_aims))
    return Kinds(posterior, competitor, hates, named, asked, numbers, covariance, mixture.evidence)
