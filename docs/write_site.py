"""What the site has beyond the pages of this folder, as an extension of Sphinx.

Pages are written for readers on a code host, too.  What only the site needs is added here: the
tree of contents, which ``index.md`` has as tables; pages that lie outside this folder; a page
for each name of the reference; and ``llms.txt``.
"""

import importlib
import inspect
import re
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path

from docutils.nodes import Element, Node, Text, reference
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from write_api import MODULES, is_called, listed, public

DOCS = Path(__file__).parent
ROOT = DOCS.parent
AXES = "https://matplotlib.org/stable/api/_as_gen/matplotlib.axes.Axes.html"
DATAFRAME = "https://pandas.pydata.org/docs/reference/api/pandas.DataFrame.html"
DATATREE = "https://docs.xarray.dev/en/stable/generated/xarray.DataTree.html"
NDARRAY = "https://numpy.org/doc/stable/reference/generated/numpy.ndarray.html"
TYPES = {  # of other packages, as annotations and docstrings name them
    "Axes": AXES,
    "matplotlib.axes.Axes": AXES,
    "numpy.ndarray": NDARRAY,
    "pandas.DataFrame": DATAFRAME,
    "pd.DataFrame": DATAFRAME,
    "DataTree": DATATREE,
    "xarray.DataTree": DATATREE,
}
SECTION = re.compile(r"^## (.+)\n[^#|]*\|.*\n\|-.*\n((?:\|.*\n?)+)", re.MULTILINE)
EMPTY = re.compile(r"^(?:Attributes|Methods)\n-+\n(?=\n|\Z)", re.MULTILINE)
ROW = re.compile(r"\| \[(.+?)\]\((.+?)\) \| (.*?) \|")


def setup(app: Sphinx) -> dict[str, bool]:
    """Make the pages that are not in the folder, and complete those that are."""
    copy_pages()
    write_reference()
    app.config.numpydoc_xref_aliases = linked_types()
    app.connect("source-read", complete)
    app.connect("autodoc-process-docstring", without_members, priority=400)
    app.connect("autodoc-process-signature", without_fields)
    app.connect("missing-reference", outside)
    app.connect("build-finished", write_llms)
    return {"parallel_read_safe": True}


def copy_pages() -> None:
    """Copy the pages that lie outside this folder."""
    (DOCS / "project").mkdir(exist_ok=True)
    (DOCS / "notebooks").mkdir(exist_ok=True)
    for name in ("CHANGELOG.md", "CONTRIBUTING.md"):
        shutil.copy(ROOT / name, DOCS / "project")
    for notebook in ROOT.glob("notebooks/*.ipynb"):
        shutil.copy(notebook, DOCS / "notebooks")


def write_reference() -> None:
    """Write a page for each title of the reference, and one for each of its names."""
    folder = DOCS / "reference"
    shutil.rmtree(folder, ignore_errors=True)
    titles = {title.lower().replace(" ", "_"): title for title in public()}
    overview = [headed("Reference") + tree(titles)]
    for page, title in titles.items():
        members = public()[title]
        pages = write_members(members, folder / page)
        about = f".. automodule:: bayes_arena.{title}\n\n.. currentmodule:: None\n\n"
        start = headed(title) + (about if title in MODULES else "")
        table = summaries(members)
        write(folder / f"{page}.rst", f"{start}{table}\n\n{tree(pages)}")
        overview.append(headed(title, "-") + table)
    write(folder / "index.rst", "\n\n".join(overview))


def write_members(members: dict[str, object], folder: Path) -> list[str]:
    """Write a page for each name, and return the pages as seen from above the folder."""
    pages: dict[str, str] = {}
    for name, value in members.items():
        # A class and a function that differ in case only share a page.
        page = f"{folder.name}/{name.lower()}"
        text = f"{headed(name)}{documented(name, value)}\n\n"
        pages[page] = pages.get(page, "") + text
    for page, text in pages.items():
        write(folder.parent / f"{page}.rst", text)
    return list(pages)


def write(page: Path, text: str) -> None:
    """Write a page."""
    page.parent.mkdir(parents=True, exist_ok=True)
    page.write_text(text, encoding="utf-8")


def headed(title: str, line: str = "=") -> str:
    """Return a heading of reStructuredText."""
    return f"{title}\n{line * len(title)}\n\n"


def tree(pages: Iterable[str]) -> str:
    """Return a tree of contents, which the margin shows."""
    return "\n   ".join([".. toctree::", ":hidden:", "", *pages])


