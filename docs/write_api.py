"""Write docs/api.md anew: what users call and read, as Python without its code.

Public are the names of the package and of four modules, and the classes that these functions
return; of a class those methods and properties that its docstring lists.  ``docs/conf.py``
takes from here what the reference of the site documents.
"""

import dataclasses
import importlib
import inspect
import re
from collections import Counter
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from textwrap import indent

import bayes_arena

TITLES = {
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
}
MODULES = ("plots", "models", "paper", "errors")
INTRODUCTION = """\
# Reference

Every public name with its docstring, and the classes that public functions return: where these
are needed for annotations, the line above each imports it. What a class does not list here is
for the package itself, and may change. Written by `nox -s reference`.
"""
LISTED = re.compile(r"^(?:Attributes|Methods)\n-+\n((?:.+\n?)*)", re.MULTILINE)
QUOTED = re.compile(r"""(?<=: |> )(["'])(.+?)\1(?=,|\)| =|$)""")  # an annotation
PARAMETER = re.compile(r", (?=\*{0,2}\w+: |[*/], )")
LONGEST = 88  # characters of a line of code


def main() -> None:
    """Write the page."""
    Path(__file__).with_name("api.md").write_text(reference(), encoding="utf-8")


def reference() -> str:
    """Return the page: a table of all names with links, then each with its docstring."""
    table = ["| | |", "|---|---|"]
    entries = []
    seen: Counter[str] = Counter()
    for title, members in public().items():
        anchor(title, seen)
        links = [f"[`{name}`](#{anchor(name, seen)})" for name in members]
        table.append(f"| {title} | {', '.join(links)} |")
        entries.append(f"## {title}\n")
        for name, value in members.items():
            code = imported(name, value) + stub(value.__name__, value)
            entries.append(f"### `{name}`\n\n```python\n{code}\n```\n")
    return "\n".join([INTRODUCTION, *table, "", *entries])


def imported(name: str, value: object) -> str:
    """Return the line that imports a class that only functions return; else nothing."""
    if name.partition(".")[0] in bayes_arena.__all__:
        return ""
    return f"from {value.__module__} import {name.rpartition('.')[2]}\n\n\n"


def anchor(heading: str, seen: Counter[str]) -> str:
    """Return the anchor of the next heading, numbered where it was seen before."""
    name = heading.lower().replace(" ", "-").replace(".", "")
    seen[name] += 1
    return name if seen[name] == 1 else f"{name}-{seen[name] - 1}"


def public() -> dict[str, dict[str, object]]:
    """Return functions and classes by name, under the titles of their pages."""
    pages: dict[str, dict[str, object]] = {title: {} for title in TITLES.values()}
    for name, value in with_results(bayes_arena).items():
        room = value.__module__.split(".")[1]
        if room in TITLES:
            pages[TITLES[room]][name] = value
    for module in MODULES:
        members = with_results(importlib.import_module(f"bayes_arena.{module}"))
        pages[module] = {
            f"{module}.{name}": value
            for name, value in members.items()
            if value.__module__.startswith(f"bayes_arena.{module}")
        }
    return pages


def with_results(module: object) -> dict[str, object]:
    """Return the functions and classes of a module, and the classes that they return."""
    members = {name: getattr(module, name) for name in module.__all__}
    members = {name: value for name, value in members.items() if is_ours(value)}
    for value in tuple(members.values()):
        for function in [value, *(getattr(value, name) for name in listed(value))]:
            if inspect.isfunction(function) or inspect.ismethod(function):
                members |= classes_returned(function)
    return dict(sorted(members.items()))


def classes_returned(function: Callable[..., object]) -> dict[str, object]:
    """Return the classes of the package that a function returns, by name."""
    words = re.findall(r"\w+", str(inspect.signature(function).return_annotation))
    # Annotations are texts; their words are names where the function is defined.
    values = {word: function.__globals__.get(word) for word in words}
    return {word: x for word, x in values.items() if inspect.isclass(x) and is_ours(x)}


def is_ours(value: object) -> bool:
    """Whether a value is a function or a class of the package."""
    is_documented = inspect.isfunction(value) or inspect.isclass(value)
    return is_documented and value.__module__.startswith("bayes_arena.")


def listed(value: object) -> list[str]:
    """Return the properties and methods that the docstring of a class lists."""
    lines = "".join(LISTED.findall(inspect.getdoc(value) or "")).splitlines()
    return [line for line in lines if line.isidentifier() and hasattr(value, line)]


def stub(name: str, value: object) -> str:
    """Return a class, function or property as Python has it, without its code."""
    text = inspect.getdoc(value)
    docstring = f'"""{text}\n"""' if "\n" in text else f'"""{text}"""'
    members = [stub(each, getattr(value, each)) for each in listed(value)]
    body = "\n\n".join([docstring, *members])
    return f"{head(name, value)}\n{indent(body, '    ')}"


def head(name: str, value: object) -> str:
    """Return the line that begins a class, a function or a property."""
    if isinstance(value, property | cached_property):
        getter = value.fget if isinstance(value, property) else value.func
        return f"{name}: {inspect.signature(getter).return_annotation}"
    if inspect.isclass(value):
        signature = in_lines(signature_of(value)) if is_called(value) else ""
        return f"class {name}{signature}:"
    return in_lines(f"def {name}{signature_of(value)}:")


def is_called(value: type) -> bool:
    """Whether users make one: a dataclass whose fields all have defaults."""
    if not dataclasses.is_dataclass(value):
        return False
    parameters = inspect.signature(value).parameters.values()
    return all(each.default is not each.empty for each in parameters)


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
    lines = [f"    {line}," for line in PARAMETER.split(parameters)]
    return "\n".join([f"{name}(", *lines, f"){result}"])


if __name__ == "__main__":
    main()
