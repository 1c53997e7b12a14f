"""Annotators in view of competitors on whom their votes stand out from their others: those of whom favour is likely."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bayes_arena.arrays import Ints
from bayes_arena.trust.classes import POSITION, THETA, TIE, Evidence, Population, Rows, evidence
from bayes_arena.trust.strengths import DAVIDSON
from bayes_arena.votes.cells import TIE as TIES, WIN, Tally

STANDS_OUT, AT_AIMS = 2.5, 1.5
"""Standard errors of a residual from which favour is looked for, and from which it is on those competitors where most
stand out: below, it is not likelier than not, whatever its share."""
LIKELIEST_AIMS = 4
EXACT = 1e-9


@dataclass(frozen=True, eq=False)
class Suspicions:
    """Annotators in view of competitors on whom they stand out, sorted by annotator.

    Attributes
    ----------
    annotator, competitor : ndarray of int, shape (S,)
    hates : ndarray of bool, shape (S,)
    evidence : Evidence
        If they favour the competitor, or hate it.
    """

    annotator: Ints
    competitor: Ints
    hates: NDArray[np.bool_]
    evidence: Evidence

    @property
    def key(self) -> Ints:
        """Number of competitor and way."""
        return 2 * self.competitor + self.hates


def find_suspicions(tally: Tally, rows: Rows, regular: Evidence, population: Population, n: int) -> Suspicions:
    """Look for favour where an annotator's votes on a competitor stand out from their others."""
    own = regular.numbers[tally.k].T
    coordinates = np.array([own[THETA] * rows.lead + own[POSITION], population.log_tie_propensity + own[TIE]])
    expected, _ = DAVIDSON.likelihood.expected_score(coordinates)
    p = np.exp(DAVIDSON.likelihood.log_probabilities(coordinates))
    votes = rows.counts.sum(axis=0)
    residual = rows.counts[WIN] + 0.5 * rows.counts[TIES] - votes * expected
    variance = votes * (p[WIN] + 0.25 * p[TIES] - expected**2)
    key, place = np.unique(np.concatenate([tally.k * n + tally.i, tally.k * n + tally.j]), return_inverse=True)
    pull = np.bincount(place, np.concatenate([residual, -residual]))
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
    return Suspicions(annotator, competitor, hates, evidence(views, population, favours=True))
