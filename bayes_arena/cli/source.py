"""Where the votes of a command come from: files, or the built-in example."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bayes_arena.cli.options import OnInvalid
from bayes_arena.errors import ModelError
from bayes_arena.votes.reading.hub import HUB

if TYPE_CHECKING:
    from bayes_arena.votes.cells import Cells
    from bayes_arena.votes.reading.repeats import Repeats
    from bayes_arena.votes.reading.table import Reading


@dataclass(frozen=True)
class VoteSource:
    """Where the votes of a command come from."""

    files: list[str] | None
    a: str | None
    b: str | None
    winner: str | None
    annotator: str | None
    no_annotator: bool
    weight: str | None
    outcome: list[str] | None
    on_invalid: OnInvalid
    delta: int | None
    dedupe: bool = False
    normalise: bool = False

    def read(self, on_invalid: OnInvalid | None = None) -> Cells:
        """Read the votes, or simulate the example."""
        from bayes_arena.votes.reading.table import read_votes
        from bayes_arena.votes.selection import keep_annotators

        cells = read_votes(self.files or _example_votes(), **self.reading(on_invalid))
        return cells if self.delta is None else keep_annotators(cells, more_than=self.delta)

    def reading(self, on_invalid: OnInvalid | None = None) -> Reading:
        """Return the options of ``read_votes``."""
        return {
            "a": self.a,
            "b": self.b,
            "winner": self.winner,
            "annotator": False if self.no_annotator else self.annotator,
            "weight": self.weight,
            "outcomes": dict(split_pair(text, "--outcome", "LABEL=OUTCOME") for text in self.outcome or []),
            "on_invalid": (on_invalid or self.on_invalid).value,
            "dedupe": self.dedupe,
            "normalise": self.normalise,
        }

    def repeats(self) -> Repeats | None:
        """Count the votes that are repeated, unless the example is read or repeats are left out."""
        from bayes_arena.votes.reading.table import read_repeats

        return read_repeats(self.files, **self.reading()) if self.files and not self.dedupe else None

    def title(self, cells: Cells) -> str:
        """Say what was read."""
        names = [file if file.startswith(HUB) else Path(file).name for file in self.files or []]
        name = ", ".join(names) or "example arena (simulated)"
        return described(name, cells)


def described(name: str, cells: Cells) -> str:
    """Say how many votes, competitors and annotators there are under a name."""
    size = sizes(cells)
    who = f", {size['n_annotators']} annotators" if size["n_annotators"] else ""
    return f"{name}: {size['n_votes']} votes, {size['n_competitors']} competitors{who}"


def _example_votes() -> Any:
    from bayes_arena.likelihood.simulation import EXAMPLE_ANOMALOUS, example_arena

    print(
        "No file given: this is the built-in example, a simulated arena of the size of the paper's Table 1 with "
        f"{EXAMPLE_ANOMALOUS} annotators who vote against the ranking.",
        file=sys.stderr,
    )
    return example_arena().votes


def sizes(cells: Cells) -> dict[str, float]:
    """Return the numbers of votes, competitors and annotators."""
    votes = int(cells.n_votes) if cells.n_votes.is_integer() else cells.n_votes
    return {"n_votes": votes, "n_competitors": cells.n_competitors, "n_annotators": cells.n_annotators}


def split_pair(text: str, option: str, form: str) -> tuple[str, str]:
    """Split the value of an option at its last equals sign."""
    name, equals, value = text.rpartition("=")
    if not equals or not name:
        raise ModelError(f"{option} takes {form}, not {text!r}.")
    return name, value
