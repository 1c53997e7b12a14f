"""Observed against predicted: dots on the diagonal where the fit is right."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from bayes_arena.page.drawing.svg import Axis, element, percent
from bayes_arena.page.numbers.fitted import Group


def against(groups: Sequence[Group], label: str) -> Markup:
    """Draw the observed share of every group of pairs over the predicted one, with the range of the latter."""
    ends = [end for group in groups for end in (group.lower, group.upper, group.observed)]
    low, high = max(min(ends), 0.0), min(max(ends), 1.0)
    axis = Axis.over(100 * low, 100 * high, most=5)
    shapes = [axis.grid(), _rules(axis)]
    shapes.append(element("line", x1="0%", y1="100%", x2="100%", y2="0%", class_="same"))
    for group in groups:
        x, below, above = axis.at(100 * group.predicted), _up(axis, group.lower), _up(axis, group.upper)
        shapes.append(element("line", x1=x, x2=x, y1=below, y2=above, class_="range"))
    for group in groups:
        outside = not group.lower <= group.observed <= group.upper
        place = {"cx": axis.at(100 * group.predicted), "cy": _up(axis, group.observed)}
        shapes.append(element("circle", **place, r=4.5, class_="outside" if outside else "dot"))
    return element("svg", *shapes, class_="against", role="img", aria_label=label)


def _up(axis: Axis, share: float) -> str:
    return percent(1 - axis.share(100 * share))


def _rules(axis: Axis) -> Markup:
    """Draw horizontal lines at the ticks, and the numbers of both axes."""
    drawn = []
    for tick in axis.ticks:
        across, up = axis.at(tick), percent(1 - axis.share(tick))
        text = Markup(f"{tick:g}%")
        drawn.append(element("line", x2="100%", y1=up, y2=up))
        drawn.append(element("text", text, x=across, y="100%", dy="1.4em", text_anchor="middle"))
        drawn.append(element("text", text, x="0%", y=up, dx="-.4em", dy=".35em", text_anchor="end"))
    return element("g", *drawn, class_="grid")
