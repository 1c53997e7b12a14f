"""Count what somebody new has before them: lines of help, options, public names.

uv run python benchmarks/surface.py

A command is counted as its help is printed at 80 columns, with the options that it shows and those that it takes
(``bayes-arena options`` explains the rest).
"""

from collections.abc import Iterator
from typing import Any

import typer.main
from typer.testing import CliRunner

import bayes_arena as ba
from bayes_arena.__main__ import app


def commands(group: Any, above: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield every command with the words that call it."""
    for name, command in group.commands.items():
        yield (*above, name), command
        if hasattr(command, "commands"):
            yield from commands(command, (*above, name))


if __name__ == "__main__":
    print(f"{len(ba.__all__)} public names (`len(bayes_arena.__all__)`).\n")
    print("| command | lines of `--help` | options shown | options taken |\n|---|---:|---:|---:|")
    for words, command in commands(typer.main.get_command(app)):
        lines = CliRunner().invoke(app, [*words, "--help"], terminal_width=80).output.rstrip().splitlines()
        options = [each for each in command.params if each.param_type_name == "option"]
        shown = sum(not each.hidden for each in options)
        print(f"| `{' '.join(words)}` | {len(lines)} | {shown} | {len(options)} |")
