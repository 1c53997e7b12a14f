"""Facts about competitors on the page: columns, filters, links, and score against price."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from markupsafe import Markup

from bayes_arena.boards.elo import EloScale
from bayes_arena.boards.frontier import Frontier, frontier_columns
from bayes_arena.columns import URL, fact
from bayes_arena.page.scatter import PriceAxis, scatter
from bayes_arena.reading.facts import Facts
from bayes_arena.tables import Row, records

MOST_CHOICES = 12  # of a filter
ON_FRONTIER = 0.5  # probability from which a name stands in the figure
LISTED = 0.05  # and from which a competitor stands in the table below it
SCHEMES = ("https://", "http://")  # of what is a link; others could run something


@dataclass(frozen=True)
class FactColumn:
    """A column of facts.

    Attributes
    ----------
    name : str
    is_number : bool
    choices : tuple of str
        Values to choose from, if they are few and some occur twice.
    """

    name: str
    is_number: bool
    choices: tuple[str, ...]

    def text(self, row: Row) -> str:
        """Return the fact of a row of the board."""
        return fact(row[self.name])


@dataclass(frozen=True, eq=False)
class AgainstPrice:
    """Score against price.

    Attributes
    ----------
    column : str
        That holds the prices.
    axis : PriceAxis
    figure : Markup
    listed : list of dict
        Rows of the frontier, the cheapest first, but for those surely not on it.
    n_others : int
    chosen : str, optional
        The one to ship.
    """

    column: str
    axis: PriceAxis
    figure: Markup
    listed: list[Row]
    n_others: int
    chosen: str | None


@dataclass(frozen=True, eq=False)
class About:
    """What the page shows of facts about competitors."""

    columns: tuple[FactColumn, ...]
    links: dict[str, str]
    against_price: AgainstPrice | None

    @property
    def filters(self) -> list[FactColumn]:
        """The columns by which the board can be filtered."""
        return [column for column in self.columns if column.choices]


def about_competitors(
    facts: Facts, competitors: Sequence[str], frontier: Frontier | None, elo: EloScale
) -> About:
    """Return what the page shows of facts about competitors."""
    known = facts.of(competitors)
    columns, links = [], {}
    for name, values in known.items():
        is_number = values.dtype != object
        if name.lower() == URL and not is_number:
            links = links_of(competitors, values.tolist())
        else:
            choices = () if is_number else choices_of(values.tolist())
            columns.append(FactColumn(name, is_number, choices))
    priced = None
    if frontier is not None and len(frontier.codes) > 1:
        priced = against_price(f"{facts.priced_in}", frontier, elo)
    return About(tuple(columns), links, priced)


def links_of(
    competitors: Sequence[str], values: Sequence[str | None]
) -> dict[str, str]:
    """Return the addresses of competitors, by name."""
    pairs = zip(competitors, values, strict=True)
    return {who: url for who, url in pairs if url and url.lower().startswith(SCHEMES)}


def choices_of(values: Sequence[str | None]) -> tuple[str, ...]:
    """Return the values to choose from, if they are few and some occur twice."""
    known = [value for value in values if value is not None]
    different = sorted(set(known))
    is_useful = 2 <= len(different) <= min(MOST_CHOICES, len(known) - 1)
    return tuple(different) if is_useful else ()


def against_price(column: str, frontier: Frontier, elo: EloScale) -> AgainstPrice:
    """Return the figure and the table of score against price."""
    rows = records(frontier_columns(frontier, elo))
    for number, row in enumerate(rows):
        row["is_on"] = row["p_frontier"] >= ON_FRONTIER
        row["is_chosen"] = number == frontier.choice
    listed = [row for row in rows if row["p_frontier"] >= LISTED]
    axis = PriceAxis.of(np.asarray(frontier.price))
    on = [row["competitor"] for row in rows if row["is_on"]]
    label = f"Elo score over {column}. On the frontier, probably: {', '.join(on)}."
    chosen = next((row["competitor"] for row in rows if row["is_chosen"]), None)
    figure = scatter(axis, rows, label)
    return AgainstPrice(column, axis, figure, listed, len(rows) - len(listed), chosen)
