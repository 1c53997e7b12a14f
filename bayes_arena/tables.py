"""Tables: columns by name, and the forms in which they are shown.

A table is first `Columns`, numbers and names by column; a *shown* table has texts in place of
numbers.  Tables for people escape control characters in names; CSV and JSON are for programs.
"""

from __future__ import annotations

import csv
import io
import json
import math
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

import numpy as np

from bayes_arena.arrays import Array
from bayes_arena.errors import printable
from bayes_arena.said import PYTHON, Note, Surface

if TYPE_CHECKING:
    import pandas as pd

type Columns = Mapping[str, Sequence[Any] | Array]
type Row = dict[str, Any]
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


def stacked(tables: Sequence[Columns]) -> dict[str, Array]:
    """Return the columns of several tables, one below the other."""
    columns = {}
    for name in tables[0]:
        columns[name] = np.concatenate([np.asarray(table[name]) for table in tables])
    return columns


def records(columns: Columns) -> list[Row]:
    """Return the rows as dictionaries that JSON can hold; what is not finite is None."""
    rows = []
    for values in zip(*columns.values(), strict=True):
        plain = map(plain_value, values)
        rows.append(dict(zip(columns, plain, strict=True)))
    return rows


def plain_value(value: Any) -> Any:
    """Return a value as JSON has it."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        if not math.isfinite(value):
            return None
        return int(value) if value.is_integer() and abs(value) < 1e15 else value
    return value


def json_text(content: Mapping[str, Any], surface: Surface = PYTHON) -> str:
    """Return one object of JSON; notes have a kind, and a text for where it is read."""
    plain = as_json(content, surface)
    return json.dumps(plain, ensure_ascii=False, indent=2) + "\n"


def as_json(value: Any, surface: Surface) -> Any:
    """Return a value as JSON has it, and all that is in it."""
    if isinstance(value, Mapping):
        return {name: as_json(entry, surface) for name, entry in value.items()}
    if isinstance(value, list | tuple):
        return [as_json(entry, surface) for entry in value]
    return value.row(surface) if isinstance(value, Note) else plain_value(value)


def csv_text(columns: Columns) -> str:
    """Return columns as CSV, in which no name is a formula to a spreadsheet."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(columns)
    for row in records(columns):
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
    head = [markdown_text(name) for name in shown]
    rows = [head, rule]
    for row in zip(*shown.values(), strict=True):
        rows.append([markdown_text(cell) for cell in row])
    return "".join(f"| {' | '.join(cells)} |\n" for cells in rows)


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
    lines = table_lines(table, column_widths(table, width))
    if left_out:
        lines.append(f"Not shown in {width} columns: {', '.join(left_out)}.")
    return "\n".join(lines) + "\n"


def table_lines(table: Mapping[str, list[str]], widths: Sequence[int]) -> list[str]:
    """Return the lines of a table: heading, rule, rows; numbers to the right."""
    is_left = [has_words(values) for values in table.values()]
    lines = row_lines(list(table), widths, is_left)
    lines.append(" " + "─" * (line_width(widths) - 1))
    for row in zip(*table.values(), strict=True):
        lines += row_lines(row, widths, is_left)
    return lines


def row_lines(
    cells: Sequence[str], widths: Sequence[int], is_left: Sequence[bool]
) -> list[str]:
    """Return the lines of a row, in which long cells are folded."""
    folded = [fold(cell, width) for cell, width in zip(cells, widths, strict=True)]
    lines = []
    for texts in zip_longest(*folded, fillvalue=""):
        parts = []
        for text, width, left in zip(texts, widths, is_left, strict=True):
            space = " " * (width - text_width(text))
            parts.append(text + space if left else space + text)
        lines.append((" " + GAP.join(parts)).rstrip())
    return lines


def column_widths(table: Mapping[str, list[str]], width: int | None) -> list[int]:
    """Return the width of every column: as much as it needs, or less where room is short."""
    columns = list(table.items())
    widths = [max(map(text_width, [name, *values])) for name, values in columns]
    if width is None:
        return widths
    # First headings and long texts are folded at spaces, then words are broken.
    unbroken = [least_width(column) for column in columns]
    broken = []
    for least, (_, values) in zip(unbroken, columns, strict=True):
        broken.append(min(least, NARROWEST) if has_words(values) else least)
    return narrowed(narrowed(widths, width, unbroken), width, broken)


def narrowed(widths: Sequence[int], room: int, floors: Sequence[int]) -> list[int]:
    """Return widths that fill the room: the widest gives way first, none below its floor."""
    widths = list(widths)
    wider = [column for column, floor in enumerate(floors) if widths[column] > floor]
    while wider and line_width(widths) > room:
        widest = max(wider, key=widths.__getitem__)
        widths[widest] -= 1
        if widths[widest] == floors[widest]:
            wider.remove(widest)
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
        if lines[-1]:
            lines.append(word)
        else:
            lines[-1] = word
        while text_width(lines[-1]) > width:
            size = widest_prefix(lines[-1], width)
            rest = lines[-1][size:]
            lines[-1] = lines[-1][:size]
            lines.append(rest)
    return lines


def widest_prefix(text: str, width: int) -> int:
    """Return how many characters of a text a line holds."""
    # Wide characters take two columns, so that a line may hold fewer than its width.
    size = width
    while size > 1 and text_width(text[:size]) > width:
        size -= 1
    return size


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
