"""How an answer is written: as text, JSON, CSV or Markdown, to the screen or a file."""

from __future__ import annotations

import json
import shutil
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import typer

from bayes_arena import tables
from bayes_arena.cli.options import Answering, Saving
from bayes_arena.cli.spelling import spelled
from bayes_arena.cli.words import explanations
from bayes_arena.errors import ArenaWarning, printable
from bayes_arena.files import written_beside
from bayes_arena.said import Note
from bayes_arena.tables import Columns, Shown

if TYPE_CHECKING:
    import pandas as pd

WARNED = 3  # exit code with --strict after a warning


@dataclass
class Answer:
    """What a command answers.

    Attributes
    ----------
    key : str
        Name of the table.
    columns : mapping of str to array
        All of it, for JSON and CSV.
    shown : mapping of str to list of str, optional
        What people see of it; by default all.
    head : sequence of str
        Lines above the table.
    notes : sequence of Note
        What is said below it.
    facts : dict
        Further entries of the JSON object: plan, verdict.
    spare : sequence of str
        Headings that a narrow screen may leave out.
    n_shown : int, optional
        Rows that are shown; by default all.
    more : str
        The option that shows the others.
    """

    key: str
    columns: Columns
    shown: Shown | None = None
    head: Sequence[str] = ()
    notes: Sequence[Note] = ()
    facts: dict[str, Any] = field(default_factory=dict)
    spare: Sequence[str] = ()
    n_shown: int | None = None
    more: str = "--explain"


def write(answer: Answer, answering: Answering, warned: Sequence[Note]) -> None:
    """Write an answer, then the warnings to standard error."""
    write_text(render(answer, answering, warned), answering)
    tell_warnings(warned, answering)


def write_text(text: str, answering: Answering) -> None:
    """Write a text to the screen or the file."""
    if answering.output is None:
        sys.stdout.write(text)
        sys.stdout.flush()
    else:
        with written_beside(answering.output) as draft:
            draft.write_text(text, encoding="utf-8")
        tell(f"{answering.output} written.")


def tell_warnings(warned: Sequence[Note], answering: Saving) -> None:
    """Print warnings to standard error; with --strict, exit after them."""
    for note in warned:
        tell(f"Warning: {spelled(str(note))}")
    if warned and answering.strict:
        raise typer.Exit(WARNED)


def render(answer: Answer, answering: Answering, warned: Sequence[Note]) -> str:
    """Return the text of an answer in its format."""
    if answering.form == "csv":
        return tables.csv_text(answer.columns)
    if answering.form == "json":
        content = {answer.key: tables.records(answer.columns), **answer.facts}
        content["notes"] = rows_of(answer.notes)
        content["warnings"] = rows_of(warned)
        return json_text(content)
    return text_for_people(answer, answering)


def json_text(content: dict[str, Any]) -> str:
    """Return one object of JSON."""
    return json.dumps(content, ensure_ascii=False, indent=2) + "\n"


def rows_of(notes: Sequence[Note]) -> list[dict[str, str]]:
    """Return kinds and texts, as JSON has them."""
    return [{"kind": note.kind, "text": spelled(str(note))} for note in notes]


def text_for_people(answer: Answer, answering: Answering) -> str:
    """Return head, table and notes, as text or Markdown."""
    head = [printable(spelled(line)) for line in answer.head]
    notes = [printable(spelled(str(note))) for note in answer.notes]
    words = explanations(answer.columns) if answering.explain else []
    shown = shown_rows(answer, answering.explain)
    hidden = hidden_rows(answer, shown)
    if answering.form == "markdown":
        return markdown_page(head, shown, [*hidden, *notes, *words])
    table = screen_table(answer, shown, answering)
    paragraphs = (head, [*table, *hidden], notes, words)
    blocks = ["\n".join(lines) for lines in paragraphs if lines]
    return "\n\n".join(blocks) + "\n"


def hidden_rows(answer: Answer, shown: Shown) -> list[str]:
    """Return how many rows are not shown, and how to see them, in a line; or nothing."""
    if not shown:
        return []
    n_hidden = n_rows(answer.columns) - n_rows(shown)
    return [f"    …  {n_hidden:,} more: {answer.more}"] if n_hidden else []


def markdown_page(head: Sequence[str], shown: Shown, below: Sequence[str]) -> str:
    """Return lines, a table and further lines, as Markdown."""
    blocks = [tables.markdown_text(line) for line in head if line]
    if shown:
        blocks.append(tables.markdown_table(shown).rstrip())
    blocks += [tables.markdown_text(line) for line in below]
    return "\n\n".join(blocks) + "\n"


def screen_table(answer: Answer, shown: Shown, answering: Answering) -> list[str]:
    """Return the lines of a table, as wide as the screen if that is where it goes."""
    if not shown:
        return []
    on_screen = answering.output is None and sys.stdout.isatty()
    width = shutil.get_terminal_size().columns if on_screen else None
    spare = answer.spare
    if answering.explain or not spare:
        # All columns may go but the first two, from the last on.
        spare = list(reversed(list(shown)[2:]))
    return tables.text_table(shown, width, spare).splitlines()


def shown_rows(answer: Answer, explain: bool) -> Shown:
    """Return what people see of a table: all that there is, or its first rows."""
    if explain or answer.shown is None:
        return all_columns(answer.columns)
    return {name: values[: answer.n_shown] for name, values in answer.shown.items()}


def n_rows(table: Columns) -> int:
    """Return the rows of a table."""
    return max(map(len, table.values()), default=0)


def tell(text: str) -> None:
    """Print a line to standard error, with control characters escaped."""
    print(printable(text), file=sys.stderr)


@contextmanager
def collected_warnings() -> Iterator[list[Note]]:
    """Collect the package's warnings, each once."""
    notes: list[Note] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield notes
    for warning in caught:
        message = warning.message
        if isinstance(message, ArenaWarning) and message.note not in notes:
            notes.append(message.note)


def columns_of(table: pd.DataFrame) -> Columns:
    """Return the columns of a dataframe."""
    return {str(name): table[name].tolist() for name in table}


def numbers(values: Any, form: str) -> list[str]:
    """Return numbers as texts; nothing for nan."""
    return ["" if value != value else format(value, form) for value in values]


def texts(values: Any) -> list[str]:
    """Return names as texts."""
    return [str(value) for value in values]


def all_columns(columns: Columns) -> dict[str, list[str]]:
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
