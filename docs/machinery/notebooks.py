"""The notebooks, as they are kept."""

from .pages import ROOT, put

HEAD = """# Notebooks

Each can be run in a clone of the repository. A test holds what they show here to what a run shows.

```{toctree}
:maxdepth: 1

"""


def link(app, docname, source):
    """Lead a page's links to the notebooks, which lie beside the folder of pages, to their copies in it."""
    up = "../" * docname.count("/")
    source[0] = source[0].replace(f"]({up}../notebooks/", f"]({up}notebooks/")


def write(app):
    """Write a copy of every notebook, and a page that lists them."""
    folder = app.srcdir / "notebooks"
    paths = sorted((ROOT / "notebooks").glob("*.ipynb"))
    for path in paths:
        put(folder, path.name, path.read_text(encoding="utf-8"))
    put(folder, "index.md", HEAD + "\n".join(path.stem for path in paths) + "\n```\n")
