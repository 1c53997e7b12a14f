"""The annotators: discrimination against tie propensity, and the anomalous by name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bayes_arena.arrays import Columns
from bayes_arena.errors import ModelError
from bayes_arena.fits.arguments import held
from bayes_arena.fits.result import Fit
from bayes_arena.markup import percent
from bayes_arena.plots.drawing import GREY, ORANGE, RED, about, axes_of, entitle, log_ticks, name_beside
from bayes_arena.ratings.intervals.contract import Interval
from bayes_arena.ratings.intervals.names import IntervalName, resolve_interval
from bayes_arena.reliability.annotators import annotator_columns

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LOOKS = {"reliable": (GREY, "o"), "watch": (ORANGE, "s"), "anomalous": (RED, "D")}
"""Colour and shape of the verdicts."""
NAMED = 12
"""Anomalous annotators that are named, the least reliable first."""
LEAST = 2.0
"""Least factor shown above and below the middle, so that equal values do not look different."""


@held
def annotators(
    fit: Fit, *, level: float = 0.95, interval: Interval | IntervalName = "laplace", ax: Axes | None = None
) -> Axes:
    """Draw the annotators: theta against the propensity to call a tie, larger for more votes, the anomalous by name.

    Parameters
    ----------
    fit : Fit
        A model with parameters of annotators.
    level, interval
        As for :func:`~bayes_arena.annotators`, whose verdicts and numbers are drawn. Intervals are drawn
        for annotators that are not reliable.
    ax : matplotlib.axes.Axes, optional
        Axes to draw into.

    Returns
    -------
    matplotlib.axes.Axes
        Net agreement takes the place of theta if annotators have none in the model; their number of votes takes that
        of the tie propensity.

    Raises
    ------
    ModelError
        As :func:`~bayes_arena.annotators` does, or if an estimate is at infinity.
    """
    columns = annotator_columns(fit, resolve_interval(interval), level=level)
    (x, lower, upper), x_named = _across(columns)
    votes = np.asarray(columns["votes"], dtype=np.float64)
    y, y_named = columns.get("tie_propensity", votes), "tie propensity nu" if "tie_propensity" in columns else "votes"
    if not np.isfinite(np.concatenate([x, np.log(y)])).all():
        raise ModelError("An annotator's estimate is infinite and cannot be drawn. Use prior='default'.")
    area = 12 + 60 * votes / votes.max()
    ax = axes_of(ax, 7.0, 5.0)
    for verdict, (color, marker) in LOOKS.items():
        mine = columns["verdict"] == verdict
        if not mine.any():
            continue
        look: dict[str, Any] = {"c": color, "marker": marker, "alpha": 0.8, "lw": 0, "zorder": 3}
        ax.scatter(x[mine], y[mine], s=area[mine], label=f"{verdict} ({mine.sum()})", **look)
        if verdict != "reliable":
            ax.hlines(y[mine], lower[mine], upper[mine], color=color, lw=0.8, alpha=0.6)
    for value in (0, 1):
        ax.axvline(value, color="black", lw=0.7, ls="-" if value == 0 else ":", zorder=1)
    ax.set_yscale("log")
    log_ticks(ax.yaxis)
    middle, reach = np.sqrt(y.min() * y.max()), np.sqrt(y.max() / y.min())
    reach = max(reach**1.1, LEAST)
    ax.set_ylim(middle / reach, middle * reach)
    anomalous = np.flatnonzero(columns["verdict"] == "anomalous")
    who = anomalous[:NAMED]
    names = [f"{columns['annotator'][k]}, {columns['kind'][k]}" for k in who]
    name_beside(ax, names, np.column_stack([x, y])[who], [LOOKS["anomalous"]] * len(who))
    ax.legend(fontsize=9, ncols=3, loc="upper center", bbox_to_anchor=(0.5, -0.12), frameon=False)
    ax.grid(alpha=0.3, lw=0.6)
    more = f"named: the {NAMED} least reliable of {len(anomalous)}" if len(anomalous) > NAMED else ""
    x_named += f", {percent(level, 'g')} intervals of those not reliable"
    entitle(ax, "Annotators, larger for more votes", about(fit), more, x=x_named, y=y_named)
    return ax


def _across(columns: Columns) -> tuple[tuple[np.ndarray, ...], str]:
    """Return theta, or net agreement where the model has no theta, with its bounds and its label."""
    labels = {"theta": "theta (1: the average annotator)", "net_agreement": "net agreement"}
    name = "theta" if "theta" in columns else "net_agreement"
    return (columns[name], columns[f"{name}_lower"], columns[f"{name}_upper"]), labels[name]
