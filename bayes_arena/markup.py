"""Tables as HTML and Markdown, in which names show as text whatever they contain, and numbers as people read them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from html import escape

from bayes_arena.errors import printable

Shown = Mapping[str, Sequence[str]]
"""A table as people read it: heading to formatted values."""
SPECIAL = re.compile(r"([\\`*_\[\]<>&|~#$!])")
"""Characters that Markdown would not show as text."""


def html_table(shown: Shown, *, said: Iterable[str] = ()) -> str:
    """Return a table as a fragment of HTML without styles, after paragraphs about it."""
    head = "".join(f'<th scope="col">{html_text(name)}</th>' for name in shown)
    rows = ["".join(f"<td>{html_text(value)}</td>" for value in row) for row in zip(*shown.values(), strict=True)]
    body = [f"<tr>{row}</tr>" for row in rows]
    table = ["<table>", f"<thead><tr>{head}</tr></thead>", "<tbody>", *body, "</tbody>", "</table>"]
    return "\n".join([*map(html_paragraph, filter(None, said)), *table]) + "\n"


def html_facts(facts: Mapping[str, object], *, said: Iterable[str] = ()) -> str:
    """Return a table of names and values, without a heading, after paragraphs about it."""
    rows = [
        f'<tr><th scope="row">{html_text(str(what))}</th><td>{html_text(str(of))}</td></tr>'
        for what, of in facts.items()
    ]
    return "\n".join([*map(html_paragraph, filter(None, said)), "<table>", *rows, "</table>"]) + "\n"


def html_paragraph(text: str) -> str:
    """Return a paragraph."""
    return f"<p>{html_text(text)}</p>"


def html_text(text: str) -> str:
    """Return text that HTML shows as it is."""
    return escape(printable(text))


def markdown_table(shown: Shown, *, said: Iterable[str] = ()) -> str:
    """Return a table in Markdown, numbers to the right, after paragraphs about it."""
    rule = ["---" if has_words(values) else "---:" for values in shown.values()]
    body = [[markdown_text(value) for value in row] for row in zip(*shown.values(), strict=True)]
    lines = [f"| {' | '.join(row)} |" for row in [[markdown_text(name) for name in shown], rule, *body]]
    return "\n\n".join([*(markdown_text(each) for each in said if each), "\n".join(lines)]) + "\n"


def markdown_text(text: str) -> str:
    """Return text that Markdown shows as it is."""
    return SPECIAL.sub(r"\\\1", printable(text))


def has_words(values: Iterable[str]) -> bool:
    """Whether a column has words, not only numbers."""
    return any(character.isalpha() for value in values for character in value)


def percent(share: float, spec: str = ".0f") -> str:
    """Write a share, or a level with the spec g, as people read it: 95 %."""
    return f"{100 * share:{spec}} %"


def ranked(about: Mapping[str, str]) -> list[str]:
    """Say what a ranking is about: which slices or prompts, whose votes, when, for whom."""
    slices = " of ".join(about[word] for word in ("over", "slice") if word in about)
    worth = f", the votes worth {about['effective_votes']} of it" if "effective_votes" in about else ""
    said = {
        "on": slices,
        "by": about.get("crowd"),
        "with accounts capped at": about.get("cap"),
        "for the population": f"{about['population']}{worth}" if "population" in about else None,
        "as of": about.get("at"),
    }
    return [f"{word} {what}" for word, what in said.items() if what]


def ranges(first: Iterable[int], last: Iterable[int]) -> list[str]:
    """Write ranges of whole numbers: 1, 2–5."""
    return [f"{one}" if one == other else f"{one}–{other}" for one, other in zip(first, last, strict=True)]
