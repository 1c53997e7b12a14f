"""Write docs/api.md anew: the public names with their docstrings, as Markdown."""

import dataclasses
import importlib
import inspect
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import bayes_arena

ROOMS = {
    "votes": "Votes",
    "rating": "Models and fits",
    "fits": "Models and fits",
    "model": "Models and fits",
    "boards": "Boards",
    "people": "Annotators",
    "checks": "Checks",
    "arena": "Arena and page",
    "page": "Arena and page",
    "errors": "Errors",
}
MODULES = ("plots", "models", "paper", "errors")
HEADING = re.compile(r"^([A-Z][A-Za-z ]+)\n-+\n", re.MULTILINE)
ROLE = re.compile(r":\w+:`~?(?:[\w.]*\.)?(\w+)`")
# A quoted annotation; not a default.
QUOTED = re.compile(r"""(?<=: |> )(["'])(.+?)\1(?=,|\)| =|$)""")
BEFORE_PARAMETER = re.compile(r", (?=\*{0,2}\w+: |\*, )")
LONGEST = 88  # characters of a line of code


def main() -> None:
    """Write the page."""
    page = Path(__file__).with_name("api.md")
    page.write_text(reference(), encoding="utf-8")


def reference() -> str:
    """Return the page: every public name under its room, then the modules."""
    rooms = names_by_room()
    parts = [
        "# Reference\n",
        "Every public name, with its docstring. Written by `nox -s reference`.\n",
        contents(rooms),
    ]
    for title, names in rooms.items():
        parts.append(f"## {title}\n")
        parts += [entry(name, getattr(bayes_arena, name)) for name in names]
    for name in MODULES:
        module = importlib.import_module(f"bayes_arena.{name}")
        parts.append(f"## bayes_arena.{name}\n")
        parts.append(prose(inspect.cleandoc(module.__doc__ or "")) + "\n")
        members = public_members(name, module)
        parts += [entry(f"{name}.{key}", value) for key, value in members.items()]
    return "\n".join(parts)


def contents(rooms: dict[str, list[str]]) -> str:
    """Return a table of all names with links."""
    lines = ["| | |", "|---|---|"]
    seen: Counter[str] = Counter()
    for title, names in rooms.items():
        anchor(title, seen)
        links = ", ".join(f"[`{name}`](#{anchor(name, seen)})" for name in names)
        lines.append(f"| {title} | {links} |")
    links = ", ".join(f"[`{name}`](#bayes_arena{name})" for name in MODULES)
    return "\n".join([*lines, f"| Modules | {links} |", ""])


def anchor(heading: str, seen: Counter[str]) -> str:
    """Return the anchor of the next heading, numbered where it was seen before."""
    name = heading.lower().replace(" ", "-")
    seen[name] += 1
    return name if seen[name] == 1 else f"{name}-{seen[name] - 1}"


def names_by_room() -> dict[str, list[str]]:
    """Return the public names in the order of the rooms."""
    rooms: dict[str, list[str]] = {title: [] for title in ROOMS.values()}
    for name in sorted(bayes_arena.__all__):
        if name not in (*MODULES, "__version__"):
            module = getattr(bayes_arena, name).__module__
            rooms[ROOMS[module.split(".")[1]]].append(name)
    return rooms


def public_members(name: str, module: object) -> dict[str, object]:
    """Return what a public module defines or offers."""
    listed = getattr(module, "__all__", None) or vars(module)
    members = {}
    for key in sorted(listed):
        value = getattr(module, key)
        is_ours = getattr(value, "__module__", "").startswith(f"bayes_arena.{name}")
        if (
            not key.startswith("_")
            and (inspect.isfunction(value) or inspect.isclass(value))
            and is_ours
        ):
            members[key] = value
    return members


def entry(name: str, value: object) -> str:
    """Return a name with its signature and its docstring as Markdown."""
    signature = signature_of(value) if is_called(value) else ""
    if inspect.isclass(value):
        signature = signature.removesuffix(" -> None")
    summary, *sections = HEADING.split(inspect.getdoc(value) or "")
    parts = [
        f"### `{name}`",
        f"```python\n{in_lines(name + signature)}\n```",
        prose(summary),
    ]
    for title, body in zip(sections[::2], sections[1::2], strict=True):
        text = f"```python\n{body.strip()}\n```" if title == "Examples" else items(body)
        parts += [f"**{title}**", text]
    if inspect.isclass(value) and not issubclass(value, Exception):
        parts += methods(value)
    return "\n\n".join(part.strip("\n") for part in parts) + "\n"


def is_called(value: object) -> bool:
    """Whether users call it: a function, or a class whose fields all have defaults."""
    if not dataclasses.is_dataclass(value):
        return inspect.isfunction(value)
    parameters = inspect.signature(value).parameters.values()
    return all(parameter.default is not parameter.empty for parameter in parameters)


def signature_of(function: Callable[..., object]) -> str:
    """Return a signature without quotes around annotations, and without self."""
    signature = QUOTED.sub(r"\2", str(inspect.signature(function)))
    return re.sub(r"^\(self(, )?", "(", signature).replace("'", '"')


def in_lines(call: str) -> str:
    """Break a long signature before its parameters."""
    if len(call) <= LONGEST:
        return call
    name, _, rest = call.partition("(")
    parameters, _, result = rest.rpartition(")")
    lines = [f"    {line}," for line in BEFORE_PARAMETER.split(parameters)]
    return "\n".join([f"{name}(", *lines, f"){result}"])


def items(body: str) -> str:
    """Return a list of parameters: each begins a line, and its text is indented."""
    lines: list[str] = []
    for line in body.strip().splitlines():
        if not line.startswith(" "):
            name, _, kind = line.partition(" : ")
            lines.append(f"- `{name}`" + (f": *{prose(kind)}*." if kind else "."))
        elif line.strip():
            lines.append(f"  {prose(line.strip())}")
    return "\n".join(lines)


def methods(value: type) -> list[str]:
    """Return the methods of a class, a line each."""
    lines = [
        f"- `{name}{signature_of(method)}`: "
        + prose((inspect.getdoc(method) or "").split("\n")[0])
        for name, method in inspect.getmembers(value, inspect.isfunction)
        if not name.startswith("_") and name in vars(value)
    ]
    return ["**Methods**", "\n".join(lines)] if lines else []


def prose(text: str) -> str:
    """Return a text with names as Markdown has them."""
    return ROLE.sub(r"`\1`", text).replace("``", "`")


if __name__ == "__main__":
    main()
