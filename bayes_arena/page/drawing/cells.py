"""Shades for every pair, or for every competitor and place; cells of one shade that touch are one stroke."""

from __future__ import annotations

import numpy as np
from markupsafe import Markup

from bayes_arena.arrays import Floats, Ints
from bayes_arena.page.drawing.svg import LINE, element, em, percent

PLACES = (0.005, 0.03, 0.1, 0.25, 0.5)
"""Probabilities from which a place has shade 1 to 5."""
WINS = (0.51, 0.6, 0.7, 0.8, 0.9)
"""Scores from which a win has shade 1 to 5; a loss likewise, shade -1 to -5."""
WRITTEN = 12
"""Columns up to which numbers fit into cells that share a line."""


def place_shades(chance: Floats) -> Ints:
    """Return the shades of probabilities."""
    return np.searchsorted(PLACES, chance, side="right")


def win_shades(score: Floats) -> Ints:
    """Return the shades of expected scores."""
    shade = np.searchsorted(WINS, np.maximum(score, 1 - score), side="right")
    return np.where(score >= 0.5, shade, -shade)


def columns_of(shades: Ints) -> tuple[int, int]:
    """Return from which column to which there are shades."""
    columns = np.flatnonzero(shades.any(axis=0))
    return int(columns[0]), int(columns[-1]) + 1


def shade_class(shade: int) -> str:
    """Return the name of a shade: w1 to w5, l1 to l5, or nothing."""
    return f"w{shade}" if shade > 0 else f"l{-shade}" if shade < 0 else ""


def square(shades: Ints, label: str) -> Markup:
    """Draw all pairs as a square that stretches with the screen."""
    n = len(shades)
    box = {"viewBox": f"0 0 {n} {n}", "class_": "square", "role": "img", "aria_label": label}
    return element("svg", *_strokes(shades), **box)


def lines(shades: Ints, chance: Floats, first: int, end: int) -> Markup:
    """Draw a line of cells for every competitor, of some columns, with numbers where there is room for them."""
    shades, chance = shades[:, first:end], chance[:, first:end]
    rows, columns = shades.shape
    box = {"viewBox": f"0 0 {columns} {rows}", "preserveAspectRatio": "none", "width": "100%", "height": "100%"}
    drawn = [element("svg", *_strokes(shades), **box)]
    if columns <= WRITTEN:
        drawn += [
            element(
                "text",
                Markup(f"{100 * chance[row, column]:.0f}"),
                x=percent((column + 0.5) / columns),
                y=em((row + 0.7) * LINE),
                class_=f"on{shades[row, column]}",
            )
            for row, column in np.argwhere(shades > 0).tolist()
        ]
    return element("svg", *drawn, class_="lines", height=em(rows * LINE), aria_hidden="true")


def _strokes(shades: Ints) -> list[Markup]:
    """Draw cells of every shade as one path of horizontal runs."""
    found = []
    for shade in np.unique(shades[shades != 0]).tolist():
        path = []
        for row, line in enumerate(shades == shade):
            edges = np.flatnonzero(np.diff(line.astype(np.int8), prepend=0, append=0)).tolist()
            path += [
                f"M{start} {row}h{end - start}v1h{start - end}" for start, end in zip(*[iter(edges)] * 2, strict=True)
            ]
        found.append(element("path", d="".join(path), class_=shade_class(shade)))
    return found
