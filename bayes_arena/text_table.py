"""Tables as aligned text.

Tables fit the terminal (or ``$COLUMNS``); in files and pipes they are as wide as necessary. Where there is too little
room, headings and long text are folded inside their columns, then dispensable columns are left out, and named under the
table. Numbers are never truncated. On terminals that show only ASCII, tables use nothing else, except in names.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from bayes_arena.errors import listing, printable
from bayes_arena.markup import Shown, has_words

if TYPE_CHECKING:
    from rich.console import Console

WIDE = 10_000
"""Characters wider than any table."""
FOLDED = 20
"""Characters below which a column of text is not folded."""
GAP = 2
"""Characters between columns."""
ASCII = str.maketrans({"─": "-", "–": "-", "…": "..", "×": "x", "±": "+-"})
"""Replacements of the characters beyond ASCII in tables."""


def is_plain_terminal() -> bool:
    """Whether the terminal shows only plain characters: a dumb one, or one whose encoding is not UTF-8."""
    encoding = getattr(sys.stderr, "encoding", None) or "utf-8"  # answers are written as UTF-8 whatever it is
    return os.environ.get("TERM") == "dumb" or not encoding.lower().startswith("utf")


def print_aligned(shown: Shown, title: str, spare: Sequence[str] = ()) -> None:
    """Print a table to standard output, in the colours of the terminal."""
    from rich.console import Console

    if sys.stdout.isatty() and not is_plain_terminal():
        _lay_out(Console(), shown, title, spare, width())
    else:
        sys.stdout.write(aligned(shown, title, spare, width()))


def aligned(shown: Shown, title: str, spare: Sequence[str] = (), columns: int | None = None) -> str:
    """Return a table, heading to values, as text of lines with so many characters at most.

    ``spare`` headings may be left out, in this order.
    """
    from rich.console import Console

    console = Console(color_system=None)
    with console.capture() as capture:
        _lay_out(console, shown, title, spare, columns)
    text = "\n".join(line.rstrip() for line in capture.get().splitlines()) + "\n"
    return text.translate(ASCII) if is_plain_terminal() else text


def width() -> int | None:
    """Return the number of characters of a line, None if it is not limited.

    ``$COLUMNS`` counts only on a terminal: some programs pass it on to commands whose output they read.
    """
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def _lay_out(console: Console, shown: Shown, title: str, spare: Sequence[str], columns: int | None) -> None:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    room = columns or WIDE
    kept = dict(shown)
    for name in spare:
        if _total(map(_least, kept.items())) <= room:
            break
        kept.pop(name, None)
    console.width = room
    for line in title.split("\n") if title else []:
        console.print(Text(printable(line), style="bold"))
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, collapse_padding=True)
    widths = _widths(kept, room)
    for (name, values), characters in zip(kept.items(), widths, strict=True):
        table.add_column(name, justify="left" if has_words(values) else "right", width=characters, overflow="fold")
    for row in zip(*kept.values(), strict=True):
        table.add_row(*(Text(printable(value)) for value in row))
    console.width = max(room, _total(widths))
    console.print(table, crop=False, soft_wrap=True)
    if len(kept) < len(shown):
        left_out = listing(name for name in shown if name not in kept)
        console.print(f"Not shown in {room} columns: {left_out}.", highlight=False)


def _widths(shown: Shown, room: int) -> list[int]:
    """Return the width of every column: as much as it needs, or less where room is short."""
    widths, least = list(map(_most, shown.items())), list(map(_least, shown.items()))
    while _total(widths) > room and widths != least:
        widest = max(range(len(widths)), key=lambda column: (widths[column] > least[column], widths[column]))
        widths[widest] -= 1
    return widths


def _most(column: tuple[str, Sequence[str]]) -> int:
    """Return the width of a column that is not folded."""
    return max(map(_characters, (column[0], *column[1])))


def _least(column: tuple[str, Sequence[str]]) -> int:
    """Return the width of a column whose heading is folded between words, and long text anywhere."""
    name, values = column
    value, word = max(map(_characters, values), default=0), max(map(_characters, name.split()), default=0)
    return max(word, min(value, FOLDED) if has_words(values) else value, 1)


def _total(widths: Iterable[int]) -> int:
    """Return the width of a line, with gaps between columns and one character at either edge."""
    return sum(each + GAP for each in widths)


def _characters(text: str) -> int:
    from rich.cells import cell_len

    return cell_len(printable(text))
