"""The paper's figures, drawn from the tables of numbers behind them.

Colours are Okabe and Ito's, which colour-blind readers can tell apart; markers and line styles repeat what they say.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bayes_arena.arrays import DataFrame
from bayes_arena.paper.case_study import SHUFFLED
from bayes_arena.plots.drawing import BLUE, GREEN, GREY, ORANGE, PURPLE, RED, SKY

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

STYLES: dict[str, dict[str, Any]] = {
    "elo": {"color": GREY, "marker": "s", "linestyle": "--"},
    "elo, bootstrap": {"color": SKY, "marker": "s", "linestyle": ":"},
    "m-elo": {"color": BLUE, "marker": "^", "linestyle": "-."},
    "am-elo": {"color": RED, "marker": "o", "linestyle": "-"},
    "am-elo, default prior": {"color": PURPLE, "marker": "D", "linestyle": ":"},
    "am-davidson": {"color": GREEN, "marker": "v", "linestyle": "-"},
    "am-elo without normalisation": {"color": ORANGE, "marker": "x", "linestyle": ":"},
    "theta <= 0": {"color": ORANGE, "marker": "^", "linestyle": ":"},
    "theta <= 0.005": {"color": RED, "marker": "o", "linestyle": "-."},
    "A > 0.5": {"color": GREEN, "marker": "v", "linestyle": "-"},
    "FDR 0.05": {"color": BLUE, "marker": "s", "linestyle": "--"},
}
ANNOTATORS = 4
"""Lower panels of Figure 1: the annotators with most votes."""
DODGE = 0.5
"""Shift between lines that would overlap, in percent of annotators."""


def figure1(table: DataFrame) -> Figure:
    """Draw shuffled Elo with error bars; below, single annotators over the range from all on the same pairs."""
    mixed, single = table[table["source"] == SHUFFLED], table[table["source"] != SHUFFLED]
    busiest = single.groupby("source")["votes"].sum().sort_values(ascending=False, kind="stable").index[:ANNOTATORS]
    place = {name: index for index, name in enumerate(mixed["competitor"])}
    rows, heights = 1 + len(busiest), [3.0] + [1.0] * len(busiest)
    figure, (axes, *below) = _canvas(
        rows, width=_wide(len(place)), height=3.0 + 1.4 * rows, rows=rows, sharex=True, heights=heights
    )
    x, mean = np.arange(len(place)), mixed["elo"].to_numpy()
    reach = [mean - mixed["min"].to_numpy(), mixed["max"].to_numpy() - mean]
    axes.errorbar(x, mean, yerr=reach, fmt="none", ecolor=GREY, elinewidth=1, capsize=2, label="Elo, min to max")
    axes.errorbar(x, mean, yerr=mixed["sd"], fmt="none", ecolor=GREY, elinewidth=5, alpha=0.5, label="Elo, ± 1 sd")
    axes.plot(x, mean, "k_", markersize=7, label="Elo, mean of shuffles")
    axes.set_ylabel("Elo (points)\nby all votes")
    for name, panel in zip(busiest, below, strict=True):
        own = single[single["source"] == name]
        places, elo, lower, upper = own["competitor"].map(place), own["elo"], own["lower"], own["upper"]
        outside = (elo < lower) | (elo > upper)
        panel.vlines(
            places, lower, upper, color=GREY, lw=5, alpha=0.4, label="95 % of as many votes by all, same pairs"
        )
        panel.plot(places[~outside], elo[~outside], "o", color=BLUE, ms=3, label="an annotator alone, within")
        panel.plot(places[outside], elo[outside], "D", color=RED, ms=4, label="an annotator alone, outside")
        panel.set_title(
            f"{name} alone, {own['votes'].sum() // 2} votes: {outside.sum()} of {len(own)} outside",
            fontsize=8,
            loc="left",
        )
        panel.set_ylabel("Elo")
    keys = [key for each in (axes, *below[:1]) for key in each.get_legend_handles_labels()[0]]
    axes.legend(handles=keys, fontsize=7)
    _name((axes, *below)[-1], list(place))
    return figure


def figure3(table: DataFrame) -> Figure:
    """Draw normalised scores as lines, above the loss of each model's votes as bars."""
    methods, names = list(table["method"].unique()), list(table["competitor"].unique())
    figure, (above, below) = _canvas(2, width=_wide(len(names)) * 1.2, height=7.0, rows=2, sharex=True)
    x, width = np.arange(len(names)), 0.8 / len(methods)
    for number, method in enumerate(methods):
        own = table[table["method"] == method].set_index("competitor").loc[names]
        sd = own["score_sd"] if own["score_sd"].any() else None
        label = f"{method}, ± 1 sd over orders" if sd is not None else method
        above.errorbar(x, own["score"], yerr=sd, ms=4, lw=1.2, capsize=2, label=label, **STYLES[method])
        shift = (number - (len(methods) - 1) / 2) * width
        below.bar(x + shift, own["loss"], width=width, color=STYLES[method]["color"], label=method)
    above.set_ylabel("score, scaled to 0 … 1")
    below.set_ylabel("loss (nats a vote; axis cut)")
    least = table["loss"].min()
    below.set_ylim(max(0.0, least - 0.2 * (table["loss"].max() - least)))
    above.legend(ncols=len(methods), fontsize=8)
    _name(below, names)
    return figure


