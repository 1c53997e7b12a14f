"""Every option of the command line, declared once, in the words of Python.

Commands take groups of options: a frozen dataclass each, whose fields are Typer's options.
"""

# ruff: noqa: RUF009  (`shared` returns a field)

import sys
from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Annotated, Any, ClassVar, Self, cast

import typer

from bayes_arena.boards.elo import EloScale
from bayes_arena.boards.look import Interval, Look
from bayes_arena.errors import (
    ModelError,
    OutputError,
    VotesError,
    listing,
    require_choice,
)
from bayes_arena.model.spec import PRESETS
from bayes_arena.reading.read import read_votes
from bayes_arena.reading.sources import readable
from bayes_arena.reading.text_files import table_in
from bayes_arena.said import Arguments
from bayes_arena.simulation import example_arena
from bayes_arena.votes.votes import Votes

FORMATS = ("table", "json", "csv", "markdown")
STDIN = "-"
SUFFIXES = {".json": "json", ".csv": "csv", ".md": "markdown"}
OTHER_COMMANDS = {".html": "report", ".npz": "fit", ".nc": "fit"}
# Options that read_votes takes under the same name.
READ_COLUMNS = ("layout", "a", "b", "winner", "annotator", "prompt", "weight")
READ_OPTIONS = ("both_bad", "baseline", "judge", "on_invalid")

Sources = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="VOTES",
        help="Files of votes (CSV, TSV, JSON, JSONL, Parquet, hf:owner/name), - for "
        "standard input, or a saved fit. By default the built-in example.",
        show_default=False,
    ),
]


def option(text: str, *names: str, **settings: Any) -> Any:
    """Return an option of a command, with its help."""
    settings.setdefault("show_default", False)
    return typer.Option(*names, help=text, **settings)


def shared(text: str, default: Any = None, *names: str) -> Any:
    """Return an option that several commands share, as a field of a group."""
    is_shown = default is not None and default is not False
    entry = option(text, *names, show_default=is_shown)
    return field(default=default, metadata={"option": entry})


class Group:
    """Options that several commands share: a dataclass."""

    @property
    def given(self) -> Arguments:
        """The options that were given, and their values."""
        given = []
        for entry in fields(self):  # type: ignore[arg-type]
            value = getattr(self, entry.name)
            if value != entry.default:
                given.append((entry.name, value))
        return tuple(given)


@dataclass(frozen=True)
class Reading(Group):
    """How votes are read."""

    layout: str | None = shared("Format of the file, where its columns do not tell.")
    a: str | None = shared("Column of the first competitor.")
    b: str | None = shared("Column of the second competitor.")
    winner: str | None = shared("Column of the winner; or several: WINS_A,WINS_B.")
    annotator: str | None = shared("Column of who voted.")
    prompt: str | None = shared("Column of the prompt.")
    no_prompt: bool = shared(
        "Take votes on a prompt as independent.", False, "--no-prompt"
    )
    slice: list[str] | None = shared("Column of a slice, as category. May be repeated.")
    weight: str | None = shared("Column of numbers of votes.")
    outcome: list[str] | None = shared(
        "Meaning of a label: LABEL=tie, =model_a, ... May be repeated."
    )
    both_bad: str = shared("Votes for neither: tie or drop.", "tie")
    baseline: str | None = shared("The competitor that all others met.")
    judge: str | None = shared("Who cast all votes.")
    rename: list[str] | None = shared(
        "New name of a competitor: ATLAS=atlas. May be repeated."
    )
    on_invalid: str = shared("Invalid votes: raise or drop.", "raise")
    delta: float | None = shared("Leave out annotators with so many votes or fewer.")

    def columns(self) -> dict[str, Any]:
        """Return the options of ``read_votes`` that were given."""
        columns: dict[str, Any] = {}
        for name in (*READ_COLUMNS, *READ_OPTIONS):
            if getattr(self, name) is not None:
                columns[name] = getattr(self, name)
        if self.no_prompt:
            if self.prompt is not None:
                raise VotesError("--prompt and --no-prompt exclude each other.")
            columns["prompt"] = False
        if self.slice:
            columns["slices"] = tuple(dict.fromkeys(self.slice))
        if self.outcome:
            columns["outcomes"] = pairs_of("--outcome", "-=tie", self.outcome)
        if self.rename:
            columns["names"] = pairs_of("--rename", "ATLAS=atlas", self.rename)
        return columns

    def votes(self, sources: Sequence[str] | None, **further: Any) -> Votes:
        """Return the votes of files, or those of the example."""
        source: Any = source_of(sources)
        votes = read_votes(source, **self.columns() | further)
        return votes if self.delta is None else votes.keep(more_than=self.delta)

    def with_slices(self, slices: Sequence[str]) -> Self:
        """Return the options with further slices."""
        names = dict.fromkeys([*(self.slice or ()), *slices])
        return replace(self, slice=[*names])


