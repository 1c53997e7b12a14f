"""Score against cost, and the Pareto front, as far as the votes can tell.

A competitor is on the front if none that costs as much or less scores higher. The probability of that is the share of
posterior draws in which it is so; costs are taken as known.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from bayes_arena.arrays import Floats
from bayes_arena.errors import ModelError, listing
from bayes_arena.fits.arguments import held
from bayes_arena.fits.result import Fit
from bayes_arena.inference.estimand import Over
from bayes_arena.markup import percent
from bayes_arena.plots.drawing import BLUE, GREY, RED, about, axes_of, entitle, log_ticks, name_beside, named
from bayes_arena.ratings.decision_draws import decision_strengths
from bayes_arena.ratings.elo import EloScale
from bayes_arena.ratings.intervals.contract import Interval
from bayes_arena.ratings.intervals.names import IntervalName, resolve_interval
from bayes_arena.ratings.leaderboard import leaderboard_columns

if TYPE_CHECKING:
    from matplotlib.axes import Axes

RATIO = 10.0
"""Ratio of the largest to the least cost above which the axis is logarithmic."""
FEW = 12
"""Most competitors that are all named; of more, only those that may be on the front."""
LOOKS = {"on the front": (BLUE, "o", BLUE), "may be on it": (RED, "D", "white"), "not on it": (GREY, ".", GREY)}
"""Colour, shape and fill."""


@held
def cost(
    fit: Fit,
    costs: Mapping[str, float] | Any,
    *,
    level: float = 0.95,
    elo: EloScale | None = None,
    interval: Interval | IntervalName | None = None,
    over: Over | None = None,
    slice: tuple[str, str] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw scores against costs, and the Pareto front.

    Parameters
    ----------
    fit : Fit
        A fitted model.
    costs : mapping of str to float, or dataframe
        What each competitor costs, in any unit: by name, or as a dataframe (pandas, Polars, any that narwhals knows)
        with a column ``competitor`` and a column of costs, whose name labels the axis. Competitors without a cost are
        left out, and named in the title.
    level, elo, interval, over, slice
        As for :func:`~bayes_arena.leaderboard`.
    ax : matplotlib.axes.Axes, optional
        Axes to draw into.

    Returns
    -------
    matplotlib.axes.Axes
        Filled, joined by a line: on the front at the estimate. Hollow: not so, but on the front with probability above
        1 - level. Grey: neither.

    Raises
    ------
    ModelError
        If no competitor has a cost, one is negative or not finite, or the dataframe has no such columns.
    NotIdentifiedError
        If, under a flat prior, the votes do not determine the estimate.
    """
    chosen, fit = resolve_interval(interval, fit), fit.on(over, slice)
    price_of, unit = _prices(costs)
    columns = leaderboard_columns(fit, chosen, level=level, elo=elo)
    rows = np.array([name in price_of for name in columns["competitor"]])
    absent = [name for name in columns["competitor"] if name not in price_of]
    if not rows.any():
        raise ModelError(f"No competitor has a cost: none of {listing(absent)} is among {listing(price_of)}.")
    names = [str(name) for name in columns["competitor"][rows]]
    prices = np.array([price_of[name] for name in names])
    score, lower, upper = (columns[name][rows] for name in ("elo", "lower", "upper"))
    places = [fit.cells.competitors.index(name) for name in names]
    front = on_front(score[None], prices)[0]
    possible = ~front & (on_front(decision_strengths(fit)[:, places], prices).mean(axis=0) > 1 - level)
    ax = axes_of(ax, 7.0, 5.0)
    verdict = np.select([front, possible], [0, 1], 2)
    for index, (label, (color, marker, face)) in enumerate(LOOKS.items()):
        mine = verdict == index
        reach = np.abs([bound[mine] - score[mine] for bound in (lower, upper)])
        look: dict[str, Any] = {
            "color": color,
            "fmt": marker,
            "mfc": face,
            "ms": 5,
            "elinewidth": 0.8,
            "zorder": 4 - index,
        }
        ax.errorbar(prices[mine], score[mine], yerr=reach, label=label, **look)
    by_price = np.lexsort([-score, prices])
    line = by_price[front[by_price]]
    ax.step(prices[line], score[line], where="post", color=BLUE, lw=1, alpha=0.5, zorder=2)
    if prices.min() > 0 and prices.max() > RATIO * prices.min():
        ax.set_xscale("log")
        log_ticks(ax.xaxis)
    shown = np.flatnonzero((verdict < 2) | (len(names) <= FEW))
    kinds = [list(LOOKS.values())[kind][:2] for kind in verdict[shown]]
    name_beside(ax, [names[k] for k in shown], np.array([prices, score]).T[shown], kinds)
    ax.grid(alpha=0.3, lw=0.6)
    ax.legend(fontsize=9, ncols=3, loc="upper center", bbox_to_anchor=(0.5, -0.12), frameon=False)
    more = f"without a cost: {listing(map(named, absent))}" if absent else ""
    y = f"score in Elo points, {percent(level, 'g')} intervals"
    entitle(ax, "Score against cost, and the Pareto front", about(fit), more, x=unit, y=y)
    return ax


def on_front(scores: Floats, prices: Floats) -> np.ndarray:
    """Return which competitors are on the front: none as cheap scores higher, and none with the same score is cheaper.

    It takes scores (n_draws, n) and prices (n,), and returns a truth value for every draw, (n_draws, n).
    """
    front = np.empty(scores.shape, dtype=bool)
    for k, price in enumerate(prices):
        as_cheap, cheaper = scores[:, prices <= price], scores[:, prices < price]
        mine = scores[:, k]
        front[:, k] = (as_cheap <= mine[:, None]).all(axis=1) & (cheaper < mine[:, None]).all(axis=1)
    return front


def _prices(costs: Mapping[str, float] | Any) -> tuple[dict[str, float], str]:
    """Return what each name costs, and the name of the axis."""
    import narwhals as nw

    if isinstance(costs, Mapping):
        known, unit = dict(costs), "cost"
    else:
        table = nw.from_native(costs, eager_only=True, pass_through=True)
        if not isinstance(table, nw.DataFrame) or "competitor" not in table.columns or len(table.columns) != 2:
            raise ModelError(
                "Costs must be a mapping of names to numbers, or a dataframe of two columns, one of them `competitor`."
            )
        (unit,) = set(table.columns) - {"competitor"}
        known = dict(zip(table["competitor"].to_list(), table[unit].to_list(), strict=True))
    prices = {str(name): float(price) for name, price in known.items() if price is not None}
    wrong = [f"{name}: {price:g}" for name, price in prices.items() if not 0 <= price < np.inf]
    if wrong:
        raise ModelError(f"Costs must be finite and not negative, not {listing(wrong)}.")
    return prices, unit
