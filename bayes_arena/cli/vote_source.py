"""Options: where the votes of a command come from, files or the built-in example."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from typer import Argument, Option

from bayes_arena.cli.options import VOTES
from bayes_arena.errors import ModelError, OnInvalid, VotesError, Weights
from bayes_arena.votes.names import ANNOTATOR, PROMPT, Period
from bayes_arena.votes.sizes import sizes
from bayes_arena.votes.sources.hub import HUB

if TYPE_CHECKING:
    from bayes_arena.votes.cells import Cells
    from bayes_arena.votes.reading.counting import Repeats
    from bayes_arena.votes.reading.opening import ReadOptions

SAVED = (".nc", ".zarr")
"""Suffixes of saved fits."""
Delta = Annotated[
    int | None, Option(min=0, metavar="N", help="Keep annotators with more than N votes.", rich_help_panel=VOTES)
]


@dataclass(frozen=True)
class VoteSource:
    """Where the votes of a command come from."""

    panel: ClassVar[str] = VOTES
    files: Annotated[
        list[str] | None,
        Argument(
            metavar="FILE",
            help="Votes as CSV, TSV, Parquet, JSONL or JSON, or hf:OWNER/NAME, a data set on the Hugging Face hub; or "
            "a fit (.nc) that `bayes-arena fit` saved. Without a file: a built-in simulated example arena.",
        ),
    ] = None
    a: Annotated[str | None, Option("--a", help="Column of the first competitor.")] = None
    b: Annotated[str | None, Option("--b", help="Column of the second competitor.")] = None
    winner: Annotated[str | None, Option(help="Column of the winner.")] = None
    score: Annotated[
        str | None, Option(help="Column of the first competitor's scores, 0 to 1, in place of a winner.")
    ] = None
    annotator: Annotated[str | None, Option(help="Column of the annotator.")] = None
    no_annotator: Annotated[bool, Option("--no-annotator", help="Ignore who voted.")] = False
    weight: Annotated[str | None, Option(help="Column of weights.")] = None
    no_weight: Annotated[bool, Option("--no-weight", help="Ignore the weights of a layout.")] = False
    weights: Annotated[
        Weights,
        Option(
            metavar="KIND",
            help="frequency: a weight is a number of votes. importance: a weight says how much a vote matters.",
        ),
    ] = "frequency"
    prompt: Annotated[
        list[str] | None,
        Option(metavar="COLUMN", help="Column of the prompts. Repeatable: several columns together are one prompt."),
    ] = None
    no_prompt: Annotated[bool, Option("--no-prompt", help="Ignore prompts.")] = False
    time: Annotated[
        str | None,
        Option(
            metavar="COLUMN",
            help="Column of the times, dates or seconds since 1970, to test for change and for --drift. Default: "
            "tstamp, timestamp, created_at, date or datetime.",
        ),
    ] = None
    no_time: Annotated[bool, Option("--no-time", help="Ignore times.")] = False
    period: Annotated[
        Period | None,
        Option(metavar="PERIOD", help="Count votes by day, week, month, quarter or year. Default: by their number."),
    ] = None
    slice: Annotated[
        list[str] | None,
        Option(
            metavar="NAME=COLUMN",
            help="A further slice of the votes, by its column: category=topic, or category alone if that is the name "
            "of the column. Repeatable.",
        ),
    ] = None
    feature: Annotated[
        list[str] | None,
        Option(
            metavar="NAME=A,B",
            help="A feature of the answers, by its two columns: length=length_a,length_b. NAME=COLUMN, or NAME alone, "
            "if one column holds the difference. Repeatable.",
        ),
    ] = None
    outcome: Annotated[
        list[str] | None,
        Option(
            metavar="LABEL=OUTCOME",
            help="Meaning of a further label of the winner: model_a, model_b, tie or both_bad; model_a_2 for a win "
            "by a second grade. Repeatable, or several with commas: 0=tie,1=model_a,2=model_b.",
        ),
    ] = None
    on_invalid: Annotated[OnInvalid, Option(help="Stop at invalid votes, or drop them.")] = "raise"
    where: Annotated[
        str | None,
        Option(
            metavar="CONDITION",
            help="Read only rows that satisfy a condition in Python's syntax: 'language == \"German\" and turn < 3'.",
        ),
    ] = None
    dedupe: Annotated[
        bool,
        Option(
            "--dedupe",
            help="Leave out duplicates: files with the same content, rows that are equal in every column, and further "
            "votes of an annotator on the same prompt and pair.",
        ),
    ] = False
    normalise_names: Annotated[
        bool,
        Option(
            "--normalise-names",
            help="Treat names that differ only in surrounding spaces or Unicode form (NFC) as equal.",
        ),
    ] = False
    program: Annotated[
        list[str] | None,
        Option(metavar="NAME", help="An annotator that is a program, such as an LLM judge. Repeatable."),
    ] = None
    layout: Annotated[
        str | None,
        Option(
            metavar="NAME",
            help="Layout of the records, such as arena-hard or alpaca-eval; recognised by the columns unless named.",
        ),
    ] = None
    grades: Annotated[
        str,
        Option(
            metavar="keep|fold|MARGINS",
            help="Keep graded verdicts (A>>B, much better) apart, or fold them into wins; or cut the margins of two "
            "scores: with 1,3 a lead of 1 is a win, one of 3 a clear win.",
        ),
    ] = "keep"
    delta: Delta = None

    @property
    def is_saved(self) -> bool:
        """Whether the only file is a saved fit."""
        return len(self.files or ()) == 1 and Path((self.files or [""])[0]).suffix in SAVED

    def read(self) -> Cells:
        """Read the votes, or simulate the example; a saved fit holds no votes."""
        if saved := [file for file in self.files or () if Path(file).suffix in SAVED]:
            if len(self.files or ()) > 1:
                raise VotesError(f"{saved[0]!r} is a saved fit, which is taken alone. Name it, or files of votes.")
            raise VotesError(f"{saved[0]!r} is a saved fit, and this needs the votes themselves. Name their file.")
        from bayes_arena.votes.reading.read_votes import read_votes
        from bayes_arena.votes.selection import keep_annotators

        cells = read_votes(self.files or _example_votes(), **self.reading())
        return cells if self.delta is None else keep_annotators(cells, more_than=self.delta)

    def reading(self) -> ReadOptions:
        """Return the options of ``read_votes``."""
        return {
            "a": self.a,
            "b": self.b,
            "winner": self.winner,
            "score": self.score,
            "annotator": False if self.no_annotator else self.annotator,
            "weight": False if self.no_weight else self.weight,
            "weights": self.weights,
            "prompt": False if self.no_prompt else self.prompt,
            "time": False if self.no_time else self.time,
            "period": self.period,
            "slices": dict(_columns(text, "--slice") for text in self.slice or []),
            "features": dict(_columns(text, "--feature") for text in self.feature or []),
            "outcomes": dict(pair for text in self.outcome or [] for pair in _outcomes(text)),
            "on_invalid": self.on_invalid,
            "where": self.where,
            "dedupe": self.dedupe,
            "normalise": self.normalise_names,
            "programs": self.program or (),
            "layout": self.layout,
            "grades": _grades(self.grades),
        }

    def grouped_by(self, name: str | None) -> VoteSource:
        """Return a source that also reads the column to group votes by."""
        if self.is_saved or name in (None, ANNOTATOR, PROMPT) or name in self.reading()["slices"]:
            return self
        return replace(self, slice=[*(self.slice or []), f"{name}={name}"])

    def repeats(self) -> Repeats | None:
        """Count repeated votes, unless the example is read or duplicates are left out."""
        from bayes_arena.votes.reading.read_votes import read_repeats

        return read_repeats(self.files, **self.reading()) if self.files and not self.dedupe else None

    @property
    def named(self) -> str:
        """The names of the files."""
        names = [file if file.startswith(HUB) else Path(file).name for file in self.files or []]
        return ", ".join(names) or "example arena (simulated)"

    def title(self, cells: Cells) -> str:
        """Say what was read."""
        return described(self.named, cells)


def _grades(text: str) -> Any:
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        return text


def described(name: str, cells: Cells) -> str:
    """Describe votes by a name and the numbers of votes, competitors, annotators and prompts."""
    size = sizes(cells)
    who = f", {size['n_annotators']:,} annotator{'s' * (cells.n_annotators > 1)}" if size["n_annotators"] else ""
    what = f", {size['n_prompts']:,} prompts" if "n_prompts" in size else ""
    less = f", {size['n_invalid']:,} invalid votes left out" if "n_invalid" in size else ""
    return f"{name}: {cells.described_votes}, {size['n_competitors']:,} competitors{who}{what}{less}"


def _example_votes() -> Any:
    from bayes_arena.likelihood.simulation import EXAMPLE_ANOMALOUS, example_arena

    print(
        "No file given: this is the built-in example, a simulated arena of the size of the paper's Table 1 with "
        f"{EXAMPLE_ANOMALOUS} annotators who vote against the ranking.",
        file=sys.stderr,
    )
    return example_arena().votes


def split_pair(text: str, option: str, form: str) -> tuple[str, str]:
    """Split the value of an option at its last equals sign."""
    name, equals, value = text.rpartition("=")
    if not equals or not name:
        raise ModelError(f"{option} takes {form}, not {text!r}.")
    return name, value


def _outcomes(text: str) -> list[tuple[str, str]]:
    """Return the labels that one option names, and their outcomes."""
    from bayes_arena.votes.outcomes import OF_NAME

    parts = text.split(",")
    several = all(part.rpartition("=")[2] in OF_NAME for part in parts)
    return [split_pair(part, "--outcome", "LABEL=OUTCOME") for part in (parts if several else [text])]


def _columns(text: str, option: str) -> tuple[str, list[str]]:
    name, columns = split_pair(text, option, "NAME=COLUMN") if "=" in text else (text, text)
    return name, columns.split(",")
