"""A source before it is read: its header, and the first values of its columns.

Where names do not tell what a column holds, its values do.  The first 1,000 rows are fetched
once, and only where they are asked for, from the engine that holds the data; columns of lists
and objects are not looked at.  What is inferred from them is checked again on all votes: a
label that is unknown, a name that is missing and a number that is none are errors there.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import polars as pl

from bayes_arena.reading.columns import Header
from bayes_arena.reading.labels import (
    FIRST_WINS,
    NOT_PLAYED,
    NUMBER,
    SECOND_WINS,
    UNKNOWN,
    meanings_of,
)
from bayes_arena.reading.roles import Column, Constant
from bayes_arena.reading.sources import Frame, is_nested, to_polars
from bayes_arena.reading.values import (
    are_texts,
    as_text,
    parsed,
    paths_in,
    text_of,
)
from bayes_arena.votes.votes import FIRST, SECOND

ROWS_LOOKED_AT = 1_000
RECORDS_LOOKED_AT = 20  # of nested columns
DATE = re.compile(r"\d{4}[-/.]\d\d?([-/.]\d\d?)?([T ].*)?|\d\d?[-/.]\d\d?[-/.]\d{2,4}")
WHOLE = re.compile(r"\d+(\.0*)?")


@dataclass(frozen=True, eq=False)
class Sheet:
    """A source before it is read.

    Attributes
    ----------
    frame : narwhals frame
    header : Header
    file : str
        Its path, if it is one file with a header.
    """

    frame: Frame
    header: Header
    file: str = ""

    @classmethod
    def of(cls, frame: Frame, file: str = "") -> Sheet:
        """Return a frame with its header."""
        return cls(frame, Header.of(frame.collect_schema().names()), file)

    @cached_property
    def texts(self) -> dict[str, list[str]]:
        """The first values of each column of scalars, as text; what is missing is ``""``."""
        schema = self.frame.collect_schema()
        names = [name for name in schema if not is_nested(schema[name])]
        if not names:
            return {}
        table = to_polars(self.frame.select(*names).head(ROWS_LOOKED_AT))
        return {name: plain_texts(table[name]) for name in names}

    @cached_property
    def kinds(self) -> dict[str, frozenset[str]]:
        """The different values of each column of scalars that are not missing."""
        return {name: frozenset(texts) - {""} for name, texts in self.texts.items()}

    @cached_property
    def nested(self) -> list[str]:
        """The columns of lists or objects, be it as JSON."""
        schema = self.frame.collect_schema()
        return [
            name
            for name in schema
            if is_nested(schema[name])
            or all(text[:1] in "[{" for text in self.texts.get(name, "x"))
        ]

    @cached_property
    def leaves(self) -> dict[str, frozenset[str]]:
        """The different values at the end of each path into the objects of a column."""
        found: dict[str, set[str]] = {}
        for column in self.nested:
            for record in self.records(column) if column in self.header.names else ():
                for path, value in paths_in(record) if isinstance(record, dict) else ():
                    text = as_text(value) or ""
                    found.setdefault(".".join((column, *path)), set()).add(text)
        return {path: frozenset(values) - {""} for path, values in found.items()}

    def values(self, column: object) -> frozenset[str]:
        """Return the different values of a column; none of a constant, or of lists."""
        return self.kinds.get(str(column), frozenset())

    def cells(self, column: str) -> frozenset[str]:
        """Return the different values of a column, those that are lists as JSON."""
        if column in self.kinds:
            return self.kinds[column]
        return frozenset(as_text(value) or "" for value in self.records(column))

    def records(self, column: str) -> list[Any]:
        """Return the first values of a column, parsed where they are JSON."""
        head = to_polars(self.frame.select(column).head(RECORDS_LOOKED_AT))
        values = (parsed(as_text(value)) for value in head.to_series().to_list())
        return [value for value in values if value is not None]

    def holds_numbers(self, column: object) -> bool:
        """Whether all values are numbers."""
        values = self.values(column)
        return bool(values) and all(map(NUMBER.fullmatch, values))

    def holds_counts(self, column: object) -> bool:
        """Whether all values are whole numbers that are not negative."""
        values = self.values(column)
        return bool(values) and all(map(WHOLE.fullmatch, values))

    def holds_names(self, column: object) -> bool:
        """Whether all values may be names: short, no numbers and no dates."""
        values = self.values(column)
        if not values or self.holds_numbers(column):
            return False
        return not are_texts(values) and not all(map(DATE.fullmatch, values))

    def share(self, first: object, second: object) -> bool:
        """Whether two columns share values."""
        return bool(self.values(first) & self.values(second))

    def share_as_ids(self, first: str, second: str) -> bool:
        """Whether two columns of numbers share them as ids do, that occur again and again."""
        a, b = self.values(first), self.values(second)
        n_rows = len(self.texts.get(first, ()))
        are_many = len(a & b) * 2 >= min(len(a), len(b)) and n_rows >= len(a | b)
        rows = zip(self.texts.get(first, ()), self.texts.get(second, ()), strict=True)
        return are_many and all(one != other or not one for one, other in rows)

    def are_groups(self, group: str, member: str) -> bool:
        """Whether there are several groups, of several members each, who stand there once."""
        rows = list(zip(self.texts[group], self.texts[member], strict=True))
        n_groups = len(self.values(group))
        return n_groups > 1 and len(set(rows)) == len(rows) >= 2 * n_groups

    def share_told(self, column: str, pair: tuple[Column, Column]) -> float:
        """Return in which share of the rows a value tells who won, or that nobody did."""
        told = [outcome != UNKNOWN for outcome in self.outcomes(column, pair)]
        return sum(told) / len(told) if told else 0.0

    def tells_winner(self, column: str, pair: tuple[Column, Column]) -> bool:
        """Whether each value tells who won, be it by name, or by labels of both sides.

        Names are looked for in their rows.  Numbers do not tell.
        """
        outcomes = set(self.outcomes(column, pair))
        if UNKNOWN in outcomes or self.holds_numbers(column):
            return False
        is_named = self.names_winner(column, pair)
        return is_named or bool(outcomes & FIRST_WINS and outcomes & SECOND_WINS)

    def names_winner(self, column: str, pair: tuple[Column, Column]) -> bool:
        """Whether some value is the name of one of the two in its row."""
        rows = zip(*(self.folded(name) for name in (column, *pair)), strict=True)
        return any(winner and winner in (a, b) for winner, a, b in rows)

    def outcomes(self, column: str, pair: tuple[Column, Column]) -> list[int]:
        """Return the outcome that each value of a column tells that is not missing."""
        sides = str(pair[0]), str(pair[1])
        meaning = meanings_of(self.values(column), sides, {})
        first, second = (self.folded(name) for name in pair)
        outcomes = []
        for text, a, b in zip(self.texts.get(column, ()), first, second, strict=True):
            if text:
                name = text.casefold()
                is_named = FIRST if name == a else SECOND if name == b else None
                outcomes.append(meaning[text] if is_named is None else is_named)
        return outcomes

    def folded(self, column: Column) -> Sequence[str]:
        """Return the first values of a column in lower case; a constant has one value."""
        n_rows = len(next(iter(self.texts.values()), ()))
        if isinstance(column, Constant):
            return [column.value.casefold()] * n_rows
        return [text.casefold() for text in self.texts.get(column, [""] * n_rows)]


def plain_texts(column: pl.Series) -> list[str]:
    """Return values as text without spaces at the ends; what stands for nothing is ``""``."""
    text = text_of(column).cast(pl.String).str.strip_chars().fill_null("")
    is_nothing = text.str.to_lowercase().is_in(NOT_PLAYED)
    return text.set(is_nothing, "").to_list()
