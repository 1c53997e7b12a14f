"""Facts about competitors: a table with a row for each, and columns as maker or price."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from bayes_arena.arrays import Array, Floats
from bayes_arena.columns import BOARD
from bayes_arena.errors import VotesError, did_you_mean, listing
from bayes_arena.reading.sources import open_source, readable, to_polars
from bayes_arena.reading.values import as_text
from bayes_arena.tables import Columns

NAMES = ("competitor", "model", "name")  # the column that names; else the first does
PRICES = ("price", "cost")
PRICED = re.compile(r"(?<![a-z])(price|cost)s?(?![a-z])")  # a word of a name
# Digits beyond 15 are those of an id, as are zeros in front.
NUMBER = re.compile(
    r"[+-]?((0|[1-9]\d{0,14})(\.\d+)?|\.\d+)(e[+-]?\d{1,2})?", re.IGNORECASE
)


@dataclass(frozen=True, eq=False)
class Facts:
    """Facts about competitors.

    Attributes
    ----------
    named_in : str
        The column that named them.
    competitors : tuple of str
    columns : mapping of str to ndarray, shape (competitors,)
        Numbers with nan, or texts with None, where a fact is missing.
    """

    named_in: str
    competitors: tuple[str, ...]
    columns: Columns

    def of(self, competitors: Iterable[str]) -> dict[str, Array]:
        """Return the facts about some competitors, missing for those without any."""
        row_of = {name: row for row, name in enumerate(self.competitors)}
        rows = np.array([row_of.get(str(name), -1) for name in competitors])
        found = {}
        for name, values in self.columns.items():
            column = np.append(values, np.nan)  # the last is that of the unknown
            if column.dtype == object:
                column[-1] = None
            found[name] = as_whole(column[rows])
        return found

    @property
    def priced_in(self) -> str | None:
        """The column of prices: called price or cost, or with such a word; or None."""
        exact = [name for name in self.columns if name.lower() in PRICES]
        like = [name for name in self.columns if PRICED.search(name.lower())]
        return next(iter(exact + like), None)

    def require_any_of(self, competitors: Sequence[str]) -> None:
        """Refuse facts about nobody who is rated."""
        if not set(self.competitors) & set(competitors):
            name = self.competitors[0]
            raise VotesError(
                f"No competitor is named in {self.named_in!r}, which holds "
                f"{listing(self.competitors)}; competitors are {listing(competitors)}."
                f"{did_you_mean(name, competitors)} Call the column that names them "
                "'competitor'."
            )


def read_facts(source: object) -> Facts:
    """Read facts about competitors.

    Parameters
    ----------
    source : path, dataframe, or list of records
        A row for each competitor.  The column called competitor, model or name names it,
        or else the first.

    Raises
    ------
    VotesError
        If it cannot be read, a column has the name of one of the board, a row names
        nobody, two rows on one competitor differ, or a price is no number.
    """
    with readable(source):
        table = to_polars(open_source(source))
    texts = {name: [text_in(value) for value in table[name]] for name in table.columns}
    named_in = column_of_names(texts)
    names = texts.pop(named_in)
    texts.pop("", None)  # numbers of rows, as pandas writes them
    require_columns(texts)
    kept = one_row_each(named_in, names, texts)
    columns = {}
    for name, values in texts.items():
        columns[name] = as_numbers([values[row] for row in kept])
    facts = Facts(named_in, tuple(str(names[row]) for row in kept), columns)
    require_prices(facts)
    return facts


def text_in(value: object) -> str | None:
    """Return a value as text without spaces around it; None if nothing is left."""
    return (as_text(value) or "").strip() or None


def column_of_names(columns: Iterable[str]) -> str:
    """Return the column that names competitors."""
    names = [*columns]
    by_word = {name.lower(): name for name in reversed(names)}
    return next((by_word[word] for word in NAMES if word in by_word), names[0])


def require_columns(columns: Iterable[str]) -> None:
    """Refuse a table without facts, and facts with the name of a column of the board."""
    names = [*columns]
    if not names:
        raise VotesError("The table about competitors has a column of names only.")
    of_board = {column.name for column in BOARD}
    of_board |= {column.heading.lower() for column in BOARD}
    taken = [name for name in names if name.lower() in of_board]
    if taken:
        raise VotesError(
            f"The board has columns of its own called {listing(taken)}. Rename them, or "
            "leave them out."
        )


def one_row_each(
    named_in: str, names: Sequence[str | None], columns: Columns
) -> list[int]:
    """Return the rows of facts, one a competitor, without rows that are empty."""
    first: dict[str, int] = {}
    for row, name in enumerate(names):
        facts = [values[row] for values in columns.values()]
        if name is None:
            if any(facts):
                raise VotesError(f"Row {row} has nothing in {named_in!r}. Name it.")
            continue
        before = first.setdefault(name, row)
        if facts != [values[before] for values in columns.values()]:
            raise VotesError(
                f"Rows {before} and {row} differ on {name!r}. Keep one of them."
            )
    return [*first.values()]


def as_numbers(texts: Sequence[str | None]) -> Array:
    """Return a column as numbers, if it holds nothing else; else as it is."""
    known = [text for text in texts if text is not None]
    if not known or not all(map(NUMBER.fullmatch, known)):
        return np.array(texts, dtype=object)
    return np.array([np.nan if text is None else float(text) for text in texts])


def as_whole(values: Array) -> Array:
    """Return numbers as whole ones, if all are."""
    if values.dtype == object or not np.isfinite(values).all():
        return values
    return values.astype(np.int64) if (values == np.round(values)).all() else values


def require_prices(facts: Facts) -> None:
    """Refuse prices that are no numbers, or below zero."""
    name = facts.priced_in
    if name is None:
        return
    prices = zip(facts.competitors, facts.columns[name], strict=True)
    wrong = [f"{price} ({who})" for who, price in prices if not is_price(price)]
    if wrong:
        raise VotesError(
            f"These are no prices, in {name!r}: {listing(wrong)}. Write numbers from 0 on "
            "and leave unknown ones empty, or call the column otherwise."
        )


def is_price(value: str | float | None) -> bool:
    """Whether a fact may be a price: a number from 0 on, or missing."""
    if isinstance(value, str):
        return NUMBER.fullmatch(value) is not None and float(value) >= 0
    return value is None or not value < 0


def prices_of(facts: Facts, competitors: Sequence[str]) -> Floats | None:
    """Return what competitors cost, nan where it is unknown; None if nothing is."""
    if facts.priced_in is None:
        return None
    return facts.of(competitors)[facts.priced_in].astype(float)
