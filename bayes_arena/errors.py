"""Every error and warning of the package.

A message is a sentence for a person: what is wrong, at most five offending values with
their rows, and a remedy that works.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Collection, Iterable, Sequence
from numbers import Integral, Real
from pathlib import Path

from bayes_arena.said import PYTHON, Note, Remedy, Said, Surface, Use, sentence

__all__ = [
    "ArenaError",
    "ArenaWarning",
    "FitError",
    "MissingPackageError",
    "ModelError",
    "NotIdentifiedError",
    "OutputError",
    "StoreError",
    "TooLargeError",
    "VotesError",
]

MOST_SHOWN = 5  # offending values in a message
LONGEST_VALUE = 200  # characters of a value in a message
PACKAGE = (str(Path(__file__).parent),)  # warnings name the user's line, not ours


class ArenaError(Exception):
    """Base class of every error that the package raises on purpose.

    Attributes
    ----------
    text : str, or tuple of str and remedies
        What is wrong.
    remedies : tuple
        What helps, each :class:`~bayes_arena.said.Use` or :class:`~bayes_arena.said.Call`.
    """

    def __init__(self, text: Said, *remedies: Remedy) -> None:
        super().__init__(text, *remedies)
        self.text = text
        self.remedies = remedies

    def __str__(self) -> str:
        """Return the message, in the words of Python."""
        return self.spelled(PYTHON)

    def spelled(self, surface: Surface) -> str:
        """Return the message in the words of a surface."""
        return sentence(self.text, self.remedies, surface)


class VotesError(ArenaError, ValueError):
    """The votes cannot be used as they are."""


class ModelError(ArenaError, ValueError):
    """An unknown model, prior or option, or a combination that makes no sense."""


class FitError(ArenaError, RuntimeError):
    """A fit has no trustworthy answer."""


class NotIdentifiedError(FitError):
    """The votes do not determine the parameters."""


class TooLargeError(FitError):
    """The fit would need more memory than there is."""


class OutputError(ArenaError, ValueError):
    """A result cannot be written, or read back."""


class StoreError(ArenaError, RuntimeError):
    """The file of an arena is absent, busy, of another kind, or cannot be written."""


class MissingPackageError(ArenaError, ImportError):
    """An optional package is not installed."""


class ArenaWarning(UserWarning):
    """There is an answer, but it has to be read with care.

    Attributes
    ----------
    note : Note
        What has to be known, with its kind.
    """

    def __init__(self, note: Note) -> None:
        super().__init__(note)
        self.note = note


def warn(note: Note) -> None:
    """Warn, naming the line of the user's that led here."""
    warnings.warn(ArenaWarning(note), skip_file_prefixes=PACKAGE)


def listing(values: Iterable[object]) -> str:
    """Return the first five values, separated by commas, and how many more there are."""
    values = list(values)
    shown = ", ".join(printable(shortened(str(value))) for value in values[:MOST_SHOWN])
    n_more = len(values) - MOST_SHOWN
    return f"{shown} and {n_more} more" if n_more > 0 else shown


def plural(count: float, noun: str) -> str:
    """Return a count with its noun."""
    return f"{count:,.0f} {noun}{'' if count == 1 else 's'}"


def join_words(words: Sequence[str]) -> str:
    """Return words with commas, and "and" before the last."""
    return " and ".join([", ".join(words[:-1]), words[-1]] if words[:-1] else words)


def shortened(text: str, length: int = LONGEST_VALUE) -> str:
    """Cut the middle out of a text that is too long."""
    if len(text) <= length:
        return text
    return f"{text[: length // 2]} ... {text[-length // 3 :]}"


def printable(text: str) -> str:
    """Escape characters that control a terminal."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return a sentence that suggests similar names, after a space; or nothing."""
    from difflib import get_close_matches

    close = get_close_matches(name, list(known), n=3, cutoff=0.5)
    return f" Did you mean {' or '.join(map(repr, close))}?" if close else ""


def require_choice(name: str, value: object, choices: Collection[str]) -> None:
    """Raise a ModelError for a value that is not one of the choices."""
    if not isinstance(value, str) or value not in choices:
        hint = did_you_mean(str(value), choices)
        choice = Use(**{name: value})
        raise ModelError((choice, f" must be one of {', '.join(choices)}.{hint}"))


def require_level(level: float) -> None:
    """Raise a ModelError unless a level lies between 0 and 1."""
    if not isinstance(level, Real) or not 0 < level < 1:
        text = " must lie between 0 and 1, such as 0.95."
        raise ModelError((Use(level=level), text))


def require_finite(**values: object) -> None:
    """Raise a ModelError for a value that is not a finite number."""
    for name, value in values.items():
        is_number = isinstance(value, Real) and not isinstance(value, bool)
        if not is_number or not math.isfinite(value):  # type: ignore[arg-type]
            raise ModelError((Use(**{name: value}), " must be a finite number."))


def require_whole(least: int, **values: object) -> None:
    """Raise a ModelError for a value that is no whole number, or a smaller one."""
    for name, value in values.items():
        is_whole = isinstance(value, Integral) and not isinstance(value, bool)
        if not is_whole or value < least:  # type: ignore[operator]
            text = f" must be a whole number of at least {least}."
            raise ModelError((Use(**{name: value}), text))


def require_seed(seed: int) -> None:
    """Raise a ModelError unless a seed is a whole number that is not negative."""
    if not isinstance(seed, int) or isinstance(seed, bool) or seed < 0:
        text = " must be a whole number that is not negative."
        raise ModelError((Use(seed=seed), text))
