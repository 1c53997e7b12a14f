"""The leaderboard, of one fit or many."""

from __future__ import annotations

import warnings
from collections import Counter
from typing import Any

import numpy as np

from bayes_arena.arrays import Columns, DataFrame, Floats, Ints, table_of
from bayes_arena.errors import ArenaError, ModelError
from bayes_arena.fits.arguments import held
from bayes_arena.fits.many import Boards, Names, Told, warn_of_boards, warn_of_failures
from bayes_arena.fits.result import Fit
from bayes_arena.inference.estimand import Over
from bayes_arena.ratings.decision_draws import best_probabilities
from bayes_arena.ratings.elo import EloScale
from bayes_arena.ratings.intervals.contract import Interval, Quantity, require_level
from bayes_arena.ratings.intervals.dependent_votes import summarise
from bayes_arena.ratings.intervals.laplace import Laplace, error_of_sd
from bayes_arena.ratings.intervals.names import IntervalName, resolve_interval
from bayes_arena.ratings.rank_ranges import rank_ranges
from bayes_arena.threads import one_thread
from bayes_arena.votes.outcomes import whole_counts
from bayes_arena.votes.records import records

EQUAL_DIGITS = 9
"""Scores that agree to this many decimal places are equal."""


@held
def leaderboard(
    fit: Fit,
    *,
    level: float = 0.95,
    elo: EloScale | None = None,
    interval: Interval | IntervalName | None = None,
    over: Over | None = None,
    slice: tuple[str, str] | None = None,
    at: str | None = None,
) -> DataFrame:
    """Rank the competitors on the Elo scale.

    The ranking is that of everybody's average vote, in which no account counts more than 5 % (accounts that are fewer
    than twenty all count the same). :meth:`Fit.of` gives others: of the middle of the votes, of some annotators, and
    with another cap.

    Parameters
    ----------
    fit : Fit
        A fitted model.
    level : float
        Coverage of every interval, and of all rank ranges at once.
    elo : EloScale, optional
        Elo scale; 1000 + 400 log10(odds) by default.
    interval : Interval or str, optional
        How the bounds are found: ``"laplace"``, the default, ``"profile"`` (models with theta = 1 only), or for
        posterior modes (``method="map"``, or ``"marginal"`` by Laplace) one robust to a misspecified likelihood:
        ``"sandwich"``, ``"clustered"`` or ``"bootstrap"``, the last two with options as :class:`~bayes_arena.Clustered`
        and :class:`~bayes_arena.Bootstrap`.
    over : {"new prompts", "these prompts"}, optional
        For a model with answers: whether the ranking is for new prompts like these (the default) or for these prompts
        only.
    slice : (str, str), optional
        For a model with strengths by slice: the slice to rank in, such as ``("category", "coding")``.
    at : str, optional
        For a fit with ``drift``: the date or period to rank at, as in :meth:`Fit.on`. Default: the last period.

    Returns
    -------
    pandas.DataFrame
        ``rank, competitor, elo, lower, upper, rank_lower, rank_upper, votes, wins, losses, ties``, best first. Scores
        and bounds are in Elo points, each interval at the level by itself. All true ranks at once are within
        ``rank_lower`` to ``rank_upper`` with a probability of the level at least
        (:mod:`bayes_arena.ratings.rank_ranges`). A both-bad vote counts as a tie. With ``slice``, votes are those of
        the slice, and of a fit about a crowd (:meth:`Fit.of`) those of the crowd. A sampled fit has posterior means and
        quantiles, and a column ``p_best``, the probability of being best. ``attrs`` has the level, the interval,
        where slices differ, what the ranking is ``over``, and :attr:`Fit.numbers`: of votes cast, of those that do not
        count, and who was left out. With 1500 competitors or more, few of which met, the standard
        deviations are estimated, and ``sd_error`` is the largest relative error (one standard error, below .0034).

    Warns
    -----
    DependentVotesWarning
        If votes share prompts or rankings and neither the interval nor the model accounts for it, so that the bounds
        are too narrow.

    Raises
    ------
    ModelError
        If the level, interval or anchor is invalid.
    ConvergenceError
        If the end of a profile-likelihood interval is not found.
    NotIdentifiedError
        If the estimate has no finite robust interval.

    References
    ----------
    White (1982), Econometrica 50; Liang & Zeger (1986), Biometrika 73; Efron (1979), Annals of Statistics 7.
    """
    chosen, fit = resolve_interval(interval, fit), fit.on(over, slice, at)
    columns, about = leaderboard_columns(fit, chosen, level=level, elo=elo), chosen.about(fit) | fit.about
    return table_of(columns, level=level, **about, **error_of_sd(fit, chosen), **fit.numbers)


