"""Scores over prices, as SVG: a dot and an interval each, and names on the frontier."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from markupsafe import Markup, escape

from bayes_arena.arrays import Floats
from bayes_arena.errors import printable
from bayes_arena.page.figures import Axis, element, percent
from bayes_arena.tables import Row

WIDE = 10.0  # ratio of prices from which their axis is logarithmic
MOST_TICKS = 6
LONGEST_LABEL = 24  # characters; the table has whole names


@dataclass(frozen=True)
class PriceAxis:
    """An axis of prices, logarithmic where they are of several magnitudes.

    Attributes
    ----------
    axis : Axis
        Of prices, or of their decimal logarithms.
    is_log : bool
    """

    axis: Axis
    is_log: bool

    @classmethod
    def of(cls, prices: Floats) -> PriceAxis:
        """Return the axis of some prices."""
        low, high = float(prices.min()), float(prices.max())
        is_log = low > 0 and high >= WIDE * low
        if is_log:
            low, high = math.log10(low), math.log10(high)
        return cls(Axis.around(low, high, MOST_TICKS), is_log)

    def share(self, price: float) -> float:
        """Return the position of a price, from 0 to 1."""
        return self.axis.share(math.log10(price) if self.is_log else price)

    @property
    def ticks(self) -> Sequence[float]:
        """Round prices on the axis."""
        if not self.is_log:
            return [tick for tick in self.axis.ticks if tick >= 0]
        low, high = 10**self.axis.low, 10**self.axis.high
        powers = 10.0 ** np.arange(math.floor(self.axis.low), self.axis.high + 1)
        for digits in ((1, 2, 5), (1,)):
            ticks = np.outer(powers, digits).ravel()
            ticks = ticks[(ticks >= low) & (ticks <= high)]
            if len(ticks) <= MOST_TICKS:
                break
        return ticks.tolist()


def scatter(prices: PriceAxis, rows: Sequence[Row], label: str) -> Markup:
    """Draw scores with intervals over prices, and names of those on the frontier on top."""
    low = min(row["lower"] for row in rows)
    scores = Axis.around(low, max(row["upper"] for row in rows))
    shapes = [*grid(prices, scores)]
    for row in sorted(rows, key=lambda row: row["is_on"]):
        shapes += point(prices, scores, row)
    shapes += [name_of(prices, scores, row) for row in rows if row["is_on"]]
    text = printable(label)
    return element("svg", *shapes, class_="price", role="img", aria_label=text)


def grid(prices: PriceAxis, scores: Axis) -> list[Markup]:
    """Draw lines at the ticks of both axes, and the numbers beside them."""
    shapes, texts = [], []
    for tick in prices.ticks:
        x = percent(prices.share(tick))
        shapes.append(element("line", x1=x, x2=x, y2="100%"))
        number = Markup(f"{tick:g}")
        texts.append(element("text", number, x=x, y="100%", dy="1.4em"))
    for tick in scores.ticks:
        y = percent(1 - scores.share(tick))
        shapes.append(element("line", x2="100%", y1=y, y2=y))
        place = {"x": "0%", "y": y, "dx": "-.5em", "dy": ".35em", "class_": "end"}
        texts.append(element("text", Markup(f"{tick:g}"), **place))
    return [element("g", *shapes, class_="grid"), *texts]


def point(prices: PriceAxis, scores: Axis, row: Row) -> list[Markup]:
    """Draw the interval and the dot of a competitor."""
    x = percent(prices.share(row["price"]))
    # Heights are counted from the top.
    y, top, bottom = (
        percent(1 - scores.share(row[name])) for name in ("elo", "upper", "lower")
    )
    kind = "on" if row["is_on"] else "off"
    line = element("line", x1=x, x2=x, y1=top, y2=bottom, class_=kind)
    return [line, element("circle", cx=x, cy=y, r=4, class_=kind)]


def name_of(prices: PriceAxis, scores: Axis, row: Row) -> Markup:
    """Write the name of a competitor above its interval."""
    share = prices.share(row["price"])
    look = f"on {side_of(share)}"
    if row["is_chosen"]:
        look += " chosen"
    top = percent(1 - scores.share(row["upper"]))
    place = {"x": percent(share), "y": top, "dy": "-.4em", "class_": look}
    return element("text", label_of(row["competitor"]), **place)


def side_of(share: float) -> str:
    """Return where a name begins that stands in the figure, wherever its dot is."""
    if share < 1 / 3:
        return "start"
    return "middle" if share < 2 / 3 else "end"


def label_of(name: str) -> Markup:
    """Return a name as the figure has room for it."""
    is_long = len(name) > LONGEST_LABEL
    return escape(printable(f"{name[:LONGEST_LABEL]}…" if is_long else name))
