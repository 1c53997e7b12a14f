"""Write docs/api.md anew: the public names with their docstrings, as Markdown.

A class has an entry if it is a public name, or if a public function or method returns it.  Of
its attributes and methods those are listed that its docstring lists, as numpydoc has it; a
property and a method are described by docstrings of their own.
"""

import dataclasses
import importlib
import inspect
import re
from collections import Counter
from collections.abc import Callable
from functools import cached_property
from pathlib import Path

import bayes_arena

ROOMS = {
    "votes": "Votes",
    "reading": "Votes",
    "simulation": "Votes",
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
INTRODUCTION = """\
Every public name with its docstring, and the classes that public functions return. What a
class does not list here is for the package itself, and may change. Written by
`nox -s reference`."""
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
        f"{INTRODUCTION}\n",
        contents(rooms),
    ]
    for title, members in rooms.items():
        parts.append(f"## {title}\n")
        parts += [entry(name, value) for name, value in members.items()]
    for name in MODULES:
        module = importlib.import_module(f"bayes_arena.{name}")
        parts.append(f"## bayes_arena.{name}\n")
        parts.append(prose(inspect.cleandoc(module.__doc__ or "")) + "\n")
        members = public_members(name, module)
        parts += [entry(f"{name}.{key}", value) for key, value in members.items()]
    return "\n".join(parts)


def contents(rooms: dict[str, dict[str, object]]) -> str:
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


def names_by_room() -> dict[str, dict[str, object]]:
    """Return the public names, and the classes they return, in the order of the rooms."""
    names = set(bayes_arena.__all__) - {*MODULES, "__version__"}
    members = with_results({name: getattr(bayes_arena, name) for name in names})
    rooms: dict[str, dict[str, object]] = {title: {} for title in ROOMS.values()}
    for name in sorted(members):
        room = members[name].__module__.split(".")[1]
        rooms[ROOMS[room]][name] = members[name]
    return rooms


def public_members(name: str, module: object) -> dict[str, object]:
    """Return what a public module offers, and the classes that its functions return."""
    offered = {}
    for key in module.__all__:
        value = getattr(module, key)
        if inspect.isfunction(value) or inspect.isclass(value):
            offered[key] = value
    members = with_results(offered)
    return {
        key: members[key]
        for key in sorted(members)
        if members[key].__module__.startswith(f"bayes_arena.{name}")
    }


def with_results(members: dict[str, object]) -> dict[str, object]:
    """Return functions and classes, and the classes that they return."""
    results = {}
    for value in members.values():
        results |= {each.__name__: each for each in returned_classes(value)}
    return results | members


def returned_classes(value: object) -> list[type]:
    """Return the classes of the package that a function, or a class's methods, return."""
    functions = [value]
    if inspect.isclass(value):
        functions = [getattr(value, name) for name in listed_methods(value)]
    classes = []
    for function in functions:
        words = re.findall(r"\w+", str(inspect.signature(function).return_annotation))
        # Annotations are texts; their words are names where the function is defined.
        results = [function.__globals__.get(word) for word in words]
        classes += [each for each in results if is_ours(each)]
    return classes


def is_ours(value: object) -> bool:
    """Whether a value is a class of the package."""
    return inspect.isclass(value) and value.__module__.startswith("bayes_arena.")


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
        if title == "Examples":
            text = f"```python\n{body.strip()}\n```"
        elif title == "Methods":
            text = methods(value)
        else:
            text = items(described_properties(value, body))
        parts += [f"**{title}**", text]
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


def described_properties(value: object, body: str) -> str:
    """Return a list of attributes, with properties described by their own docstrings."""
    lines = []
    for line in body.strip().splitlines():
        attribute = vars(value).get(line) if inspect.isclass(value) else None
        if isinstance(attribute, property | cached_property):
            getter = getattr(attribute, "fget", None) or attribute.func
            kind = inspect.signature(getter).return_annotation
            lines += [f"{line} : {kind}", f"    {summary_of(attribute)}"]
        else:
            lines.append(line)
    return "\n".join(lines)


def listed_methods(value: type) -> list[str]:
    """Return the methods that the docstring of a class lists."""
    parts = HEADING.split(inspect.getdoc(value) or "")
    return parts[parts.index("Methods") + 1].split() if "Methods" in parts else []


def methods(value: type) -> str:
    """Return the methods of a class, a line each."""
    lines = []
    for name in listed_methods(value):
        method = getattr(value, name)
        signature = signature_of(method)
        lines.append(f"- `{name}{signature}`: {prose(summary_of(method))}")
    return "\n".join(lines)


def summary_of(value: object) -> str:
    """Return the first line of a docstring."""
    return (inspect.getdoc(value) or "").split("\n")[0]


def prose(text: str) -> str:
    """Return a text with names as Markdown has them."""
    return ROLE.sub(r"`\1`", text).replace("``", "`")


if __name__ == "__main__":
    main()
