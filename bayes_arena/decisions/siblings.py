"""Siblings: how far a score is inflated if it was selected as the best of many variants by one provider.

The mathematics is in :mod:`bayes_arena.decisions.pooling`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtri

from bayes_arena.arrays import Floats, table_of
from bayes_arena.decisions.pooling import Families, inverse, pool
from bayes_arena.errors import ModelError, NotIdentifiedError, listing
from bayes_arena.fits.arguments import held
from bayes_arena.fits.result import Fit
from bayes_arena.inference.mode.laplace import laplace_at
from bayes_arena.inference.projected import Projection
from bayes_arena.ratings.elo import EloScale
from bayes_arena.ratings.intervals.contract import require_level
from bayes_arena.threads import one_thread

if TYPE_CHECKING:
    import pandas as pd

WIDE = 30.0
"""Prior sd of strengths, in logits, that is as good as flat but keeps groups that were never compared finite."""


@held
def siblings(
    result: Fit,
    provider: Mapping[str, str],
    *,
    tested: Mapping[str, int] | None = None,
    level: float = 0.95,
    elo: EloScale | None = None,
) -> pd.DataFrame:
    """Pool scores within providers, and estimate by how much the best of many variants is overrated.

    Parameters
    ----------
    result : Fit
        A fitted model, by any method; its Gaussian approximation is used.
    provider : mapping of str to str
        The provider of each competitor; one provider's variants form a family.
    tested : mapping of str to int, optional
        Number of variants a provider tested, where it is larger than the number among the votes. The others are
        assumed to have scored less than the best among the votes, with equally many votes.
    level, elo
        As for :func:`~bayes_arena.leaderboard`.

    Returns
    -------
    pandas.DataFrame
        ``competitor, provider, tested, elo, pooled, lower, upper, inflation``, the best pooled score first, in Elo
        points. ``elo`` is the plain score (at the mode); ``pooled`` the score given the provider and the number
        tested, with its interval; ``inflation`` the expected error of the plain score of a competitor with that many
        votes if it was selected as the best of ``tested``, 0 where the prior of the fit shrinks it by at least as much.
        ``attrs`` has the spreads ``between`` and ``within`` providers, in Elo points.

    Raises
    ------
    ModelError
        If a competitor has no provider, fewer variants were tested than are among the votes, or the level is invalid.
    NotIdentifiedError
        If there is no finite estimate under a flat prior.

    References
    ----------
    Singh et al., "The Leaderboard Illusion", arXiv:2504.20879.
    """
    require_level(level)
    if result.mode.at_infinity:
        raise NotIdentifiedError(f"There is no finite estimate to pool. {result.mode.at_infinity[0]}")
    elo, names = elo or EloScale(), result.cells.competitors
    families = _families(names, provider, tested or {})
    with one_thread():
        board = result.projection
        pooled = pool(families, board.strength, *_by_votes_alone(result, board), _prior_precision(result, board))
    half_width = ndtri((1 + level) / 2) * elo.points_per_logit * pooled.sd
    score = elo.points(pooled.mean, names)
    table = table_of(
        {
            "competitor": names,
            "provider": [families.names[family] for family in families.of],
            "tested": families.tested[families.of],
            "elo": elo.points(board.strength, names),
            "pooled": score,
            "lower": score - half_width,
            "upper": score + half_width,
            "inflation": elo.points_per_logit * pooled.inflation,
        }
    ).sort_values("pooled", ascending=False, ignore_index=True, kind="stable")
    between, within = elo.points_per_logit * pooled.spreads
    table.attrs.update(level=level, between=float(between), within=float(within))
    return table


def _families(names: tuple[str, ...], provider: Mapping[str, str], tested: Mapping[str, int]) -> Families:
    missing = [name for name in names if name not in provider]
    if missing:
        raise ModelError(f"No provider is given for {listing(map(repr, missing))}. Give one for every competitor.")
    known = sorted({str(provider[name]) for name in names})
    of = np.array([known.index(str(provider[name])) for name in names])
    families = Families(known, of, np.bincount(of))
    wrong = [
        f"{name!r} ({tested[name]})"
        for name in tested
        if name not in known or tested[name] < families.shown[known.index(name)]
    ]
    if wrong:
        raise ModelError(
            "tested maps a provider to the number of variants it tested, at least those among the votes; not "
            f"{listing(wrong)}."
        )
    return Families(known, of, np.array([tested.get(name, families.shown[at]) for at, name in enumerate(known)]))


def _by_votes_alone(fit: Fit, board: Projection) -> tuple[Floats, Floats]:
    """Return the precision of r* without the prior of the strengths, (n, n), and that times r* without it, (n,).

    From the curvature without residuals, which is never negative, at the fitted spreads.
    """
    target, n = fit.target, len(board.strength)
    alone = laplace_at(replace(target, strength_sd=WIDE), fit.point, fit.mode.problem.shifts, residuals=False)
    covariance = alone.covariance(board.by_head[:], board.by_own)
    covariance += np.diag(board.variance_by_mean(fit.view.unseen))
    precision = inverse(covariance)
    by_head, _ = alone.solve(board.by_head[:], board.by_own)
    step = by_head[:n].T @ (fit.point.strength / target.strength_sd**2)  # to where the prior no longer pulls
    return precision, precision @ (board.strength + step)


def _prior_precision(fit: Fit, board: Projection) -> Floats:
    """Return the precision of r* from the prior of the strengths, shape (n, n)."""
    n = len(board.strength)
    by_strength = board.by_head[:][:, :n] - board.by_head[:][:, :n].mean(axis=0)
    return inverse(by_strength @ by_strength.T) / fit.target.strength_sd**2
