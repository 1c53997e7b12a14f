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
)
NAMES = "|".join(OPTIONS)
ARGUMENT = re.compile(
    rf"\b(?P<name>{NAMES})=(?P<value>'[^']*'|\(?'[^']*',?\)|\d[\d.]*\b)?"
)
SUBJECT = re.compile(
    rf"^(?P<name>{NAMES})(?= must )"
)  # "min_votes must not be negative"
KEEP = re.compile(r"votes\.keep\(more_than=(\d+)\)")  # --delta in a terminal
CALL = re.compile(
    r",? or (use )?(votes\.keep|leaderboards)\([^()]*(\([^()]*\))?[^()]*\)"
)


def spelled(message: str) -> str:
    """Return a message with arguments as options, and without calls of Python."""
    message = CALL.sub("", KEEP.sub(r"--delta \1", message))
    message = SUBJECT.sub(option, message)
    message = ARGUMENT.sub(option, for_terminal(message))
    return message.replace("--features", "--style")


def option(match: re.Match[str]) -> str:
    """Return an argument of Python as an option."""
    name = match["name"].replace("_", "-")
    value = (match.groupdict().get("value") or "").strip("(),'").removesuffix("',")
    return f"--{name} {value}".rstrip()
