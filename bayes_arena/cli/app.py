"""The application that the commands register with, and how they report warnings."""

from __future__ import annotations

import sys
import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

import typer

from bayes_arena.errors import ArenaWarning, printable
from bayes_arena.version import __version__

app = typer.Typer(
    name="bayes-arena",
    help="Rate language models from pairwise votes: Elo scores with intervals, and how far each annotator can be "
    "trusted. Start with `bayes-arena rank`, which rates a built-in example.",
    epilog="Exit codes: 0 all is well; 2 bad input, with a message; 3 with --strict, a warning was printed; of a gate "
    "(pairs --require) 1 no, 4 not enough votes.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=True,
    rich_markup_mode="markdown",
)


def _show_version(wanted: bool) -> None:
    if wanted:
        print(f"bayes-arena {__version__}")
        raise typer.Exit


@app.callback()
def _any_command(
    version: Annotated[
        bool, typer.Option("--version", help="Show the version and exit.", callback=_show_version, is_eager=True)
    ] = False,
) -> None:
    """Take the options that come before a command."""


def tell(text: str) -> None:
    """Print a message to standard error, with control characters escaped."""
    print("\n".join(map(printable, text.split("\n"))), file=sys.stderr)


@contextmanager
def collected_warnings(*, one_of_a_kind: bool = False) -> Iterator[list[str]]:
    """Collect the package's warnings and print them to standard error at the end.

    With ``one_of_a_kind``, for commands with many fits, print only the first of each class and count the others.
    """
    notes: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            yield notes
        finally:
            ours = [warning for warning in caught if issubclass(warning.category, ArenaWarning)]
            notes += [str(warning.message) for warning in ours]
            left = Counter(warning.category for warning in ours)
            for warning in ours:
                others = left.pop(warning.category, 0) - 1 if one_of_a_kind else 0
                if others >= 0:
                    tell(f"Warning: {warning.message}" + f" ({others} more like it.)" * (others > 0))
