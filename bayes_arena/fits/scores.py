"""The scores of votes, beside those that a fit expects.

The score s of a vote is 1 for a win, 1/2 for a tie and 0 for a loss.  At the estimate,

    E[s] = sum_o p_o s_o,    Var[s] = sum_o p_o s_o^2 - E[s]^2.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from bayes_arena.arrays import Array, Floats, Ints
from bayes_arena.fits.result import Fit, seen_votes
from bayes_arena.model.build import design_of_rows
from bayes_arena.model.design import Design
from bayes_arena.model.likelihood import outcome_probabilities
from bayes_arena.model.objective import row_coordinates
from bayes_arena.model.priors import FLAT
from bayes_arena.votes.votes import Votes, sums


@dataclass(frozen=True, eq=False)
class ScoreSums:
    """Votes, their score, its mean and its variance: sums by row, pair or group of pairs."""

    n: Floats
    won: Floats
    expected: Floats
    variance: Floats

    @property
    def residual(self) -> Floats:
        """Scores less those expected."""
        return self.won - self.expected

    def turned(self, is_turned: Array) -> ScoreSums:
        """Return the sums with the score of the second in place of the first's in some."""
        return replace(
            self,
            won=np.where(is_turned, self.n - self.won, self.won),
            expected=np.where(is_turned, self.n - self.expected, self.expected),
        )

    def taken(self, rows: Array) -> ScoreSums:
        """Return some of the sums."""
        return ScoreSums(
            self.n[rows], self.won[rows], self.expected[rows], self.variance[rows]
        )

    def summed(self, code: Ints) -> ScoreSums:
        """Return the sums by code, in the order of the codes that occur."""
        codes, group = np.unique(code, return_inverse=True)
        return ScoreSums(
            n=sums(group, self.n, len(codes)),
            won=sums(group, self.won, len(codes)),
            expected=sums(group, self.expected, len(codes)),
            variance=sums(group, self.variance, len(codes)),
        )


def scores_of(fit: Fit) -> tuple[Votes, ScoreSums]:
    """Return the rows that a fit saw, annotators and slices apart, and their scores.

    Scores are those of the first competitors.
    """
    design = design_of_rows(seen_votes(fit), fit.model, FLAT)
    mean, variance = predicted_scores(fit, design)
    counts = design.outcomes.counts(design.votes)
    scores = ScoreSums(
        n=design.n_votes,
        won=counts @ design.outcomes.points,
        expected=design.n_votes * mean,
        variance=design.n_votes * variance,
    )
    return design.votes, scores


def predicted_scores(fit: Fit, design: Design) -> tuple[Floats, Floats]:
    """Return mean and variance of the score of one vote of each row of a design."""
    points = design.outcomes.points
    z = row_coordinates(design, fit.marginals.mean)
    p, _ = outcome_probabilities(design.phi, z)
    mean = points @ p
    return mean, points**2 @ p - mean**2
