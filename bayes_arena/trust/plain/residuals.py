"""What plain strengths leave unexplained: every row's score, less the expected one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bayes_arena.arrays import Floats
from bayes_arena.likelihood.point import Point
from bayes_arena.trust.plain.ballots import DAVIDSON, Ballots
from bayes_arena.votes.outcomes import TIE, WIN


@dataclass(frozen=True, eq=False)
class Residuals:
    """What plain strengths leave unexplained, each of shape (n_rows,); of j scores and slopes have the other sign.

    Attributes
    ----------
    score : ndarray
        Score of i less its expected score.
    variance : ndarray
        Of it, under the model.
    by_theta : ndarray
        Its slope by the annotator's theta.
    """

    score: Floats
    variance: Floats
    by_theta: Floats

    @classmethod
    def of(cls, ballots: Ballots, point: Point) -> Residuals:
        """Return the residuals of votes at some strengths."""
        pairs, votes = ballots.pairs, ballots.votes
        lead = point.strength[pairs.i] - point.strength[pairs.j]
        expected, slope = DAVIDSON.likelihood.expected_score(np.array([lead, np.full_like(lead, point.common[0])]))
        score = ballots.counts[WIN] + 0.5 * ballots.counts[TIE] - votes * expected[pairs.place]
        variance = votes * slope[0][pairs.place]  # the variance of a score is its slope by eta
        return cls(score, variance, variance * lead[pairs.place])
