"""Messages of Python in the words of the command line: prior='flat' is --prior flat."""

from __future__ import annotations

import re
import shlex

from bayes_arena.reading import options

OPTIONS = (
    "model",
    "ties",
    "prior",
    "method",
    "strength_by",
    "style",
    "seed",
    "interval",
    "cluster",
    "level",
    "min_votes",
    "anchor",
    "init",
    "without",
    "delta",
    "epsilon",
    "by",
    "between",
    "require",
    "margin",
    "goal",
    "count",
    "makers",
    "over",
    "format",
)
OTHER_WORDS = {
    "outcomes": "outcome",
    "slices": "slice",
    "features": "style",
    "names": "rename",
}
NAMES = "|".join((*OPTIONS, *options.NAMES))
VALUE = r"False|'[^']*'|\(?'[^']*',?\)|\d[\d.]*\b|\[[^]]*\]|\{[^}]*\}"
ARGUMENT = re.compile(rf"\b(?P<name>{NAMES})=(?P<value>{VALUE})?")
SUBJECT = re.compile(
    rf"^(?P<name>{'|'.join(OPTIONS)})(?= must )"
)  # "min_votes must not be negative"
KEEP = re.compile(r"votes\.keep\(more_than=(\d+)\)")  # --delta in a terminal
CALL = re.compile(
    r",? or (use )?(votes\.keep|leaderboards)\([^()]*(\([^()]*\))?[^()]*\)"
)


def spelled(message: str) -> str:
    """Return a message with arguments as options, and without calls of Python.

    ``winner='x'`` becomes ``--winner x``, ``winner=[x, y]`` ``--winner x,y``,
    ``prompt=False`` ``--no-prompt``, and ``outcomes={'0': 'tie'}`` ``--outcome 0=tie``.
    """
    message = CALL.sub("", KEEP.sub(r"--delta \1", message))
    return ARGUMENT.sub(option, SUBJECT.sub(option, message))


def option(match: re.Match[str]) -> str:
    """Return an argument of Python as an option."""
    name = OTHER_WORDS.get(match["name"], match["name"]).replace("_", "-")
    value = match.groupdict().get("value") or ""
    if value == "False":
        return f"--no-{name}"
    value = re.sub(r"'([^']*)': '([^']*)'", r"\1=\2", value.strip("(){}[]"))
    value = value.removesuffix(",").strip("'").replace(", ", ",")
    return f"--{name} {shlex.quote(value) if ' ' in value else value}".rstrip()
