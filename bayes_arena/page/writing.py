"""The page as HTML, with a policy that lets a browser run and load nothing but what is in it.

Names are always shown as text: the template escapes them, characters that control or hide text become Python's escapes,
and a browser accepts only the script and the style whose hashes are in the policy.
"""

from __future__ import annotations

import math
from base64 import b64encode
from collections.abc import Mapping
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import TYPE_CHECKING

from markupsafe import Markup, escape

from bayes_arena import markup
from bayes_arena.decisions.verdict import more
from bayes_arena.errors import printable
from bayes_arena.page import figures
from bayes_arena.page.board import shown_first
from bayes_arena.votes.reading.checks import FEW_VOTES

if TYPE_CHECKING:
    from jinja2 import Template

ICON = (
    "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Cpath stroke='%230b5cad' "
    "stroke-width='2' d='M1 4h9M4 8h9M2 12h8'/%3E%3C/svg%3E"
)
"""Icon of the browser's tab; without one a browser asks a server for it."""


def write_html(contents: Mapping[str, object], **about: object) -> str:
    """Return the page; ``about`` has the other values that the template shows."""
    style, script = (_asset(name) for name in ("style.css", "script.js"))
    policy = (
        f"default-src 'none'; img-src data:; style-src '{_digest(style)}'; script-src '{_digest(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )
    return _template().render(
        page=contents, policy=policy, icon=ICON, style=Markup(style), script=Markup(script), **about
    )


def framed(html: str) -> str:
    """Return a page in a frame, for a notebook."""
    return f'<iframe title="Report" srcdoc="{escape(html)}" width="100%" height="800" style="border:0"></iframe>'


@cache
def _asset(name: str) -> str:
    return files("bayes_arena.page").joinpath("templates", name).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    """Return the hash by which a policy names a script or style."""
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"


@cache
def _template() -> Template:
    from jinja2 import DictLoader, Environment, StrictUndefined

    environment = Environment(
        loader=DictLoader({"page": _asset("page.html"), "parts": _asset("parts.html")}),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_readable,
    )
    environment.filters |= {"percent": percent, "count": count, "fixed": fixed, "chance": chance, "said": said}
    environment.globals |= {"figures": figures, "more": more, "enough": FEW_VOTES, "shown_first": shown_first}
    return environment.get_template("page")


def _readable(value: object) -> object:
    """Escape characters that control how text is shown, such as line breaks and its direction."""
    return printable(value) if type(value) is str else value


def count(value: float) -> str:
    """Write a number of votes or of competitors."""
    return f"{value:,.0f}" if value >= 100 or float(value).is_integer() else f"{value:,.1f}"


def percent(share: float, spec: str = ".0f") -> Markup:
    """Write a share that no line breaks."""
    return Markup(markup.percent(share, spec).replace(" ", "&nbsp;"))


def fixed(value: float, digits: int = 0) -> str:
    """Write a number with so many decimals; zero has no minus sign."""
    return f"{round(value, digits) + 0.0:.{digits}f}"


def chance(value: float) -> Markup:
    """Write a probability, rounded down, so that it reaches a level only if it does; it is never 0 or 1."""
    if value < 0.01:
        return Markup("&lt;1&nbsp;%")
    return Markup("&gt;99&nbsp;%") if value > 0.99 else percent(math.floor(100 * value + 1e-9) / 100)


def said(value: float) -> Markup:
    """Write a probability in a sentence."""
    return chance(value).replace("&lt;", "less than ").replace("&gt;", "more than ")
