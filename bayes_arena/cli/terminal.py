"""The surface of a command: arguments are its options, calls are other commands.

What a command lacks has no words there: :class:`Terminal` returns None for it.
"""

from __future__ import annotations

import shlex
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from bayes_arena.said import Arguments, Call, Use

# Arguments of Python whose options have other names, or which a command has in the plural.
OTHER_NAMES = {
    "slices": "slice",
    "outcomes": "outcome",
    "features": "style",
    "names": "rename",
    "more_than": "delta",
    "model": "models",
}
REPEATED = ("slice", "outcome", "rename", "strength_by", "style")  # an option for each
COMMANDS = {
    "rate": "rank",
    "pairs": "pairs",
    "next_pairs": "next",
    "annotators": "annotators",
    "leaderboard": "boards",
    "held_out": "compare",
    "compare": "compare",
    "check": "check",
    "diagnose": "diagnose",
    "report": "report",
}
OF_THE_FIT = ("pairs",)  # calls about the fit at hand, whose columns --explain shows
# Calls whose commands can leave annotators out.
LEAVING_OUT = ("rate", "pairs", "next_pairs", "annotators", "leaderboard", "report")


@dataclass(frozen=True)
class Terminal:
    """The words of a command.

    Attributes
    ----------
    options : collection of str
        Its options that have an effect, by the names of the arguments.
    positional : collection of str
        The arguments that are typed without a name.
    votes : str
        Its files, and how they are read, as words of a command.
    fitting : str
        What is fitted to them, as words of a command.
    without : str, optional
        Whose votes it leaves out; commands of boards and annotators leave them out, too.
    """

    options: Collection[str]
    positional: Collection[str] = ()
    votes: str = ""
    fitting: str = ""
    without: str | None = None

    def use(self, remedy: Use) -> str | None:
        """Return ``--prior default``."""
        words = [self.option(name, value) for name, value in remedy.arguments]
        known = [word for word in words if word is not None]
        return " ".join(known) if len(known) == len(words) else None

    def call(self, remedy: Call) -> str | None:
        """Return ``bayes-arena compare votes.csv --over vote``; ``--delta 5`` for keep."""
        if remedy.name == "votes.keep":
            return self.use(Use(**dict(remedy.arguments)))
        options = in_words(remedy.arguments)
        if remedy.name not in COMMANDS:
            return None
        votes = self.votes
        if self.without is not None and remedy.name in LEAVING_OUT:
            votes += f" {written('without', self.without)}"
        if remedy.name in OF_THE_FIT:
            votes += f"{self.fitting} --explain"
        return f"bayes-arena {COMMANDS[remedy.name]}{votes}{options}"

    def option(self, name: str, value: object) -> str | None:
        """Return an argument as it is typed; None if the command has none."""
        if name in self.positional:
            return name.upper() if value is ... else shlex.quote(plain(value))
        for option in (name, OTHER_NAMES.get(name, name)):
            known = f"no_{option}" if value is False else option
            if known in self.options:
                return written(known, value)
        return None


def in_words(arguments: Arguments) -> str:
    """Return arguments as options, each after a space."""
    return "".join(f" {written(name, value)}" for name, value in arguments)


def written(name: str, value: object) -> str:
    """Return an option with its value, quoted for a shell."""
    flag = f"--{name.replace('_', '-')}"
    if value is ... or isinstance(value, bool):
        return flag
    return " ".join(f"{flag} {words}" for words in values_of(name, value))


def values_of(name: str, value: object) -> Iterator[str]:
    """Yield what follows an option, each time that it is typed."""
    if isinstance(value, Mapping):
        for key, entry in value.items():
            yield shlex.quote(f"{key}={plain(entry)}")
    elif name == "between" and isinstance(value, tuple | list):
        yield shlex.join(map(str, value))
    elif name in REPEATED and isinstance(value, tuple | list):
        for entry in value:
            yield shlex.quote(plain(entry))
    else:
        yield shlex.quote(plain(value))


def plain(value: object) -> str:
    """Return a value as an option has it: several with commas, and a blank as dots."""
    if isinstance(value, tuple | list):
        return ",".join(map(str, value))
    if isinstance(value, float):
        return f"{value:g}"
    return "..." if value is ... else str(value)
