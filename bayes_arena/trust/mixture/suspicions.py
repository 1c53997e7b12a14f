"""Annotators in view of competitors on whom their votes stand out from their others: those of whom favour is likely."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bayes_arena.arrays import Floats, Ints
from bayes_arena.trust.classes import POSITION, THETA, TIE, Evidence, Population, Rows, evidence
from bayes_arena.trust.strengths import DAVIDSON
from bayes_arena.votes.cells import TIE as TIES, WIN, Tally

STANDS_OUT, AT_AIMS = 2.5, 1.5
"""Standard errors of a residual from which favour is looked for, and from which it is on those competitors where most
stand out: below, it is not likelier than not, whatever its share."""
LIKELIEST_AIMS = 4
EXACT = 1e-9
NARROWEST = 0.05
"""Taste that is looked at."""


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


def find_suspicions(
    tally: Tally, rows: Rows, regular: Evidence, population: Population, n: int, weight: Floats
) -> Suspicions:
    """Look for favour where an annotator's votes on a competitor stand out from their others.

    ``weight`` is by how much everybody counts where it is estimated how strong tastes are.
    """
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
    favours, taste = evidence(views, population, favours=True), _taste(key // n, pull, error, weight)
    besides = np.zeros(len(annotator))
    if taste > NARROWEST:
        besides = evidence(views, population, taste=taste).value - regular.value[annotator]
    return Suspicions(annotator, competitor, hates, favours, favours.value - besides)


def _taste(annotator: Ints, pull: Floats, error: Floats, counts: Floats) -> float:
    """Estimate the standard deviation of the middle annotator's tastes, in logits.

    Residuals have the variance V + taste^2 V^2, V that of the votes. Each annotator gives an estimate; their median,
    weighted by the information, does not mind those who favour somebody, as long as these are not many. Its standard
    error is taken off, as chance must not shield anybody.
    """
    variance = error**2
    excess = np.bincount(annotator, pull**2 - variance, len(counts))
    information = np.bincount(annotator, variance**2, len(counts))
    known = information * counts > 0
    if not known.any():
        return 0.0
    each, weight = excess[known] / information[known], np.sqrt(information[known]) * counts[known]
    middle = _median(each, weight)
    middle_error = 1.25 * 1.48 * _median(np.abs(each - middle), weight) * np.linalg.norm(weight) / weight.sum()
    return math.sqrt(max(middle - float(middle_error), 0.0))


def _median(values: Floats, weight: Floats) -> float:
    """Return the weighted median."""
    order = np.argsort(values)
    upto = np.cumsum(weight[order])
    return float(values[order][np.searchsorted(upto, 0.5 * upto[-1])])
