"""The leaderboard as a forest plot: a row for every competitor, with the ranks that the votes leave open."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bayes_arena.fits.arguments import held
from bayes_arena.fits.result import Fit
from bayes_arena.inference.estimand import Over
from bayes_arena.markup import percent, ranges
from bayes_arena.plots.drawing import (
    BLUE,
    RED,
    about,
    axes_of,
    entitle,
    inches,
    named,
    names_beside,
    names_wide,
    rows_high,
)
from bayes_arena.ratings.elo import EloScale
from bayes_arena.ratings.intervals.contract import Interval
from bayes_arena.ratings.intervals.names import IntervalName, resolve_interval
from bayes_arena.ratings.leaderboard import leaderboard_columns

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@held
def board(
    fit: Fit,
    *,
    level: float = 0.95,
    elo: EloScale | None = None,
    interval: Interval | IntervalName | None = None,
    over: Over | None = None,
    slice: tuple[str, str] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the leaderboard: scores with intervals, the best on top, and the ranks that the votes leave open.

    Those in colour may be the best: no other competitor is shown to be better.

    Parameters
    ----------
    fit : Fit
        A fitted model.
    level, elo, interval, over, slice
        As for :func:`~bayes_arena.leaderboard`.
    ax : matplotlib.axes.Axes, optional
        Axes to draw into.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    ModelError
        As :func:`~bayes_arena.leaderboard` does.
    """
    chosen, fit = resolve_interval(interval, fit), fit.on(over, slice)
    columns = leaderboard_columns(fit, chosen, level=level, elo=elo)
    names = [str(name) for name in columns["competitor"]]
    ax = axes_of(ax, 5.8 + names_wide(names), 1.2 + rows_high(1 + len(names)))
    y, scores, first = np.arange(len(names)), columns["elo"], columns["rank_lower"] == 1
    written, size = names_beside(inches(ax)[1], len(names))
    for mine, color, marker in ((first, RED, "D"), (~first, BLUE, "o")):
        reach = np.abs([columns[bound][mine] - scores[mine] for bound in ("lower", "upper")])
        ax.errorbar(scores[mine], y[mine], xerr=reach, fmt=marker, color=color, ms=4, lw=1.4, zorder=3)
    place: dict[str, Any] = {"transform": ax.get_yaxis_transform(), "ha": "left", "va": "center", "fontsize": size}
    open_ranks = ranges(columns["rank_lower"], columns["rank_upper"])
    for row in written:
        ax.text(1.01, row, open_ranks[row], color=RED if first[row] else BLUE, **place)
    ax.text(1.01, -1, "rank range", **place)
    ax.set_yticks(written, [named(names[row]) for row in written], fontsize=size)
    ax.set_ylim(len(names) - 0.4, -1.6)
    ax.tick_params(axis="y", length=0)
    ax.grid(axis="x", alpha=0.3, lw=0.6)
    how = chosen.about(fit)["interval"]
    said = "" if how in ("laplace", "quantiles") else f" ({how})"
    x = f"score in Elo points, {percent(level, 'g')} intervals{said}"
    entitle(ax, "Leaderboard, those that may be the best in red", about(fit), x=x)
    return ax