def summaries(members: dict[str, object]) -> str:
    """Return a table of names with the first lines of their docstrings."""
    names = [f"~{full_name(name, value)}" for name, value in members.items()]
    return "\n   ".join([".. autosummary::", ":nosignatures:", "", *names])


def documented(name: str, value: object) -> str:
    """Return the directive that documents a function, or a class and what it lists."""
    if inspect.isfunction(value):
        return f".. autofunction:: {full_name(name, value)}"
    directive = f".. autoclass:: {full_name(name, value)}"
    members = ", ".join(listed(value))
    return f"{directive}\n   :members: {members}" if members else directive


def full_name(name: str, value: object) -> str:
    """Return where a name is imported from, or where the class of a result is defined."""
    place, _, name = f"bayes_arena.{name}".rpartition(".")
    is_public = name in importlib.import_module(place).__all__
    return f"{place if is_public else value.__module__}.{name}"


def linked_types() -> dict[str, str]:
    """Return what types in docstrings link to: classes of the reference, and of others."""
    members = {
        name: value for page in public().values() for name, value in page.items()
    }
    classes = [item for item in members.items() if inspect.isclass(item[1])]
    ours = {value.__name__: full_name(name, value) for name, value in classes}
    return dict(zip(TYPES, TYPES, strict=True)) | ours


def without_members(
    app: Sphinx, what: str, name: str, value: object, options: object, lines: list[str]
) -> None:
    """Leave out of a class's docstring what has an entry of its own below it."""
    if what == "class":
        members = listed(value)
        text = "\n".join(line for line in lines if line not in members)
        lines[:] = EMPTY.sub("", text + "\n").splitlines()


def without_fields(
    app: Sphinx,
    what: str,
    name: str,
    value: object,
    options: object,
    signature: str | None,
    result: str | None,
) -> tuple[str, str] | None:
    """Leave out the signature of a class that users do not make."""
    is_result = what == "class" and not is_called(value)
    return ("", "") if is_result and signature else None


def outside(
    app: Sphinx, env: BuildEnvironment, node: pending_xref, text: Element
) -> Node | None:
    """Link types of other packages, but none of Python itself, which everybody knows."""
    target = node["reftarget"]
    if target in TYPES:
        return reference("", "", text, refuri=TYPES[target])
    is_python = target.startswith("python:")
    return Text(text.astext().removeprefix("python:")) if is_python else None


def complete(app: Sphinx, page: str, source: list[str]) -> None:
    """Let links lead where pages are on the site, and give the first page its tree."""
    source[0] = on_site(source[0])
    if page == "index":
        source[0] += "".join(contents(source[0]))


def on_site(text: str) -> str:
    """Return a page with the links that it has on the site."""
    text = re.sub(r"\]\((?:\.\./)*docs/", "](/", text)
    text = re.sub(r"\]\(\.\./(?=notebooks/)", "](/", text)
    text = re.sub(r"\]\(\.\./(?=CHANGELOG|CONTRIBUTING)", "](/project/", text)
    return text.replace("(api.md)", "(reference/index.rst)")


def contents(text: str) -> Iterator[str]:
    """Yield a hidden tree of contents for each table of links."""
    for caption, rows in SECTION.findall(text):
        pages = [f"{title} <{page}>" for title, page, _ in ROW.findall(rows)]
        options = [":hidden:", f":caption: {caption}"]
        yield "\n".join(["", "```{toctree}", *options, *pages, "```", ""])


def write_llms(app: Sphinx, error: Exception | None) -> None:
    """List the pages for programs that read, as Markdown."""
    text = on_site((DOCS / "index.md").read_text(encoding="utf-8"))
    title, summary = text.split("\n\n")[:2]
    parts = [title, f"> {summary}"]
    for caption, rows in SECTION.findall(text):
        links = [f"- [{t}]({as_text(p)}): {about}" for t, p, about in ROW.findall(rows)]
        parts.append("\n".join([f"## {caption}", "", *links]))
    write(app.outdir / "llms.txt", "\n\n".join(parts) + "\n")


def as_text(page: str) -> str:
    """Return where a page is most easily read: as Markdown, if it is Markdown."""
    page = page.removeprefix("/")
    if page.endswith(".ipynb"):
        return page.replace(".ipynb", ".html")
    return f"_sources/{page}.txt" if page.endswith(".md") else "api.md"
