"""The entry point: runs a command, and turns errors into a line and an exit code."""

from __future__ import annotations

import gc
import os
import sys

INTERRUPTED = 130  # exit code after Ctrl-C, of shells as of Typer


def main() -> None:
    """Run the command; bad input ends with a line on standard error and exit code 2."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", str(os.cpu_count() or 1))
    try:
        from bayes_arena.cli.app import run
    except KeyboardInterrupt:
        print("bayes-arena: Interrupted.", file=sys.stderr)
        raise SystemExit(INTERRUPTED) from None
    gc.freeze()  # what is imported stays: collecting it at exit takes time
    sys.exit(run())


if __name__ == "__main__":
    main()
