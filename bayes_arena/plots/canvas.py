"""What the pictures share: axes, names beside rows, and squares of shades."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bayes_arena.arrays import Array, Floats, Ints
from bayes_arena.errors import MissingPackageError, printable, shortened
from bayes_arena.palette import LIGHT, N_SHADES

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LONGEST_NAME = 40  # characters
ROW_HEIGHT = 0.22  # inches, where rows are few
TALLEST = 12.0  # inches, of a picture with many rows
SMALLEST_FONT, FONT = 6.0, 9.0  # points
MOST_WRITTEN = 12  # rows, up to which the cells of a square have numbers


def axes_of(ax: Axes | None, width: float, height: float) -> Axes:
    """Return the axes to draw into: those given, or of a new figure (in inches)."""
    if ax is None:
        try:
            import matplotlib.pyplot as plt
        except ImportError as missing:
            raise MissingPackageError(
                "Pictures need matplotlib. Install it with: "
                "pip install 'bayes-arena[plots]'."
            ) from missing
        _, ax = plt.subplots(figsize=(width, height), layout="constrained")
    ax.spines[["top", "right"]].set_visible(False)
    ax.set_axisbelow(True)
    return ax


def rows_height(n_rows: int) -> float:
    """Return the height of so many rows in inches."""
    return min(ROW_HEIGHT * n_rows, TALLEST)


def drawn_name(name: str) -> str:
    """Return a name as it is drawn: short, and without mathematics."""
    return printable(shortened(name, LONGEST_NAME)).replace("$", r"\$")


def named_rows(ax: Axes, names: Sequence[str]) -> None:
    """Write names beside rows 0, 1, ... from the top; every second or third if many."""
    n = len(names)
    row = 72 * ax.get_window_extent().height / ax.figure.dpi / max(n, 1)
    step = math.ceil(SMALLEST_FONT / row)
    rows = np.arange(0, n, step)
    size = min(max(0.9 * row, SMALLEST_FONT), FONT)
    ax.set_yticks(
        rows, [drawn_name(names[row]) for row in rows.tolist()], fontsize=size
    )
    ax.set_ylim(max(n, 1) - 0.4, -0.6)
    ax.tick_params(axis="y", length=0)
    ax.grid(axis="x", color=LIGHT["line"], lw=0.8)


def intervals(
    ax: Axes,
    lower: Floats,
    middle: Floats,
    upper: Floats,
    is_marked: Array,
    colour: str,
) -> None:
    """Draw an interval in each row, marked ones as diamonds in their own colour."""
    rows = np.arange(len(middle))
    for mask, line, dot, marker in (
        (~is_marked, "muted", "ink", "o"),
        (is_marked, colour, colour, "D"),
    ):
        ax.hlines(rows[mask], lower[mask], upper[mask], color=LIGHT[line], lw=1.4)
        ax.plot(middle[mask], rows[mask], marker, color=LIGHT[dot], ms=4, ls="none")


def shaded_square(ax: Axes, shades: Ints, values: Floats, names: Sequence[str]) -> None:
    """Draw a square of shades from -5 to 5, with percentages where there is room."""
    from matplotlib.ticker import MaxNLocator

    shaded_rows(ax, shades, names)
    n = len(names)
    if n > MOST_WRITTEN:
        ax.xaxis.set_major_locator(MaxNLocator(integer=True))
        return
    ax.set_xticks(range(1, n + 1))
    percent = np.vectorize("{:.0f}".format, otypes=[object])(100 * values)
    write_cells(ax, shades, np.where(shades != 0, percent, ""))


def shaded_rows(ax: Axes, shades: Ints, names: Sequence[str]) -> None:
    """Draw cells of shades from -5 to 5, a row for each name and columns from 1 on."""
    from matplotlib.colors import ListedColormap

    n, n_columns = shades.shape
    ax.imshow(
        shades,
        cmap=ListedColormap(shade_colours()),
        vmin=-N_SHADES - 0.5,
        vmax=N_SHADES + 0.5,
        interpolation="nearest",
        extent=(0.5, n_columns + 0.5, n - 0.5, -0.5),
    )
    named_rows(ax, names)
    ax.set_ylim(n - 0.5, -0.5)
    ax.grid(visible=False)
    ax.spines[:].set_visible(False)
    ax.tick_params(length=0)


def shade_colours() -> list[str]:
    """Return the colours of the shades from -5 to 5."""
    steps = range(1, N_SHADES + 1)
    losing = [LIGHT[f"l{step}"] for step in reversed(steps)]
    winning = [LIGHT[f"w{step}"] for step in steps]
    return [*losing, LIGHT["paper"], *winning]


def write_cells(ax: Axes, shades: Ints, texts: Array) -> None:
    """Write texts into cells, in an ink that their shades let show."""
    for row, column in np.argwhere(texts != "").tolist():
        darkness = abs(shades[row, column])
        ink = LIGHT["on5"] if darkness == N_SHADES else LIGHT["on4"]
        style: dict[str, Any] = {
            "ha": "center",
            "va": "center",
            "fontsize": 8,
            "color": ink,
        }
        ax.text(column + 1, row, texts[row, column], **style)


def entitle(ax: Axes, title: str, x: str, y: str = "") -> None:
    """Write a title above the axes, at their left, and label them."""
    ax.set_title(title, loc="left", fontsize=10, color=LIGHT["ink"])
    ax.set_xlabel(x, color=LIGHT["muted"])
    ax.set_ylabel(y, color=LIGHT["muted"])
