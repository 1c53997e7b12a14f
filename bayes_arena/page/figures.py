"""Figures as SVG, made only of numbers: names are written by the page, which escapes them.

A bar with a dot for every competitor; shades for every pair or every place; observed shares against predicted ones.
Positions along a figure are percentages of its width and heights are in ``em``, so that it stretches with the screen
and grows with the font, and no text is distorted.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from markupsafe import Markup, escape

from bayes_arena.arrays import Floats, Ints
from bayes_arena.page.observed import Group

LINE = 1.75
"""Height of a row, in em."""
Span = tuple[float, float, float]
"""Start of a bar, position of its dot, end of the bar."""
PLACES = (0.005, 0.03, 0.1, 0.25, 0.5)
"""Least probabilities of the shades 1 to 5."""
WINS = (0.51, 0.6, 0.7, 0.8, 0.9)
"""Least scores of the shades 1 to 5 of wins; losses have shades -1 to -5."""
WRITTEN = 12
"""Most columns with numbers in the cells."""


def element(name: str, *content: Markup, **attributes: object) -> Markup:
    """Return an element; the values of its attributes are escaped, and ``class_`` becomes ``class``."""
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(short(value))}"' for key, value in attributes.items()
    )
    inside = "".join(content)
    return Markup(f"<{name}{written}>{inside}</{name}>" if inside else f"<{name}{written}/>")


def short(value: object) -> str:
    """Write a number with at most two decimals; other values as they are."""
    return f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)


def percent(share: float) -> str:
    """Write a share of the width."""
    return short(100 * float(share)) + "%"


def em(height: float) -> str:
    """Write a height."""
    return short(float(height)) + "em"


@dataclass(frozen=True)
class Axis:
    """Positions of numbers along a figure, and round numbers on it."""

    low: float
    high: float
    ticks: tuple[float, ...]

    @classmethod
    def over(cls, low: float, high: float, *, most: int = 6) -> Axis:
        """Return an axis from one number to another, a little longer at both ends."""
        margin = 0.03 * (high - low) or 1.0
        low, high = low - margin, high + margin
        step = 10.0 ** math.floor(math.log10((high - low) / most))
        step *= next(times for times in (1, 2, 5, 10) if (high - low) / (times * step) <= most)
        first, last = math.ceil(low / step), math.floor(high / step)
        return cls(low, high, tuple(step * number for number in range(first, last + 1)))

    @classmethod
    def of_places(cls, first: int, last: int) -> Axis:
        """Return an axis of places, each in the middle of its cell."""
        step = next((step for step in (1, 2, 5, 10) if last - first < 12 * step), 20)
        places = [place for place in range(first, last + 1) if place % step == 0 or place == first]
        return cls(first - 0.5, last + 0.5, tuple(map(float, places)))

    def share(self, value: float) -> float:
        """Return the position of a number, from 0 to 1."""
        return (value - self.low) / (self.high - self.low)

    def at(self, value: float) -> str:
        """Return the position of a number, as a percentage."""
        return percent(self.share(value))

    def grid(self) -> Markup:
        """Draw lines at the ticks, from top to bottom."""
        lines = [element("line", x1=self.at(tick), x2=self.at(tick), y2="100%") for tick in self.ticks]
        return element("g", *lines, class_="grid")

    def labels(self) -> Markup:
        """Draw the numbers at the ticks, as a figure of their own."""
        texts = [element("text", Markup(short(tick)), x=self.at(tick), y="1em") for tick in self.ticks]
        return element("svg", *texts, class_="axis many" if len(texts) > 4 else "axis")


def bar(axis: Axis, span: Span) -> Markup:
    """Draw one bar for a cell of a table."""
    return element("svg", _line(axis, span, "50%"), _dot(axis, span, "50%", r=3), class_="bar", aria_hidden="true")


def bars(axis: Axis, spans: Sequence[Span], marked: Sequence[bool], beside: Sequence[float]) -> Markup:
    """Draw bars one below the other, ``marked`` ones in the accent colour, with marks for comparison beside them."""
    marks = [
        element("line", x1=axis.at(value), x2=axis.at(value), y1=em((row + 0.2) * LINE), y2=em((row + 0.8) * LINE))
        for row, value in enumerate(beside)
    ]
    drawn = [axis.grid(), element("g", *marks, class_="beside")]
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
