"""The application: its commands, and what an error or Ctrl-C ends with."""

from __future__ import annotations

import io
import os
import sys
from typing import Annotated, Any

import typer

from bayes_arena import progress
from bayes_arena.cli import arena, boards, models, people, votes
from bayes_arena.cli.command import BAD_INPUT
from bayes_arena.cli.output import tell
from bayes_arena.version import __version__

INTERRUPTED = 130
# An unknown command or option, a value that is no number. Typer does not export it.
USAGE_ERROR: Any = typer.BadParameter.__base__

app = typer.Typer(
    name="bayes-arena",
    help="Rate language models from pairwise votes. Start with `bayes-arena rank`, which "
    "rates a built-in example.",
    epilog="Exit codes: 0 all is well; 2 bad input, with a message; 3 with --strict, after "
    "a warning; of pairs --require 1 no, 4 not enough votes.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
for command in (
    boards.rank,
    boards.boards,
    boards.pairs,
    boards.next_pairs,
    people.annotators,
    models.compare,
    boards.report,
    votes.check,
    models.fit,
    models.diagnose,
    models.reproduce,
    votes.simulate,
):
    app.command(command.__name__.replace("_pairs", ""))(command)
app.add_typer(arena.app, name="arena")


def show_version(wanted: bool) -> None:
    """Print the version and exit."""
    if wanted:
        print(f"bayes-arena {__version__}")
        raise typer.Exit


@app.callback()
def any_command(
    version: Annotated[
        bool,
        typer.Option(
            "--version",
            help="Show the version and exit.",
            callback=show_version,
            is_eager=True,
        ),
    ] = False,
) -> None:
    """Take the options that come before a command."""


def run() -> int:
    """Run a command, and return the exit code."""
    if sys.stdout is None:
        return BAD_INPUT  # closed by the parent process: nothing can be answered
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8")
    try:
        code = app(standalone_mode=False)
        if code == INTERRUPTED:  # Typer catches Ctrl-C
            return interrupted()
        return code if isinstance(code, int) else 0
    except typer.Exit as end:
        return interrupted() if end.exit_code == INTERRUPTED else end.exit_code
    except USAGE_ERROR as error:
        error.show()
        return BAD_INPUT
    except (KeyboardInterrupt, typer.Abort):
        return interrupted()
    except BrokenPipeError:  # the reader closed the pipe: `bayes-arena rank | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except (OSError, MemoryError) as error:
        progress.clear()
        tell(f"bayes-arena: {failure_in_words(error)}")
        return BAD_INPUT


def failure_in_words(error: OSError | MemoryError) -> str:
    """Return what went wrong, in a line."""
    if isinstance(error, MemoryError):
        return "Memory ran out. Use fewer votes or competitors."
    where = f" {error.filename!r}" if error.filename else ""
    return f"Cannot read or write{where}: {error.strerror or error}."


def interrupted() -> int:
    """Say that Ctrl-C ended the command, and return its exit code."""
    progress.clear()
    tell("bayes-arena: Interrupted.")
    return INTERRUPTED
