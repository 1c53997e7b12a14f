"""Pictures of how well a model fits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bayes_arena.checks.observed import observed_columns
from bayes_arena.fits.result import Fit
from bayes_arena.palette import LIGHT
from bayes_arena.plots.canvas import axes_of, entitle
from bayes_arena.rating.rating import Rating

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def observed(
    source: Fit | Rating, *, level: float = 0.95, ax: Axes | None = None
) -> Axes:
    """Draw observed against predicted scores of the stronger, by groups of pairs.

    Parameters
    ----------
    source : Fit or Rating
    level : float
        Probability that chance leaves a group within its range, the vertical line.
    ax : matplotlib.axes.Axes, optional
        Axes to draw into.

    Returns
    -------
    matplotlib.axes.Axes
        Open dots lie outside.  The same votes were used for the fit, so this can show a
        bad fit, and not prove a good one.
    """
    fit = source.fit if isinstance(source, Rating) else source
    groups = observed_columns(fit, level)
    percent = {name: 100 * values for name, values in groups.items()}
    predicted = percent["predicted"]
    seen = percent["observed"]
    lower = percent["lower"]
    upper = percent["upper"]
    ax = axes_of(ax, 4.5, 4.5)
    ends = [min(lower.min(), seen.min()), max(upper.max(), seen.max())]
    ax.plot(ends, ends, "--", color=LIGHT["muted"], lw=1)
    ax.vlines(predicted, lower, upper, color=LIGHT["muted"], lw=1.4)
    is_outside = (seen < lower) | (seen > upper)
    for mask, fill in ((~is_outside, LIGHT["ink"]), (is_outside, LIGHT["paper"])):
        look: dict[str, Any] = {"mfc": fill, "mec": LIGHT["ink"], "ms": 6, "ls": "none"}
        ax.plot(predicted[mask], seen[mask], "o", **look)
    ax.grid(color=LIGHT["line"], lw=0.8)
    title = "Score of the stronger of two, in percent"
    entitle(ax, title, "predicted", "observed")
    return ax
