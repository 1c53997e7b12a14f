"""How scores moved: those of a Stable Arena from round to round, and strengths that move from period to period."""

from __future__ import annotations

from itertools import cycle
from typing import TYPE_CHECKING

import numpy as np

from bayes_arena.arrays import DataFrame
from bayes_arena.errors import ModelError
from bayes_arena.markup import percent
from bayes_arena.plots.drawing import BLUE, GREEN, GREY, ORANGE, PURPLE, RED, SKY, axes_of, entitle, name_beside

if TYPE_CHECKING:
    from matplotlib.axes import Axes

NAMED = 12
"""Competitors drawn in colour and named, the best of the last round; the others are grey."""
COLORS, MARKERS = (BLUE, RED, GREEN, PURPLE, SKY, ORANGE, "black"), ("o", "s", "D", "^", "v")


def rounds(history: DataFrame, *, ax: Axes | None = None) -> Axes:
    """Draw the scores of all rounds of a Stable Arena, with their intervals.

    Parameters
    ----------
    history : pandas.DataFrame
        What :meth:`StableArena.history <bayes_arena.StableArena.history>` returns.
    ax : matplotlib.axes.Axes, optional
        Axes to draw into.

    Returns
    -------
    matplotlib.axes.Axes
        With a line for every competitor; the best twelve of the last round, by score, in colours and with names.

    Raises
    ------
    ModelError
        If there is no round yet.
    """
    if not len(history):
        raise ModelError("There is no round to draw. Hold one: StableArena.rate (bayes-arena arena rate).")
    first, final = history["round"].min(), history["round"].max()
    lines, last, looks = _lines(history, history[history["round"] == final], NAMED)
    ax = axes_of(ax, 7.5, 5.0)
    from matplotlib.ticker import FixedLocator, MaxNLocator

    for name in lines.keys() - looks:
        ax.plot(lines[name]["round"], lines[name]["elo"], ".-", color=GREY, lw=0.6, ms=2, alpha=0.35, zorder=1)
    for name, (color, marker) in looks.items():
        line = lines[name]
        reach = np.abs([line[bound] - line["elo"] for bound in ("lower", "upper")])
        ax.errorbar(line["round"], line["elo"], yerr=reach, color=color, marker=marker, ms=4, lw=1.3, elinewidth=0.7)
    ax.set_xlim(first - 0.5, final + 0.5)
    ax.xaxis.set_major_locator(FixedLocator([first]) if first == final else MaxNLocator(integer=True))
    name_beside(ax, list(looks), last[["round", "elo"]].to_numpy(np.float64), list(looks.values()))
    ax.grid(axis="y", alpha=0.3, lw=0.6)
    more = f"named: the best {NAMED} of the last round, of {len(lines)}" if len(lines) > len(looks) else ""
    level = history.attrs.get("level")
    intervals = f"{percent(level, 'g')} intervals" if level else "intervals as published"
    entitle(ax, "Scores, round by round", more, x="round", y=f"score in Elo points, {intervals}")
    return ax


def history(table: DataFrame, *, ax: Axes | None = None) -> Axes:
    """Draw how strengths moved, with a band for each of the best.

    Parameters
    ----------
    table : pandas.DataFrame
        What :func:`~bayes_arena.history` returns.
    ax : matplotlib.axes.Axes, optional
        Axes to draw into.

    Returns
    -------
    matplotlib.axes.Axes
        With a line for every competitor; the best seven of the last period in colours, with bands and names.
    """
    names = list(dict.fromkeys(table["period"]))
    place = {name: index for index, name in enumerate(names)}
    lines, last, looks = _lines(table, table[table["period"] == names[-1]], len(COLORS))
    ax = axes_of(ax, 7.5, 5.0)
    for name in lines.keys() - looks:
        ax.plot(lines[name]["period"].map(place), lines[name]["elo"], color=GREY, lw=0.6, alpha=0.35, zorder=1)
    for name, (color, _) in looks.items():
        line = lines[name]
        x = line["period"].map(place).to_numpy()
        ax.fill_between(x, line["lower"].to_numpy(), line["upper"].to_numpy(), color=color, alpha=0.12, lw=0)
        ax.plot(x, line["elo"], color=color, lw=1.4)
    shown = np.unique(np.linspace(0, len(names) - 1, min(len(names), 8)).round().astype(int))
    ax.set_xticks(shown, [names[index] for index in shown])
    name_beside(ax, list(looks), np.column_stack([last["period"].map(place), last["elo"]]), list(looks.values()))
    ax.grid(axis="y", alpha=0.3, lw=0.6)
    level = table.attrs.get("level")
    bands = f", {percent(level, 'g')} intervals" if level else ""
    entitle(ax, "Strengths over time", "", x="", y=f"score in Elo points{bands}")
    return ax


def _lines(
    table: DataFrame, last: DataFrame, most: int
) -> tuple[dict[str, DataFrame], DataFrame, dict[str, tuple[str, str]]]:
    """Return the rows of every competitor, the last ones of the best, and the colours and shapes of these."""
    lines = {str(name): one for name, one in table.groupby("competitor", sort=False)}
    best = last.sort_values("elo", ascending=False, kind="stable").head(most)
    return lines, best, dict(zip(map(str, best["competitor"]), zip(cycle(COLORS), cycle(MARKERS)), strict=False))
