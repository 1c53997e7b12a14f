"""The notebooks, as they are kept, and the page that lists them."""

from .pages import ROOT, put


def link(app, docname, source):
    """Lead a page's links to the notebooks, which lie beside the folder of pages, to their copies in it."""
    up = "../" * docname.count("/")
    source[0] = source[0].replace(f"]({up}../notebooks/", f"]({up}notebooks/")


def write(app):
    """Write a copy of each."""
    for path in (ROOT / "notebooks" / "README.md", *(ROOT / "notebooks").glob("*.ipynb")):
        put(app.srcdir / "notebooks", path.name, path.read_text(encoding="utf-8"))
