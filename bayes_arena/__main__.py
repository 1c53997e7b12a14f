"""The entry point: runs the command, and turns an error into a message and exit code 2."""

from __future__ import annotations

import atexit
import gc
import io
import os
import sys

INTERRUPTED = 130
"""Exit code after Ctrl-C, of Typer as of shells."""

try:
    from bayes_arena.cli.app import app, tell
    from bayes_arena.errors import ArenaError
    from bayes_arena.progress import report
    from bayes_arena.text_table import is_plain_terminal

    # isort: off
    # commands register themselves, and appear in the help in this order
    from bayes_arena.cli.commands import rank, fit, annotators, next_pairs, pairs, votes, models  # noqa: F401
    from bayes_arena.cli.commands import report as page, reproduce, options, schema, arena  # noqa: F401
    # isort: on
except KeyboardInterrupt:
    print("bayes-arena: Interrupted.", file=sys.stderr)
    raise SystemExit(INTERRUPTED) from None


def main() -> None:
    """Run the command; bad input ends with a short message and exit code 2."""
    if sys.stdout is None:
        raise SystemExit(2)  # closed by the parent process: the answer cannot be written
    try:
        if isinstance(sys.stdout, io.TextIOWrapper):
            sys.stdout.reconfigure(encoding="utf-8")
        atexit.register(_leave_things)
        app.rich_markup_mode = arena.arena.rich_markup_mode = None if is_plain_terminal() else "markdown"  # no boxes
        app()
    except (KeyboardInterrupt, SystemExit) as end:
        if isinstance(end, KeyboardInterrupt) or end.code == INTERRUPTED:  # Typer ends so too
            report("")
            tell("bayes-arena: Interrupted.")
            raise SystemExit(INTERRUPTED) from None
        raise
    except (ArenaError, OSError, MemoryError) as error:
        if isinstance(error, BrokenPipeError):  # the reader closed the pipe: `bayes-arena rank | head`
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise SystemExit(1) from None
        report("")
        if isinstance(error, OSError) and error.strerror and error.filename is None:  # an error about a file names it
            tell(f"bayes-arena: Cannot write to standard output: {error.strerror}.")
        elif isinstance(error, MemoryError):
            tell(f"bayes-arena: Memory ran out. Raise the limit, or use fewer votes or competitors. {error}".rstrip())
        else:
            tell(f"bayes-arena: {error}")
        raise SystemExit(2) from None


def _leave_things() -> None:
    """Skip garbage collection at exit, which takes a sixth of a command's time.

    Not after DuckDB, which would report its uncollected objects on stderr.
    """
    if "duckdb" not in sys.modules:
        gc.freeze()


if __name__ == "__main__":
    main()
