"""A line for every competitor: a bar from here to there, and a dot where it stands."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from bayes_arena.page.drawing.svg import LINE, Axis, element, em

Span = tuple[float, float, float]
"""Where a bar begins, where the dot is, where it ends."""


def spans(rows: Sequence[object], begin: str, dot: str, end: str) -> list[Span]:
    """Return the bars of rows by the names of their numbers."""
    return [(getattr(row, begin), getattr(row, dot), getattr(row, end)) for row in rows]


def bar(axis: Axis, span: Span) -> Markup:
    """Draw one bar for a cell of a table."""
    return element("svg", _line(axis, span, "50%"), _dot(axis, span, "50%", r=3), class_="bar", aria_hidden="true")


def bars(axis: Axis, spans: Sequence[Span], marked: Sequence[bool], beside: Sequence[float] = ()) -> Markup:
    """Draw bars below each other.

    Parameters
    ----------
    axis : Axis
    spans : sequence of (float, float, float)
    marked : sequence of bool
        Which are of the colour that stands out.
    beside : sequence of float
        Where a mark stands in the same line, to compare with.
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
