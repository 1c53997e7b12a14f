"""Heat maps: the probability of every rank, and the expected score of every pair."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bayes_arena.arrays import Floats
from bayes_arena.fits.arguments import held
from bayes_arena.fits.draws import Draws
from bayes_arena.fits.result import Fit
from bayes_arena.inference.estimand import Over
from bayes_arena.markup import percent
from bayes_arena.plots.drawing import TYPE, about, axes_of, entitle, inches, named, names_beside, names_wide, rows_high
from bayes_arena.ratings.decision_draws import decision_strengths, drawn_strengths, rank_shares
from bayes_arena.ratings.intervals.contract import Interval
from bayes_arena.ratings.intervals.names import IntervalName
from bayes_arena.ratings.probabilities import win_probability

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WRITTEN = 12
"""Most competitors with room for a number in every cell."""
NARROWEST, WIDEST = 2.4, 7.0
"""Side of the square in inches."""
SCALE = (0, 0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 1)
"""Probabilities named on the scale of the ranks, most of which are small."""


@held
def ranks(
    fit: Fit,
    *,
    interval: Interval | IntervalName | None = None,
    draws: Draws | None = None,
    over: Over | None = None,
    slice: tuple[str, str] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the posterior of the ranks: for every competitor the probability of every rank, best expected rank first.

    Parameters
    ----------
    fit : Fit
        A fitted model.
    interval, draws, over, slice
        As for :func:`~bayes_arena.rank_probabilities`. By default the draws are those that decisions are made from,
        some of them reversed where the direction of the ranking is open: the first column is the verdict's P(best).
    ax : matplotlib.axes.Axes, optional
        Axes to draw into.

    Returns
    -------
    matplotlib.axes.Axes
        All competitors are drawn; where they are too many for legible names, every second or third has one.

    Raises
    ------
    ModelError
        If the interval has no draws, or draws are given beside an interval.
    NotIdentifiedError
        If, under a flat prior, the votes do not determine the estimate.
    """
    fit = fit.on(over, slice)
    as_decided = interval is None and draws is None
    strength = decision_strengths(fit) if as_decided else drawn_strengths(interval, fit, draws)[0]
    shares = rank_shares(strength)
    rank = np.arange(1, len(shares) + 1)
    order = np.argsort(shares @ rank, kind="stable")
    names = [fit.cells.competitors[row] for row in order]
    about_ranks: dict[str, Any] = {"label": "probability of the rank", "scale": SCALE, "first": 1, "gamma": 0.5}
    ax = _squares(ax, shares[order], names, colors="Blues", **about_ranks)
    ax.set_xticks(_places(len(names)))
    entitle(ax, "Probability of every rank", about(fit), x="rank")
    return ax


@held
def wins(
    fit: Fit,
    *,
    interval: Interval | IntervalName | None = None,
    draws: Draws | None = None,
    over: Over | None = None,
    slice: tuple[str, str] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the expected score of every competitor against every other in the next vote.

    Parameters
    ----------
    fit : Fit
        A fitted model.
    interval, draws, over, slice
        As for :func:`~bayes_arena.win_probability`, whose entries are shown in the order of the mean score.
    ax : matplotlib.axes.Axes, optional
        Axes to draw into.

    Returns
    -------
    matplotlib.axes.Axes
        All competitors are drawn; where they are too many for legible names, every second or third has one.

    Raises
    ------
    ModelError
        If the interval has no draws, or draws are given beside an interval.
    NotIdentifiedError
        If, under a flat prior, two competitors were never compared, even through others.
    """
    table = win_probability(fit, interval=interval, draws=draws, over=over, slice=slice)
    order = table.mean(axis="columns").sort_values(ascending=False, kind="stable").index
    names = [str(name) for name in order]
    ax = _squares(ax, table.loc[order, order].to_numpy(), names, colors="RdBu", label="score of the row, ties half")
    entitle(ax, "Expected score, row against column", about(fit.on(over, slice)), x="against")
    return ax


def _squares(
    ax: Axes | None,
    values: Floats,
    names: list[str],
    *,
    colors: str,
    label: str,
    scale: Sequence[float] = (0, 0.2, 0.4, 0.6, 0.8, 1),
    first: int = 0,
    gamma: float = 1.0,
) -> Axes:
    """Draw a square of probabilities, a row for every competitor; where there is room, with their percentages.

    Columns are numbered from ``first``, or named if it is 0. Colours show the probability to the power ``gamma``, and
    the scale beside them names those of ``scale``.
    """
    size = len(names)
    side, margin = min(max(NARROWEST, rows_high(size)), WIDEST), names_wide(names)
    ax = axes_of(ax, side + margin + 1.6, side + 1.2 + (0.0 if first else margin))
    from matplotlib.colors import PowerNorm

    left, top = first - 0.5, -0.5
    image = ax.imshow(
        values,
        cmap=colors,
        norm=PowerNorm(gamma, vmin=0, vmax=1),
        interpolation="nearest",
        extent=(left, left + size, top + size, top),
    )
    bar = ax.figure.colorbar(image, ax=ax, shrink=0.7, aspect=25, format=lambda share, _: percent(share))
    bar.set_ticks(scale)
    bar.set_label(label, fontsize=TYPE)
    for axis in (ax.xaxis, bar.ax.yaxis):
        axis.set_tick_params(labelsize=0.9 * TYPE)
    written, points = names_beside(min(side, inches(ax)[1]), size)
    shown_names = [named(names[row]) for row in written]
    ax.set_yticks(written, shown_names, fontsize=points)
    if not first:
        ax.set_xticks(written, shown_names, rotation=90, fontsize=points)
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    for row, column in np.ndindex(*values.shape) if size <= WRITTEN else ():
        red, green, blue, _ = image.to_rgba(values[row, column])
        dark = 0.299 * red + 0.587 * green + 0.114 * blue < 0.5
        shown: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": 8, "color": "white" if dark else "black"}
        ax.text(
            first + column, row, f"{100 * values[row, column]:.0f}" if values[row, column] >= 0.005 else "", **shown
        )
    return ax


def _places(size: int) -> list[int]:
    """Return the ranks to write below so many columns: the first, and others at equal steps."""
    step = next(step for step in (1, 5, 10, 20, 50, size) if size / step <= 15)
    return sorted({1, *range(step, size + 1, step)})
