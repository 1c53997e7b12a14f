"""Online Elo over random orders: votes shuffled, or drawn with replacement.

Shuffling the votes and averaging hides the order but not the spread it causes (the error bars of Figure 1 of Liu et
al., 2025).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bayes_arena.arguments import held
from bayes_arena.arrays import Floats
from bayes_arena.errors import ModelError
from bayes_arena.ratings.elo import EloScale
from bayes_arena.ratings.intervals.contract import equal_tailed, require_level
from bayes_arena.ratings.orders.walk import K, competitor_table, walked_ratings
from bayes_arena.votes.sequence import VoteSequence

if TYPE_CHECKING:
    import pandas as pd


@held
def shuffled_elo(
    votes: VoteSequence, *, shuffles: int = 1000, seed: int = 0, k: float = K, elo: EloScale | None = None
) -> pd.DataFrame:
    """Average online Elo over random orders of the votes (the error bars of Figure 1).

    Parameters
    ----------
    votes : VoteSequence
    shuffles : int
        Random orders, two or more.
    seed : int
        The same seed gives the same orders.
    k, elo
        As for :func:`~bayes_arena.online_elo`.

    Returns
    -------
    pandas.DataFrame
        ``rank, competitor, mean, sd, min, max, votes``, highest mean first; in Elo points, over the shuffles.

    Raises
    ------
    ModelError
        If there are fewer than two shuffles; and as for :func:`~bayes_arena.online_elo`.
    """
    drawn = shuffled_ratings(votes, shuffles=shuffles, seed=seed, k=k, elo=elo)
    mean = drawn.mean(axis=0)
    columns = {"mean": mean, "sd": drawn.std(axis=0, ddof=1), "min": drawn.min(axis=0), "max": drawn.max(axis=0)}
    return competitor_table(votes, mean, columns)


def shuffled_ratings(
    votes: VoteSequence, *, shuffles: int = 1000, seed: int = 0, k: float = K, elo: EloScale | None = None
) -> Floats:
    """Return the ratings of every shuffle in Elo points, shape (shuffles, n_competitors); see :func:`shuffled_elo`."""
    rng = _generator(shuffles, seed)
    return walked_ratings(votes, (rng.permutation(votes.n_votes) for _ in range(shuffles)), k, elo)


@held
def bootstrapped_elo(
    votes: VoteSequence,
    *,
    resamples: int = 1000,
    seed: int = 0,
    level: float = 0.95,
    k: float = K,
    elo: EloScale | None = None,
) -> pd.DataFrame:
    """Online Elo of votes drawn anew with replacement, in the order drawn: the arena's bootstrap.

    The median of 1,000 is Elo in the program of am-ELO's authors, where their text takes the mean over shuffles. The
    spread mixes what other votes would have said with what the order does. A competitor that a resample does not draw
    stays at ``init`` in it.

    Parameters
    ----------
    votes : VoteSequence
    resamples : int
        Two or more.
    seed : int
        The same seed gives the same resamples.
    level : float
        Coverage of the percentile interval.
    k, elo
        As for :func:`~bayes_arena.online_elo`.

    Returns
    -------
    pandas.DataFrame
        ``rank, competitor, median, sd, lower, upper, votes``, highest median first; in Elo points.

    Raises
    ------
    ModelError
        If there are fewer than two resamples or the level is not possible; and as for :func:`~bayes_arena.online_elo`.
    """
    require_level(level)
    rng = _generator(resamples, seed)
    size = votes.n_votes
    drawn = walked_ratings(votes, (rng.integers(size, size=size) for _ in range(resamples)), k, elo)
    median, (lower, upper) = np.quantile(drawn, 0.5, axis=0), equal_tailed(drawn, level)
    columns = {"median": median, "sd": drawn.std(axis=0, ddof=1), "lower": lower, "upper": upper}
    return competitor_table(votes, median, columns)


def _generator(times: int, seed: int) -> np.random.Generator:
    if times < 2 or seed < 0:
        raise ModelError(f"A spread takes two runs or more, and a seed is not negative; not {times} and {seed}.")
    return np.random.default_rng(seed)
