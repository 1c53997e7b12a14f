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
from collections.abc import Mapping, Sequence
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
SHORTEST_NAME = 8  # characters to which a long text may be cut
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
        if width is None or total_width(table) <= width:
            break
        if table.pop(name, None) is not None:
            left_out.append(name)
    if width is not None:
        table = shortened(table, width)
    lines = [line.rstrip() for line in aligned(table)]
    if left_out:
        lines.append(f"Not shown in {width} columns: {', '.join(left_out)}.")
    return "\n".join(lines) + "\n"


def aligned(table: Mapping[str, list[str]]) -> list[str]:
    """Return the lines of a table: heading, rule, rows; numbers to the right."""
    widths = column_widths(table)
    is_left = [has_words(values) for values in table.values()]
    rows = [list(table), *map(list, zip(*table.values(), strict=True))]
    lines = []
    for row in rows:
        cells = []
        for cell, width, left in zip(row, widths, is_left, strict=True):
            space = " " * (width - text_width(cell))
            cells.append(cell + space if left else space + cell)
        lines.append(" " + GAP.join(cells))
    rule = " " + "─" * (sum(widths) + len(GAP) * (len(widths) - 1))
    return [lines[0], rule, *lines[1:]]


def shortened(table: Mapping[str, list[str]], width: int) -> dict[str, list[str]]:
    """Return a table whose longest texts are cut until it fits, if it can."""
    result = dict(table)
    while total_width(result) > width:
        widths = dict(zip(result, column_widths(result), strict=True))
        texts = [name for name, values in result.items() if has_words(values)]
        name = max(texts, key=lambda text: widths[text], default=None)
        if name is None or widths[name] <= SHORTEST_NAME:
            break
        room = max(widths[name] - (total_width(result) - width), SHORTEST_NAME)
        result[name] = [cut(value, room) for value in result[name]]
        if widths[name] == text_width(name) > room:
            result[cut(name, room)] = result.pop(name)
            break
    return result


def cut(text: str, width: int) -> str:
    """Return a text of so many characters at most."""
    return text if text_width(text) <= width else text[: width - 1] + "…"


def column_widths(table: Mapping[str, list[str]]) -> list[int]:
    """Return the width of every column."""
    return [max(map(text_width, [name, *values])) for name, values in table.items()]


def total_width(table: Mapping[str, list[str]]) -> int:
    """Return the width of a line."""
    return 1 + sum(column_widths(table)) + len(GAP) * (len(table) - 1)


def text_width(text: str) -> int:
    """Return the characters that a text takes in a terminal."""
    if text.isascii():
        return len(text)
    wide = sum(unicodedata.east_asian_width(c) in "WF" for c in text)
    return len(text) + wide - sum(bool(unicodedata.combining(c)) for c in text)


def has_words(values: Sequence[str]) -> bool:
    """Whether a column has words, not only numbers."""
    return any(character.isalpha() for value in values for character in value)
