"""Which pairs to ask about next.

A pair is worth a vote if its order is open and matters for the goal.  Its worth is the
probability that the order is wrong, min(P, 1 - P), times the share of the variance of its
gap that one more vote on it takes away, v w / (1 + v w), with v the variance and
w = p (1 - p) what a vote tells at an expected score p.  Where the best is looked for, it is
also times P(best) of the one and of the other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Unpack, get_args

import numpy as np
from scipy.special import expit

from bayes_arena.arrays import Array, Floats, Ints
from bayes_arena.boards.elo import ELO
from bayes_arena.boards.look import Interval, Look
from bayes_arena.boards.pairs import (
    MOST_MULTIPLE,
    lacking,
    more_votes,
    pair_indices,
    settled_pairs,
    votes_between,
)
from bayes_arena.boards.standing import Standing, standing_of
from bayes_arena.boards.uncertainty import half_width, in_plural
from bayes_arena.boards.verdict import (
    candidates_of,
    first_is_settled,
    limit_of,
)
from bayes_arena.errors import require_choice, require_whole
from bayes_arena.fits.fit import fitted
from bayes_arena.fits.options import UnseededOptions
from bayes_arena.tables import Columns, dataframe
from bayes_arena.votes.votes import MIN_VOTES

if TYPE_CHECKING:
    import pandas as pd

type Goal = Literal["best", "ranking"]
GOALS = get_args(Goal.__value__)


def next_pairs(
    fit: object,
    *,
    goal: Goal = "best",
    count: int = 10,
    interval: Interval | None = None,
    cluster: str | None = None,
    level: float = 0.95,
    min_votes: float = MIN_VOTES,
    seed: int = 0,
    **options: Unpack[UnseededOptions],
) -> pd.DataFrame:
    """Return the pairs on which a vote would tell most, in that order; none if none is open.

    Parameters
    ----------
    fit : Fit, or votes
    goal : {"best", "ranking"}
        "best": pairs of those who may be the best.  Where first place is settled, and
        for "ranking": all pairs whose order is open.
    count : int
        Most pairs.
    interval, cluster, level, min_votes, seed
        As in :func:`~bayes_arena.leaderboard`.
    **options
        Options of :func:`~bayes_arena.fit`, where votes are still to be fitted.

    Returns
    -------
    DataFrame
        first, second, p_ahead (probability that the first is stronger), gap (Elo),
        votes (on the two), more_votes (on the two, until their order is settled; as in
        :func:`~bayes_arena.pairs`), worth (of a vote, relative to the best pair).
    """
    look = Look(interval, cluster, level, min_votes, seed)
    standing = standing_of(fitted(fit, **options), look)
    return dataframe(next_pair_columns(standing, goal, count))


def next_pair_columns(
    standing: Standing, goal: str = "best", count: int = 10
) -> Columns:
    """Return the columns of :func:`next_pairs`."""
    require_choice("goal", goal, GOALS)
    require_whole(1, count=count)
    first, second = pair_indices(standing, None)
    gap, sd = standing.gaps(first, second)
    p_ahead = standing.p_above(first, second)
    worth = worth_of_vote(p_ahead, gap, sd)
    if goal == "best" and not first_is_settled(standing):
        p_best = np.zeros(len(standing.strength))
        p_best[standing.ranked] = standing.p_best
        worth = worth * p_best[first] * p_best[second]
    compared = standing.group[first] == standing.group[second]
    matters = is_open(standing, gap, sd) | ~compared
    matters &= concerns(standing, goal, first, second)
    if goal == "best" and not matters.any() and not first_is_settled(standing):
        matters = first == standing.ranked[0]
    worth = np.where(matters, worth, 0.0)
    top = np.argsort(-worth, kind="stable")[:count]
    top = top[worth[top] > 0]
    names = np.array(standing.fit.votes.competitors, dtype=object)
    return {
        "first": names[first[top]],
        "second": names[second[top]],
        "p_ahead": p_ahead[top],
        "gap": ELO.points_per_logit * gap[top],
        "votes": votes_between(standing, first[top], second[top]),
        "more_votes": more_votes(standing, first[top], second[top]),
        "worth": worth[top] / worth.max() if len(top) else worth[top],
    }


def worth_of_vote(p_ahead: Floats, gap: Floats, sd: Floats) -> Floats:
    """Return the worth of one more vote on each pair."""
    score = expit(gap)
    told = sd**2 * score * (1 - score)
    return np.minimum(p_ahead, 1 - p_ahead) * told / (1 + told)


def is_open(standing: Standing, gap: Floats, sd: Floats) -> Array:
    """Return which pairs are not settled: their interval holds 0."""
    q = half_width(standing.look.level, standing.uncertainty.df)
    return np.abs(gap) < q * sd


def concerns(standing: Standing, goal: str, first: Ints, second: Ints) -> Array:
    """Return which pairs matter for the goal; all have a rank."""
    ranked = np.isin(first, standing.ranked) & np.isin(second, standing.ranked)
    candidates, _ = candidates_of(standing)
    is_general = goal == "ranking" or len(candidates) < 2 or standing.n_groups > 1
    if is_general or first_is_settled(standing):
        return ranked
    return ranked & np.isin(first, candidates) & np.isin(second, candidates)


def describe_next(standing: Standing, columns: Columns, goal: str = "best") -> str:
    """Say what is settled, and on which pair a vote would tell most."""
    if not len(columns["first"]):
        return "All places are settled: no vote is needed."
    pair = f"{columns['first'][0]} or {columns['second'][0]}"
    if (limit := limit_of(standing)) is not None:
        pair += new_clusters(standing, limit, columns["first"][0], columns["second"][0])
    if goal == "best" and not first_is_settled(standing):
        return f"First place is open. A vote would tell most on {pair}."
    n_settled, n = settled_pairs(standing)
    n_open = n - n_settled
    verb = "is" if n_open == 1 else "are"
    text = f"{n_open:,} of {n:,} pairs {verb} open. A vote would tell most on {pair}."
    if goal == "ranking":
        return text
    leader = standing.competitors[standing.ranked[0]]
    return f"First place is settled: {leader}. {text}"


def new_clusters(standing: Standing, limit: str, *pair: str) -> str:
    """Say on what to ask about a pair, where prompts are too few, and not votes."""
    by_slice = bool(standing.fit.model.strength_by)  # how many levels, nobody knows
    n = 0 if by_slice else standing.uncertainty.n_clusters
    first, second = (np.array([standing.competitors.index(name)]) for name in pair)
    count = np.ceil(n * lacking(standing, first, second)[0])
    if not 0 < count <= MOST_MULTIPLE * n:
        return f", on new {in_plural(limit)}"
    return f", on new {in_plural(limit)} (some {count:,.0f} would settle it)"
