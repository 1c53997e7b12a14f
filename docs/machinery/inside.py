"""What stands behind the public names: the docstrings of all modules, which say how a number comes about."""

import ast
import importlib
from pathlib import Path

from sphinx.util.nodes import make_refnode

from .pages import PACKAGE, put
from .reference import public_names

HEAD = """Inside the package
==================

What every module does, in its own words. Public docstrings refer to these where they say how a number comes about.
Names on this page are not public and may change.

"""


def write(app):
    """Write one page with the docstrings of all modules that no other page shows."""
    shown = {"bayes_arena", *public_names()["models"]}
    files = [*PACKAGE.rglob("*.py"), *(PACKAGE / "models").glob("*.py")]
    names = {".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts): path for path in files}
    modules = {name.removesuffix(".__init__"): path for name, path in names.items()}
    text = "\n".join(described(name, modules[name]) for name in sorted(modules.keys() - shown))
    put(app.srcdir / "reference", "inside.rst", HEAD + text)


def described(name: str, path: Path) -> str:
    """Return a section with the docstring of a module."""
    said = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    return f"{name}\n{'-' * len(name)}\n\n.. py:module:: {name}\n\n{marked_up(said)}\n"


def marked_up(text: str) -> str:
    """Return a docstring in which indented formulas are literal, and bars outside them those of absolute values."""
    lines: list[str] = []
    literal = False
    for line in text.split("\n"):
        indented = line.startswith("    ")
        if indented and not literal and lines and not lines[-1].strip():
            before = next((each for each in reversed(lines) if each.strip()), "")
            literal = True
            lines += [] if before.endswith("::") else ["::", ""]
        literal = literal and (indented or not line.strip())
        lines.append(line if literal else line.replace("|", r"\|"))
    return "\n".join(lines)


def resolve(app, env, node, content):
    """Link what is not public to the module that it stands in, and what is public under its full name to its page."""
    if node.get("refdomain") != "py":
        return None
    target = node["reftarget"]
    objects, modules = env.domaindata["py"]["objects"], env.domaindata["py"]["modules"]
    name = target.rsplit(".", 1)[-1]
    for found in (f"bayes_arena.{name}", f"bayes_arena.models.{name}"):
        if found in objects:
            return make_refnode(app.builder, node["refdoc"], objects[found].docname, found, content, found)
    module = target
    while "." in module and module not in modules:
        module = module.rsplit(".", 1)[0]
    if module in modules and "." in target and defined(module, target.removeprefix(module).lstrip(".")):
        found = modules[module]
        return make_refnode(app.builder, node["refdoc"], found.docname, found.node_id, content, module)
    return None


def defined(module: str, name: str) -> bool:
    """Return whether a module has such a name, be it a method."""
    value = importlib.import_module(module)
    for part in filter(None, name.split(".")):
        if not hasattr(value, part):
            return False
        value = getattr(value, part)
    return True
