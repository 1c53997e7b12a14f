"""Pictures of the paper's figures, from the numbers behind them.

Colours are Okabe and Ito's, which colour-blind readers can tell apart; markers and line
styles say the same again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from bayes_arena.errors import MissingPackageError, ModelError
from bayes_arena.paper.figures import ALL_VOTES

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

type Tables = Mapping[str, pd.DataFrame]

GREY, BLUE, RED, GREEN, ORANGE = "#777777", "#0072b2", "#d55e00", "#009e73", "#e69f00"
STYLES: dict[str, dict[str, str]] = {
    "elo": {"color": GREY, "marker": "s", "linestyle": "--"},
    "m-elo": {"color": BLUE, "marker": "^", "linestyle": "-."},
    "am-elo": {"color": RED, "marker": "o", "linestyle": "-"},
    "davidson": {"color": GREEN, "marker": "v", "linestyle": ":"},
    "am-davidson": {"color": GREEN, "marker": "D", "linestyle": "-"},
    "am-elo without normalisation": {"color": ORANGE, "marker": "x", "linestyle": ":"},
    "theta <= 0": {"color": ORANGE, "marker": "^", "linestyle": ":"},
    "theta <= 0.005": {"color": RED, "marker": "o", "linestyle": "-"},
}
NAME_WIDTH = 0.19  # inches that a name takes on an axis


def drawn_target(name: str, tables: Tables) -> Figure:
    """Return the picture of a figure."""
    if name not in DRAWINGS:
        raise ModelError(f"{name} is a table: its numbers are in its tables.")
    return DRAWINGS[name](tables)


def canvas(rows: int, columns: int, width: float, height: float) -> tuple[Figure, Any]:
    """Return an empty figure, in inches, and its panels, (rows, columns)."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingPackageError(
            "Figures need matplotlib. Install it: pip install 'bayes-arena[plots]'."
        ) from error
    figure = Figure(figsize=(width, height), layout="constrained")
    panels = figure.subplots(rows, columns, squeeze=False, sharex="col")
    for axes in panels.flat:
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(alpha=0.25, lw=0.6)
    return figure, panels


def named_ticks(axes: Axes, names: list[str]) -> None:
    """Write names below an axis."""
    axes.set_xticks(range(len(names)), names, rotation=90, fontsize=8)
    axes.set_xlim(-0.7, len(names) - 0.3)


def draw_fig1(tables: Tables) -> Figure:
    """Draw Elo with its spread over orders, and a faint line for each annotator."""
    table = tables["fig1"]
    mixed = table[table["source"] == ALL_VOTES]
    names = mixed["competitor"].tolist()
    figure, ((axes,),) = canvas(1, 1, max(7.0, NAME_WIDTH * len(names)), 4.5)
    mean = mixed["elo"]
    x = np.arange(len(names))
    reach = [mean - mixed["min"], mixed["max"] - mean]
    for source, part in table[table["source"] != ALL_VOTES].groupby("source"):
        alone = part.set_index("competitor")["elo"].reindex(names)
        axes.plot(x, alone, color=BLUE, lw=0.5, alpha=0.4, label=f"_{source}")
    # One entry of the legend for all annotators: labels with "_" are left out of it.
    axes.plot([], color=BLUE, lw=0.5, label="votes of one annotator")
    axes.errorbar(x, mean, reach, fmt="none", color=GREY, capsize=2, label="min to max")
    axes.errorbar(x, mean, mixed["sd"], fmt="k_", elinewidth=4, label="mean ± sd")
    axes.set_ylabel("Elo over orders of the votes")
    axes.legend(fontsize=8)
    named_ticks(axes, names)
    return figure


def draw_fig3(tables: Tables) -> Figure:
    """Draw scaled scores as lines, above the losses as bars."""
    table = tables["fig3"]
    names = table["competitor"].unique().tolist()
    methods = table["method"].unique()
    figure, panels = canvas(2, 1, max(7.0, NAME_WIDTH * len(names)), 7.0)
    above, below = panels[:, 0]
    width = 0.8 / len(methods)
    for number, name in enumerate(methods):
        part = table[table["method"] == name].set_index("competitor").loc[names]
        above.plot(part["score"].to_numpy(), ms=4, lw=1.2, label=name, **STYLES[name])
        # The bars of all methods stand side by side, centred at the competitor.
        x = np.arange(len(names)) + (number - len(methods) / 2 + 0.5) * width
        below.bar(x, part["loss"], width, color=STYLES[name]["color"])
    below.set_ylim(bottom=0.9 * table["loss"].min())
    above.set_ylabel("score, scaled to 0 ... 1")
    below.set_ylabel("loss per vote, nats (axis cut)")
    above.legend(fontsize=8)
    named_ticks(below, names)
    return figure


