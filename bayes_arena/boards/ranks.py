"""Ranks: equal scores, the arena's spread, and the probability of every rank."""

from __future__ import annotations

from typing import TYPE_CHECKING, Unpack

import numpy as np

from bayes_arena.arrays import Floats, Ints
from bayes_arena.boards.look import Interval, Look
from bayes_arena.boards.standing import Standing, standing_of
from bayes_arena.fits.fit import fitted
from bayes_arena.fits.options import UnseededOptions
from bayes_arena.votes.votes import MIN_VOTES

if TYPE_CHECKING:
    import pandas as pd

EQUAL_DIGITS = 9  # strengths that agree to so many decimal places are equal


def rank_probabilities(
    fit: object,
    *,
    interval: Interval | None = None,
    cluster: str | None = None,
    min_votes: float = MIN_VOTES,
    seed: int = 0,
    **options: Unpack[UnseededOptions],
) -> pd.DataFrame:
    """Compute the probability of every rank of every competitor.

    Parameters
    ----------
    fit : Fit, or votes as for :func:`~bayes_arena.fit`
    interval, cluster, min_votes, seed
        As for :func:`~bayes_arena.leaderboard`.
    **options
        Options of :func:`~bayes_arena.fit`, where votes are still to be fitted.

    Returns
    -------
    pandas.DataFrame
        Square: a row for each competitor with a rank, the best first, and a column for
        each rank from 1.  Column 1 is ``p_best`` of the leaderboard.
    """
    import pandas as pd

    look = Look(interval, cluster, min_votes=min_votes, seed=seed)
    where = standing_of(fitted(fit, **options), look)
    names = [where.competitors[c] for c in where.ranked]
    columns = np.arange(1, len(names) + 1)
    return pd.DataFrame(where.rank_shares, index=names, columns=columns)


def ranks(strength: Floats) -> Ints:
    """Return 1 + the number of better strengths; equal ones share a rank."""
    compared = -np.round(strength, EQUAL_DIGITS)
    return 1 + np.searchsorted(np.sort(compared), compared)


def rank_spread(standing: Standing) -> tuple[Ints, Ints]:
    """Return the arena's spread of each ranked competitor, (ranked,) each.

    The best rank is 1 + the number of lower bounds above one's upper bound, the worst n -
    the number of upper bounds below one's lower bound (LMArena's ranking method).
    """
    lower, upper = (bound[standing.ranked] for bound in standing.bounds)
    n = len(lower)
    best = 1 + n - np.searchsorted(np.sort(lower), upper, side="right")
    worst = n - np.searchsorted(np.sort(upper), lower, side="left")
    return best, worst
