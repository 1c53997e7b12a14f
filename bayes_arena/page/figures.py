"""Figures as SVG, made of numbers only: the template writes names, and escapes them.

Positions along a figure are percentages of its width, and heights are in em.  So a
figure stretches with the screen and grows with the font, and no text is distorted.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from markupsafe import Markup, escape

from bayes_arena.arrays import Array, Floats, Ints
from bayes_arena.tables import records

ROW = 1.75  # height of a row, in em
MOST_WRITTEN = 12  # columns, up to which the cells of a heat map have numbers


def element(name: str, *content: Markup, **attributes: object) -> Markup:
    """Return an element; attributes are escaped, and ``class_`` becomes ``class``."""
    written = ""
    for key, value in attributes.items():
        text = short(value) if isinstance(value, float) else str(value)
        written += f' {key.rstrip("_").replace("_", "-")}="{escape(text)}"'
    inside = "".join(content)
    return Markup(f"<{name}{written}>{inside}</{name}>")


def short(value: float) -> str:
    """Write a number with at most two decimals."""
    return f"{value:.2f}".rstrip("0").rstrip(".")


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
    def around(cls, low: float, high: float, most_ticks: int = 6) -> Axis:
        """Return an axis from one number to another, a little longer at both ends."""
        margin = 0.03 * (high - low) or 1.0
        low = low - margin
        high = high + margin
        step = round_step(high - low, most_ticks)
        first = math.ceil(low / step)
        last = math.floor(high / step)
        ticks = tuple(step * number for number in range(first, last + 1))
        return cls(low, high, ticks)

    @classmethod
    def of_ranks(cls, first: int, last: int) -> Axis:
        """Return an axis of ranks, each in the middle of its cell."""
        steps = (1, 2, 5, 10, 20, 50, 100)
        step = next((s for s in steps if last - first < 12 * s), last)
        ranks = {first, *(r for r in range(first, last + 1) if r % step == 0)}
        return cls(first - 0.5, last + 0.5, tuple(map(float, sorted(ranks))))

    def share(self, value: float) -> float:
        """Return the position of a number, from 0 to 1."""
        return (float(value) - self.low) / (self.high - self.low)

    def at(self, value: float) -> str:
        """Return the position of a number, as a percentage."""
        return percent(self.share(value))

    def grid(self) -> Markup:
        """Draw lines at the ticks, from top to bottom."""
        lines = []
        for tick in self.ticks:
            x = self.at(tick)
            lines.append(element("line", x1=x, x2=x, y2="100%"))
        return element("g", *lines, class_="grid")

    def labels(self) -> Markup:
        """Draw the numbers at the ticks, as a figure of their own."""
        texts = []
        for tick in self.ticks:
            number = Markup(short(tick).replace("-", "\N{MINUS SIGN}"))
            texts.append(element("text", number, x=self.at(tick), y="1em"))
        many = " many" if len(texts) > 4 else ""
        return element("svg", *texts, class_="axis" + many, aria_hidden="true")


def round_step(span: float, most_ticks: int) -> float:
    """Return the least of 1, 2 and 5 times a power of ten that gives few enough steps."""
    power = 10.0 ** math.floor(math.log10(span / most_ticks))
    steps = (power, 2 * power, 5 * power)
    return next((step for step in steps if span <= most_ticks * step), 10 * power)


def bar(axis: Axis, low: float, middle: float, high: float) -> Markup:
    """Draw an interval and its estimate, for a cell of a table: what the axis shows of it."""
    x1, x2 = (axis.at(min(max(end, axis.low), axis.high)) for end in (low, high))
    shapes = [element("line", x1=x1, x2=x2, y1="50%", y2="50%")]
    if axis.low <= middle <= axis.high:
        shapes.append(element("circle", cx=axis.at(middle), cy="50%", r=3))
    return element("svg", *shapes, class_="bar", aria_hidden="true")


def shifts(axis: Axis, expected: Sequence[float], observed: Sequence[float]) -> Markup:
    """Draw a mark of what was expected and a dot of what was observed in each row."""
    shapes = [axis.grid()]
    for row, (start, end) in enumerate(zip(expected, observed, strict=True)):
        x0 = axis.at(start)
        x1 = axis.at(end)
        y = em((row + 0.5) * ROW)
        top = em((row + 0.2) * ROW)
        bottom = em((row + 0.8) * ROW)
        shift = element("line", x1=x0, x2=x1, y1=y, y2=y, class_="odd")
        mark = element("line", x1=x0, x2=x0, y1=top, y2=bottom, class_="expected")
        dot = element("circle", cx=x1, cy=y, r=4, class_="odd")
        shapes += [shift, mark, dot]
    height = em(len(observed) * ROW)
    return element("svg", *shapes, height=height, aria_hidden="true")


def gaps(axis: Axis, rows: Sequence[Mapping[str, float]]) -> Markup:
    """Draw gaps with their intervals around a line at 0; a gap that may be 0 is hollow."""
    zero = element("line", x1=axis.at(0), x2=axis.at(0), y2="100%", class_="zero")
    shapes = [axis.grid(), zero]
    for number, row in enumerate(rows):
        y = em((number + 0.5) * ROW)
        kind = "open"
        if row["lower"] > 0 or row["upper"] < 0:
            kind = "more" if row["gap"] > 0 else "less"
        x1, x2 = axis.at(row["lower"]), axis.at(row["upper"])
        shapes.append(element("line", x1=x1, x2=x2, y1=y, y2=y, class_=kind))
        dot = element("circle", cx=axis.at(row["gap"]), cy=y, r=4, class_=kind)
        shapes.append(dot)
    height = em(len(rows) * ROW)
    return element("svg", *shapes, class_="gaps", height=height, aria_hidden="true")


def shade_class(shade: int) -> str:
    """Return the class of a shade: w1 to w5, l1 to l5, or none for 0."""
    if shade == 0:
        return ""
    return f"w{shade}" if shade > 0 else f"l{-shade}"


def visible_columns(shades: Ints) -> tuple[int, int]:
    """Return the first column that has a shade, and the column after the last."""
    columns = np.flatnonzero(shades.any(axis=0))
    return int(columns[0]), int(columns[-1]) + 1


def square(shades: Ints, label: str) -> Markup:
    """Draw the shades of all pairs as a square."""
    box = f"0 0 {len(shades)} {len(shades)}"
    attributes = {
        "viewBox": box,
        "class_": "square",
        "role": "img",
        "aria_label": label,
    }
    return element("svg", *shaded_paths(shades), **attributes)


def heat_rows(shades: Ints, probability: Floats, first: int, end: int) -> Markup:
    """Draw the cells of some columns, with percentages where there is room."""
    visible = shades[:, first:end]
    n_rows, n_columns = visible.shape
    cells = element(
        "svg",
        *shaded_paths(visible),
        viewBox=f"0 0 {n_columns} {n_rows}",
        preserveAspectRatio="none",
        width="100%",
        height="100%",
    )
    texts = []
    if n_columns <= MOST_WRITTEN:
        texts = percentages(visible, probability[:, first:end])
    height = em(n_rows * ROW)
    return element(
        "svg", cells, *texts, class_="cells", height=height, aria_hidden="true"
    )


def percentages(shades: Ints, probability: Floats) -> list[Markup]:
    """Write the percentages of the cells that have a shade."""
    texts = []
    for row, column in np.argwhere(shades > 0).tolist():
        number = Markup(f"{100 * probability[row, column]:.0f}")
        x = percent((column + 0.5) / shades.shape[1])
        y = em((row + 0.7) * ROW)
        ink = f"on{shades[row, column]}"
        texts.append(element("text", number, x=x, y=y, class_=ink))
    return texts


def shaded_paths(shades: Ints) -> list[Markup]:
    """Draw the cells of every shade as one path of horizontal runs."""
    paths = []
    for shade in np.unique(shades[shades != 0]).tolist():
        runs = []
        for row, cells in enumerate(shades == shade):
            runs += runs_of(cells, row)
        paths.append(element("path", d="".join(runs), class_=shade_class(shade)))
    return paths


def runs_of(cells: Array, row: int) -> list[str]:
    """Return the runs of true cells in a row, each as a rectangle of a path."""
    # A true cell beside a false one is an edge: starts and ends of runs, in turn.
    edges = np.flatnonzero(np.diff(cells.astype(np.int8), prepend=0, append=0))
    runs = []
    for start, end in edges.reshape(-1, 2).tolist():
        runs.append(f"M{start} {row}h{end - start}v1h{start - end}")
    return runs


def observed_figure(groups: Mapping[str, Array], label: str) -> Markup:
    """Draw observed against predicted scores, with the range that chance allows."""
    low = min(groups["lower"].min(), groups["observed"].min())
    high = max(groups["upper"].max(), groups["observed"].max())
    axis = Axis.around(100 * float(low), 100 * float(high), most_ticks=5)
    same = element("line", x1="0%", y1="100%", x2="100%", y2="0%", class_="same")
    shapes = [axis.grid(), horizontal_grid(axis), same]
    for group in records(groups):
        shapes += observed_group(axis, group)
    return element("svg", *shapes, class_="against", role="img", aria_label=label)


def observed_group(axis: Axis, group: Mapping[str, float]) -> list[Markup]:
    """Draw the range and the dot of a group, both axes in percent."""
    x = axis.at(100 * group["predicted"])
    # Heights are counted from the top.
    y = percent(1 - axis.share(100 * group["observed"]))
    bottom = percent(1 - axis.share(100 * group["lower"]))
    top = percent(1 - axis.share(100 * group["upper"]))
    is_inside = group["lower"] <= group["observed"] <= group["upper"]
    chance = element("line", x1=x, x2=x, y1=bottom, y2=top, class_="range")
    shape = "dot" if is_inside else "outside"
    dot = element("circle", cx=x, cy=y, r=4.5, class_=shape)
    return [chance, dot]


def horizontal_grid(axis: Axis) -> Markup:
    """Draw horizontal lines at the ticks, and the numbers of both axes."""
    shapes = []
    for tick in axis.ticks:
        x = axis.at(tick)
        y = percent(1 - axis.share(tick))
        text = Markup(f"{tick:g}&nbsp;%")
        shapes.append(element("line", x2="100%", y1=y, y2=y))
        below = {"x": x, "y": "100%", "dy": "1.4em", "text_anchor": "middle"}
        beside = {"x": "0%", "y": y, "dx": "-.4em", "dy": ".35em", "text_anchor": "end"}
        shapes.append(element("text", text, **below))
        shapes.append(element("text", text, **beside))
    return element("g", *shapes, class_="grid")
