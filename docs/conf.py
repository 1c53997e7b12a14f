"""The site, built by ``nox -s docs``; ``write_site.py`` has what goes beyond settings."""

import sys
from pathlib import Path

import bayes_arena

sys.path.insert(0, str(Path(__file__).parent))  # for write_site

project = "bayes_arena"
author = project_copyright = "The bayes_arena developers"
release = bayes_arena.__version__
extensions = [
    "myst_nb",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.viewcode",
    "sphinx_codeautolink",
    "sphinx_copybutton",
    "write_site",
]
exclude_patterns = ["_build", "api.md"]
nitpicky = True
nitpick_ignore_regex = [("py:class", ".*")]  # annotations of types without a page
highlight_language = "none"  # of blocks that name none
smartquotes = False  # quotes stand in types, and two hyphens before options
html_theme = "furo"
html_title = "bayes_arena"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_extra_path = ["api.md"]  # for programs that read llms.txt
pygments_dark_style = "github-dark"

# Pages and notebooks.
myst_heading_anchors = 3  # as on a code host
nb_execution_mode = "off"  # notebooks are kept with what they print
copybutton_prompt_text = r"\$ |>>> "
copybutton_prompt_is_regexp = True
codeautolink_global_preface = "import bayes_arena as ba"
codeautolink_concat_default = True
suppress_warnings = ["codeautolink.parse_block"]  # of a notebook's %matplotlib

# The reference.
add_module_names = False
autodoc_member_order = "bysource"
autosummary_generate = False  # write_site does
numpydoc_class_members_toctree = False
numpydoc_show_class_members = False
numpydoc_xref_param_type = True
numpydoc_xref_ignore = "all"
python_maximum_signature_line_length = 80
toc_object_entries_show_parents = "hide"
