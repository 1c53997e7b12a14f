"""How the command line shows a table: aligned text for people, CSV, JSON or Parquet for programs.

Aligned text shows control characters in names as escapes; what programs read keeps names as they are.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Option

from bayes_arena.cli.options import OUTPUT
from bayes_arena.errors import OutputError, printable

if TYPE_CHECKING:
    import polars as pl

FORMULA = r"^[=+\-@\t\r\n]"
"""Beginnings of text that spreadsheets take for a formula."""
WIDE = 10_000
"""Characters no table needs."""


class Format(StrEnum):
    """Formats of output."""

    table = "table"
    csv = "csv"
    safe_csv = "safe-csv"
    json = "json"
    parquet = "parquet"


@dataclass(frozen=True)
class Output:
    """How a table is written, and where.

    Raises
    ------
    OutputError
        If Parquet is to be printed, or an output's format is unknown.
    """

    format: Annotated[
        Format | None,
        Option(
            help="Default: by the name of the output file, else table. safe-csv: CSV in which an apostrophe stands "
            "before text that begins with = + - @, so that no spreadsheet takes a name for a formula.",
            rich_help_panel=OUTPUT,
        ),
    ] = None
    output: Annotated[Path | None, Option("--output", "-o", help="File to write.", rich_help_panel=OUTPUT)] = None

    def __post_init__(self) -> None:
        if self.form is Format.parquet and self.output is None:
            raise OutputError("Parquet is binary: name a file with -o.")

    @property
    def form(self) -> Format:
        """The format asked for, else the one the output file's name says, else a table."""
        if self.format is not None or self.output is None:
            return self.format or Format.table
        suffix = self.output.suffix.lower().lstrip(".")
        if suffix not in (Format.csv, Format.json, Format.parquet, "txt"):
            raise OutputError(f"No format known for {self.output.name!r}. Name it with --format {'|'.join(Format)}.")
        return Format.table if suffix == "txt" else Format(suffix)

    def write(
        self,
        columns: Mapping[str, Sequence[Any]],
        *,
        key: str,
        head: Mapping[str, Any],
        title: str,
        shown: Mapping[str, Sequence[str]],
    ) -> None:
        """Write a table.

        Parameters
        ----------
        columns : mapping of str to sequence
            The table.
        key : str
            Name of the rows in the JSON object.
        head : mapping
            What the JSON object says besides the rows.
        title : str
            Title of the aligned text.
        shown : mapping of str to sequence of str
            The same table as people read it: heading to formatted values.
        """
        if self.form is Format.parquet and self.output is not None:
            with self.output.open("wb") as file:
                _frame(columns).write_parquet(file)
            return
        if self.form is Format.json:
            text = json.dumps({**head, key: rows(columns)}, ensure_ascii=False, indent=2, allow_nan=False) + "\n"
        elif self.form is Format.csv:
            text = _frame(columns).write_csv()
        elif self.form is Format.safe_csv:
            text = without_formulas(_frame(columns)).write_csv()
        elif self.output is None and sys.stdout.isatty():
            _console_print(shown, title)
            return
        else:
            text = _render(shown, title)
        if self.output is None:
            sys.stdout.write(text)
        else:
            self.output.write_text(text, encoding="utf-8")


def without_formulas(table: pl.DataFrame) -> pl.DataFrame:
    """Begin text that a spreadsheet would take for a formula with an apostrophe."""
    import polars as pl

    text = pl.col(pl.String)
    return table.with_columns(pl.when(text.str.contains(FORMULA)).then("'" + text).otherwise(text).name.keep())


def rows(columns: Mapping[str, Sequence[Any]]) -> list[dict[str, Any]]:
    """Turn columns into rows of plain values."""
    lists = [[plain(value) for value in values] for values in columns.values()]
    return [dict(zip(columns, row, strict=True)) for row in zip(*lists, strict=True)]


def plain(value: Any) -> Any:
    """Return a value as JSON knows it: a time is text; what is missing, or lies at infinity, is None."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, datetime):
        return value.isoformat(sep=" ", timespec="seconds")
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _console_print(shown: Mapping[str, Sequence[str]], title: str) -> None:
    """Print aligned text in the colours of the terminal; a narrow one wraps lines rather than lose digits."""
    from rich.console import Console

    console = Console()
    table = _table(shown, title)
    console.width = max(console.width, console.measure(table, options=console.options.update(width=WIDE)).maximum)
    console.print(table, crop=False, soft_wrap=True)


def _render(shown: Mapping[str, Sequence[str]], title: str) -> str:
    """Return plain aligned text, as wide as it needs to be."""
    from rich.console import Console

    console = Console(width=WIDE, color_system=None)
    with console.capture() as capture:
        console.print(_table(shown, title))
    return "\n".join(line.rstrip() for line in capture.get().splitlines()) + "\n"


def _table(shown: Mapping[str, Sequence[str]], title: str) -> Any:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(
        title=Text("\n".join(map(printable, title.split("\n")))),
        box=box.SIMPLE_HEAD,
        title_justify="left",
        title_style="bold",
        pad_edge=False,
        collapse_padding=True,
    )
    for name, values in shown.items():
        words = any(character.isalpha() for value in values for character in value)
        table.add_column(name, justify="left" if words else "right", no_wrap=True)
    for row in zip(*shown.values(), strict=True):
        table.add_row(*(Text(printable(value)) for value in row))
    return table


def _frame(columns: Mapping[str, Sequence[Any]]) -> pl.DataFrame:
    import polars as pl

    return pl.DataFrame({name: list(values) for name, values in columns.items()})


def digits(values: Any, spec: str) -> list[str]:
    """Format numbers."""
    return [format(value, spec) for value in values.tolist()]


def counts(values: Any) -> list[str]:
    """Format counts: whole numbers, or one digit where votes are weighted."""
    return [str(value) if isinstance(value, int) else f"{value:.1f}" for value in values.tolist()]


def between(lower: Any, upper: Any, spec: str) -> list[str]:
    """Format intervals."""
    return [f"{low} … {high}" for low, high in zip(digits(lower, spec), digits(upper, spec), strict=True)]
