"""The site: the pages of this folder, the notebooks as they are kept, and the reference."""

import re
import shutil
import sys
from pathlib import Path

DOCS = Path(__file__).parent
ROOT = DOCS.parent
sys.path.insert(0, str(DOCS))

from write_api import is_called, listed, public

import bayes_arena

project = "bayes_arena"
author = "The bayes_arena developers"
release = bayes_arena.__version__
extensions = [
    "myst_nb",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.viewcode",
    "sphinx_codeautolink",
    "sphinx_copybutton",
]
exclude_patterns = ["_build", "api.md"]
suppress_warnings = ["mystnb.unknown_mime_type"]
nb_execution_mode = "off"
myst_heading_anchors = 3
autosummary_generate = False
python_maximum_signature_line_length = 80
html_theme = "furo"
html_title = "bayes_arena"
codeautolink_autodoc_inject = False
codeautolink_global_preface = "import bayes_arena as ba"
codeautolink_concat_default = True
codeautolink_warn_on_failed_resolve = False