def figure4(table: DataFrame) -> Figure:
    """Draw a heatmap of who beat whom."""
    names = list(table["winner"])
    wins = table[[f"over {name}" for name in names]].to_numpy()
    figure, (axes,) = _canvas(1, width=6.4, height=5.2)
    image = axes.imshow(wins, cmap="Blues", vmin=0)
    for row, column in np.ndindex(*wins.shape):
        color = "white" if wins[row, column] > 0.6 * wins.max() else "black"
        axes.text(column, row, str(wins[row, column]), ha="center", va="center", color=color)
    axes.set_xticks(range(len(names)), names, rotation=30, ha="right")
    axes.set_yticks(range(len(names)), names)
    axes.set_xlabel("loser")
    axes.set_ylabel("winner")
    axes.grid(visible=False)
    figure.colorbar(image, ax=axes, label="votes won")
    return figure


def figure5(table: DataFrame) -> Figure:
    """Draw loss and consistency at each epoch; Elo as a horizontal line, Newton as a star at its last step."""
    figure, (left, right) = _canvas(2, width=10.0, height=3.8)
    for method, run in table.groupby("method", sort=False):
        name = str(method)
        look = STYLES[name.removeprefix("newton ")]
        for axes, column in ((left, "loss"), (right, "consistency")):
            if len(run) > 1:
                axes.plot(run["epoch"], run[column], color=look["color"], ls=look["linestyle"], lw=1.4, label=name)
            elif name == "elo":
                axes.axhline(run[column].item(), color=GREY, ls="--", lw=1, label="elo (one pass)")
            else:
                label = f"{name} ({run['epoch'].item()} steps)"
                axes.plot(run["epoch"], run[column], "*", color=look["color"], mec="black", mew=0.5, ms=11, label=label)
    floor = table["loss"].min()
    left.set_ylim(floor - 0.01, max(0.7, table.groupby("method")["loss"].last().max() + 0.02))
    right.set_ylim(-0.02, 1.05)
    left.set_ylabel("mean loss (nats a vote)")
    right.set_ylabel("consistency of rankings")
    for axes in (left, right):
        axes.set_xlabel("epoch")
    right.legend(fontsize=8, loc="lower right")
    return figure


def figure6(consistencies: DataFrame, thetas: DataFrame) -> Figure:
    """Draw consistency by the share perturbed, above the annotators' theta under the paper's am-ELO."""
    kinds = list(consistencies["kind"].unique())
    figure, axes = _canvas(2 * len(kinds), width=3.1 * len(kinds), height=6.2, rows=2, sharex=True)
    for column, kind in enumerate(kinds):
        above, below = axes[column], axes[len(kinds) + column]
        _lines(above, consistencies[consistencies["kind"] == kind], "method", "consistency")
        above.set_title(kind.capitalize())
        below.set_xlabel("share perturbed (%)")
        for perturbed, color, marker, label in ((False, BLUE, "o", "as they were"), (True, RED, "x", "perturbed")):
            own = thetas[(thetas["kind"] == kind) & (thetas["perturbed"] == perturbed)]
            shift = 0.6 if perturbed else -0.6
            below.scatter(100 * own["share"] + shift, own["theta"], s=13, c=color, marker=marker, lw=0.8, label=label)
        below.axhline(0, color="black", lw=0.7)
    low, high = thetas["theta"].min(), thetas["theta"].max()
    for below in axes[len(kinds) :]:
        below.set_ylim(low - 0.1 * (high - low), high + 0.1 * (high - low))
    floor = consistencies["consistency"].min()
    for above in axes[: len(kinds)]:
        above.set_ylim(floor - 0.03, 1.01)
    axes[0].set_ylabel("consistency with the\nunperturbed ranking")
    axes[len(kinds)].set_ylabel("theta of am-elo (sum 1)")
    axes[0].legend(fontsize=7)
    axes[len(kinds)].legend(fontsize=7)
    return figure


def figure7(table: DataFrame) -> Figure:
    """Draw the F1 of the detection of perturbed annotators, by rule."""
    kinds = list(table["kind"].unique())
    figure, axes = _canvas(len(kinds), width=3.1 * len(kinds), height=3.4, sharey=True)
    for kind, panel in zip(kinds, axes, strict=True):
        _lines(panel, table[table["kind"] == kind], "rule", "f1")
        panel.set_title(kind.capitalize())
        panel.set_xlabel("share perturbed (%)")
        panel.set_ylim(-0.02, 1.02)
    axes[0].set_ylabel("F1")
    axes[0].legend(fontsize=7, loc="lower right")
    return figure


def _lines(axes: Axes, table: DataFrame, by: str, column: str) -> None:
    """Draw a line with standard errors for each method or rule over the share perturbed, shifted not to overlap."""
    names = list(table[by].unique())
    for number, name in enumerate(names):
        own = table[table[by] == name]
        x = 100 * own["share"] + DODGE * (number - (len(names) - 1) / 2)
        look = {**STYLES[name], "ms": 3.5, "lw": 1.2, "capsize": 1.5, "elinewidth": 0.7}
        axes.errorbar(x, own[column], yerr=own[f"{column}_se"], label=name, **look)


def _canvas(
    panels: int,
    *,
    width: float,
    height: float,
    rows: int = 1,
    sharex: bool = False,
    sharey: bool = False,
    heights: list[float] | None = None,
) -> tuple[Figure, tuple[Axes, ...]]:
    """Return an empty figure, in inches, with its panels row by row; heights of rows relative to each other."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    grid = figure.subplots(rows, panels // rows, sharex=sharex, sharey=sharey, height_ratios=heights, squeeze=False)
    for axes in grid.flat:
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(visible=True, alpha=0.25, lw=0.6)
        axes.set_axisbelow(True)
    return figure, tuple(grid.flat)


def _wide(names: int) -> float:
    return max(7.0, 0.19 * names)


def _name(axes: Axes, names: list[str]) -> None:
    axes.set_xticks(range(len(names)), names, rotation=90, fontsize=8)
    axes.set_xlim(-0.7, len(names) - 0.3)
