"""The table of contents: an index page has below it what its list, or its table, begins a line with a link to."""

import re

ENTRY = re.compile(r"^(?:- |\| )\[(.+?)\]\(([^)#:]+)\.(?:md|rst|ipynb)\)", re.M)


def add(app, docname, source):
    """Say it to Sphinx, so that no directive stands in the Markdown."""
    if docname.rsplit("/", 1)[-1] in ("index", "README") and (entries := ENTRY.findall(source[0])):
        listed = "\n".join(f"{title} <{page}>" for title, page in entries)
        source[0] += f"\n```{{toctree}}\n:hidden:\n\n{listed}\n```\n"