def source_of(sources: Sequence[str] | None) -> Any:
    """Return what is to be read: a file, several, standard input, or the example."""
    if not sources:
        return example_arena().columns
    if STDIN in sources:
        if len(sources) > 1:
            raise VotesError("Standard input, -, is read alone, without files.")
        with readable("standard input"):
            return table_in(sys.stdin.buffer.read(), "Standard input")
    return sources[0] if len(sources) == 1 else list(sources)


def pairs_of(option: str, example: str, texts: Sequence[str]) -> dict[str, str]:
    """Return what is written LEFT=RIGHT, by what stands left."""
    pairs = {}
    for text in texts:
        left, equals, right = text.rpartition("=")
        if not equals:
            raise VotesError(
                f"{option} takes two with = between, such as {example!r}; not {text!r}."
            )
        pairs[left] = right
    return pairs


@dataclass(frozen=True)
class Drawing(Group):
    """What is drawn."""

    seed: int = shared("Seed of all draws.", 0)


@dataclass(frozen=True)
class Fitting(Drawing):
    """What is fitted."""

    model: str = shared(f"One of {', '.join(PRESETS)}.", "davidson")
    ties: str | None = shared("half, davidson or drop, in place of the model's.")
    prior: str = shared("default, weak or flat.", "default")
    method: str = shared("gaussian, map or nuts.", "gaussian")
    strength_by: list[str] | None = shared(
        "Slice in which competitors may be stronger. May be repeated."
    )
    style: list[str] | None = shared(
        "Feature of the answers to allow for: a column of differences, or "
        "NAME=COLUMN_A,COLUMN_B. May be repeated."
    )

    @property
    def features(self) -> dict[str, Any]:
        """The columns of the features, by name."""
        columns: dict[str, Any] = {}
        for text in self.style or ():
            name, equals, pair = text.partition("=")
            columns[name] = tuple(pair.split(",")) if equals else name
        return columns

    @property
    def judging(self) -> dict[str, str]:
        """What makes annotators be judged by another model than am-Davidson."""
        if PRESETS[self.model].discrimination == "none" or self.model == "am-davidson":
            return {}
        return {"model": self.model, "prior": self.prior}

    def options(self) -> dict[str, Any]:
        """Return the options of ``fit``."""
        require_choice("model", self.model, PRESETS)
        model = PRESETS[self.model]
        changes: dict[str, Any] = {}
        if self.ties is not None:
            changes["ties"] = self.ties
        if self.strength_by:
            changes["strength_by"] = tuple(self.strength_by)
        if self.style:
            changes["style"] = tuple(self.features)
        if changes:
            model = replace(model, name=changed_name(model.name, changes), **changes)
        return {
            "model": model if changes else self.model,
            "prior": self.prior,
            "method": self.method,
            "seed": self.seed,
        }


def changed_name(name: str, changes: dict[str, Any]) -> str:
    """Return the name of a preset with some terms changed: ``davidson by category``."""
    words = {"ties": "ties", "strength_by": "by", "style": "at equal"}
    parts = [name]
    for term, value in changes.items():
        terms = [value] if isinstance(value, str) else value
        parts.append(f"{words[term]} {', '.join(terms)}")
    return " ".join(parts)


WITHOUT_HELP = "Leave out annotators: flagged, favourites, or NAME,NAME."


