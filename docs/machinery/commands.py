"""The pages of the commands, from what ``--help`` says."""

import re
from typing import Literal, get_args, get_origin

from .pages import put

HEAD = """# Commands

Every command reads votes as [`ba.read_votes`](../how-to/data.md) does. `bayes-arena COMMAND --help` says the same as
this page. Exit codes: 0; 2 for bad input, with a message; 3 if a command warned, with `--strict`.

"""


def write(app):
    """Write one page with all commands and their options."""
    import typer.main

    from bayes_arena.__main__ import app as program

    parts = list(described(typer.main.get_command(program), "bayes-arena"))
    put(app.srcdir / "reference", "commands.md", HEAD + "\n".join(parts))


def described(command, name: str):
    """Yield a section for a command, and for those under it."""
    if inner := getattr(command, "commands", None):
        for key, each in sorted(inner.items()):
            if not each.hidden:
                yield from described(each, f"{name} {key}")
        return
    yield f"## `{name}`\n\n{plain(command.help)}\n"
    yield "| | |\n|---|---|"
    for parameter in command.params:
        if not getattr(parameter, "hidden", False):
            yield f"| {written(parameter)} | {plain(getattr(parameter, 'help', '')).replace(chr(10), ' ')} |"
    yield ""


def written(parameter) -> str:
    """Return an option with its choices as it is written, or the name of an argument."""
    if parameter.param_type_name == "argument":
        return f"`{parameter.metavar or parameter.name.upper()}`"
    names = ", ".join(f"`{name}`" for name in (*parameter.opts, *parameter.secondary_opts))
    annotation = parameter.type_descriptor.annotation
    return names + (": " + ", ".join(map(str, get_args(annotation))) if get_origin(annotation) is Literal else "")


def plain(text: str | None) -> str:
    """Return help as Markdown."""
    return re.sub(r"\s*\n\s*\n\s*", "\n\n", (text or "").replace("|", "\\|").replace("<", "\\<")).strip()
