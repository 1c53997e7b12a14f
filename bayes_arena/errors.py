"""Every error and warning of the package.

A message says what is wrong, shows at most five offending values with their rows, and ends with the remedy.
"""

import os
import warnings
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

SHOWN = 5
LONGEST, LONGEST_VALUE = 3000, 200
"""Most characters of a message, and of a value in a list."""
PACKAGE = (str(Path(__file__).parent),)
"""Files that warnings skip (``skip_file_prefixes``), so that they name the user's line."""
OnInvalid = Literal["raise", "drop"]
"""What invalid votes cause: an :class:`InvalidVotesError`, or a :class:`DroppedVotesWarning`."""
Weights = Literal["frequency", "importance"]
"""What a weight means: a number of votes, or how much a vote matters."""


class ArenaError(Exception):
    """Base class of every error the package raises on purpose."""

    def __init__(self, message: object = "", **further: object) -> None:
        super().__init__(shortened(str(message), LONGEST), **further)


class VotesError(ArenaError, ValueError):
    """The votes cannot be used as they are."""


class ColumnError(VotesError):
    """A column is missing or its role cannot be recognised."""


class InvalidVotesError(VotesError):
    """Some votes are invalid: unknown winner, missing name, self-comparison or bad weight."""


class NoVotesError(VotesError):
    """No vote is left to rate."""


class DatasetError(VotesError):
    """Published votes cannot be fetched, or their layout has changed."""


class AccessError(DatasetError):
    """The hub requires an access token, or acceptance of its conditions."""


class ModelError(ArenaError, ValueError):
    """An unknown model, prior or option, or a meaningless combination."""


class StoreError(ArenaError, RuntimeError):
    """The file of an arena is absent, in use by another process, of another kind, or cannot be written."""


class OutputError(ArenaError, ValueError):
    """A result cannot be written or read back as requested."""


class MissingPackageError(ArenaError, ImportError):
    """An optional package is not installed; the message ends with the command that installs it."""


class CompilerError(ArenaError, RuntimeError):
    """PyTensor, which compiles the models that are sampled, has no folder that it can write to."""


class ForkError(ArenaError, RuntimeError):
    """The process was forked from one that had read votes, and would wait forever for threads that it lacks."""


class FitError(ArenaError, RuntimeError):
    """A fit has no trustworthy answer."""


class ConvergenceError(FitError):
    """The optimiser stopped before the gradient vanished."""


class NotIdentifiedError(FitError):
    """The votes do not determine the parameters."""


class TooLargeError(FitError):
    """There is too little memory, by the machine or by a limit."""


class ArenaWarning(UserWarning):
    """An answer exists, but it has to be read with care."""


class DroppedVotesWarning(ArenaWarning):
    """Invalid votes were left out, as asked."""


class RepeatedVotesWarning(ArenaWarning):
    """Votes occur more than once: in the source, or without ids in the source and the arena."""


class UnusedColumnWarning(ArenaWarning):
    """A column that may matter was ignored."""


class LayoutWarning(ArenaWarning):
    """Records of another tool were recognised and read as votes, without their layout being named."""


class PromptsWarning(ArenaWarning):
    """A column was read as the prompts without being named."""


class NoMaximumWarning(ArenaWarning):
    """The maximum-likelihood estimate lies at infinity; the numbers shown are where the fit stopped."""


class IdentificationWarning(ArenaWarning):
    """The comparisons are disconnected, or the votes do not settle a sign."""


class LeftOutEffectWarning(ArenaWarning):
    """The votes show an effect that the model leaves out."""


class SampledVotesWarning(ArenaWarning):
    """A score over very many votes was estimated from a sample."""


class DiscountedVotesWarning(ArenaWarning):
    """The votes on a competitor are not those of one crowd, and some of them do not count."""


class DependentVotesWarning(ArenaWarning):
    """Votes that share a prompt or a ranking were treated as independent."""


class ChangedStrengthsWarning(ArenaWarning):
    """Strengths changed over time, and the model averages over it."""


class AverageWarning(ArenaWarning):
    """The ranking depends on how votes are averaged: accounts are capped, or the middle of the votes differs."""


class FailedBoardsWarning(ArenaWarning):
    """Some of many boards could not be fitted, and are missing."""


def warn(text: str, category: type[Warning]) -> None:
    """Warn, naming the line of the user's that led here."""
    warnings.warn(text, category, skip_file_prefixes=PACKAGE)


@contextmanager
def warnings_about(what: str) -> Iterator[None]:
    """Begin warnings with what they are about."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    for one in caught:
        warn(f"{what}: {one.message}", one.category)


def listing(values: Iterable[object]) -> str:
    """Return the first five values separated by commas, and how many more there are."""
    values = list(values)
    shown = ", ".join(printable(shortened(str(value), LONGEST_VALUE)) for value in values[:SHOWN])
    return shown if len(values) <= SHOWN else f"{shown} and {len(values) - SHOWN} more"


def shortened(text: str, most: int) -> str:
    """Cut the middle out of a text that is too long: its beginning and end say most."""
    return text if len(text) <= most else f"{text[: most * 2 // 3]} ... {text[-most // 3 + 5 :]}"


def require_choice(name: str, value: object, choices: Collection[str]) -> None:
    """Raise a :class:`ModelError` for a value that is not one of the choices."""
    if value not in [*choices]:  # in a dictionary, an unhashable value would be an error
        raise ModelError(f"{name} must be one of {', '.join(choices)}, not {value!r}.")


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return a space and a sentence that suggests known names similar to an unknown one; empty if there are none."""
    from difflib import get_close_matches

    close = get_close_matches(name, known, n=3, cutoff=0.4)
    return f" Did you mean {' or '.join(map(repr, close))}?" if close else ""


@contextmanager
def compiler_folder() -> Iterator[None]:
    """Where PyTensor cannot write to its folder, explain how to name another."""
    try:
        yield
    except (OSError, ValueError) as error:
        cause = error.__context__ if isinstance(error, ValueError) else error  # which PyTensor turns into a ValueError
        if not isinstance(cause, OSError) or cause.filename is None:
            raise
        raise CompilerError(
            f"PyTensor, which compiles the model, cannot use its folder: {cause}. That is .pytensor under $HOME "
            f"({os.environ.get('HOME', 'not set')}): set HOME, or PYTENSOR_FLAGS=base_compiledir=FOLDER."
        ) from error


def printable(text: str) -> str:
    """Escape characters that control a terminal (escape sequences, line breaks, text direction) as Python does."""
    return "".join(char if char.isprintable() else repr(char)[1:-1] for char in text)


def require_draws(size: int, seed: int, what: str = "draw") -> None:
    """Require at least one draw, split or fold, and a seed that is not negative."""
    if size < 1 or seed < 0:
        raise ModelError(f"Ask for at least one {what}, with a seed that is not negative; not {size} with seed {seed}.")