def names_in(without: str) -> str | tuple[str, ...]:
    """Return whom an option says to leave out: one word or name, or several."""
    names = tuple(name.strip() for name in without.split(","))
    return names if len(names) > 1 else names[0]


@dataclass(frozen=True)
class Boarding(Group):
    """How a board is made."""

    interval: str | None = shared("posterior, clustered, sandwich or bootstrap.")
    cluster: str | None = shared("prompt, annotator or a slice, for clustered.")
    level: float = shared("Of intervals and rank ranges.", 0.95)
    min_votes: float = shared("Votes from which a competitor has a rank.", 10)
    anchor: list[str] | None = shared("A competitor and its score: NAME=SCORE.")
    init: float | None = shared("Mean score; 1000 unless there is an anchor.")
    without: str | None = shared(WITHOUT_HELP)

    @property
    def elo(self) -> EloScale:
        """The scale of the scores."""
        if self.anchor is None:
            return EloScale() if self.init is None else EloScale(init=self.init)
        if len(self.anchor) > 1 or self.init is not None:
            raise ModelError("A scale has one --anchor or --init, not several.")
        name, _, score = self.anchor[0].rpartition("=")
        try:
            return EloScale(anchor=(name, float(score if name else "")))
        except ValueError:
            raise ModelError(
                f"--anchor takes NAME=SCORE, such as gpt-4=1200; not {self.anchor[0]!r}."
            ) from None

    @property
    def left_out(self) -> str | tuple[str, ...] | None:
        """Which annotators to leave out."""
        return None if self.without is None else names_in(self.without)

    def look(self, seed: int) -> Look:
        """Return how the board is looked at."""
        interval = cast("Interval | None", self.interval)
        return Look(interval, self.cluster, self.level, self.min_votes, seed)


@dataclass(frozen=True)
class Ranking(Boarding):
    """How a board is made, what it is compared with, and what is known of competitors."""

    combined: bool = shared(
        "Weigh votes by how closely annotators follow the ranking, as far as is safe.",
        False,
        "--combined",
    )
    since: str | None = shared(
        "Say what changed since a board: JSON of rank -o last.json."
    )
    about: str | None = shared(
        "Table of competitors: maker, licence, price, url, and any other column."
    )


@dataclass(frozen=True)
class Saving(Group):
    """Where an answer is written, and what a warning does."""

    output: Path | None = shared("File to write.", None, "--output", "-o")
    strict: bool = shared("Exit with code 3 after a warning.", False, "--strict")


@dataclass(frozen=True)
class Answering(Saving):
    """How an answer is written."""

    pictures: ClassVar[tuple[str, ...]] = ()

    format: str | None = shared(
        "table, json, csv or markdown; by default by the file's name."
    )
    explain: bool = shared(
        "Print all rows and columns, and what they mean.", False, "--explain"
    )

    def __post_init__(self) -> None:
        """Refuse a format, or a name of a file, before any work."""
        if self.format is not None:
            require_choice("format", self.format, FORMATS)
        elif self.suffix not in ("", ".txt", *SUFFIXES, *self.pictures):
            other = OTHER_COMMANDS.get(self.suffix)
            who = f"bayes-arena {other}" if other else "another program"
            endings = listing([*SUFFIXES, ".txt", *self.pictures])
            raise OutputError(
                f"{self.suffix} files are written by {who}. Here choose a name that ends "
                f"in one of {endings}, or name a --format."
            )

    @property
    def suffix(self) -> str:
        """How the name of the file ends."""
        return "" if self.output is None else self.output.suffix.lower()

    @property
    def form(self) -> str:
        """The format that was asked for, or that of the file's name."""
        return self.format or SUFFIXES.get(self.suffix, FORMATS[0])


@dataclass(frozen=True)
class Drawable(Answering):
    """How an answer is written, or drawn."""

    pictures: ClassVar[tuple[str, ...]] = (".png", ".svg")

    @property
    def is_picture(self) -> bool:
        """Whether a picture is asked for."""
        return self.format is None and self.suffix in self.pictures
