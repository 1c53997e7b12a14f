"""Messages of Python in the words of the command line: prior='flat' is --prior flat."""

from __future__ import annotations

import re

from bayes_arena.votes.options import for_terminal

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
)
ARGUMENT = re.compile(
    rf"\b(?P<name>{'|'.join(OPTIONS)})="
    r"(?P<value>'[^']*'|\(?'[^']*',?\)|\d[\d.]*\b)?"
)
CALL = re.compile(r",? or (votes\.keep|leaderboards)\([^()]*(\([^()]*\))?[^()]*\)")


def spelled(message: str) -> str:
    """Return a message with arguments as options, and without calls of Python."""
    message = CALL.sub("", message)
    return ARGUMENT.sub(option, for_terminal(message))


def option(match: re.Match[str]) -> str:
    """Return an argument of Python as an option."""
    name = match["name"].replace("_", "-")
    value = (match["value"] or "").strip("(),'").removesuffix("',")
    return f"--{name} {value}".rstrip()
