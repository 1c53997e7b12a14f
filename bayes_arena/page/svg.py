"""Elements of SVG, and an axis with round numbers."""

from __future__ import annotations

import math
from dataclasses import dataclass

from markupsafe import Markup, escape

LINE = 1.75
"""Height of a row, in em."""


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
    """Positions of numbers along a figure.

    Attributes
    ----------
    low, high : float
        Its ends.
    ticks : tuple of float
        Round numbers on it.
    """

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
