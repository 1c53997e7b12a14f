"""What the pictures share: axes, colours, names and titles.

Colours are Okabe and Ito's, which colour-blind readers can tell apart; shapes, shades or words repeat what they say, so
that a picture can be printed in black and white.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from textwrap import wrap
from typing import TYPE_CHECKING

import numpy as np

from bayes_arena.arrays import Floats, Ints
from bayes_arena.errors import printable
from bayes_arena.extras import require
from bayes_arena.markup import ranked

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis

    from bayes_arena.fits.result import Fit

GREY, BLUE, RED, PURPLE, GREEN, ORANGE = "#6e6e6e", "#0072B2", "#D55E00", "#CC79A7", "#009E73", "#E69F00"
SKY = "#56B4E9"
"""Colour of bands."""
LONGEST = 40
"""Most characters of a name that are shown."""
TALLEST, SHORTEST = 0.22, 0.11
"""Height of a row in inches, where there are few and where there are many."""
LARGEST, SMALLEST = 9.0, 6.0
"""Font sizes of a name beside its row, in points."""
TYPE = 10.0
"""Font size of titles and axis labels, in points."""
FILLED = 0.95
"""Height of a name, as a share of its row."""
WIDTH = 0.6
"""Width of a letter, as a share of the font size."""


def axes_of(ax: Axes | None, width: float, height: float) -> Axes:
    """Return the axes to draw into: those given, or those of a new figure of this size in inches."""
    require("Plots", "matplotlib")
    if ax is None:
        import matplotlib.pyplot as plt

        _, ax = plt.subplots(figsize=(width, height), layout="constrained")
    ax.spines[["top", "right"]].set_visible(False)
    ax.set_axisbelow(True)
    return ax


def inches(ax: Axes) -> tuple[float, float]:
    """Return the width and height of axes before they are laid out, somewhat less than they will be."""
    box = ax.get_window_extent()
    return box.width / ax.figure.dpi, box.height / ax.figure.dpi


def rows_high(size: int) -> float:
    """Return the height of so many rows in inches: less for each where there are many."""
    return size * max(SHORTEST, min(TALLEST, 9.0 / size))


def names_wide(names: Sequence[str]) -> float:
    """Return the most inches that names beside their rows take."""
    return max(len(named(name)) for name in names) * WIDTH * _points(rows_high(len(names)) / len(names)) / 72


def names_beside(height: float, size: int) -> tuple[Ints, float]:
    """Return which of so many rows in so many inches have room for a name, and its font size in points."""
    row = height / size
    return np.arange(0, size, math.ceil(SMALLEST / (FILLED * 72 * row))), _points(row)


def _points(row: float) -> float:
    """Return the font size of a name beside a row of this height in inches."""
    return max(SMALLEST, min(LARGEST, FILLED * 72 * row))


def named(name: str) -> str:
    """Return a name as it is drawn: dollar signs escaped, and the middle left out where it is too long."""
    shown = printable(name)
    if len(shown) > LONGEST:
        shown = f"{shown[: LONGEST // 2 - 1]}…{shown[-LONGEST // 2 :]}"
    return shown.replace("$", r"\$")


def spread(places: Floats, gap: float) -> Floats:
    """Move places between 0 and 1, in their order, just enough for labels of the height ``gap`` not to touch."""
    from scipy.optimize import isotonic_regression  # slow to import

    order, steps = np.argsort(places, kind="stable"), gap * np.arange(len(places))
    moved = np.empty_like(places)
    moved[order] = isotonic_regression(places[order] - steps).x.clip(0, max(0.0, 1 - gap * len(places))) + steps
    return moved


def name_beside(ax: Axes, names: Sequence[str], points: Floats, looks: Sequence[tuple[str, str]]) -> None:
    """Write names at the right, at the heights of their points or as near as there is room, with lines to them.

    The axes have their final limits; points are (n, 2), and ``looks`` are colour and marker of each.
    """
    scale = ax.yaxis.get_transform().transform
    low, high = scale(np.array(ax.get_ylim()))
    places = spread((scale(points[:, 1]) - low) / (high - low), 1.3 * LARGEST / 72 / inches(ax)[1])
    line = {"arrowstyle": "-", "lw": 0.5, "ls": ":", "color": GREY, "shrinkA": 0, "shrinkB": 0}
    for name, point, place, (color, marker) in zip(names, points, places, looks, strict=True):
        ax.annotate("", tuple(point), (1.03, place), textcoords="axes fraction", arrowprops=line)
        ax.plot(1.03, place, marker, color=color, ms=4, transform=ax.transAxes, clip_on=False)
        ax.text(1.045, place, named(name), fontsize=LARGEST, va="center", transform=ax.transAxes)


def log_ticks(axis: Axis) -> None:
    """Mark 1, 2 and 5 times powers of ten on a logarithmic axis, without exponents."""
    from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter

    axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axis.set_major_formatter(StrMethodFormatter("{x:,.12g}"))
    axis.set_minor_formatter(NullFormatter())


def entitle(ax: Axes, title: str, *more: str, x: str, y: str = "") -> None:
    """Write a title and further lines below it, and label the axes."""
    room = int(max(30, 1.25 * inches(ax)[0] * 72 / (WIDTH * TYPE)))
    lines = [line for text in (title, *more) for line in wrap(text, room)]
    ax.set_title("\n".join(lines), loc="left", fontsize=TYPE)
    ax.set_xlabel(x, fontsize=TYPE)
    ax.set_ylabel(y, fontsize=TYPE)


def about(fit: Fit) -> str:
    """Say which model was fitted to how many votes, and what its rankings are about."""
    return "; ".join([f"{fit.model.name}, {fit.described_votes}", *ranked(fit.about)])