def draw_fig4(tables: Tables) -> Figure:
    """Draw who beat whom as a heat map."""
    table = tables["fig4"]
    names = table["winner"].tolist()
    wins = table[[f"over {name}" for name in names]].to_numpy()
    figure, ((axes,),) = canvas(1, 1, 6.4, 5.2)
    axes.imshow(wins, cmap="Blues", vmin=0)
    for (row, column), count in np.ndenumerate(wins):
        color = "white" if count > 0.6 * wins.max() else "black"
        axes.text(column, row, count, ha="center", va="center", color=color)
    axes.set_xticks(range(len(names)), names, rotation=30, ha="right")
    axes.set_yticks(range(len(names)), names)
    axes.set_xlabel("loser")
    axes.set_ylabel("winner")
    axes.grid(visible=False)
    return figure


def draw_fig5(tables: Tables) -> Figure:
    """Draw loss and consistency at each epoch; Elo as a horizontal line."""
    table = tables["fig5"]
    figure, ((left, right),) = canvas(1, 2, 10.0, 3.8)
    draw_runs(left, table, "loss")
    draw_runs(right, table, "consistency")
    floor = table["loss"].min()
    left.set_ylim(floor - 0.01, floor + 0.1)
    left.set_ylabel("mean loss, nats per vote")
    right.set_ylabel("consistency of rankings")
    for axes in (left, right):
        axes.set_xlabel("epoch")
    right.legend(fontsize=8)
    return figure


def draw_runs(axes: Axes, table: pd.DataFrame, column: str) -> None:
    """Draw a column at each epoch, a line for each method."""
    for name, run in table.groupby("method", sort=False):
        method = STYLES[str(name)]
        style: dict[str, Any] = {
            "color": method["color"],
            "linestyle": method["linestyle"],
        }
        if len(run) > 1:
            axes.plot(run["epoch"], run[column], label=name, **style)
        else:
            axes.axhline(run[column].item(), label=name, **style)


def draw_fig6(tables: Tables) -> Figure:
    """Draw consistency by the share perturbed, above theta of all annotators."""
    stable = tables["fig6"]
    theta = tables["fig6_theta"]
    kinds = stable["kind"].unique()
    figure, panels = canvas(2, len(kinds), 3.1 * len(kinds), 6.2)
    for kind, (above, below) in zip(kinds, panels.T, strict=True):
        draw_lines(above, stable[stable["kind"] == kind], "method", "consistency")
        above.set_title(kind)
        draw_thetas(below, theta[theta["kind"] == kind])
    panels[0, 0].set_ylabel("consistency")
    panels[1, 0].set_ylabel("theta of am-elo, sum 1")
    panels[0, 0].legend(fontsize=7)
    panels[1, 0].legend(fontsize=7)
    return figure


def draw_thetas(axes: Axes, table: pd.DataFrame) -> None:
    """Draw theta of all annotators by the share perturbed, as dots."""
    is_perturbed = table["perturbed"].astype(bool)
    for dots, color, label in (
        (table[~is_perturbed], BLUE, "not perturbed"),
        (table[is_perturbed], RED, "perturbed"),
    ):
        axes.scatter(dots["share"], dots["theta"], 12, color, label=label)
    axes.axhline(0, color="black", lw=0.7)
    axes.set_xlabel("share perturbed")


def draw_fig7(tables: Tables) -> Figure:
    """Draw F1 by the share perturbed."""
    table = tables["fig7"]
    kinds = table["kind"].unique()
    figure, panels = canvas(1, len(kinds), 3.1 * len(kinds), 3.4)
    for kind, axes in zip(kinds, panels[0], strict=True):
        draw_lines(axes, table[table["kind"] == kind], "rule", "f1")
        axes.set_title(kind)
        axes.set_xlabel("share perturbed")
        axes.set_ylim(-0.02, 1.04)
    panels[0, 0].set_ylabel("F1")
    panels[0, 0].legend(fontsize=7)
    return figure


def draw_lines(axes: Axes, table: pd.DataFrame, by: str, column: str) -> None:
    """Draw means over seeds, a line for each method or rule."""
    for name in table[by].unique():
        mean = table[table[by] == name].groupby("share")[column].mean()
        style: dict[str, Any] = STYLES[name]
        axes.plot(mean.index, mean, ms=3.5, lw=1.2, label=name, **style)


DRAWINGS: Mapping[str, Callable[[Tables], Figure]] = {
    "fig1": draw_fig1,
    "fig3": draw_fig3,
    "fig4": draw_fig4,
    "fig5": draw_fig5,
    "fig6": draw_fig6,
    "fig7": draw_fig7,
}
