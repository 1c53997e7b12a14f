"""How votes are to be read."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Literal

from bayes_arena.errors import VotesError, did_you_mean, shortened

type Columns = str | Sequence[str]


@dataclass(frozen=True)
class Options:
    """The options of ``read_votes``, checked."""

    layout: str | None = None
    a: str | None = None
    b: str | None = None
    winner: Columns | None = None
    annotator: str | Literal[False] | None = None
    weight: str | None = None
    weights: str = "frequency"
    prompt: str | Literal[False] | None = None
    slices: Mapping[str, str] | Columns = ()
    features: Mapping[str, Columns] | Columns = ()
    outcomes: Mapping[str, str] | None = None
    both_bad: str = "tie"
    baseline: str | None = None
    judge: str | None = None
    on_invalid: str = "raise"

    def __post_init__(self) -> None:
        """Refuse values of the wrong type."""
        for name in ("layout", "a", "b", "weight", "baseline", "judge"):
            self.require(name, "text", isinstance(getattr(self, name), str | None))
        for name in ("annotator", "prompt"):
            value = getattr(self, name)
            self.require(
                name, "text or False", value is False or isinstance(value, str | None)
            )
        self.require(
            "winner", "a name or several", self.winner is None or are_names(self.winner)
        )
        for name in ("slices", "features"):
            self.require(name, "names of columns", are_columns(getattr(self, name)))
        is_mapping = self.outcomes is None or isinstance(self.outcomes, Mapping)
        self.require("outcomes", "a mapping of labels to outcomes", is_mapping)
        self.require_one_of("weights", ("frequency", "importance"))
        self.require_one_of("both_bad", ("tie", "drop"))
        self.require_one_of("on_invalid", ("raise", "drop"))

    def require(self, name: str, kind: str, is_right: bool) -> None:
        """Refuse an option that is not what it has to be."""
        if not is_right or getattr(self, name) == "":
            value = shortened(repr(getattr(self, name)))
            raise VotesError(f"{name}= must be {kind}, not {value}.")

    def require_one_of(self, name: str, choices: Sequence[str]) -> None:
        """Refuse an option that is not one of the choices."""
        value = getattr(self, name)
        if not isinstance(value, str) or value not in choices:
            raise VotesError(
                f"{name}= must be {' or '.join(map(repr, choices))}, not {value!r}."
            )

    def by_role(self, name: str) -> dict[str, Any]:
        """Return the columns of ``slices`` or ``features`` by name, sorted."""
        given = getattr(self, name)
        given = [given] if isinstance(given, str) else given
        named = given if isinstance(given, Mapping) else {each: each for each in given}
        return dict(sorted(named.items()))


NAMES = tuple(each.name for each in fields(Options))


def options_from(given: Mapping[str, Any]) -> Options:
    """Return options by name, of which None stands for none; refuse unknown names."""
    if unknown := sorted(given.keys() - set(NAMES)):
        name = unknown[0]
        raise VotesError(f"There is no option {name!r}.{did_you_mean(name, NAMES)}")
    return Options(
        **{name: value for name, value in given.items() if value is not None}
    )


def are_names(value: Any) -> bool:
    """Whether a value is a name or a list of names."""
    if isinstance(value, str):
        return bool(value)
    return (
        isinstance(value, Sequence)
        and len(value) > 1
        and all(isinstance(each, str) and each for each in value)
    )


def are_columns(value: Any) -> bool:
    """Whether a value is a name, a list of names, or a mapping of names to columns."""
    if isinstance(value, Mapping):
        return all(
            isinstance(name, str)
            and name
            and (isinstance(each, str) or (are_names(each) and len(each) == 2))
            for name, each in value.items()
        )
    return isinstance(value, str) or (
        isinstance(value, Sequence) and all(isinstance(each, str) for each in value)
    )


def for_terminal(message: str) -> str:
    """Return a message with the options spelled as a terminal takes them.

    ``winner='x'`` becomes ``--winner x``, ``winner=[x, y]`` ``--winner x,y``,
    ``prompt=False`` ``--no-prompt``, and ``outcomes={'0': 'tie'}`` ``--outcome 0=tie``.
    """
    words = {"outcomes": "outcome", "slices": "slice"}

    def spelled(match: re.Match[str]) -> str:
        name, value = match["name"], match["value"] or ""
        option = words.get(name, name).replace("_", "-")
        if value == "False":
            return f"--no-{option}"
        value = re.sub(r"'([^']*)': '([^']*)'", r"\1=\2", value.strip("{}[]"))
        value = value.strip("'").replace(", ", ",")
        return f"--{option} {value}".rstrip()

    options = "|".join(NAMES)
    value = r"False|'[^']*'|\[[^]]*\]|\{[^}]*\}"
    return re.sub(rf"\b(?P<name>{options})=(?P<value>{value})?", spelled, message)
