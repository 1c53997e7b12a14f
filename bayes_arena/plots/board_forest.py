"""The leaderboard as a forest plot: a row for every competitor, in bands by tier."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np

from bayes_arena.arguments import held
from bayes_arena.decisions.tiers import longest_chain, told_better
from bayes_arena.fits.result import Fit
from bayes_arena.inference.views import Over
from bayes_arena.plots.drawing import (
    BLUE,
    RED,
    SHADE,
    about,
    axes_of,
    entitle,
    name_size,
    named,
    names_wide,
    percent,
    rows_high,
)
from bayes_arena.ratings.decision_draws import decision_strengths
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
    """Draw the leaderboard: scores with intervals, the best on top, in tiers.

    Colour and shade change where the tier does (:func:`~bayes_arena.tiers`): two of one tier cannot be told apart, and
    any competitor below the first tier is shown to be worse than at least one in the tier above.

    Parameters
    ----------
    fit : Fit
        A fitted model.
    level, elo, interval, over, slice
        As for :func:`~bayes_arena.leaderboard`. The tiers hold at the same level, for all pairs at once.
    ax : matplotlib.axes.Axes, optional
        Axes to draw into.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    ModelError
        As :func:`~bayes_arena.leaderboard` does.
    NotIdentifiedError
        If, under a flat prior, the votes do not determine the estimate, and thus the tiers.
    """
    chosen, fit = resolve_interval(interval, fit), fit.on(over, slice)
    columns = leaderboard_columns(fit, chosen, level=level, elo=elo)
    of_competitor = dict(zip(fit.cells.competitors, _tiers(fit, level), strict=True))
    names = [str(name) for name in columns["competitor"]]
    tiers = np.array([of_competitor[name] for name in names])
    ax = axes_of(ax, 5.8 + names_wide(names), 1.2 + rows_high(len(names)))
    y, scores = np.arange(len(names)), columns["elo"]
    for parity, color, marker in ((1, BLUE, "o"), (0, RED, "D")):
        mine = tiers % 2 == parity
        reach = np.abs([columns[bound][mine] - scores[mine] for bound in ("lower", "upper")])
        ax.errorbar(scores[mine], y[mine], xerr=reach, fmt=marker, color=color, ms=4, lw=1.4, zorder=3)
    size = name_size(ax, len(names))
    _draw_bands(ax, tiers, size)
    ax.set_yticks(y, [named(name) for name in names], fontsize=size)
    ax.set_ylim(len(names) - 0.4, -0.6)
    ax.tick_params(axis="y", length=0)
    ax.grid(axis="x", alpha=0.3, lw=0.6)
    how = chosen.about(fit)["interval"]
    said = "" if how in ("laplace", "quantiles") else f" ({how})"
    x = f"score in Elo points, {percent(level)} intervals{said}"
    entitle(ax, "Leaderboard, in tiers of competitors that cannot be told apart", about(fit), x=x)
    return ax


def _tiers(fit: Fit, level: float) -> np.ndarray:
    """Return the tier of every competitor, as in the table of tiers, shape (n,)."""
    return longest_chain(told_better(decision_strengths(fit), level)[0])


def _draw_bands(ax: Axes, tiers: np.ndarray, size: float) -> None:
    """Shade every other tier, and number them at the right; where tiers alternate, so do the bands."""
    first = 0
    for tier, rows in groupby(tiers.tolist()):
        last = first + len(list(rows))
        if tier % 2 == 0:
            ax.axhspan(first - 0.5, last - 0.5, color=SHADE, lw=0, zorder=0)
        color = BLUE if tier % 2 else RED
        place: dict[str, Any] = {"transform": ax.get_yaxis_transform(), "ha": "left", "va": "center"}
        ax.text(1.01, (first + last - 1) / 2, f"tier {tier}", color=color, fontsize=size, **place)
        first = last
