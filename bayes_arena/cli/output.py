"""Options: the format and file of an answer, and the picture that is drawn beside it.

Text, Markdown and HTML are for people, and escape control characters in names; CSV, JSON and Parquet are for programs,
and keep names unchanged. JSON names its schema, ``bayes-arena/rank/1`` for instance
(:mod:`bayes_arena.cli.commands.schema`). Numbers written as text are rounded (:func:`rounded`); Parquet has all their
digits.
"""

from __future__ import annotations

import json
import math
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, cast

from typer import Exit, Option

from bayes_arena.cli.options import OUTPUT
from bayes_arena.errors import ArenaWarning, OutputError, listing
from bayes_arena.extras import require
from bayes_arena.markup import html_table, markdown_table
from bayes_arena.replacing import write_figure, written_beside
from bayes_arena.text_table import aligned, print_aligned

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from bayes_arena.markup import Shown

SIGNS = (
    r"=+\-@\x{207A}\x{207C}\x{208A}\x{208C}\x{2212}\x{2A75}\x{2A76}\x{FB29}\x{FE62}\x{FE63}"
    r"\x{FE66}\x{FE6B}\x{FF0B}\x{FF0D}\x{FF1D}\x{FF20}"
)
"""Characters that begin a formula, and those that normalise to them (NFKC), a true minus among them."""
FORMULA = rf"(^|[;|\t\r\n])([\p{{C}}\p{{Z}}\p{{M}}]*[{SIGNS}]|[\t\r\n])"
"""A formula at the beginning, or after a separator of cells; invisible characters before it do not hide it."""
GIVEN = ("level", "max_share", "settings", "start", "end")
"""Fields that repeat options or times of votes, and are not rounded."""
WARNED = 3
"""Exit code of a command that warned, with ``--strict``."""
Strict = Annotated[
    bool,
    Option(
        "--strict", help=f"After the answer, exit with code {WARNED} if there was a warning.", rich_help_panel=OUTPUT
    ),
]
SUFFIXES, DOTS = (".png", ".svg", ".pdf"), 200
"""Of pictures, and the dots per inch of a PNG."""


class Format(StrEnum):
    """Formats of output."""

    table = "table"
    md = "md"
    html = "html"
    csv = "csv"
    safe_csv = "safe-csv"
    json = "json"
    parquet = "parquet"


@dataclass(frozen=True)
class Output:
    """How a table is written, and where."""

    panel: ClassVar[str] = OUTPUT
    format: Annotated[
        Format | None,
        Option(
            metavar="FORMAT",
            help="table, md, html, csv, safe-csv, json or parquet. Default: by the name of the output file, else "
            "table. safe-csv: CSV in which text that begins with = + - @ gets an apostrophe, so that no spreadsheet "
            "takes a name for a formula.",
        ),
    ] = None
    output: Annotated[Path | None, Option("--output", "-o", metavar="FILE", help="File to write.")] = None
    strict: Strict = False

    def __post_init__(self) -> None:
        if self.form is Format.parquet and self.output is None:
            raise OutputError("Parquet is binary: name a file with -o.")

    @property
    def form(self) -> Format:
        """The requested format, else that of the output file's suffix, else a table."""
        if self.format is not None or self.output is None:
            return self.format or Format.table
        suffix = self.output.suffix.lower().lstrip(".")
        if suffix == "txt":
            return Format.table
        if suffix not in Format or suffix == Format.table:
            raise OutputError(f"No format known for {self.output.name!r}. Name it with --format {'|'.join(Format)}.")
        return Format(suffix)

    def write(
        self,
        columns: Mapping[str, Sequence[Any]],
        *,
        schema: str,
        key: str,
        head: Mapping[str, Any],
        title: str,
        shown: Shown,
        spare: Sequence[str] = (),
    ) -> None:
        """Write a table; with ``strict``, end with exit code 3 if there were warnings.

        JSON has the name and version ``schema``, the rows under ``key``, and the fields of ``head``, whose
        ``"warnings"`` are those that were printed. Formats for people have the lines of ``title`` above ``shown``, a
        heading to formatted values; a narrow terminal may leave out the headings ``spare``, in this order.
        """
        if self.form is Format.parquet and self.output is not None:
            from bayes_arena.replacing import write_parquet

            write_parquet(_frame(columns), self.output)
        elif self.output is None and self.form is Format.table:
            print_aligned(shown, title, spare)
        else:
            columns = rounded(columns)
            about = {"schema": f"bayes-arena/{schema}", **rounded(head)}
            self.write_text(self._text(columns, {**about, key: rows(columns)}, title, shown))
        if self.strict and head.get("warnings"):
            raise Exit(WARNED)

    def write_text(self, text: str) -> None:
        """Print text, or write it to the file."""
        if self.output is None:
            sys.stdout.write(text)
        else:
            with written_beside(self.output) as draft:
                draft.write_text(text, encoding="utf-8")

    def _text(self, columns: Mapping[str, Sequence[Any]], answer: dict[str, Any], title: str, shown: Shown) -> str:
        if self.form is Format.json:
            return json.dumps(answer, ensure_ascii=False, indent=2, allow_nan=False) + "\n"
        if self.form is Format.csv:
            return _frame(columns).write_csv()
        if self.form is Format.safe_csv:
            return without_formulas(_frame(columns)).write_csv()
        if self.form is Format.md:
            return markdown_table(shown, said=title.split("\n"))
        if self.form is Format.html:
            return html_table(shown, said=title.split("\n"))
        return aligned(shown, title)


