"""What the program says, as data: text, remedies and notes, spelled where they are read.

A remedy is an argument or a call.  Python reads ``prior='default'`` and
``ba.held_out(over='vote')`` where a terminal reads ``--prior default`` and ``bayes-arena
compare --over vote``: a *surface* spells remedies in its own words, and has none for what it
lacks.  Nothing that is said is ever read back: what a program asks for is a kind.

A text is a string, or a tuple of strings and remedies.  A tuple within it is an aside, or a
sentence of its own, which a surface that lacks a remedy in it leaves out as a whole:

>>> text = ("Weighing them", (" (", Use(model="am-davidson"), ")"), " would move 'a'.")
>>> sentence(text)
"Weighing them (model='am-davidson') would move 'a'."
>>> sentence(text, surface=NOWHERE)
"Weighing them would move 'a'."
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, Protocol

type Remedy = Use | Call
type Said = str | Remedy | tuple[Said, ...]
type Arguments = tuple[tuple[str, object], ...]

# What notes and warnings are about.
type Kind = Literal[
    # notes on a board, in the order in which they are given
    "since",  # what changed since a former board
    "sides",  # each pair was shown one way only
    "winners_first",  # rows seem to list the winner first
    "frontier",  # who is the cheapest that nobody is surely better than
    "about",  # who stands on the board, or in the table about competitors, only
    "gaps",  # votes without an annotator, or without a prompt
    "direction",  # about as many votes follow the reverse of the ranking
    "annotators",  # who is anomalous or has a favourite; or nobody was judged
    "groups",  # annotators of two groups rank differently
    "contested",  # annotators disagree about a competitor
    "boards",  # the boards of equal and of unequal votes differ
    "pairs",  # results that no ranking explains
    "allowance",  # what intervals allow for
    "intervals",  # what they do not allow for
    "ranks",  # who has no rank
    "advantage",  # of the side that is shown first
    # remarks on a file of votes
    "other_winner",  # another column may hold the winner
    "unread_weight",  # a column of numbers of votes is not read
    "unread_ties",  # a column of ties is not read
    "copies",  # rows that equal another
    "names_alike",  # names that differ by case or spaces
    "merged_names",  # names that were read as one
    "case",  # winners were matched without regard to case
    "mixed_grades",  # some verdicts have grades and others none
    "unranked",  # competitors without a rank in rankings
    "left_out",  # rows, votes or competitors that were left out
    "mirrors",  # games that have two rows
    # warnings
    "infinite",  # no finite estimate under a flat prior
    "disconnected",  # groups of competitors were never compared
    "single_votes",  # hardly any annotator voted twice
    "prior",  # scores depend on the prior
    "sampling",  # chains disagree, diverge, or stand still
    "unread_draws",  # variables of own draws that no effect has the name of
    "no_board",  # a level of a slice cannot be fitted
    "single_values",  # a tree has no values of single votes
    "known_votes",  # votes added to an arena equal stored ones
    "remarks",  # on the file: `check` has them
    "note",  # of a table or figure of the paper
]


@dataclass(frozen=True, init=False)
class Use:
    """Arguments of the call at hand: ``Use(prior="default")``; by name ``Use("weight")``."""

    arguments: Arguments

    def __init__(self, *names: str, **values: object) -> None:
        object.__setattr__(self, "arguments", arguments_of(names, values))


@dataclass(frozen=True, init=False)
class Call:
    """Another call: ``Call("held_out", over="vote")``; a method as ``"votes.keep"``."""

    name: str
    arguments: Arguments

    def __init__(self, name: str, /, *names: str, **values: object) -> None:
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "arguments", arguments_of(names, values))


def arguments_of(names: Iterable[str], values: dict[str, object]) -> Arguments:
    """Return arguments: those that are only named, ``weight=``, have the value ``...``."""
    return (*((name, ...) for name in names), *values.items())


class Surface(Protocol):
    """Where something is read: each method returns None for what the surface lacks."""

    def use(self, remedy: Use) -> str | None:
        """Return arguments as they are typed here."""

    def call(self, remedy: Call) -> str | None:
        """Return a call as it is typed here."""


@dataclass(frozen=True)
class Python:
    """The surface of Python, which has every argument and call."""

    def use(self, remedy: Use) -> str:
        """Return ``prior='default'``."""
        return in_python(remedy.arguments)

    def call(self, remedy: Call) -> str:
        """Return ``ba.held_out(..., over='vote')``, or ``votes.keep(more_than=5)``."""
        arguments = in_python(remedy.arguments)
        if "." in remedy.name:
            return f"{remedy.name}({arguments})"
        return f"ba.{remedy.name}({', '.join(filter(None, ['...', arguments]))})"


def in_python(arguments: Arguments) -> str:
    """Return arguments as Python has them."""
    words = []
    for name, value in arguments:
        words.append(f"{name}=" if value is ... else f"{name}={value!r}")
    return ", ".join(words)


@dataclass(frozen=True)
class Nowhere:
    """A surface where nothing can be typed: a page, a file."""

    def use(self, remedy: Use) -> None:
        """Return None."""

    def call(self, remedy: Call) -> None:
        """Return None."""


PYTHON, NOWHERE = Python(), Nowhere()


def joined(*texts: Said) -> Said:
    """Return texts one after the other, as one."""
    parts: list[Said] = []
    for text in texts:
        parts += text if isinstance(text, tuple) else [text]
    return tuple(parts)


def spelled(said: Said, surface: Surface) -> str | None:
    """Return what is said in the words of a surface; None where it lacks a remedy."""
    if isinstance(said, str):
        return said
    if isinstance(said, Use):
        return surface.use(said)
    if isinstance(said, Call):
        return surface.call(said)
    words = []
    for part in said:
        text = spelled(part, surface)
        if text is not None:
            words.append(text)
        elif not isinstance(part, tuple):
            return None
    return "".join(words)


def sentence(
    text: Said, remedies: Iterable[Remedy] = (), surface: Surface = PYTHON
) -> str:
    """Return text, and the remedies that a surface has, as a person reads them there.

    What a text cannot do without is spelled for Python where the surface lacks it.
    """
    words = spelled(text, surface)
    if words is None:
        words = f"{spelled(text, PYTHON)}"
    ways = [way for remedy in remedies if (way := spelled(remedy, surface))]
    return f"{words} Use {', or '.join(ways)}." if ways else words


@dataclass(frozen=True, repr=False)
class Note:
    """What a reader has to know: its kind, the sentence, and the call that tells more."""

    kind: Kind
    text: Said
    remedies: tuple[Remedy, ...] = ()
    more: Call | None = None

    def __str__(self) -> str:
        """Return the sentence, in the words of Python."""
        return self.spelled(PYTHON)

    def __repr__(self) -> str:
        """Return kind and sentence."""
        return f"Note({self.kind!r}, {str(self)!r})"

    def spelled(self, surface: Surface) -> str:
        """Return the sentence in the words of a surface."""
        return sentence(self.text, self.remedies, surface)

    def row(self, surface: Surface = PYTHON) -> dict[str, str]:
        """Return kind and text, as JSON has them."""
        return {"kind": self.kind, "text": self.spelled(surface)}
