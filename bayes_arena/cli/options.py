"""Every option of the command line, declared once, in the words of Python.

Commands take groups of options: a frozen dataclass each, whose fields are Typer's options.
"""

import inspect
from collections.abc import Callable, Sequence
from dataclasses import MISSING, dataclass, fields, replace
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, Self, get_type_hints

import typer

from bayes_arena.boards.elo import EloScale
from bayes_arena.errors import ModelError, VotesError, did_you_mean, require_choice
from bayes_arena.model.simulate import example_arena
from bayes_arena.model.spec import PRESETS
from bayes_arena.rating import WITHOUT, Rating, rate
from bayes_arena.votes.read import read_votes
from bayes_arena.votes.votes import Votes

FORMATS = ("table", "json", "csv", "markdown")
VOTES = "Options: votes"
FITS = "Options: model"
BOARDS = "Options: board"
ANSWER = "Options: answer"

Sources = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="VOTES",
        help="Files of votes (CSV, TSV, JSON, JSONL, Parquet, hf:owner/name) or a saved "
        "fit. By default the built-in example.",
        show_default=False,
    ),
]


def option(text: str, panel: str, *names: str, **settings: Any) -> Any:
    """Return an option with its help."""
    settings.setdefault("show_default", False)
    return typer.Option(*names, help=text, rich_help_panel=panel, **settings)


@dataclass(frozen=True)
class Reading:
    """How votes are read."""

    layout: Annotated[
        str | None, option("Format of the file, where it is not told.", VOTES)
    ] = None
    a: Annotated[str | None, option("Column of the first competitor.", VOTES)] = None
    b: Annotated[str | None, option("Column of the second competitor.", VOTES)] = None
    winner: Annotated[str | None, option("Column of the winner.", VOTES)] = None
    annotator: Annotated[str | None, option("Column of who voted.", VOTES)] = None
    prompt: Annotated[str | None, option("Column of the prompt.", VOTES)] = None
    no_prompt: Annotated[
        bool, option("Take votes on a prompt as independent.", VOTES, "--no-prompt")
    ] = False
    slice: Annotated[
        list[str] | None,
        option("Column of a slice, such as category. May be repeated.", VOTES),
    ] = None
    weight: Annotated[str | None, option("Column of numbers of votes.", VOTES)] = None
    outcome: Annotated[
        list[str] | None,
        option("Meaning of a label: LABEL=tie, =model_a, ... May be repeated.", VOTES),
    ] = None
    both_bad: Annotated[
        str, option("Votes for neither: tie or drop.", VOTES, show_default=True)
    ] = "tie"
    baseline: Annotated[
        str | None, option("The competitor that all are compared with.", VOTES)
    ] = None
    judge: Annotated[str | None, option("Who cast all votes.", VOTES)] = None
    on_invalid: Annotated[
        str, option("Invalid votes: raise or drop.", VOTES, show_default=True)
    ] = "raise"
    delta: Annotated[
        float | None,
        option("Leave out annotators with so many votes or fewer.", VOTES),
    ] = None

    def columns(self) -> dict[str, Any]:
        """Return the options of ``read_votes`` that were given."""
        given: dict[str, Any] = {
            "layout": self.layout,
            "a": self.a,
            "b": self.b,
            "winner": self.winner,
            "annotator": self.annotator,
            "prompt": False if self.no_prompt else self.prompt,
            "weight": self.weight,
            "baseline": self.baseline,
            "judge": self.judge,
        }
        columns = {name: value for name, value in given.items() if value is not None}
        if self.prompt is not None and self.no_prompt:
            raise VotesError("--prompt and --no-prompt exclude each other.")
        if self.slice:
            columns["slices"] = tuple(dict.fromkeys(self.slice))
        if self.outcome:
            columns["outcomes"] = dict(map(meaning, self.outcome))
        return columns | {"both_bad": self.both_bad, "on_invalid": self.on_invalid}

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
    """Return what is to be read: a file, several, or the example."""
    if not sources:
        return example_arena().columns
    return sources[0] if len(sources) == 1 else list(sources)


def meaning(text: str) -> tuple[str, str]:
    """Return a label and its meaning."""
    label, equals, outcome = text.rpartition("=")
    if not equals:
        raise VotesError(
            f"--outcome takes LABEL=MEANING, such as '-=tie'; not {text!r}."
        )
    return label, outcome


@dataclass(frozen=True)
class Fitting:
    """What is fitted."""

    model: Annotated[
        str,
        option(
            "davidson, bradley-terry, m-elo, am-elo or am-davidson.",
            FITS,
            show_default=True,
        ),
    ] = "davidson"
    ties: Annotated[
        str | None, option("half, davidson or drop, in place of the model's.", FITS)
    ] = None
    prior: Annotated[str, option("default, weak or flat.", FITS, show_default=True)] = (
        "default"
    )
    method: Annotated[
        str, option("gaussian, map or nuts.", FITS, show_default=True)
    ] = "gaussian"
    strength_by: Annotated[
        list[str] | None,
        option("Slice in which competitors may be stronger. May be repeated.", FITS),
    ] = None
    style: Annotated[
        list[str] | None,
        option(
            "Feature of the answers to allow for: a column of differences, or "
            "NAME=COLUMN_A,COLUMN_B. May be repeated.",
            FITS,
        ),
    ] = None

    @property
    def features(self) -> dict[str, Any]:
        """The columns of the features, by name."""
        columns: dict[str, Any] = {}
        for text in self.style or ():
            name, equals, pair = text.partition("=")
            columns[name] = tuple(pair.split(",")) if equals else name
        return columns

    def options(self, seed: int = 0) -> dict[str, Any]:
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
            "seed": seed,
        }


