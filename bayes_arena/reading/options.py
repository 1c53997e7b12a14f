"""How votes are to be read."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Literal, TypedDict

from bayes_arena.errors import VotesError, did_you_mean, shortened
from bayes_arena.said import Use

type Columns = str | Sequence[str]
type Weights = Literal["frequency", "importance"]
type BothBad = Literal["tie", "drop"]
type OnInvalid = Literal["raise", "drop"]
type Rule = tuple[str, Callable[[Any], bool]]  # what a value must be, and whether it is


class ReadOptions(TypedDict, total=False):
    """The options of ``read_votes``, for functions that pass them on; None is none."""

    layout: str | None
    a: str | None
    b: str | None
    winner: Columns | None
    annotator: str | Literal[False] | None
    weight: str | None
    weights: Weights | None
    prompt: str | Literal[False] | None
    slices: Mapping[str, str] | Columns | None
    features: Mapping[str, Columns] | Columns | None
    outcomes: Mapping[str, str] | None
    both_bad: BothBad | None
    baseline: str | None
    judge: str | None
    names: Mapping[str, str] | None
    on_invalid: OnInvalid | None


@dataclass(frozen=True)
class Options:
    """The options of ``read_votes``, checked."""

    layout: str | None = None
    a: str | None = None
    b: str | None = None
    winner: Columns | None = None
    annotator: str | Literal[False] | None = None
    weight: str | None = None
    weights: Weights = "frequency"
    prompt: str | Literal[False] | None = None
    slices: Mapping[str, str] | Columns = ()
    features: Mapping[str, Columns] | Columns = ()
    outcomes: Mapping[str, str] | None = None
    both_bad: BothBad = "tie"
    baseline: str | None = None
    judge: str | None = None
    names: Mapping[str, str] | None = None
    on_invalid: OnInvalid = "raise"

    def __post_init__(self) -> None:
        """Refuse values of the wrong type."""
        for name, (kind, is_right) in RULES.items():
            value = getattr(self, name)
            if value == "" or not is_right(value):
                raise VotesError(
                    (Use(name), f" must be {kind}, not {shortened(repr(value))}.")
                )

    @property
    def unranked_last(self) -> bool:
        """Whether competitors without a rank are last."""
        return (self.outcomes or {}).get("unranked") == "last"

    @property
    def labels(self) -> dict[str, str]:
        """The meanings of labels, without that of missing ranks."""
        labels = dict(self.outcomes or {})
        if self.unranked_last:
            del labels["unranked"]
        return labels

    @property
    def named(self) -> set[str]:
        """The names of columns that are given."""
        winner = self.winner.split(",") if isinstance(self.winner, str) else self.winner
        single = (self.a, self.b, self.annotator, self.weight, self.prompt, self.winner)
        names = {name for name in single if isinstance(name, str)}
        names |= {name.strip() for name in winner or ()}
        for role in ("slices", "features"):
            for column in self.by_role(role).values():
                names |= {column} if isinstance(column, str) else set(column)
        return names

    def by_role(self, name: str) -> dict[str, Any]:
        """Return the columns of ``slices`` or ``features`` by name, sorted."""
        given = getattr(self, name)
        given = [given] if isinstance(given, str) else given
        named = given if isinstance(given, Mapping) else {each: each for each in given}
        return dict(sorted(named.items()))


def is_text(value: Any) -> bool:
    """Whether a value is text, or not given."""
    return isinstance(value, str | None)


def is_text_or_false(value: Any) -> bool:
    """Whether a value is text, False or not given."""
    return value is False or is_text(value)


def are_names(value: Any) -> bool:
    """Whether a value is a list of names."""
    return isinstance(value, Sequence) and all(each and is_text(each) for each in value)


def are_winners(value: Any) -> bool:
    """Whether a value is a name, several names, or not given."""
    return is_text(value) or (are_names(value) and len(value) > 1)


def are_columns(value: Any) -> bool:
    """Whether a value is a name, a list of names, or a mapping of names to columns."""
    if not isinstance(value, Mapping):
        return are_names(value)
    columns = value.values()
    return are_names([*value]) and all(is_column_or_pair(each) for each in columns)


def are_new_names(value: Any) -> bool:
    """Whether a value maps names to names, or is not given."""
    if not isinstance(value, Mapping):
        return value is None
    return are_names([*value]) and are_names([*value.values()])


def is_column_or_pair(value: Any) -> bool:
    """Whether a value is a name or two."""
    return isinstance(value, str) or (are_names(value) and len(value) == 2)


def choice(*values: str) -> Rule:
    """Return the rule of an option with few values."""
    return " or ".join(map(repr, values)), lambda value: value in values


RULES: dict[str, Rule] = {
    **dict.fromkeys(
        ("layout", "a", "b", "weight", "baseline", "judge"), ("text", is_text)
    ),
    **dict.fromkeys(("annotator", "prompt"), ("text or False", is_text_or_false)),
    **dict.fromkeys(("slices", "features"), ("names of columns", are_columns)),
    "winner": ("a name or several", are_winners),
    "outcomes": (
        "a mapping of labels to outcomes",
        lambda value: isinstance(value, Mapping | None),
    ),
    "names": ("a mapping of names to names", are_new_names),
    "weights": choice("frequency", "importance"),
    "both_bad": choice("tie", "drop"),
    "on_invalid": choice("raise", "drop"),
}
NAMES = tuple(each.name for each in fields(Options))


def require_options(given: Collection[str], known: Collection[str] = NAMES) -> None:
    """Refuse names that are no options."""
    for name in sorted(set(given).difference(known)):
        raise VotesError(f"There is no option {name!r}.{did_you_mean(name, known)}")


def options_from(given: ReadOptions) -> Options:
    """Return options by name, of which None stands for none; refuse unknown names."""
    require_options(given)
    named: dict[str, Any] = {
        k: value for k, value in given.items() if value is not None
    }
    return Options(**named)
