"""A former board, as the JSON of a rating has it; and whether it can be compared."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from bayes_arena.arrays import Floats
from bayes_arena.errors import ModelError, OutputError, listing
from bayes_arena.fits.options import METHODS
from bayes_arena.model.priors import PRIORS
from bayes_arena.model.spec import PRESETS
from bayes_arena.said import Use
from bayes_arena.version import SCHEMA

# What two boards that are compared have in common.
COMPARED = (
    "model",
    "prior",
    "method",
    "combined",
    "interval",
    "cluster",
    "level",
    "points_per_logit",
)


@dataclass(frozen=True, eq=False)
class FormerBoard:
    """A board, as the JSON of a rating has it.

    Attributes
    ----------
    source : str
        Name of the file.
    date : str
        The day on which it was made.
    n_votes : float
    made : mapping of str to object
        How it was made: the entries of JSON that comparable boards share.
    competitors : tuple of str
    rank, elo, half_width : ndarray, shape (competitors,)
        Rank, score, and half of its interval, in Elo points; nan where there is none.
    outcomes : ndarray, shape (competitors, 3)
        Wins, losses and ties.
    left_out : frozenset of str
        Annotators whose votes were left out.
    """

    source: str
    date: str
    n_votes: float
    made: Mapping[str, object]
    competitors: tuple[str, ...]
    rank: Floats
    elo: Floats
    half_width: Floats
    outcomes: Floats
    left_out: frozenset[str]

    @cached_property
    def row_of(self) -> dict[str, int]:
        """The row of each competitor that has a rank, the best first."""
        rows = np.argsort(self.rank, kind="stable")
        ranked = rows[np.isfinite(self.rank[rows])]
        return {self.competitors[row]: int(row) for row in ranked}


def read_former(path: str | Path) -> FormerBoard:
    """Return the board that the JSON of a rating holds.

    Raises
    ------
    OutputError
        If there is no such file, or it holds something else.
    """
    if not isinstance(path, str | Path) or str(path).lstrip().startswith("{"):
        raise OutputError(
            ("A former board is a file of JSON: name its path with ", Use("since"), ".")
        )
    name = Path(path).name
    try:
        content = json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        reason = error.strerror or error
        raise OutputError(f"Cannot read {str(path)!r}: {reason}.") from error
    except ValueError as error:  # no JSON, or no text
        raise not_a_board(name, "it is no JSON") from error
    return former_of(content, name)


def former_of(content: Any, source: str) -> FormerBoard:
    """Return the board of the content of JSON."""
    if not isinstance(content, dict) or "leaderboard" not in content:
        raise not_a_board(source, "it has no leaderboard")
    if content.get("schema") != SCHEMA:
        known = f"this version reads {SCHEMA}"
        raise not_a_board(source, f"its schema is {content.get('schema')} and {known}")
    try:
        rows = content["leaderboard"]
        numbers = {
            name: np.array([row[name] for row in rows], float)
            for name in ("rank", "elo", "lower", "upper", "wins", "losses", "ties")
        }
        return FormerBoard(
            source=source,
            date=str(content["date"]),
            n_votes=float(content["n_votes"]),
            made={name: content[name] for name in COMPARED},
            competitors=tuple(str(row["competitor"]) for row in rows),
            rank=numbers["rank"],
            elo=numbers["elo"],
            half_width=(numbers["upper"] - numbers["lower"]) / 2,
            left_out=frozenset(content["left_out"]),
            outcomes=np.stack([numbers[x] for x in ("wins", "losses", "ties")], axis=1),
        )
    except KeyError as error:
        raise not_a_board(source, f"it has no {error.args[0]!r}") from error
    except (TypeError, ValueError) as error:
        raise not_a_board(source, "its leaderboard is no table of numbers") from error


def not_a_board(source: str, reason: str) -> OutputError:
    """Return the error for a file that holds no board."""
    takes = (
        Use("since"),
        " takes what a rating wrote as JSON: rank VOTES -o last.json.",
    )
    return OutputError((f"{source} holds no board, as {reason}. ", takes))


def require_same_kind(former: FormerBoard, made: Mapping[str, object]) -> None:
    """Raise a ModelError that says in what a former board differs from the one at hand."""
    there = former.made
    differs = [name for name in COMPARED if there[name] != made[name]]
    if differs:
        pairs = [
            f"{name} {for_reader(there[name])} there and {for_reader(made[name])} here"
            for name in differs
        ]
        text = f"{former.source} is a board of another kind: {listing(pairs)}."
        raise ModelError(text, *remedies_for(former, differs))


def for_reader(value: object) -> str:
    """Return how a board was made, for a reader who may not know Python."""
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)


def remedies_for(former: FormerBoard, differs: Sequence[str]) -> tuple[Use, ...]:
    """Return the arguments that make a board like a former one, where there are such."""
    choices = {name: former.made[name] for name in differs}
    if not all(can_be_asked(name, value) for name, value in choices.items()):
        return ()
    return (Use(**{name: x for name, x in choices.items() if x is not None}),)


def can_be_asked(name: str, value: object) -> bool:
    """Whether an argument makes a board of this kind."""
    match name:
        case "points_per_logit":
            return False
        case "combined":
            return bool(value)
        case "model":
            return value in PRESETS
        case "method":
            return value in METHODS
        case "prior":
            return value in PRIORS
    return True
