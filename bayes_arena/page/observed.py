"""Observed against predicted: mean scores of groups of pairs with like predictions.

The score s of a vote is 1 for a win, 1/2 for a tie and 0 for a loss.  At the estimate,

    E[s] = sum_o p_o s_o,    Var[s] = sum_o p_o s_o^2 - E[s]^2.

Pairs are turned so that the first is the stronger, sorted by their prediction, and put
into groups with about equal numbers of votes.  A group of n votes is expected within
z sqrt(sum Var[s]) / n of its prediction, with z the normal quantile of the level.
"""

from __future__ import annotations

import numpy as np
from scipy.special import ndtri

from bayes_arena.arrays import Floats, Ints
from bayes_arena.errors import require_level
from bayes_arena.fits.result import Fit, parameter_vectors
from bayes_arena.model.likelihood import coordinates, outcome_probabilities
from bayes_arena.model.objective import predictors

N_GROUPS = 12


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
    votes, won, expected, variance = pair_sums(fit)
    order = np.argsort(expected / votes, kind="stable")
    share = np.cumsum(votes[order]) / votes.sum()
    group = np.empty(len(votes), np.intp)
    group[order] = np.minimum((share * N_GROUPS - 1e-9).astype(int), N_GROUPS - 1)
    has_votes = sums(group, votes) > 0
    n, won, expected, variance = (
        sums(group, values)[has_votes] for values in (votes, won, expected, variance)
    )
    half_width = ndtri((1 + level) / 2) * np.sqrt(variance) / n
    return {
        "predicted": expected / n,
        "observed": won / n,
        "lower": np.maximum(expected / n - half_width, 0.0),
        "upper": np.minimum(expected / n + half_width, 1.0),
        "votes": n,
    }


def pair_sums(fit: Fit) -> tuple[Floats, Floats, Floats, Floats]:
    """Return votes, score, its mean and variance, of the stronger of each pair."""
    design = fit.posterior.design
    votes = design.votes
    mean, variance = predicted_scores(fit)
    n = design.n_votes
    score = design.outcomes.counts(votes) @ design.outcomes.points
    swapped = votes.i > votes.j
    score = np.where(swapped, n - score, score)
    mean = np.where(swapped, 1 - mean, mean)
    low, high = np.minimum(votes.i, votes.j), np.maximum(votes.i, votes.j)
    _, pair = np.unique(low * votes.n_competitors + high, return_inverse=True)
    total, won, expected, spread = (
        sums(pair, values) for values in (n, score, n * mean, n * variance)
    )
    is_weaker = expected < total / 2
    won = np.where(is_weaker, total - won, won)
    expected = np.where(is_weaker, total - expected, expected)
    return total, won, expected, spread


def sums(group: Ints, values: Floats) -> Floats:
    """Return the sums of values by group."""
    return np.asarray(np.bincount(group, values))


def predicted_scores(fit: Fit) -> tuple[Floats, Floats]:
    """Return mean and variance of the score of one vote of each row of the design."""
    design = fit.posterior.design
    x = fit.posterior.mean
    if fit.samples is not None:
        x = parameter_vectors(fit.posterior, fit.samples).mean(axis=0)
    points = design.outcomes.points
    mean, square = np.empty((2, len(design.votes)))
    for chunk in design.chunks():
        p, _ = outcome_probabilities(design.phi, coordinates(predictors(chunk, x)))
        mean[chunk.rows] = points @ p
        square[chunk.rows] = points**2 @ p
    return mean, square - mean**2
