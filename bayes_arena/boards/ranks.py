"""Probabilities of ranks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bayes_arena.boards.standing import MIN_VOTES, standing_of
from bayes_arena.fits.fit import fitted

if TYPE_CHECKING:
    import pandas as pd


def rank_probabilities(
    fit: object,
    *,
    interval: str | None = None,
    cluster: str | None = None,
    min_votes: float = MIN_VOTES,
    seed: int = 0,
    **columns: Any,
) -> pd.DataFrame:
    """Return the probability of every rank, from the draws that the board uses.

    Parameters
    ----------
    fit : Fit, or votes
    interval, cluster, min_votes, seed
        As in :func:`~bayes_arena.leaderboard`.
    **columns
        Options of :func:`~bayes_arena.read_votes`.

    Returns
    -------
    DataFrame, shape (ranked competitors, ranks)
        Rows are competitors, best first; columns are the ranks 1, 2, ...
    """
    import pandas as pd

    options: dict[str, Any] = {
        "interval": interval,
        "cluster": cluster,
        "min_votes": min_votes,
    }
    standing = standing_of(fitted(fit, **columns), seed=seed, **options)
    ranks = standing.drawn_ranks
    n = ranks.shape[1]
    counts = np.stack([np.bincount(column, minlength=n + 1)[1:] for column in ranks.T])
    names = np.array(standing.fit.votes.competitors, dtype=object)[standing.ranked]
    order = np.argsort(standing.ranks[standing.ranked], kind="stable")
    table = pd.DataFrame(counts / len(ranks), index=names, columns=range(1, n + 1))
    return table.iloc[order].rename_axis(index="competitor", columns="rank")
