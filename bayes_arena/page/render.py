"""The page as HTML, with a policy that lets a browser run and load only what is in it.

Names are text: the template escapes them, characters that control or hide text become
Python's escapes, and a browser accepts only the script and style whose hashes are in
the policy.
"""

from __future__ import annotations

from base64 import b64encode
from hashlib import sha256
from importlib.resources import files
from typing import TYPE_CHECKING

from markupsafe import Markup

from bayes_arena import palette
from bayes_arena.columns import fact, votes_needed
from bayes_arena.errors import printable
from bayes_arena.page import figures

if TYPE_CHECKING:
    from jinja2 import Environment

    from bayes_arena.page.contents import Contents

# The icon of the browser's tab: without one a browser asks a server for it.
ICON = (
    "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' "
    "viewBox='0 0 16 16'%3E%3Cpath stroke='%230b5cad' stroke-width='2' "
    "d='M1 4h9M4 8h9M2 12h8'/%3E%3C/svg%3E"
)


def render(contents: Contents) -> str:
    """Return the page."""
    light = palette.css_variables(palette.LIGHT)
    dark = palette.css_variables(palette.DARK)
    colours = f"{light}\n@media (prefers-color-scheme: dark) {{ {dark} }}\n"
    style = colours + asset("style.css")
    script = asset("script.js")
    if contents.slices:
        style += asset("slices.css")
        script += asset("slices.js")
    if contents.about:
        style += asset("about.css")
        script += asset("about.js")
    # Nothing is loaded from elsewhere, and nothing runs but this style and script.
    policy = (
        f"default-src 'none'; img-src data:; style-src '{digest(style)}'; "
        f"script-src '{digest(script)}'; base-uri 'none'; form-action 'none'"
    )
    template = environment().get_template("page")
    return template.render(
        page=contents,
        policy=policy,
        icon=ICON,
        style=Markup(style),
        script=Markup(script),
        figures=figures,
        palette=palette,
    )


def environment() -> Environment:
    """Return the settings of the template."""
    from jinja2 import DictLoader, Environment, StrictUndefined

    names = ("page", "parts", "slices", "about")
    templates = {name: asset(f"{name}.html") for name in names}
    settings = Environment(
        loader=DictLoader(templates),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=visible,
    )
    settings.filters |= {
        "percent": percent,
        "count": count,
        "fixed": fixed,
        "number": fact,
        "signed": signed,
        "download": download,
        "chance": chance,
        "votes_needed": votes_needed,
    }
    return settings


def download(text: str) -> str:
    """Return the address of JSON that is in the page."""
    return f"data:application/json;base64,{b64encode(text.encode()).decode()}"


def asset(name: str) -> str:
    """Return the text of a file beside the template."""
    folder = files("bayes_arena.page").joinpath("templates")
    return folder.joinpath(name).read_text(encoding="utf-8")


def digest(text: str) -> str:
    """Return the hash by which a policy names a script or style."""
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"


def visible(value: object) -> object:
    """Escape characters that control how text is shown, such as its direction."""
    return printable(value) if type(value) is str else value


def count(value: float) -> str:
    """Write a number of votes or of competitors."""
    is_whole = value >= 100 or float(value).is_integer()
    return f"{value:,.0f}" if is_whole else f"{value:,.1f}"


def percent(share: float, spec: str = ".0f") -> Markup:
    """Write a share that no line breaks."""
    return Markup(f"{100 * share:{spec}}&nbsp;%")


def fixed(value: float, digits: int = 0) -> str:
    """Write a number with so many decimals; zero has no minus sign."""
    return f"{round(value, digits) + 0.0:.{digits}f}".replace("-", "\N{MINUS SIGN}")


def signed(value: float) -> str:
    """Write a change in whole numbers, with its sign."""
    return f"+{fixed(value)}" if round(value) > 0 else fixed(value)


def chance(value: float) -> str:
    """Write a probability, never as 0 or 1."""
    if value < 0.01:
        return "<0.01"
    if value > 0.99:
        return ">0.99"
    return f"{value:.2f}"
