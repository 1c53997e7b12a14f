"""A rating as text: lines for a terminal, and a fragment of HTML for a notebook."""

from __future__ import annotations

from collections.abc import Sequence

from bayes_arena import columns as catalogue, tables
from bayes_arena.columns import Table
from bayes_arena.errors import printable
from bayes_arena.tables import Columns, Shown

SHOWN_ROWS = 10  # of a board on the screen


def percentage(level: float) -> str:
    """Return a level as headings have it."""
    return f"{100 * level:g}%"


def shown_board(table: Table, columns: Columns, level: float) -> Shown:
    """Return a board as texts, for people."""
    return catalogue.shown(table, columns, level=percentage(level))


def board_text(
    table: Table, columns: Columns, level: float, rows: int | None, width: int | None
) -> str:
    """Return the first rows of a board as lines, and how many there are more."""
    shown = shown_board(table, columns, level)
    first = {name: values[:rows] for name, values in shown.items()}
    spare = catalogue.spared(table, level=percentage(level))
    lines = tables.text_table(first, width, spare).rstrip("\n")
    n_hidden = len(columns["rank"]) - len(first["rank"])
    return f"{lines}\n    …  {n_hidden:,} more" if n_hidden else lines


def text_of(head: Sequence[str], verdict: str, table: str, below: Sequence[str]) -> str:
    """Return header, verdict, board and notes as lines."""
    lines = "\n".join(map(printable, head)), printable(verdict), table
    parts = [*lines, "\n".join(map(printable, below))] if below else [*lines]
    return "\n\n".join(parts) + "\n"


def html_of(head: Sequence[str], shown: Shown, below: Sequence[str]) -> str:
    """Return the same as HTML without styles."""
    return "\n".join([*paragraphs(head), tables.html_table(shown), *paragraphs(below)])


def paragraphs(texts: Sequence[str]) -> list[str]:
    """Return texts as paragraphs of HTML."""
    return [f"<p>{tables.html_text(text)}</p>" for text in texts]
