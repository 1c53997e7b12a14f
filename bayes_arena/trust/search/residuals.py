"""What plain strengths leave unexplained, by annotator and competitor."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bayes_arena.arrays import Floats
from bayes_arena.likelihood.point import Point
from bayes_arena.trust.strengths import DAVIDSON
from bayes_arena.votes.cells import TIE, WIN, Cells


@dataclass(frozen=True, eq=False)
class Residuals:
    """What plain strengths leave unexplained, by annotator and competitor, each (n_annotators, n_competitors).

    Attributes
    ----------
    score : ndarray
        Sum of score less expected score.
    variance : ndarray
        Of it, under the model.
    by_theta : ndarray
        Its slope by the annotator's theta.
    """

    score: Floats
    variance: Floats
    by_theta: Floats

    @classmethod
    def of(cls, cells: Cells, point: Point) -> Residuals:
        """Return the residuals of votes at some strengths."""
        likelihood, seen = DAVIDSON.likelihood, DAVIDSON.seen_counts(cells.counts)
        votes = seen.sum(axis=0)
        lead = point.strength[cells.a] - point.strength[cells.b]
        z = np.array([lead, np.full_like(lead, point.common[0])])
        expected, slope = likelihood.expected_score(z)
        p = np.exp(likelihood.log_probabilities(z))
        variance = votes * (p[WIN] + 0.25 * p[TIE] - expected**2)
        residual = seen[WIN] + 0.5 * seen[TIE] - votes * expected
        shape = cells.n_annotators, cells.n_competitors
        at_a, at_b = (np.ravel_multi_index((cells.annotator, side), shape) for side in (cells.a, cells.b))

        def summed(values: Floats, sign: float) -> Floats:
            size = shape[0] * shape[1]
            return (np.bincount(at_a, values, size) + sign * np.bincount(at_b, values, size)).reshape(shape)

        return cls(summed(residual, -1), summed(variance, 1), summed(votes * slope[0] * lead, -1))
