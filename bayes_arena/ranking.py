"""What readers see: strengths, the leaderboard, and the spread of ranks."""

from __future__ import annotations

from statistics import NormalDist
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from bayes_arena.cells import Floats, Ints
from bayes_arena.checks import records
from bayes_arena.elo import EloScale
from bayes_arena.errors import ModelError, NotIdentifiedError
from bayes_arena.profile import profile_interval
from bayes_arena.projection import project
from bayes_arena.result import Fit

if TYPE_CHECKING:
    import pandas as pd

HIGHEST_LEVEL = 1 - 1e-9
EQUAL_DIGITS = 9
"""Strengths that agree to so many digits, in logits, share a rank."""
Interval = Literal["laplace", "profile"]
Columns = dict[str, Any]


def leaderboard(
    fit: Fit, *, level: float = 0.95, elo: EloScale | None = None, interval: Interval = "laplace"
) -> pd.DataFrame:
    """Rank the competitors on the Elo scale.

    Parameters
    ----------
    fit : Fit
        A fitted model.
    level : float
        Coverage of the intervals.
    elo : EloScale, optional
        Elo scale; 1000 + 400 log10(odds) by default.
    interval : {"laplace", "profile"}
        Gaussian intervals by the delta method, or profile likelihood (models with theta = 1 only).

    Returns
    -------
    pandas.DataFrame
        ``rank, competitor, elo, lower, upper, rank_best, rank_worst, votes, wins, losses, ties``, best first.
        Scores and bounds are in Elo points; a both-bad vote counts as a tie. A sampled fit has posterior means and
        quantiles, and a column ``p_best``, the probability of being best.

    Raises
    ------
    ModelError
        If the level, interval or anchor is not possible.
    ConvergenceError
        If the end of a profile-likelihood interval is not found.
    """
    import pandas as pd

    return pd.DataFrame(leaderboard_columns(fit, level=level, elo=elo, interval=interval))


def leaderboard_columns(
    fit: Fit, *, level: float = 0.95, elo: EloScale | None = None, interval: Interval = "laplace"
) -> Columns:
    """Columns of :func:`leaderboard` (the command line prints them without importing pandas)."""
    elo = elo or EloScale()
    names = fit.cells.competitors
    size = len(names)
    _require_interval_of(fit, interval)
    if fit.samples is not None:
        strength, (lower, upper) = fit.samples.elo_strength.mean(axis=0), _quantiles(fit.samples.elo_strength, level)
    else:
        projection = project(fit.model, fit.target, fit.point, fit.cells.votes_by_annotator())
        strength = projection.strength
        if interval == "profile":
            lower, upper = _profile(fit, np.eye(size) - fit.laplace.shifts @ fit.laplace.shifts.T, level)
        else:
            covariance = fit.laplace.covariance(projection.by_head, projection.by_own)
            lower, upper = _gaussian(strength, covariance, level, interval)
    score = elo.points(strength, names)
    low = score + elo.points_per_logit * (lower - strength)
    high = score + elo.points_per_logit * (upper - strength)
    best, worst = rank_spread(low, high)
    wins, losses, ties = records(fit.cells)
    compared = np.round(score / elo.points_per_logit, EQUAL_DIGITS)
    order = np.lexsort((np.arange(size), -compared))
    rank = 1 + np.sum(compared[:, None] < compared[None, :], axis=1)
    columns: Columns = {
        "rank": rank,
        "competitor": np.array(names, dtype=object),
        "elo": score,
        "lower": low,
        "upper": high,
        "rank_best": best,
        "rank_worst": worst,
        "votes": whole_counts(wins + losses + ties),
        "wins": whole_counts(wins),
        "losses": whole_counts(losses),
        "ties": whole_counts(ties),
    }
    if fit.samples is not None:
        winners = np.argmax(fit.samples.elo_strength, axis=1)
        columns["p_best"] = np.bincount(winners, minlength=size) / len(winners)
    return {name: column[order] for name, column in columns.items()}


