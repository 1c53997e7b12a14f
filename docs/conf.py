"""How the documentation is built: ``uv run nox -s docs``. Neither the build nor its pages fetch anything."""

import sys
from pathlib import Path

from pygments.lexers.special import TextLexer

sys.path.insert(0, str(Path(__file__).parent))

from machinery import commands, contents, links, llms, mathml, notebooks, reference

from bayes_arena import __version__

project = "bayes_arena"
author = "the authors of bayes_arena"
copyright = "the authors of bayes_arena, MIT licence"
version = release = __version__

extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.autosummary", "sphinx.ext.napoleon"]
exclude_patterns = ["_build", "machinery"]
nitpicky = True
nitpick_ignore_regex = [("py:.*", r"(?!bayes_arena).*")]  # of other packages: looking them up needs a network

myst_enable_extensions = ["colon_fence", "dollarmath", "deflist"]
myst_heading_anchors = 3
nb_execution_mode = "off"  # their outputs are kept, and tests/test_notebooks.py holds them to what a run shows

autosummary_generate = False
autodoc_typehints = "none"  # the text says them, with shapes and units
autodoc_member_order = "bysource"
napoleon_google_docstring = False
napoleon_use_param = False
napoleon_use_rtype = False
napoleon_custom_sections = [("Attributes", "returns_style")]  # their types are words, not names to link

html_theme = "pydata_sphinx_theme"
html_title = "bayes_arena"
html_static_path = ["static"]
html_css_files = ["wide.css"]
html_show_sourcelink = False
html_copy_source = False
html_math_renderer = "mathml"
html_theme_options = {
    "header_links_before_dropdown": 9,
    "show_prev_next": False,
    "navigation_with_keys": False,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}


def setup(app):
    """Write the pages that are made from the package, and what is made from the pages."""
    mathml.setup(app)
    app.add_lexer("mermaid", TextLexer)  # diagrams that GitHub draws; shown as text here
    for page in (reference, commands, notebooks):
        app.connect("builder-inited", page.write)
    app.connect("source-read", notebooks.link)
    app.connect("source-read", contents.add)
    app.connect("missing-reference", links.resolve)
    app.connect("build-finished", reference.require_complete)
    app.connect("build-finished", llms.write)
