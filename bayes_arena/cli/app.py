"""The application that the commands register with, and how they report warnings."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

import typer

from bayes_arena.errors import ArenaWarning, printable

app = typer.Typer(
    name="bayes-arena",
    help="Rate language models from pairwise votes: Elo scores with intervals, and how far each annotator can be "
    "trusted. Start with `bayes-arena rank`, which rates a built-in example.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
    rich_markup_mode="markdown",
)


def tell(text: str) -> None:
    """Print a message to standard error, whatever names it contains."""
    print("\n".join(map(printable, text.split("\n"))), file=sys.stderr)


@contextmanager
def collected_warnings() -> Iterator[list[str]]:
    """Collect the package's warnings and print them to standard error at the end."""
    notes: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            yield notes
        finally:
            for warning in caught:
                if issubclass(warning.category, ArenaWarning):
                    notes.append(str(warning.message))
                    tell(f"Warning: {warning.message}")