def without_formulas(table: pl.DataFrame) -> pl.DataFrame:
    """Put an apostrophe before text that a spreadsheet would take for a formula."""
    import polars as pl

    return table.with_columns(pl.col(pl.String).str.replace_all(FORMULA, "${1}'${2}"))


def rounded(value: Any) -> Any:
    """Round computed numbers, at any depth, to meaningful digits; further ones differ between machines.

    Four significant digits, and always the first decimal place: 1243.1, 0.9133, 0.02706; less than 1e-9 is 0.
    """
    if isinstance(value, float):
        return round(value, 1) if abs(value) >= 1000 else round(float(f"{value:.4g}"), 9) + 0.0  # there is no -0
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, list | tuple):
        return [rounded(part) for part in value]
    if isinstance(value, dict):
        return {name: part if name in GIVEN else rounded(part) for name, part in value.items()}
    return value


def rows(columns: Mapping[str, Sequence[Any]]) -> list[dict[str, Any]]:
    """Turn columns into rows of plain values."""
    lists = [[plain(value) for value in values] for values in columns.values()]
    return [dict(zip(columns, row, strict=True)) for row in zip(*lists, strict=True)]


def plain(value: Any) -> Any:
    """Return a value as JSON represents it: a time is text; missing and infinite values are None."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, datetime):
        return value.isoformat(sep=" ", timespec="seconds")
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _frame(columns: Mapping[str, Sequence[Any]]) -> pl.DataFrame:
    import polars as pl

    return pl.DataFrame({name: list(values) for name, values in columns.items()})


def digits(values: Any, spec: str) -> list[str]:
    """Format numbers; zero has no minus sign."""
    return [format(value, spec if spec.endswith("d") else f"z{spec}") for value in values.tolist()]


def chances(values: Iterable[float]) -> list[str]:
    """Format probabilities, rounded down, so that they reach a level only if they do."""
    return [f"{math.floor(1000 * value + 1e-6) / 1000:.3f}" for value in values]


def counts(values: Any) -> list[str]:
    """Format counts: whole numbers, or one decimal place where votes are weighted."""
    return [f"{value:,}" if isinstance(value, int) else f"{value:,.1f}" for value in values.tolist()]


def between(lower: Any, upper: Any, spec: str) -> list[str]:
    """Format intervals."""
    return [f"{low} … {high}" for low, high in zip(digits(lower, spec), digits(upper, spec), strict=True)]


@dataclass(frozen=True)
class Picture:
    """File for a picture of the answer; the suffix of its name must be known, and Matplotlib installed."""

    panel: ClassVar[str] = OUTPUT
    plot: Annotated[
        Path | None,
        Option("--plot", metavar="FILE", help="Also draw the answer: PNG, SVG or PDF, by the name of the file."),
    ] = None

    def __post_init__(self) -> None:
        if self.plot is None:
            return
        if self.plot.suffix.lower() not in SUFFIXES:
            known = listing(f"*{suffix}" for suffix in SUFFIXES)
            raise OutputError(f"No picture format known for {self.plot.name!r}. Name it {known}.")
        require("Plots", "matplotlib")

    @contextmanager
    def beside(self, drawn: Callable[[], Axes]) -> Iterator[None]:
        """Draw the picture, if asked for, after the answer is written, so that the answer does not depend on it.

        Warnings appear only in the answer; characters that the font lacks are drawn as boxes.
        """
        try:
            yield
        finally:
            if self.plot is not None:
                _save(drawn, self.plot)


def _save(drawn: Callable[[], Axes], path: Path) -> None:
    import matplotlib

    matplotlib.use("agg")
    with warnings.catch_warnings(action="ignore", category=ArenaWarning):
        warnings.filterwarnings("ignore", message="Glyph .* missing from font", category=UserWarning)
        write_figure(cast("Figure", drawn().figure), path, dpi=DOTS)