def strengths(
    fit: Fit, *, reference: str | None = None, level: float = 0.95, interval: Interval = "laplace"
) -> pd.DataFrame:
    """Strengths in logits, against their mean or a reference competitor.

    Parameters
    ----------
    fit : Fit
        A fitted model.
    reference : str, optional
        Competitor whose strength is 0; by default the mean strength is 0.
    level : float
        Coverage of the intervals.
    interval : {"laplace", "profile"}
        As for :func:`leaderboard`.

    Returns
    -------
    pandas.DataFrame
        ``competitor, strength, sd, lower, upper``, in logits, in the order of ``fit.cells.competitors``.

    Raises
    ------
    ModelError
        If the reference is no competitor, or the level or interval is not possible.
    NotIdentifiedError
        If a reference is asked for among groups that were never compared, under a flat prior.
    ConvergenceError
        If the end of a profile-likelihood interval is not found.
    """
    import pandas as pd

    names = fit.cells.competitors
    if reference is None:
        contrasts = np.eye(len(names)) - fit.laplace.shifts @ fit.laplace.shifts.T
    elif reference in names:
        if fit.laplace.shifts.shape[1] > 1:
            raise NotIdentifiedError(
                "Under a flat prior groups that were never compared have no common reference. Rate them apart, or use "
                "prior='default'."
            )
        contrasts = np.eye(len(names)) - np.eye(len(names))[names.index(reference)]
    else:
        raise ModelError(f"The reference {reference!r} is no competitor.")
    _require_interval_of(fit, interval)
    if fit.samples is not None:
        drawn = fit.samples.strength @ contrasts.T
        strength, sd, (lower, upper) = drawn.mean(axis=0), drawn.std(axis=0, ddof=1), _quantiles(drawn, level)
        return pd.DataFrame({"competitor": names, "strength": strength, "sd": sd, "lower": lower, "upper": upper})
    covariance = fit.laplace.covariance(contrasts)
    strength = contrasts @ fit.strength
    if interval == "profile":
        lower, upper = _profile(fit, contrasts, level)
    else:
        lower, upper = _gaussian(strength, covariance, level, interval)
    sd = np.sqrt(np.maximum(np.diag(covariance), 0.0))
    return pd.DataFrame({"competitor": names, "strength": strength, "sd": sd, "lower": lower, "upper": upper})


def rank_spread(lower: Floats, upper: Floats) -> tuple[Ints, Ints]:
    """Best and worst rank that the intervals leave open, as the arena defines them.

    best_i = 1 + number of competitors whose lower bound is above i's upper bound;
    worst_i = 1 + number of other competitors whose upper bound is above i's lower bound.

    Parameters
    ----------
    lower, upper : ndarray, shape (n,)
        Bounds.

    Returns
    -------
    best, worst : ndarray of int, shape (n,)
    """
    best = 1 + np.sum(lower[None, :] > upper[:, None], axis=1)
    above = upper[None, :] > lower[:, None]
    np.fill_diagonal(above, False)
    return best, 1 + above.sum(axis=1)


def half_width(level: float) -> float:
    """Half-width of a Gaussian interval in standard deviations.

    Raises
    ------
    ModelError
        If the level is not strictly between 0 and 1.
    """
    if not 0 < level <= HIGHEST_LEVEL:
        raise ModelError(f"The level of an interval lies between 0 and 1 (at most {HIGHEST_LEVEL}), not {level!r}.")
    return NormalDist().inv_cdf(0.5 + level / 2)


def _require_interval_of(fit: Fit, interval: str) -> None:
    """Refuse a profile of a sampled fit, whose intervals are quantiles of its draws."""
    if fit.samples is not None and interval != "laplace":
        raise ModelError(f"A sampled fit has intervals by quantiles, not {interval!r}. Use method='map' for those.")


def _quantiles(drawn: Floats, level: float) -> Floats:
    """Equal-tailed interval of draws (n_draws, n), shape (2, n)."""
    half_width(level)
    return np.asarray(np.quantile(drawn, [0.5 - level / 2, 0.5 + level / 2], axis=0))


def _gaussian(center: Floats, covariance: Floats, level: float, interval: str) -> tuple[Floats, Floats]:
    if interval != "laplace":
        raise ModelError(f"Unknown interval {interval!r}. Use 'laplace' or 'profile'.")
    half = half_width(level) * np.sqrt(np.maximum(np.diag(covariance), 0.0))
    return center - half, center + half


def _profile(fit: Fit, contrasts: Floats, level: float) -> tuple[Floats, Floats]:
    half_width(level)
    target = fit.target
    if target.common or target.own:
        raise ModelError(f"Profile-likelihood intervals are for models of strengths alone, not {fit.model.name!r}.")
    ends = np.array(
        [
            profile_interval(target, fit.strength, fit.laplace, contrast, level) if contrast.any() else (0.0, 0.0)
            for contrast in contrasts
        ]
    )
    return ends[:, 0], ends[:, 1]


def whole_counts(values: Floats) -> np.ndarray:
    """Return counts as integers where every one is whole (it is, unless votes are weighted)."""
    whole = np.rint(values)
    return whole.astype(np.int64) if np.array_equal(whole, values) else values