def leaderboards(
    boards: Boards,
    *,
    level: float = 0.95,
    elo: EloScale | None = None,
    interval: Interval | IntervalName | None = None,
    over: Over | None = None,
) -> DataFrame:
    """Rank the competitors of many boards, in one table.

    Parameters
    ----------
    boards : Boards
        From :func:`~bayes_arena.fit_many`.
    level, elo, interval, over
        As for :func:`leaderboard`, the same for all.

    Returns
    -------
    pandas.DataFrame
        A column for each slice, then the columns of :func:`leaderboard`; boards sorted by name, best first in each.
        ``attrs`` has the level, the interval, the largest ``sd_error``, if any, and ``failed``: why boards are missing,
        by their names.

    Warns
    -----
    FailedBoardsWarning
        If some boards are missing.
    DependentVotesWarning
        As for :func:`leaderboard`, but only once, with the number of boards and the first of them.

    Raises
    ------
    ModelError
        If a slice has the name of a column of the table.
    ArenaError
        If no board can be shown, the error of the first.
    """
    columns, about = leaderboards_columns(boards, interval, level=level, elo=elo, over=over)
    return table_of(columns, **about)


def leaderboards_columns(
    boards: Boards,
    interval: Interval | IntervalName | None = None,
    *,
    level: float = 0.95,
    elo: EloScale | None = None,
    over: Over | None = None,
) -> tuple[Columns, dict[str, Any]]:
    """Return the columns of :func:`leaderboards`, and its ``attrs``."""
    tables, abouts = list[Columns](), list[dict[str, Any]]()
    failed, told, worst = dict[Names, ArenaError](), list[Told](), dict[str, float]()
    for names, fit in boards.items():
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                chosen, seen = resolve_interval(interval, fit), fit.on(over)
                columns = leaderboard_columns(seen, chosen, level=level, elo=elo)
            except ArenaError as error:
                failed[names] = error
                continue
        if clash := [kind for kind in boards.by if kind in columns]:
            raise ModelError(f"The table has a column {clash[0]!r} of its own. Read that slice under another name.")
        rows = len(columns["rank"])
        tables.append({kind: [name] * rows for kind, name in zip(boards.by, names, strict=True)} | columns)
        abouts.append(chosen.about(seen) | seen.about)
        worst |= {name: max(error, worst.get(name, 0.0)) for name, error in error_of_sd(seen, chosen).items()}
        told += [(names, warning.category, str(warning.message)) for warning in caught]
    warn_of_failures(failed, len(boards))
    warn_of_boards(told, len(boards))
    columns = {name: np.concatenate([one[name] for one in tables]) for name in tables[0]}
    missing = {names: str(error) for names, error in {**boards.failed, **failed}.items()}
    return columns, {"level": level, **_alike(abouts), **worst, "failed": missing}


def _alike(abouts: list[dict[str, Any]]) -> dict[str, Any]:
    """Merge the ``attrs`` of all boards: the common value, or each value with its number of boards."""
    said = {name: Counter(about.get(name) for about in abouts) for about in abouts for name in about}
    return {
        name: next(iter(values))
        if len(values) == 1
        else ", ".join(f"{value} ({count:,} boards)" for value, count in values.most_common())
        for name, values in said.items()
    }


def leaderboard_columns(fit: Fit, interval: Interval, *, level: float = 0.95, elo: EloScale | None = None) -> Columns:
    """Return the columns of :func:`leaderboard` (the command line prints them without importing pandas)."""
    require_level(level)
    elo = elo or EloScale()
    names = fit.cells.competitors
    with one_thread():
        on_elo = fit.projection
        unseen = on_elo.variance_by_mean(fit.view.unseen)
        covariance = fit.board_covariance if isinstance(interval, Laplace) else None
        quantity = Quantity(
            on_elo.strength, on_elo.by_head, on_elo.own, lambda draws: draws.elo_strength, unseen, covariance
        )
        summary = summarise(fit, interval, quantity, level)
        first, last = rank_ranges(fit, covariance, summary, level)
    score = elo.points(summary.value, names)
    low = score + elo.points_per_logit * (summary.lower - summary.value)
    high = score + elo.points_per_logit * (summary.upper - summary.value)
    wins, losses, ties = records(fit.voted)
    rank = ranks(score / elo.points_per_logit)
    columns: Columns = {
        "rank": rank,
        "competitor": np.array(names, dtype=object),
        "elo": score,
        "lower": low,
        "upper": high,
        "rank_lower": first,
        "rank_upper": last,
        "votes": whole_counts(wins + losses + ties),
        "wins": whole_counts(wins),
        "losses": whole_counts(losses),
        "ties": whole_counts(ties),
    }
    if fit.samples is not None:
        columns["p_best"] = best_probabilities(fit.samples.elo_strength)
    order = np.argsort(rank, kind="stable")
    return {name: column[order] for name, column in columns.items()}


def ranks(score: Floats) -> Ints:
    """Return 1 + the number of better scores; equal scores share a rank.

    Like ``scipy.stats.rankdata(-score, "min")``, whose import takes longer than a command that rates votes.
    """
    compared = -np.round(score, EQUAL_DIGITS)
    return 1 + np.searchsorted(np.sort(compared), compared)
