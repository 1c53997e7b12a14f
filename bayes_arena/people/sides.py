"""Which annotators vote for a side, whoever is shown there.

The position effects b_k of annotators are normal. So somebody who always votes for one
side, among many who do not, is drawn towards them, and is taken for an ordinary annotator
of ordinary agreement. A count needs no such prior: with the score s (win of the first 1,
tie 1/2, loss 0) and its expectation at the position of all,

    z_k = sum (s - E[s]) / sqrt(sum Var[s])

over the votes of annotator k, which is about standard normal by chance. Where the
stronger is mostly shown first, who follows the ranking closely votes for a side, too. So
expectations are taken at theta = 1 and at the annotator's own, and the smaller z counts.
"""

from __future__ import annotations

import numpy as np

from bayes_arena.arrays import Floats
from bayes_arena.fits.result import Fit
from bayes_arena.people.table import score_moments
from bayes_arena.votes.votes import FIRST, TIE

CLEAR_SIDE = 3.0  # z from which the side decides: a chance of 1 in 400
CERTAIN_SIDE = 4.0  # and of who votes for nothing else: 1 in 16,000
# Shares of the decided votes for a side: of who votes for nothing else, and of who leans.
NEARLY_ALL, MOST = 0.9, 0.75


def side_scores(fit: Fit) -> Floats:
    """Return z of each annotator, (annotators,); 0 where nobody knows who was first."""
    n = fit.votes.n_annotators
    if not fit.votes.sided:
        return np.zeros(n)
    at_one = side_scores_at(np.ones(n), fit)
    at_own = side_scores_at(fit.discrimination, fit)
    smaller = np.minimum(np.abs(at_one), np.abs(at_own))
    return np.where(at_one * at_own > 0, np.sign(at_one) * smaller, 0.0)


def side_scores_at(theta: Floats, fit: Fit) -> Floats:
    """Return z with expectations at some discriminations, both (annotators,)."""
    votes, posterior = fit.votes, fit.posterior
    n = votes.n_annotators
    strength = np.nan_to_num(fit.strength)  # nobody knows it: as if it were the mean
    eta = theta[votes.annotator] * (strength[votes.i] - strength[votes.j])
    lead = eta + posterior.common("position")
    outcomes, tie = posterior.design.outcomes, posterior.common("tie")
    mean, variance = score_moments(lead, outcomes, tie)
    folded = votes.folded
    n_votes = folded.sum(axis=1)
    residual = folded[:, FIRST] + folded[:, TIE] / 2 - n_votes * mean
    sums = np.bincount(votes.annotator, residual, n)
    sd = np.sqrt(np.bincount(votes.annotator, n_votes * variance, n))
    return np.divide(sums, sd, out=np.zeros(n), where=sd > 0)


def votes_for_one_side(score: float, share: float) -> bool:
    """Whether somebody votes for one side and nothing else.

    Parameters
    ----------
    score : float
        z.
    share : float
        Share of the decided votes that went to the competitor shown first.
    """
    return abs(score) >= CERTAIN_SIDE and abs(share - 0.5) >= NEARLY_ALL - 0.5


def leans_to_a_side(score: float, share: float) -> bool:
    """Whether somebody takes a side in three of four votes, surely beyond what is usual."""
    return abs(score) >= CERTAIN_SIDE and abs(share - 0.5) >= MOST - 0.5
