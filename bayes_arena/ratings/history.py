"""How strengths moved: every competitor's score in every period of a fit whose strengths move, and who changed.

Scores of a period are those of the leaderboard as of it (``leaderboard(fit, at=...)``). ``p_rise`` is the probability
that a competitor is stronger now than it was then, both against the mean of all competitors at the time. It counts the
posterior of both: a competitor without votes between then and now may have moved either way.
"""

from __future__ import annotations

import numpy as np

from bayes_arena.arrays import Columns, DataFrame, Floats, table_of
from bayes_arena.errors import ModelError
from bayes_arena.fits.arguments import held
from bayes_arena.fits.draws import Draws
from bayes_arena.fits.posterior_draws import draw_parameters
from bayes_arena.fits.result import Fit
from bayes_arena.inference.change import POINTS
from bayes_arena.ratings.elo import EloScale
from bayes_arena.ratings.intervals.contract import Interval
from bayes_arena.ratings.intervals.names import IntervalName, resolve_interval
from bayes_arena.ratings.leaderboard import leaderboard_columns
from bayes_arena.votes.names import TIME

DRAWS = 1000
"""Draws of which ``p_rise`` is a share."""


@held
def history(
    fit: Fit,
    *,
    level: float = 0.95,
    elo: EloScale | None = None,
    interval: Interval | IntervalName | None = None,
    seed: int = 0,
) -> DataFrame:
    """List every competitor's score in every period.

    Parameters
    ----------
    fit : Fit
        Of a model whose strengths move (``fit(drift=True)``).
    level, elo, interval
        As for :func:`~bayes_arena.leaderboard`.
    seed : int
        Of the draws for ``p_rise``.

    Returns
    -------
    pandas.DataFrame
        ``period, competitor, rank, elo, lower, upper, p_rise, votes``, in order of time, and best first in every
        period. ``p_rise`` is the probability that the competitor is stronger now, relative to the mean of all, and
        ``votes`` are those on it in the period.

    Raises
    ------
    ModelError
        If strengths do not move, or the level, interval or anchor is invalid.
    """
    chosen = resolve_interval(interval, fit)
    if not fit.model.drift:
        raise ModelError("Strengths do not move in this fit, so they have no history. Fit with drift=True (--drift).")
    cells, draws = fit.cells, _draws(fit, seed)
    names, code = cells.slice_names[TIME], {name: c for c, name in enumerate(cells.competitors)}
    now, found = _relative(fit, draws), list[Columns]()
    votes = np.zeros((len(names), cells.n_competitors))
    for side in (cells.a, cells.b):
        np.add.at(votes, (cells.slices[TIME], side), cells.counts.sum(axis=1))
    for period, name in enumerate(names):
        then = fit.on(at=name)
        columns = leaderboard_columns(then, chosen, level=level, elo=elo)
        who = np.array([code[one] for one in columns["competitor"]])
        rise = (now > _relative(then, draws)).mean(axis=0) if period < len(names) - 1 else np.full(len(who), np.nan)
        board = {key: columns[key] for key in ("competitor", "rank", "elo", "lower", "upper")}
        period_name = np.full(len(who), name, dtype=object)
        found.append({"period": period_name, **board, "p_rise": rise[who], "votes": votes[period, who]})
    columns = {key: np.concatenate([np.asarray(one[key]) for one in found]) for key in found[0]}
    return table_of(columns, level=level, **chosen.about(fit))


@held
def changes(fit: Fit) -> DataFrame:
    """List who changed over time in a fit whose strengths stay, by the test that the fit makes by itself.

    Parameters
    ----------
    fit : Fit
        Of votes with times (``read_votes(time=...)``), without ``drift``.

    Returns
    -------
    pandas.DataFrame
        ``competitor, since, change, p``, the clearest first: the first period after the change, by how many Elo points
        it changed if that was at once, and the p-value of no change, of one competitor by itself. ``attrs["p"]`` is
        that of no change of any (:mod:`bayes_arena.inference.change`).

    Raises
    ------
    ModelError
        If the votes have no times, or strengths move already: then :func:`history` says how.
    """
    found = fit.change
    if found is None:
        raise ModelError(
            "The test for change needs votes of several periods, read with time=..., and strengths that stay. Of "
            "strengths that move, history(fit) says how they did."
        )
    order, names = found.order, np.array(fit.cells.competitors, dtype=object)
    columns = {
        "competitor": names[order],
        "since": np.array(found.names, dtype=object)[found.since[order]],
        "change": POINTS * found.size[order],
        "p": found.by_competitor[order],
    }
    return table_of(columns, p=found.p)


def _draws(fit: Fit, seed: int) -> Draws:
    """Return draws of the parameters, without r*, which no share needs."""
    if fit.samples is not None:
        return fit.samples
    strength, common, own, slices = draw_parameters(fit, size=DRAWS, seed=seed)
    return Draws(strength, strength[:, :0], common, own, slices)


def _relative(fit: Fit, draws: Draws) -> Floats:
    """Return draws of the strengths that a ranking is about, less their mean."""
    mean = fit.means(draws)
    return np.asarray(mean - mean.mean(axis=1, keepdims=True))