def changed_name(name: str, changes: dict[str, Any]) -> str:
    """Return the name of a preset with some terms changed."""
    words = {"ties": "ties", "strength_by": "by", "style": "at equal"}
    parts = [name]
    for term, value in changes.items():
        terms = [value] if isinstance(value, str) else value
        parts.append(f"{words[term]} {', '.join(terms)}")
    return " ".join(parts)


@dataclass(frozen=True)
class Drawing:
    """What is drawn."""

    seed: Annotated[int, option("Seed of all draws.", FITS, show_default=True)] = 0


@dataclass(frozen=True)
class Boarding:
    """How a board is made."""

    interval: Annotated[
        str | None,
        option("posterior, clustered, sandwich or bootstrap.", BOARDS),
    ] = None
    cluster: Annotated[
        str | None, option("prompt, annotator or a slice, for clustered.", BOARDS)
    ] = None
    level: Annotated[
        float, option("Of intervals and rank ranges.", BOARDS, show_default=True)
    ] = 0.95
    min_votes: Annotated[
        float,
        option("Votes from which a competitor has a rank.", BOARDS, show_default=True),
    ] = 10
    anchor: Annotated[
        list[str] | None, option("A competitor and its score: NAME=SCORE.", BOARDS)
    ] = None
    init: Annotated[
        float | None, option("Mean score; 1000 unless there is an anchor.", BOARDS)
    ] = None
    without: Annotated[
        str | None,
        option("Leave out annotators: flagged, favourites, or NAME,NAME.", BOARDS),
    ] = None

    @property
    def elo(self) -> EloScale:
        """The scale of the scores."""
        if self.anchor is None:
            return EloScale() if self.init is None else EloScale(init=self.init)
        if len(self.anchor) > 1 or self.init is not None:
            raise ModelError("A scale has one --anchor or --init, not several.")
        name, _, score = self.anchor[0].rpartition("=")
        if not name or not is_number(score):
            raise ModelError(
                "--anchor takes NAME=SCORE, such as gpt-4=1200; not "
                f"{self.anchor[0]!r}."
            )
        return EloScale(anchor=(name, float(score)))

    @property
    def left_out(self) -> str | tuple[str, ...] | None:
        """Which annotators to leave out."""
        if self.without is None or self.without in WITHOUT:
            return self.without
        return tuple(name.strip() for name in self.without.split(","))

    def standing_options(self, seed: int) -> dict[str, Any]:
        """Return the options of a standing."""
        return {
            "interval": self.interval,
            "cluster": self.cluster,
            "level": self.level,
            "min_votes": self.min_votes,
            "seed": seed,
        }

    def rating(
        self, fitted: Any, source: str, seed: int, *, rank_spread: bool = False
    ) -> Rating:
        """Return the rating of a fit."""
        rating = rate(
            fitted,
            without=self.left_out,
            rank_spread=rank_spread,
            elo=self.elo,
            **self.standing_options(seed),
        )
        return replace(rating, source=source)


def is_number(text: str) -> bool:
    """Whether a text is a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True


@dataclass(frozen=True)
class Answering:
    """How an answer is written."""

    format: Annotated[
        str | None,
        option("table, json, csv or markdown; by default by the file's name.", ANSWER),
    ] = None
    output: Annotated[
        Path | None, option("File to write.", ANSWER, "--output", "-o")
    ] = None
    explain: Annotated[
        bool, option("Print all columns, and what they mean.", ANSWER, "--explain")
    ] = False
    strict: Annotated[
        bool, option("Exit with code 3 after a warning.", ANSWER, "--strict")
    ] = False


@dataclass(frozen=True)
class Saving:
    """Where a page or a fit is written."""

    output: Annotated[
        Path | None, option("File to write.", ANSWER, "--output", "-o")
    ] = None
    strict: Annotated[
        bool, option("Exit with code 3 after a warning.", ANSWER, "--strict")
    ] = False


def with_options(function: Callable[..., None]) -> Callable[..., None]:
    """Return a command that takes the fields of its groups of options one by one."""
    hints = get_type_hints(function, include_extras=True)
    groups = {
        name: hint
        for name, hint in hints.items()
        if hasattr(hint, "__dataclass_fields__")
    }
    parameters = []
    for name, parameter in inspect.signature(function).parameters.items():
        if name not in groups:
            parameters.append(parameter.replace(annotation=hints[name]))
    for group in groups.values():
        annotations = get_type_hints(group, include_extras=True)
        for field in fields(group):
            parameters.append(
                inspect.Parameter(
                    field.name,
                    inspect.Parameter.KEYWORD_ONLY,
                    default=None if field.default is MISSING else field.default,
                    annotation=annotations[field.name],
                )
            )

    @wraps(function)
    def command(*args: Any, **values: Any) -> None:
        for name, group in groups.items():
            chosen = {f.name: values.pop(f.name) for f in fields(group)}
            values[name] = group(**chosen)
        function(*args, **values)

    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {p.name: p.annotation for p in parameters}
    return command


def require_format(name: str) -> None:
    """Refuse a format that there is not."""
    if name not in FORMATS:
        hint = did_you_mean(name, FORMATS)
        raise ModelError(
            f"format must be one of {', '.join(FORMATS)}, not {name!r}.{hint}"
        )
