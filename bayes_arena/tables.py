"""Tables: columns by name, and the forms in which they are shown.

A table is first `Columns`, numbers and names by column; a *shown* table has texts in place of
numbers.  Tables for people escape control characters in names; CSV and JSON are for programs.
"""

from __future__ import annotations

import csv
import io
import math
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from bayes_arena.arrays import Array
from bayes_arena.errors import printable

if TYPE_CHECKING:
    import pandas as pd

type Columns = Mapping[str, Sequence[Any] | Array]
type Shown = Mapping[str, Sequence[str]]

GAP = "  "
FOLDED, NARROWEST = 20, 8  # characters of a column of text: folded freely, and at least
# What a spreadsheet takes for the start of a formula, also in its wide forms.
FORMULA = re.compile(r"^[\s\x00-\x20]*[=+\-@\t\r＝＋－＠−]")  # noqa: RUF001
SPECIAL = re.compile(r"([\\`*_\[\]<>&|~#$!])")  # what Markdown would not show as text


def dataframe(columns: Columns) -> pd.DataFrame:
    """Return columns as a pandas dataframe."""
    import pandas as pd

    return pd.DataFrame(dict(columns))


def records(columns: Columns) -> list[dict[str, Any]]:
    """Return the rows as dictionaries that JSON can hold; what is not finite is None."""
    plain = {name: [plain_value(v) for v in values] for name, values in columns.items()}
    names = list(plain)
    return [
        dict(zip(names, row, strict=True)) for row in zip(*plain.values(), strict=True)
    ]


def plain_value(value: Any) -> Any:
    """Return a value as JSON has it."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        if not math.isfinite(value):
            return None
        return int(value) if value.is_integer() and abs(value) < 1e15 else value
    return value


def csv_text(columns: Columns) -> str:
    """Return columns as CSV, in which no name is a formula to a spreadsheet."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(columns)
    rows = records(columns)
    for row in rows:
        writer.writerow([harmless(value) for value in row.values()])
    return stream.getvalue()


def harmless(value: Any) -> Any:
    """Return a text with an apostrophe before what a spreadsheet would compute."""
    if isinstance(value, str) and FORMULA.search(value):
        return f"'{value}"
    return value


def markdown_table(shown: Shown) -> str:
    """Return a shown table in Markdown, numbers to the right."""
    rule = ["---" if has_words(values) else "---:" for values in shown.values()]
    rows = [list(shown), rule, *zip(*shown.values(), strict=True)]
    lines = []
    for number, row in enumerate(rows):
        cells = row if number == 1 else [markdown_text(cell) for cell in row]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def markdown_text(text: str) -> str:
    """Return text that Markdown shows as it is."""
    return SPECIAL.sub(r"\\\1", printable(text))


def html_table(shown: Shown) -> str:
    """Return a shown table as a fragment of HTML without styles."""
    head = "".join(f"<th>{html_text(name)}</th>" for name in shown)
    rows = []
    for row in zip(*shown.values(), strict=True):
        cells = "".join(f"<td>{html_text(cell)}</td>" for cell in row)
        rows.append(f"<tr>{cells}</tr>")
    body = "\n".join(rows)
    return f"<table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody>\n</table>\n"


def html_text(text: str) -> str:
    """Return text that HTML shows as it is."""
    return escape(printable(text))


def text_table(
    shown: Shown, width: int | None = None, spare: Sequence[str] = ()
) -> str:
    """Return a shown table for a terminal.

    Parameters
    ----------
    shown : mapping of str to sequence of str
        Texts by heading.
    width : int, optional
        Characters of a line; by default without limit.
    spare : sequence of str
        Headings that may be left out where there is no room, in this order.
    """
    table = {
        printable(name): [printable(value) for value in values]
        for name, values in shown.items()
    }
    left_out = []
    for name in spare:
        if width is None or line_width(map(least_width, table.items())) <= width:
            break
        if table.pop(name, None) is not None:
            left_out.append(name)
    lines = aligned(table, column_widths(table, width))
    if left_out:
        lines.append(f"Not shown in {width} columns: {', '.join(left_out)}.")
    return "\n".join(lines) + "\n"


def aligned(table: Mapping[str, list[str]], widths: Sequence[int]) -> list[str]:
    """Return the lines of a table: heading, rule, rows; numbers to the right."""
    is_left = [has_words(values) for values in table.values()]

    def lines_of(cells: Sequence[str]) -> list[str]:
        """Return the lines of a row, in which long cells are folded."""
        folded = [fold(cell, width) for cell, width in zip(cells, widths, strict=True)]
        lines = []
        for number in range(max(map(len, folded), default=0)):
            parts = []
            for cell, width, left in zip(folded, widths, is_left, strict=True):
                text = cell[number] if number < len(cell) else ""
                space = " " * (width - text_width(text))
                parts.append(text + space if left else space + text)
            lines.append((" " + GAP.join(parts)).rstrip())
        return lines

    rows = zip(*table.values(), strict=True)
    rule = " " + "─" * (line_width(widths) - 1)
    return [
        *lines_of(list(table)),
        rule,
        *(line for row in rows for line in lines_of(row)),
    ]


def column_widths(table: Mapping[str, list[str]], width: int | None) -> list[int]:
    """Return the width of every column: as much as it needs, or less where room is short."""
    columns = list(table.items())
    widths = [max(map(text_width, [name, *values])) for name, values in columns]
    if width is None:
        return widths
    free = [least_width(column) for column in columns]
    tight = [
        min(least, NARROWEST) if has_words(values) else least
        for least, (_, values) in zip(free, columns, strict=True)
    ]
    for floors in (free, tight):
        while line_width(widths) > width and widths != floors:
            wider = [k for k, floor in enumerate(floors) if widths[k] > floor]
            widths[max(wider, key=widths.__getitem__)] -= 1
    return widths


def least_width(column: tuple[str, list[str]]) -> int:
    """Return the width of a column whose heading is folded, and whose texts may be."""
    name, values = column
    word = max(map(text_width, name.split()), default=1)
    value = max(map(text_width, values), default=0)
    return max(word, min(value, FOLDED) if has_words(values) else value)


def fold(text: str, width: int) -> list[str]:
    """Return a text in lines of so many characters, broken between words if it can."""
    lines = [""]
    for word in text.split(" "):
        joined = f"{lines[-1]} {word}" if lines[-1] else word
        if text_width(joined) <= width:
            lines[-1] = joined
            continue
        lines += [word] if lines[-1] else []
        lines[-1] = lines[-1] or word
        while text_width(lines[-1]) > width:
            rest = lines[-1]
            size = next(n for n in range(width, 0, -1) if text_width(rest[:n]) <= width)
            lines[-1:] = [rest[:size], rest[size:]]
    return lines


def line_width(widths: Iterable[int]) -> int:
    """Return the width of a line."""
    widths = list(widths)
    return 1 + sum(widths) + len(GAP) * (len(widths) - 1)


def text_width(text: str) -> int:
    """Return the characters that a text takes in a terminal."""
    if text.isascii():
        return len(text)
    wide = sum(unicodedata.east_asian_width(c) in "WF" for c in text)
    return len(text) + wide - sum(bool(unicodedata.combining(c)) for c in text)


def has_words(values: Sequence[str]) -> bool:
    """Whether a column has words, not only numbers."""
    return any(character.isalpha() for value in values for character in value)
