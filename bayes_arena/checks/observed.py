"""Observed against predicted: mean scores of groups of pairs with like predictions.

Pairs are turned so that the first is the stronger, sorted by their prediction, and put
into groups with about equal numbers of votes.  A group of n votes is expected within
z sqrt(sum Var[s]) / n of its prediction, with z the normal quantile of the level and the
variance of the score s of a vote (fits/scores.py).
"""

from __future__ import annotations

import numpy as np

from bayes_arena.arrays import Floats, Ints
from bayes_arena.boards.uncertainty import half_width
from bayes_arena.errors import require_level
from bayes_arena.fits.result import Fit
from bayes_arena.fits.scores import ScoreSums, scores_of

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
    pairs = pair_sums(fit)
    groups = pairs.summed(group_of_pairs(pairs))
    predicted = groups.expected / groups.n
    width = half_width(level) * np.sqrt(groups.variance) / groups.n
    return {
        "predicted": predicted,
        "observed": groups.won / groups.n,
        "lower": np.maximum(predicted - width, 0.0),
        "upper": np.minimum(predicted + width, 1.0),
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
    votes, scores = scores_of(fit)
    pairs = scores.turned(votes.i > votes.j).summed(votes.pair_code)
    return pairs.turned(pairs.expected < pairs.n / 2)
