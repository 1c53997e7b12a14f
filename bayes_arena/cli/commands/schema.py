"""``schema``: what the fields of JSON answers mean.

``schema.json`` beside this folder is one JSON Schema (draft 2020-12) of all answers: a definition for every command and
version, and those that they share. Added fields do not change a version; a field that is removed, or changes its
meaning, does.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

from typer import Argument

from bayes_arena.cli.app import app
from bayes_arena.cli.options import KEPT, Without, takes_options
from bayes_arena.cli.output import Format, Output
from bayes_arena.errors import ModelError, did_you_mean

FILE = Path(__file__).parents[1] / "schema.json"


@app.command(rich_help_panel=KEPT)
@takes_options
def schema(
    *,
    command: Annotated[
        str | None,
        Argument(metavar="COMMAND", help="A command, such as rank or arena-rate; all by default.", show_default=False),
    ] = None,
    output: Annotated[Output, Without("strict")],
) -> None:
    """Explain the fields of JSON answers; with --format json, print their JSON Schema."""
    whole = read_schema()
    names = [each["$ref"].rpartition("/")[2] for each in whole["oneOf"]]
    if command is not None and command not in names:
        raise ModelError(
            f"{command!r} has no JSON answer.{did_you_mean(command, names)} Commands that have one: {', '.join(names)}."
        )
    if output.form is Format.json:
        output.write_text(json.dumps(whole if command is None else _of(command, whole, names), indent=2) + "\n")
        return
    found = [(name, *field) for name in names if command in (None, name) for field in fields(whole, name)]
    columns = dict(zip(("command", "field", "type", "meaning"), map(list, zip(*found, strict=True)), strict=True))
    if command is not None:
        del columns["command"]
    output.write(columns, schema="schema/1", key="fields", head={}, title=whole["description"], shown=columns)


def read_schema() -> dict[str, Any]:
    """Return the JSON Schema of all answers."""
    found: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
    return found


def fields(whole: dict[str, Any], name: str) -> Iterator[tuple[str, str, str]]:
    """Yield every field of an answer: its path, its type and what it means."""
    yield from _fields(whole, whole["$defs"][name], "")


def _fields(whole: dict[str, Any], node: dict[str, Any], path: str) -> Iterator[tuple[str, str, str]]:
    node = _followed(whole, node)
    for field, described in node.get("properties", {}).items():
        here = f"{path}.{field}" if path else field
        found = _followed(whole, described)
        yield here, _type(found), found["description"]
        yield from _fields(whole, found.get("items", found), here + ("[]" if "items" in found else ""))
    for part in node.get("allOf", ()):
        yield from _fields(whole, part, path)


def _followed(whole: dict[str, Any], node: dict[str, Any]) -> dict[str, Any]:
    """Return a definition in place of a reference to it."""
    named: dict[str, Any] = whole["$defs"][node["$ref"].rpartition("/")[2]] if "$ref" in node else node
    return named


def _type(node: dict[str, Any]) -> str:
    kind = node.get("type", "string")
    return kind if isinstance(kind, str) else " or ".join(kind)


def _of(command: str, whole: dict[str, Any], names: list[str]) -> dict[str, Any]:
    kept = {name: one for name, one in whole["$defs"].items() if name == command or name not in names}
    head = {name: value for name, value in whole.items() if name not in ("oneOf", "$defs")}
    return {**head, "$ref": f"#/$defs/{command}", "$defs": kept}
