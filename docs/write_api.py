"""Write docs/api.md anew: the public names with their docstrings, as Markdown."""

import importlib
import inspect
import re
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
HEADING = re.compile(r"^([A-Z][A-Za-z ]+)\n-+$", re.MULTILINE)


def main() -> None:
    """Write the page."""
    page = Path(__file__).with_name("api.md")
    page.write_text(reference(), encoding="utf-8")


def reference() -> str:
    """Return the page: every public name under its room, then the modules."""
    parts = [
        "# Reference\n",
        "Every public name, as `help` prints it. Written by `nox -s reference`.\n",
    ]
    for title, names in names_by_room().items():
        parts.append(f"## {title}\n")
        parts += [entry(name, getattr(bayes_arena, name)) for name in names]
    for name in MODULES:
        module = importlib.import_module(f"bayes_arena.{name}")
        parts.append(f"## bayes_arena.{name}\n")
        parts.append(inspect.cleandoc(module.__doc__ or "") + "\n")
        members = public_members(name, module)
        parts += [entry(f"{name}.{key}", value) for key, value in members.items()]
    return "\n".join(parts)


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
    """Return a name with its signature and docstring; headings become bold."""
    signature = ""
    if inspect.isfunction(value):
        signature = re.sub(r"'([\w.| \[\], ]+)'", r"\1", str(inspect.signature(value)))
    text = HEADING.sub(r"**\1**\n", inspect.getdoc(value) or "")
    methods = ""
    if inspect.isclass(value) and not issubclass(value, Exception):
        lines = [
            f"- `{key}{inspect.signature(method)}`: {summary(method)}"
            for key, method in inspect.getmembers(value, inspect.isfunction)
            if not key.startswith("_") and key in vars(value)
        ]
        methods = "\n".join(["", "**Methods**", "", *lines, ""]) if lines else ""
    return f"### `{name}`\n\n```python\n{name}{signature}\n```\n\n{text}\n{methods}"


def summary(method: object) -> str:
    """Return the first line of a docstring."""
    return (inspect.getdoc(method) or "").split("\n")[0]


if __name__ == "__main__":
    main()
