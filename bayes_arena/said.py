"""What the program says, as data: text, remedies and notes, spelled where they are read.

A remedy is an argument or a call.  Python reads ``prior='default'`` and
``ba.held_out(over='vote')`` where a terminal reads ``--prior default`` and ``bayes-arena
compare --over vote``: a *surface* spells remedies in its own words, and has none for what it
lacks.  Nothing that is said is ever read back: what a program asks for is a kind.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

type Remedy = Use | Call
type Said = str | tuple[str | Remedy, ...]


class Unset:
    """The value of an argument that is only named: ``weight=``."""

    def __repr__(self) -> str:
        """Return nothing, as such an argument is written."""
        return ""


UNSET = Unset()


@dataclass(frozen=True, init=False)
class Use:
    """Arguments of the call at hand: ``Use(prior="default")``; by name ``Use("weight")``."""

    arguments: tuple[tuple[str, object], ...]

    def __init__(self, *names: str, **values: object) -> None:
        arguments = (*((name, UNSET) for name in names), *values.items())
        object.__setattr__(self, "arguments", arguments)


@dataclass(frozen=True, init=False)
class Call:
    """Another call: ``Call("held_out", over="vote")``; a method as ``"votes.keep"``."""

    name: str
    arguments: tuple[tuple[str, object], ...]

    def __init__(self, name: str, /, *names: str, **values: object) -> None:
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "arguments", Use(*names, **values).arguments)


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
        return ", ".join(f"{name}={value!r}" for name, value in remedy.arguments)

    def call(self, remedy: Call) -> str:
        """Return ``ba.held_out(over='vote')``, or ``votes.keep(more_than=5)``."""
        owner = "" if "." in remedy.name else "ba."
        return f"{owner}{remedy.name}({self.use(Use(**dict(remedy.arguments)))})"


PYTHON = Python()


def parts_of(text: Said) -> tuple[str | Remedy, ...]:
    """Return the parts of a text."""
    return (text,) if isinstance(text, str) else text


def joined(*texts: Said) -> Said:
    """Return texts one after the other."""
    return tuple(part for text in texts for part in parts_of(text))


def spelled(part: str | Remedy, surface: Surface = PYTHON) -> str | None:
    """Return a part of what is said as a surface has it; None for what it lacks."""
    if isinstance(part, str):
        return part
    return surface.use(part) if isinstance(part, Use) else surface.call(part)


def sentence(
    text: Said, remedies: Iterable[Remedy] = (), surface: Surface = PYTHON
) -> str:
    """Return text, and the remedies that a surface has, as a person reads them there."""
    words = "".join(spelled(part, surface) or "" for part in parts_of(text))
    ways = [way for remedy in remedies if (way := spelled(remedy, surface))]
    return f"{words} Use {', or '.join(ways)}." if ways else words


@dataclass(frozen=True)
class Note:
    """What a reader has to know: its kind, the sentence, and the call that tells more."""

    kind: str
    text: Said
    remedies: tuple[Remedy, ...] = ()
    more: Call | None = None

    def __str__(self) -> str:
        """Return the sentence, in the words of Python."""
        return self.spelled(PYTHON)

    def spelled(self, surface: Surface) -> str:
        """Return the sentence in the words of a surface."""
        return sentence(self.text, self.remedies, surface)
