"""Cells: the sufficient statistics of a set of votes.

One row per distinct (a, b, annotator, slices, features) with a count for each outcome
(:mod:`bayes_arena.votes.outcomes`). ``a`` is the competitor shown first (left), so a position effect can still be
estimated. A slice is something else that votes have in common: the prompt, its category, its language. Rows are sorted
by the names of competitors, annotator and slices, then by features, so the results are bit for bit the same whatever
the order of votes, their chunking and the engine.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np
import polars as pl
from numpy.typing import NDArray

from bayes_arena.arrays import Floats, Ints, present, sum_by
from bayes_arena.errors import ModelError, OutputError, did_you_mean, listing
from bayes_arena.markup import html_facts
from bayes_arena.replacing import write_parquet
from bayes_arena.threads import require_threads_of_polars
from bayes_arena.votes.names import ANNOTATOR, COMPETITOR, FEATURE, PROGRAM, PROMPT, SLICE
from bayes_arena.votes.outcomes import count_columns, grades_of, whole_votes
from bayes_arena.votes.tally import Tally, tally_of

NO_PROGRAM = -2
"""Code in the slice ``"program"`` of votes cast by people. (-1 is the code of levels that a fit has never seen.)"""
SAVED_KEY, SAVED_VERSION = "bayes_arena.cells", 1
"""Metadata key of a saved file for what its columns do not hold, and the version of that format."""


@dataclass(frozen=True, eq=False)
class VoteRows:
    """Comparisons, one per row, with their annotators: the base of :class:`Cells` and of sequences of votes."""

    competitors: tuple[str, ...]
    annotators: tuple[str, ...]
    a: Ints
    b: Ints
    annotator: Ints

    def __post_init__(self) -> None:
        for value in vars(self).values():
            for array in value.values() if isinstance(value, Mapping) else (value,):
                if isinstance(array, np.ndarray):
                    array.setflags(write=False)

    @property
    def n_competitors(self) -> int:
        """Number of competitors."""
        return len(self.competitors)

    @property
    def n_annotators(self) -> int:
        """Number of annotators, 0 when they are unknown."""
        return len(self.annotators)

    def take(self, rows: Any, **changed: Any) -> Self:
        """Return a subset of the rows, in the order given, with all their fields; ``changed`` replaces fields."""

        def of_rows(value: Any) -> Any:
            if isinstance(value, Mapping):
                return {name: of_rows(one) for name, one in value.items()}
            return value[rows] if isinstance(value, np.ndarray) else value

        kept = [field.name for field in fields(self) if field.name not in changed]
        return replace(self, **{name: of_rows(getattr(self, name)) for name in kept}, **changed)


@dataclass(frozen=True, eq=False)
class Cells(VoteRows):
    """Votes summed per ordered pair and annotator.

    Attributes
    ----------
    competitors : tuple of str
        Names, sorted. Length n_competitors.
    annotators : tuple of str
        Names, sorted; empty when the annotators are unknown.
    a, b : ndarray of int, shape (n_cells,)
        Index of the first and second competitor of a cell.
    annotator : ndarray of int, shape (n_cells,)
        Index of the annotator; 0 when the annotators are unknown.
    counts : ndarray of float, shape (n_cells, K)
        Votes (summed weights) for each outcome: a win of a, a win of b, a tie, a both-bad vote; and where verdicts are
        graded, a win of a and a win of b by every further grade.
    dropped : mapping of str to int
        Number of invalid votes left out on reading, by problem.
    sided : bool
        Whether the votes say who was shown first. If not, ``a`` is merely the name that sorts first.
    features : mapping of str to ndarray, shape (n_cells,)
        Difference between the answers of a and of b, in length for instance; votes that differ in it are in
        different cells.
    slices : mapping of str to ndarray of int, shape (n_cells,)
        By name of the slice (``"prompt"``, for instance), the index into its ``slice_names``.
    slice_names : mapping of str to tuple of str
        By name of the slice, its levels, sorted: the ids of the prompts, for instance.
    design_effect : float
        Kish's design effect: votes cast per effective vote. 1 where ``counts`` are numbers of votes; where votes have
        importance weights, or stem from rankings or choices, ``n_votes`` is the effective number of votes.
    programs : tuple of str
        Annotators that are programs, language models as judges for instance; the others are people.

    Raises
    ------
    ModelError
        If a feature or slice lacks a valid value for some cell, a slice is called annotator, competitor or program, or
        a program is not among the annotators.
    """

    counts: Floats
    dropped: Mapping[str, int] = field(default_factory=dict)
    sided: bool = True
    features: Mapping[str, Floats] = field(default_factory=dict)
    slices: Mapping[str, Ints] = field(default_factory=dict)
    slice_names: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    design_effect: float = 1.0
    programs: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if set(self.slices) != set(self.slice_names) or {ANNOTATOR, COMPETITOR, PROGRAM} & set(self.slices):
            raise ModelError(
                f"Every slice needs an entry in slice_names, and a name other than {ANNOTATOR!r}, {COMPETITOR!r} and "
                f"{PROGRAM!r}; got the slices {listing(map(repr, self.slices)) or 'none'} and slice_names for "
                f"{listing(map(repr, self.slice_names)) or 'none'}."
            )
        if unknown := [name for name in self.programs if name not in self.annotators]:
            raise ModelError(
                f"Programs must be annotators, but {listing(map(repr, unknown))} cast none of these votes."
                f"{did_you_mean(unknown[0], self.annotators)}"
            )
        for name, codes in self.slices.items():
            size = len(self.slice_names[name])
            if codes.shape != self.a.shape or codes.dtype.kind != "i" or not ((codes >= 0) & (codes < size)).all():
                raise ModelError(f"The slice {name!r} must hold an index into its {size} names for every cell.")
        for name, values in self.features.items():
            if values.shape != self.a.shape or values.dtype.kind not in "fi":
                raise ModelError(
                    f"The feature {name!r} must hold a number for every cell, shape {self.a.shape}; got {values.dtype} "
                    f"of shape {values.shape}."
                )
            bad = [f"{values[row]} (row {row})" for row in np.flatnonzero(~np.isfinite(values))]
            if bad:
                raise ModelError(
                    f"The feature {name!r} has values that are not finite: {listing(bad)}. Leave these votes out."
                )
        super().__post_init__()

    def __repr__(self) -> str:
        slices = ", ".join(f"{name} ({len(names)})" for name, names in self.slice_names.items())
        return (
            f"Cells({self.described_votes}, {self.n_competitors} competitors, {self.n_annotators} annotators, "
            + (f"programs {listing(self.programs)}, " if self.programs else "")
            + (f"slices {slices}, " if slices else "")
            + (f"{self.grades} grades, " if self.grades > 1 else "")
            + f"{len(self.a)} cells)"
        )

    def _repr_html_(self) -> str:
        """Return the same facts as a table, for notebooks."""
        facts = {
            "votes": self.described_votes.removesuffix(" votes"),
            "competitors": f"{self.n_competitors:,}",
            "annotators": f"{self.n_annotators:,}",
            "programs": listing(self.programs),
            **{name: f"{len(names):,}" for name, names in self.slice_names.items()},
            "features": listing(self.features),
            "grades": str(self.grades) if self.grades > 1 else "",
            "cells": f"{len(self.a):,}",
            "left out as invalid": f"{sum(self.dropped.values()):,}" if self.dropped else "",
        }
        return html_facts({name: value for name, value in facts.items() if value})

    @property
    def described_votes(self) -> str:
        """Number of votes in words, with the effective number where it differs."""
        if self.design_effect == 1:
            return f"{self.n_votes:,.12g} votes"
        return f"{self.n_votes * self.design_effect:,.0f} votes worth {self.n_votes:,.1f}"

    @property
    def grades(self) -> int:
        """Number of grades of a win: 1 where verdicts are not graded."""
        return grades_of(self.counts.shape[1])

    @cached_property
    def n_votes(self) -> float:
        """Number of votes (sum of weights); where ``design_effect`` is not 1, the effective number of them."""
        return float(self.counts.sum())

    @property
    def people(self) -> tuple[str, ...]:
        """Annotators that are people, not programs."""
        return tuple(name for name, human in zip(self.annotators, self.human, strict=True) if human)

    @cached_property
    def human(self) -> NDArray[np.bool_]:
        """Whether each annotator is a person, not a program, shape (n_annotators,)."""
        programs = set(self.programs)
        return np.array([name not in programs for name in self.annotators], dtype=bool)

    @cached_property
    def components(self) -> Ints:
        """Connected component of every competitor in the graph of comparisons, numbered from the largest."""
        return components(self.n_competitors, self.a, self.b)

    def tally(
        self, *, by_annotator: bool, by_side: bool = False, features: Sequence[str] = (), slices: Sequence[str] = ()
    ) -> Tally:
        """Sum the votes over everything that a model does not distinguish; computed once and cached.

        Parameters
        ----------
        by_annotator : bool
            Keep votes of different annotators apart.
        by_side : bool
            Keep the two orders of a pair apart; otherwise i is the competitor that comes first in ``competitors``.
        features, slices : sequence of str
            Keep apart votes that differ in these.
        """
        kept = by_annotator, by_side, tuple(features), tuple(slices)
        if kept not in self._tallies:
            rows = self.by_cell(features, slices)
            self._tallies[kept] = tally_of(rows, self.n_competitors, by_annotator=by_annotator, by_side=by_side)
        return self._tallies[kept]

    @cached_property
    def _tallies(self) -> dict[tuple[bool, bool, tuple[str, ...], tuple[str, ...]], Tally]:
        return {}

    def by_cell(self, features: Sequence[str] = (), slices: Sequence[str] = ()) -> Tally:
        """Return the cells as a tally, one row per cell in order, with the requested features and slices."""
        rows = self.feature_rows(features), self.slice_rows(slices)
        return Tally(self.a, self.b, self.annotator, self.counts, *rows)

    def feature_rows(self, names: Sequence[str]) -> Floats:
        """Return features of every cell, shape (len(names), n_cells).

        Raises
        ------
        ModelError
            If the votes lack one of them.
        """
        rows = _asked_for(self.features, names, "feature")
        return np.array(rows, dtype=np.float64).reshape(len(names), len(self.a))

    def slice_rows(self, names: Sequence[str]) -> Ints:
        """Return slices of every cell, shape (len(names), n_cells); ``"program"`` is one, ``NO_PROGRAM`` for people.

        Raises
        ------
        ModelError
            If the votes lack one of them.
        """
        rows = _asked_for({**self.slices, PROGRAM: self._program} if PROGRAM in names else self.slices, names, "slice")
        return np.array(rows, dtype=np.int64).reshape(len(names), len(self.a))

    @property
    def _program(self) -> Ints:
        """Index of the program that cast the votes of every cell, shape (n_cells,)."""
        place = {name: code for code, name in enumerate(self.programs)}
        of_annotators = [place.get(name, NO_PROGRAM) for name in self.annotators] or [NO_PROGRAM]
        return np.array(of_annotators, dtype=np.int64)[self.annotator]

    def save(self, path: str | Path) -> None:
        """Save the cells as a Parquet file, which :func:`~bayes_arena.read_cells` reads.

        Parameters
        ----------
        path : str or Path
            File, ``*.parquet``. An existing file is replaced once the new one is complete. The columns are those of
            :mod:`bayes_arena.votes.parquet`.

        Raises
        ------
        OutputError
            If the name has another suffix, or the file cannot be written.
        """
        path = Path(path)
        if path.suffix.lower() != ".parquet":
            raise OutputError(f"Cells are saved as Parquet: the file name must end in .parquet, not {path.name!r}.")
        about = {
            "version": SAVED_VERSION,
            "sided": self.sided,
            "dropped": dict(self.dropped),
            "programs": list(self.programs),
            "design_effect": self.design_effect,
        }
        write_parquet(as_table(self), path, {SAVED_KEY: json.dumps(about, ensure_ascii=False)})

    def votes_by_annotator(self) -> Floats:
        """Votes (summed weights) of every annotator, shape (n_annotators,)."""
        return self._votes_by_annotator

    @cached_property
    def _votes_by_annotator(self) -> Floats:
        votes = sum_by(self.annotator, self.counts.sum(axis=1), self.n_annotators)[: self.n_annotators]
        votes.setflags(write=False)
        return votes


def _asked_for(known: Mapping[str, Any], names: Sequence[str], kind: str) -> list[Any]:
    missing = [name for name in names if name not in known]
    if missing:
        option = "prompt=..., --prompt" if (kind, missing) == ("slice", [PROMPT]) else f"{kind}s=..., --{kind}"
        raise ModelError(
            f"The votes do not carry the {kind} {listing(map(repr, missing))}, which the model needs. Name its column "
            f"when reading them ({option})."
        )
    return [known[name] for name in names]


def as_table(cells: Cells) -> pl.DataFrame:
    """Return cells as a table of names and counts, with the columns of a saved file."""
    require_threads_of_polars()

    def named(codes: Ints, names: Sequence[str]) -> pl.Series:
        return pl.Series(names, dtype=pl.String).gather(codes)

    columns = {"model_a": named(cells.a, cells.competitors), "model_b": named(cells.b, cells.competitors)}
    if cells.annotators:
        columns["annotator"] = named(cells.annotator, cells.annotators)
    columns |= {SLICE + name: named(codes, cells.slice_names[name]) for name, codes in cells.slices.items()}
    columns |= {FEATURE + name: pl.Series(values) for name, values in cells.features.items()}
    return pl.DataFrame(columns | dict(zip(count_columns(cells.grades), cells.counts.T, strict=True)))


def components(size: int, a: Ints, b: Ints) -> Ints:
    """Return the connected component of each of ``size`` competitors, largest first, given the compared pairs (a, b).

    Scores are comparable only within a component.
    """
    least, first = np.arange(size), np.full(size, -1)  # a competitor of the component: at the end its first
    while (first != least).any():
        first, least = least, least.copy()
        np.minimum.at(least, first[a], first[b])
        np.minimum.at(least, first[b], first[a])
        least = least[least]
    labels = np.unique(first, return_inverse=True)[1]
    order = np.argsort(-np.bincount(labels), kind="stable")
    return np.argsort(order)[labels]


def slices_left(cells: Cells, rows: Any = slice(None)) -> dict[str, Any]:
    """Return the fields ``slices`` and ``slice_names`` of some rows of cells, with the names that occur in them."""
    left = {name: present(codes[rows], len(cells.slice_names[name])) for name, codes in cells.slices.items()}
    return {
        "slices": {name: codes for name, (_, codes) in left.items()},
        "slice_names": {
            name: tuple(cells.slice_names[name][code] for code in kept) for name, (kept, _) in left.items()
        },
    }


def with_counts(cells: Cells, counts: Floats | Ints) -> Cells:
    """Return cells of the same competitors and annotators with other counts; cells without votes are left out."""
    rows = counts.sum(axis=1) > 0
    return cells.take(rows, counts=counts[rows].astype(np.float64))


def single_votes(cells: Cells) -> tuple[Ints, Ints]:
    """Return cell and outcome of every vote, each of shape (n_votes,), in the order of the cells.

    Fractional weights are a ModelError: there are no single votes.
    """
    counts = whole_votes(cells.counts)
    row, outcome = np.nonzero(counts)
    times = counts[row, outcome]
    return np.repeat(row, times), np.repeat(outcome, times)
