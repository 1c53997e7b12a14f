"""Figures as SVG, made only of numbers: names are written by the page, which escapes them.

A bar with a dot for every competitor; shades for every pair or every place; observed shares against predicted ones.
Positions along a figure are percentages of its width and heights are in ``em``, so that it stretches with the screen
and grows with the font, and no text is distorted.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from markupsafe import Markup

from bayes_arena.arrays import Floats, Ints
from bayes_arena.page.observed import Group
from bayes_arena.page.svg import LINE, Axis, element, em, percent

Span = tuple[float, float, float]
"""Start of a bar, position of its dot, end of the bar."""
PLACES = (0.005, 0.03, 0.1, 0.25, 0.5)
"""Least probabilities of the shades 1 to 5."""
WINS = (0.51, 0.6, 0.7, 0.8, 0.9)
"""Least scores of the shades 1 to 5 of wins; losses have shades -1 to -5."""
WRITTEN = 12
"""Most columns with numbers in the cells."""


def bar(axis: Axis, span: Span) -> Markup:
    """Draw one bar for a cell of a table."""
    return element("svg", _line(axis, span, "50%"), _dot(axis, span, "50%", r=3), class_="bar", aria_hidden="true")


def bars(axis: Axis, spans: Sequence[Span], marked: Sequence[bool], beside: Sequence[float] = ()) -> Markup:
    """Draw bars one below the other.

    Parameters
    ----------
    axis : Axis
    spans : sequence of (float, float, float)
    marked : sequence of bool
        Which bars have the accent colour.
    beside : sequence of float
        Positions of marks in the same lines, for comparison.
    """
    marks = [
        element("line", x1=axis.at(value), x2=axis.at(value), y1=em((row + 0.2) * LINE), y2=em((row + 0.8) * LINE))
        for row, value in enumerate(beside)
    ]
    drawn = [axis.grid(), element("g", *marks, class_="beside") if marks else Markup("")]
    for wanted, name in ((False, "plain"), (True, "marked")):
        rows = [(span, em((row + 0.5) * LINE)) for row, span in enumerate(spans) if bool(marked[row]) is wanted]
        shapes = [_line(axis, *row) for row in rows] + [_dot(axis, *row) for row in rows]
        drawn.append(element("g", *shapes, class_=name) if shapes else Markup(""))
    return element("svg", *drawn, height=em(len(spans) * LINE), aria_hidden="true")


def _line(axis: Axis, span: Span, y: str) -> Markup:
    return element("line", x1=axis.at(span[0]), x2=axis.at(span[2]), y1=y, y2=y)


def _dot(axis: Axis, span: Span, y: str, r: float = 4) -> Markup:
    return element("circle", cx=axis.at(span[1]), cy=y, r=r)


def place_shades(chance: Floats) -> Ints:
    """Return the shades of probabilities."""
    return np.searchsorted(PLACES, chance, side="right")


def win_shades(score: Floats) -> Ints:
    """Return the shades of expected scores."""
    shade = np.searchsorted(WINS, np.maximum(score, 1 - score), side="right")
    return np.where(score >= 0.5, shade, -shade)


def columns_of(shades: Ints) -> tuple[int, int]:
    """Return the first column with a shade, and the column after the last."""
    columns = np.flatnonzero(shades.any(axis=0))
    return int(columns[0]), int(columns[-1]) + 1


def shade_class(shade: int) -> str:
    """Return the name of a shade: w1 to w5, l1 to l5, or nothing."""
    return f"w{shade}" if shade > 0 else f"l{-shade}" if shade < 0 else ""


def square(shades: Ints, label: str) -> Markup:
    """Draw all pairs as a square."""
    n = len(shades)
    box = {"viewBox": f"0 0 {n} {n}", "class_": "square", "role": "img", "aria_label": label}
    return element("svg", *_strokes(shades), **box)


def lines(shades: Ints, chance: Floats, first: int, end: int) -> Markup:
    """Draw a line of cells for every competitor, for a range of columns, with numbers where there is room."""
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


def against(groups: Sequence[Group], label: str) -> Markup:
    """Draw the observed share of every group of pairs against the predicted one, with the range of the latter."""
    ends = [end for group in groups for end in (group.lower, group.upper, group.observed)]
    low, high = max(min(ends), 0.0), min(max(ends), 1.0)
    axis = Axis.over(100 * low, 100 * high, most=5)
    shapes = [axis.grid(), _rules(axis)]
    shapes.append(element("line", x1="0%", y1="100%", x2="100%", y2="0%", class_="same"))
    for group in groups:
        x, below, above = axis.at(100 * group.predicted), _up(axis, group.lower), _up(axis, group.upper)
        shapes.append(element("line", x1=x, x2=x, y1=below, y2=above, class_="range"))
    for group in groups:
        place = {"cx": axis.at(100 * group.predicted), "cy": _up(axis, group.observed)}
        shapes.append(element("circle", **place, r=4.5, class_="outside" if group.is_outside else "dot"))
    return element("svg", *shapes, class_="against", role="img", aria_label=label)


def _up(axis: Axis, share: float) -> str:
    return percent(1 - axis.share(100 * share))


def _rules(axis: Axis) -> Markup:
    """Draw horizontal lines at the ticks, and the numbers of both axes."""
    drawn = []
    for tick in axis.ticks:
        across, up = axis.at(tick), percent(1 - axis.share(tick))
        text = Markup(f"{tick:g}&nbsp;%")
        drawn.append(element("line", x2="100%", y1=up, y2=up))
        drawn.append(element("text", text, x=across, y="100%", dy="1.4em", text_anchor="middle"))
        drawn.append(element("text", text, x="0%", y=up, dx="-.4em", dy=".35em", text_anchor="end"))
    return element("g", *drawn, class_="grid")
