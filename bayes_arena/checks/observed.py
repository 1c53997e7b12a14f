"""Observed against predicted: mean scores of groups of pairs with like predictions.

The score s of a vote is 1 for a win, 1/2 for a tie and 0 for a loss.  At the estimate,

    E[s] = sum_o p_o s_o,    Var[s] = sum_o p_o s_o^2 - E[s]^2.

Pairs are turned so that the first is the stronger, sorted by their prediction, and put
into groups with about equal numbers of votes.  A group of n votes is expected within
z sqrt(sum Var[s]) / n of its prediction, with z the normal quantile of the level.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import ndtri

from bayes_arena.arrays import Array, Floats, Ints
from bayes_arena.errors import require_level
from bayes_arena.fits.result import Fit, parameter_vectors
from bayes_arena.model.likelihood import coordinates, outcome_probabilities
from bayes_arena.model.objective import predictors
from bayes_arena.votes.votes import sums

N_GROUPS = 12


@dataclass(frozen=True, eq=False)
class ScoreSums:
    """Votes, their score, its mean and its variance: sums by row, pair or group of pairs."""

    n: Floats
    won: Floats
    expected: Floats
    variance: Floats

    def turned(self, is_turned: Array) -> ScoreSums:
        """Return the sums with the score of the second in place of the first's in some."""
        return replace(
            self,
            won=np.where(is_turned, self.n - self.won, self.won),
            expected=np.where(is_turned, self.n - self.expected, self.expected),
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


def observed_columns(fit: Fit, level: float = 0.95) -> dict[str, Floats]:
    """Return observed and predicted scores of the stronger, by groups of pairs.

    Parameters
    ----------
    fit : Fit
    level : float
        Probability that chance leaves the observed score within its range.

    Returns
    -------
    dict
        ``predicted``, ``observed``, ``lower``, ``upper`` (range of the observed score
        under chance) and ``votes``, each (groups,).
    """
    require_level(level)
    pairs = pair_sums(fit)
    groups = pairs.summed(group_of_pairs(pairs))
    predicted = groups.expected / groups.n
    half_width = ndtri((1 + level) / 2) * np.sqrt(groups.variance) / groups.n
    return {
        "predicted": predicted,
        "observed": groups.won / groups.n,
        "lower": np.maximum(predicted - half_width, 0.0),
        "upper": np.minimum(predicted + half_width, 1.0),
        "votes": groups.n,
    }


def group_of_pairs(pairs: ScoreSums) -> Ints:
    """Return a group for each pair: like predictions, and about equal numbers of votes."""
    order = np.argsort(pairs.expected / pairs.n, kind="stable")
    share = np.cumsum(pairs.n[order]) / pairs.n.sum()
    # A pair belongs to the group that its last vote is in; 1e-9 is for rounding, by which
    # a share may end just above the limit of its group.
    number = (share * N_GROUPS - 1e-9).astype(int)
    group = np.empty(len(order), np.intp)
    group[order] = np.minimum(number, N_GROUPS - 1)
    return group


def pair_sums(fit: Fit) -> ScoreSums:
    """Return the sums of pairs, each turned so that the first is the stronger."""
    design = fit.posterior.design
    votes = design.votes
    n = design.n_votes
    mean, variance = predicted_scores(fit)
    rows = ScoreSums(
        n=n,
        won=design.outcomes.counts(votes) @ design.outcomes.points,
        expected=n * mean,
        variance=n * variance,
    )
    pairs = rows.turned(votes.i > votes.j).summed(votes.pair_code)
    return pairs.turned(pairs.expected < pairs.n / 2)


def predicted_scores(fit: Fit) -> tuple[Floats, Floats]:
    """Return mean and variance of the score of one vote of each row of the design."""
    design = fit.posterior.design
    x = fit.posterior.mean
    if fit.samples is not None:
        x = parameter_vectors(fit.posterior, fit.samples).mean(axis=0)
    points = design.outcomes.points
    mean = np.empty(len(design.votes))
    square = np.empty_like(mean)
    for chunk in design.chunks():
        p, _ = outcome_probabilities(design.phi, coordinates(predictors(chunk, x)))
        mean[chunk.rows] = points @ p
        square[chunk.rows] = points**2 @ p
    return mean, square - mean**2
