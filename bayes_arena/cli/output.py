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
    shown : mapping of str to list of str
        What people see of it.
    head, notes : sequence of str
        Lines above and below the table.
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
    shown: Shown
    head: Sequence[str] = ()
    notes: Sequence[str] = ()
    facts: dict[str, Any] = field(default_factory=dict)
    spare: Sequence[str] = ()
    n_shown: int | None = None
    more: str = "--explain"

    @property
    def n_rows(self) -> int:
        """Rows of the table."""
        return max(map(len, self.columns.values()), default=0)


def write(answer: Answer, answering: Answering, warned: Sequence[str]) -> None:
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


def tell_warnings(warned: Sequence[str], answering: Saving) -> None:
    """Print warnings to standard error; with --strict, exit after them."""
    for text in warned:
        tell(f"Warning: {spelled(text)}")
    if warned and answering.strict:
        raise typer.Exit(WARNED)


def render(answer: Answer, answering: Answering, warned: Sequence[str]) -> str:
    """Return the text of an answer in its format."""
    if answering.form == "csv":
        return tables.csv_text(answer.columns)
    if answering.form == "json":
        facts = {name: plain(value) for name, value in answer.facts.items()}
        content = {answer.key: tables.records(answer.columns), **facts}
        content |= {"notes": [*map(spelled, answer.notes)]}
        content |= {"warnings": [*map(spelled, warned)]}
        return json.dumps(content, ensure_ascii=False, indent=2) + "\n"
    shown = all_columns(answer.columns) if answering.explain else first_rows(answer)
    n_hidden = 0 if answering.explain or not shown else answer.n_rows - n_rows_of(shown)
    more = [f"    …  {n_hidden:,} more: {answer.more}"] if n_hidden > 0 else []
    words = explanations(answer.columns) if answering.explain else []
    head, notes = (
        [printable(spelled(line)) for line in lines]
        for lines in (answer.head, answer.notes)
    )
    if answering.form == "markdown":
        blocks = [tables.markdown_text(line) for line in head if line]
        blocks += [tables.markdown_table(shown).rstrip()] if shown else []
        blocks += [tables.markdown_text(line) for line in [*more, *notes, *words]]
        return "\n\n".join(blocks) + "\n"
    on_screen = answering.output is None and sys.stdout.isatty()
    width = shutil.get_terminal_size().columns if on_screen else None
    is_default = answer.spare and not answering.explain
    spare = answer.spare if is_default else [*shown][:1:-1]
    table = tables.text_table(shown, width, spare) if shown else ""
    table = "\n".join([*table.splitlines(), *more])
    blocks = ["\n".join(lines) for lines in (head, [table], notes, words)]
    return "\n\n".join(block for block in blocks if block) + "\n"


def first_rows(answer: Answer) -> Shown:
    """Return what is shown of the first rows."""
    return {name: values[: answer.n_shown] for name, values in answer.shown.items()}


def n_rows_of(shown: Shown) -> int:
    """Return the rows of a shown table."""
    return max(map(len, shown.values()), default=0)


def plain(value: Any) -> Any:
    """Return a value as JSON has it."""
    if isinstance(value, dict):
        return {name: plain(entry) for name, entry in value.items()}
    if isinstance(value, list | tuple):
        return [plain(entry) for entry in value]
    return tables.plain_value(value)


def tell(text: str) -> None:
    """Print a line to standard error, with control characters escaped."""
    print(printable(text), file=sys.stderr)


@contextmanager
def collected_warnings() -> Iterator[list[str]]:
    """Collect the package's warnings, each once."""
    texts: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield texts
    for warning in caught:
        text = str(warning.message)
        if issubclass(warning.category, ArenaWarning) and text not in texts:
            texts.append(text)


def columns_of(table: pd.DataFrame) -> Columns:
    """Return the columns of a dataframe."""
    return {str(name): table[name].tolist() for name in table}


def numbers(values: Any, form: str) -> list[str]:
    """Return numbers as texts; nothing for nan."""
    return ["" if value != value else format(value, form) for value in values]


def intervals(lower: Any, upper: Any, form: str) -> list[str]:
    """Return intervals as texts."""
    pairs = zip(numbers(lower, form), numbers(upper, form), strict=True)
    return [f"{low} … {high}" if low else "" for low, high in pairs]


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
