"""Tiers: competitors that cannot be told apart, with simultaneous confidence for all pairs.

With d_ij the posterior mean of r*_i - r*_j and s_ij its standard deviation, i is claimed to be better than j where

    d_ij > z s_ij,      z the ``level`` quantile of max over pairs of |draw of (r*_i - r*_j) - d_ij| / s_ij,

so that *all* these claims hold simultaneously at the level (max-T; Westfall and Young, 1993). Intervals compared one by
one, as for the rank spread of Chatbot Arena, hold one by one only. The tier of a competitor is the length of the
longest chain down to it, each claimed to be better than the next. Hence two in the same tier cannot be told apart, and
any competitor below the first tier is claimed to be worse than at least one in the tier above, not than all of them. A
competitor is in the first tier if no other is claimed to be better, even if only for lack of votes. That two cannot be
told apart does not mean that they are equally good.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bayes_arena.arguments import held
from bayes_arena.arrays import Columns, Floats, Ints
from bayes_arena.fits.result import Fit
from bayes_arena.progress import report
from bayes_arena.ratings.decision_draws import decision_strengths
from bayes_arena.ratings.intervals.contract import require_level
from bayes_arena.ratings.intervals.names import resolve_interval
from bayes_arena.ratings.leaderboard import leaderboard_columns

if TYPE_CHECKING:
    import pandas as pd


@held
def tiers(fit: Fit, *, level: float = 0.95) -> pd.DataFrame:
    """Put competitors that cannot be told apart into tiers.

    Parameters
    ----------
    fit : Fit
        A fitted model.
    level : float
        Simultaneous confidence of all claims of the table (:mod:`bayes_arena.decisions.tiers`).

    Returns
    -------
    pandas.DataFrame
        ``tier, competitor, elo, rank, rank_best, rank_worst, place_best, place_worst``, the first tier first.
        ``place_best`` is 1 + the number claimed to be better, ``place_worst`` the number of competitors minus those
        claimed to be worse: simultaneous confidence intervals of the true places. ``rank_best`` and ``rank_worst`` are
        the rank spread, as in :func:`~bayes_arena.leaderboard`, each interval at the level by itself. ``attrs`` has the
        level and ``z``, the critical value of a difference in standard deviations.

    Warns
    -----
    DependentVotesWarning
        As :func:`~bayes_arena.leaderboard` does.

    Raises
    ------
    ModelError
        If the level is not between 0 and 1.
    NotIdentifiedError
        If the votes do not determine the estimate under a flat prior.

    References
    ----------
    Westfall, P. H. & Young, S. S. (1993), "Resampling-based multiple testing"; Mogstad, M. et al. (2024), "Inference
    for ranks with applications to mobility across neighbourhoods and academic achievement across countries", Review of
    Economic Studies 91.
    """
    import pandas as pd

    columns, z = tier_columns(fit, level)
    table = pd.DataFrame(columns)
    table.attrs.update(level=level, z=z, **fit.about)
    return table


def tier_columns(fit: Fit, level: float) -> tuple[Columns, float]:
    """Return the columns of :func:`tiers`, and the critical value of a difference in standard deviations."""
    require_level(level)
    better, z = told_better(decision_strengths(fit), level)
    names = fit.cells.competitors
    board = leaderboard_columns(fit, resolve_interval(None, fit), level=level)
    place = [names.index(name) for name in board["competitor"]]
    columns = {
        "tier": longest_chain(better)[place],
        **{name: board[name] for name in ("competitor", "elo", "rank", "rank_best", "rank_worst")},
        "place_best": (1 + better.sum(axis=0))[place],
        "place_worst": (len(names) - better.sum(axis=1))[place],
    }
    order = np.argsort(columns["tier"], kind="stable")
    return {name: column[order] for name, column in columns.items()}, z


def told_better(strength: Floats, level: float) -> tuple[np.ndarray, float]:
    """Return which competitors are claimed to be better than which, all pairs at once.

    Parameters
    ----------
    strength : ndarray, shape (n_draws, n)
        Draws.
    level : float
        Probability that all differences lie within z standard deviations of their means.

    Returns
    -------
    better : ndarray of bool, shape (n, n)
        Whether the row's competitor is claimed to be better than the column's.
    z : float
    """
    mean = strength.mean(axis=0)
    deviation = (strength - mean).T
    covariance = np.cov(deviation)
    variance = covariance.diagonal()
    sd = np.sqrt(np.maximum(variance[:, None] + variance - 2 * covariance, np.finfo(float).tiny))
    largest = np.zeros(len(strength))
    try:
        for one in range(len(mean) - 1):
            report("differences of all pairs", one, len(mean))
            apart = np.abs(deviation[one] - deviation[one + 1 :]) / sd[one, one + 1 :, None]
            np.maximum(largest, apart.max(axis=0), out=largest)
    finally:
        report("")
    z = float(np.quantile(largest, level))
    return mean[:, None] - mean > z * sd, z


def longest_chain(better: np.ndarray) -> Ints:
    """Return the length of the longest chain that ends in each competitor, each claimed to be better than the next."""
    tier = np.ones(len(better), dtype=np.int64)
    for _ in range(len(better)):
        deeper = 1 + np.where(better, tier[:, None], 0).max(axis=0)
        if np.array_equal(deeper, tier):
            break
        tier = deeper
    return tier
