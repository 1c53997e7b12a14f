"""How an answer is written: as text, JSON, CSV or Markdown, to the screen or a file."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from bayes_arena import columns as catalogue, tables
from bayes_arena.cli.options import Answering
from bayes_arena.cli.terminal import Terminal
from bayes_arena.columns import Table
from bayes_arena.errors import printable
from bayes_arena.files import written_beside
from bayes_arena.said import Note, Said, sentence
from bayes_arena.tables import Columns, Shown

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd

PICTURE_DPI = 200


@dataclass(frozen=True)
class Answer:
    """What a command answers.

    Attributes
    ----------
    key : str
        Name of the table.
    columns : mapping of str to array
        All of it, for JSON and CSV.
    table : tuple of Column
        What its columns are; by default a screen shows all, as they are.
    head : sequence of str
        Lines above the table.
    notes : sequence of Note
        What is said below it.
    facts : mapping
        Further entries of the JSON object.
    listed : mapping of str to array, optional
        The rows that people see, if not all.
    n_shown : int, optional
        How many of these; by default all.
    more : str
        The option that shows the others.
    words : mapping of str to str
        What stands in the gaps of headings.
    form : {"table", "csv"}
        How it is written if no other format is asked for.
    exit_code : int
    """

    key: str
    columns: Columns
    table: Table = ()
    head: Sequence[Said] = ()
    notes: Sequence[Note] = ()
    facts: Mapping[str, Any] = field(default_factory=dict)
    listed: Columns | None = None
    n_shown: int | None = None
    more: str = "--explain"
    words: Mapping[str, str] = field(default_factory=dict)
    form: str = "table"
    exit_code: int = 0


@dataclass(frozen=True)
class Done:
    """A line that says what was done."""

    line: str
    exit_code: int = 0


def drawn(figure: Any, path: Path) -> Done:
    """Write a figure of matplotlib, and return the line that says so."""
    with written_beside(path) as draft:
        figure.savefig(draft, dpi=PICTURE_DPI)
    return Done(f"{path} written.")


def write_text(text: str, writing: Answering) -> None:
    """Write a text to the screen or the file."""
    if writing.output is None:
        sys.stdout.write(text)
        sys.stdout.flush()
    else:
        with written_beside(writing.output) as draft:
            draft.write_text(text, encoding="utf-8")
        tell(f"{writing.output} written.")


def tell(text: str) -> None:
    """Print lines to standard error, with control characters escaped."""
    print("\n".join(map(printable, text.split("\n"))), file=sys.stderr)


def render(
    answer: Answer, writing: Answering, warned: Sequence[Note], terminal: Terminal
) -> str:
    """Return the text of an answer in its format."""
    form = answer.form if writing.form == "table" else writing.form
    if form == "csv" and answer.columns:
        return tables.csv_text(answer.columns)
    if form == "json":
        return tables.json_text(content_of(answer, warned), terminal)
    return text_for_people(answer, writing, terminal)


def content_of(answer: Answer, warned: Sequence[Note]) -> dict[str, Any]:
    """Return what JSON has of an answer: its facts, then what they lack."""
    content = dict(answer.facts)
    if answer.columns:
        content.setdefault(answer.key, tables.records(answer.columns))
    content.setdefault("notes", answer.notes)
    content.setdefault("warnings", warned)
    return content


def text_for_people(answer: Answer, writing: Answering, terminal: Terminal) -> str:
    """Return head, table and notes, as text or Markdown."""
    head = [printable(sentence(line, surface=terminal)) for line in answer.head]
    notes = [printable(with_more(note, terminal)) for note in answer.notes]
    words = []
    if writing.explain:
        words = catalogue.meanings(answer.table, answer.columns)
    shown = shown_rows(answer, writing.explain)
    hidden = hidden_rows(answer, shown)
    if writing.form == "markdown":
        return markdown_page(head, shown, [*hidden, *notes, *words])
    table = screen_table(answer, shown, writing)
    paragraphs = (head, [*table, *hidden], notes, words)
    blocks = ["\n".join(lines) for lines in paragraphs if lines]
    return "\n\n".join(blocks) + "\n"


def with_more(note: Note, terminal: Terminal) -> str:
    """Return a note, and the command that tells more."""
    text = note.spelled(terminal)
    more = None if note.more is None else terminal.call(note.more)
    return text if more is None else f"{text} More: {more}"


def shown_rows(answer: Answer, explain: bool) -> Shown:
    """Return what people see of a table: all that there is, or its first rows."""
    if explain or not answer.table:
        return all_columns(answer.columns)
    rows = answer.columns if answer.listed is None else answer.listed
    if not n_rows(rows):
        return {}
    shown = catalogue.shown(answer.table, rows, **answer.words)
    return {name: values[: answer.n_shown] for name, values in shown.items()}


def hidden_rows(answer: Answer, shown: Shown) -> list[str]:
    """Return how many rows are not shown, and how to see them, in a line; or nothing."""
    if not shown:
        return []
    n_hidden = n_rows(answer.columns) - n_rows(shown)
    return [f"    …  {n_hidden:,} more: {answer.more}"] if n_hidden else []


def n_rows(table: Columns) -> int:
    """Return the rows of a table."""
    return max(map(len, table.values()), default=0)


def markdown_page(head: Sequence[str], shown: Shown, below: Sequence[str]) -> str:
    """Return lines, a table and further lines, as Markdown."""
    blocks = [tables.markdown_text(line) for line in head if line]
    if shown:
        blocks.append(tables.markdown_table(shown).rstrip())
    blocks += [tables.markdown_text(line) for line in below]
    return "\n\n".join(blocks) + "\n"


def screen_table(answer: Answer, shown: Shown, writing: Answering) -> list[str]:
    """Return the lines of a table, as wide as the screen if that is where it goes."""
    if not shown:
        return []
    on_screen = writing.output is None and sys.stdout.isatty()
    width = shutil.get_terminal_size().columns if on_screen else None
    spare = catalogue.spared(answer.table, **answer.words)
    if writing.explain or not spare:
        # All columns may go but the first two, from the last on.
        spare = list(reversed(list(shown)[2:]))
    return tables.text_table(shown, width, spare).splitlines()


def columns_of(table: pd.DataFrame) -> Columns:
    """Return the columns of a dataframe."""
    return {str(name): table[name].tolist() for name in table}


def all_columns(columns: Columns) -> Shown:
    """Return every column as texts, for --explain and for small tables."""
    return {name: [cell(value) for value in values] for name, values in columns.items()}


def cell(value: Any) -> str:
    """Return a value as a text of a few digits."""
    value = tables.plain_value(value)
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}" if abs(value) >= 10_000 else str(value)
    if isinstance(value, float):
        return f"{value:.0f}" if abs(value) >= 1000 else f"{value:.4g}"
    return str(value)
