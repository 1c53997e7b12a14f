"""Cells: the sufficient statistics of a set of votes.

One row per distinct (a, b, annotator, slices, features) with a count for each of the four outcomes. ``a`` is the
competitor shown first (left), so a position effect can still be read off. A slice is what else votes have in common:
the prompt, its category, its language. Rows are sorted by the competitors' names, the annotator's, those of the slices
and the features, so no order of votes, no chunking and no engine changes a bit of what follows.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from bayes_arena.arrays import Floats, Ints, sum_by
from bayes_arena.errors import ModelError, did_you_mean, listing
from bayes_arena.markup import html_facts
from bayes_arena.votes.graph import components
from bayes_arena.votes.words import ANNOTATOR, COMPETITOR, PROGRAM, PROMPT

OUTCOMES = ("model_a", "model_b", "tie", "both_bad")
"""What a vote can say, in the order of the columns of ``Cells.counts``."""
WIN, LOSS, TIE, BOTH_BAD = range(4)
"""The same by their place: a win of the first, a win of the second, a tie, a both-bad vote."""
OUTCOME_SCORES = np.array([1.0, 0.0, 0.5, 0.5])
"""Score W of the first competitor for each of the ``OUTCOMES`` (Liu et al., 2025, section 3)."""
AT_ONCE = 100_000
"""Cells whose counts are looked at together."""
NO_PROGRAM = -2
"""Code of the slice ``"program"`` of votes that people cast. (That of what a fit has never seen is -1.)"""


def wins_losses_ties(counts: Floats) -> tuple[Floats, Floats, Floats]:
    """Split counts (or probabilities) of the four outcomes, shape (..., 4), with both-bad votes among the ties."""
    return counts[..., WIN], counts[..., LOSS], counts[..., TIE] + counts[..., BOTH_BAD]


@dataclass(frozen=True, eq=False)
class Votes:
    """Rows of who met whom before which annotator: what cells and single votes have in common.

    Attributes
    ----------
    competitors : tuple of str
        Names, sorted. Length n_competitors.
    annotators : tuple of str
        Names, sorted; empty when the annotators are unknown.
    a, b : ndarray of int, shape (n_rows,)
        Index of the competitors shown first and second.
    annotator : ndarray of int, shape (n_rows,)
        Index of the annotator; 0 when the annotators are unknown.
    """

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
        """Return some rows, in the order given, with everything that is known of them.

        Parameters
        ----------
        rows : ndarray of bool or int, or slice
            Which.
        **changed
            Fields that are others: of these rows, or of the whole.
        """

        def of_rows(value: Any) -> Any:
            if isinstance(value, Mapping):
                return {name: of_rows(one) for name, one in value.items()}
            return value[rows] if isinstance(value, np.ndarray) else value

        kept = [field.name for field in fields(self) if field.name not in changed]
        return replace(self, **{name: of_rows(getattr(self, name)) for name in kept}, **changed)


@dataclass(frozen=True, eq=False)
class Cells(Votes):
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
    counts : ndarray of float, shape (n_cells, 4)
        Votes (summed weights) for each of ``OUTCOMES``.
    dropped : mapping of str to int
        Invalid votes left out on reading, by problem.
    sided : bool
        Whether the votes say who was shown first. If not, ``a`` is the name that sorts first, and says nothing.
    features : mapping of str to ndarray, shape (n_cells,)
        By how much a's answer exceeds b's, in length say; votes that differ in it are in different cells.
    slices : mapping of str to ndarray of int, shape (n_cells,)
        By name of the slice, ``"prompt"`` say, the index into its ``slice_names``.
    slice_names : mapping of str to tuple of str
        By name of the slice, what it distinguishes, sorted: the prompts' ids, say.
    design_effect : float
        How many votes were cast for each that counts: 1 where ``counts`` count votes. Where votes have importance
        weights or stem from rankings or choices, ``n_votes`` is the effective number of votes, and this is Kish's
        design effect.
    programs : tuple of str
        Annotators that are programs, language models that judge say; the others are people.

    Raises
    ------
    ModelError
        If a feature or slice does not have a sound value for every cell, a slice is called annotator, competitor or
        program, or a program is no annotator.
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
                f"Slices have names of their own, none of {ANNOTATOR!r}, {COMPETITOR!r} and {PROGRAM!r}, and "
                f"slice_names for each; not {listing(map(repr, self.slices))} with names of "
                f"{listing(map(repr, self.slice_names))}."
            )
        if unknown := [name for name in self.programs if name not in self.annotators]:
            raise ModelError(
                f"Programs are annotators, and {listing(map(repr, unknown))} cast none of these votes."
                f"{did_you_mean(unknown[0], self.annotators)}"
            )
        for name, codes in self.slices.items():
            size = len(self.slice_names[name])
            if codes.shape != self.a.shape or codes.dtype.kind != "i" or not ((codes >= 0) & (codes < size)).all():
                raise ModelError(f"The slice {name!r} is an index into its {size} names for every cell.")
        for name, values in self.features.items():
            if values.shape != self.a.shape or values.dtype.kind not in "fi":
                raise ModelError(
                    f"The feature {name!r} is one number for every cell, shape {self.a.shape}; not {values.dtype} of "
                    f"shape {values.shape}."
                )
            bad = [f"{values[row]} (row {row})" for row in np.flatnonzero(~np.isfinite(values))]
            if bad:
                raise ModelError(f"The feature {name!r} is not finite: {listing(bad)}. Leave these votes out.")
        super().__post_init__()

    def __repr__(self) -> str:
        slices = ", ".join(f"{name} ({len(names)})" for name, names in self.slice_names.items())
        return (
            f"Cells({self.described_votes}, {self.n_competitors} competitors, {self.n_annotators} annotators, "
            + (f"programs {listing(self.programs)}, " if self.programs else "")
            + (f"slices {slices}, " if slices else "")
            + f"{len(self.a)} cells)"
        )

    def _repr_html_(self) -> str:
        """Return the same as a table, for notebooks."""
        facts = {
            "votes": self.described_votes.removesuffix(" votes"),
            "competitors": f"{self.n_competitors:,}",
            "annotators": f"{self.n_annotators:,}",
            "programs": listing(self.programs),
            **{name: f"{len(names):,}" for name, names in self.slice_names.items()},
            "features": listing(self.features),
            "cells": f"{len(self.a):,}",
            "left out as invalid": f"{sum(self.dropped.values()):,}" if self.dropped else "",
        }
        return html_facts({name: value for name, value in facts.items() if value})

    @property
    def described_votes(self) -> str:
        """How many votes there are, and how many they are worth where that is another number."""
        if self.design_effect == 1:
            return f"{self.n_votes:,.12g} votes"
        return f"{self.n_votes * self.design_effect:,.0f} votes worth {self.n_votes:,.1f}"

    @cached_property
    def n_votes(self) -> float:
        """Number of votes (sum of weights); where ``design_effect`` is not 1, the effective number of them."""
        return float(self.counts.sum())

    @property
    def people(self) -> tuple[str, ...]:
        """Annotators that are no programs."""
        return tuple(name for name, human in zip(self.annotators, self.human, strict=True) if human)

    @cached_property
    def human(self) -> NDArray[np.bool_]:
        """Who of the annotators is no program, shape (n_annotators,)."""
        programs = set(self.programs)
        return np.array([name not in programs for name in self.annotators], dtype=bool)

    @cached_property
    def components(self) -> Ints:
        """Component of every competitor in the graph of comparisons, shape (n_competitors,), largest first."""
        return components(self.n_competitors, self.a, self.b)

    def tally(
        self, *, by_annotator: bool, by_side: bool = False, features: Sequence[str] = (), slices: Sequence[str] = ()
    ) -> Tally:
        """Sum the votes over what a model does not distinguish; done once, and kept.

        Parameters
        ----------
        by_annotator : bool
            Keep annotators apart.
        by_side : bool
            Keep apart who was shown first; otherwise i is the competitor that comes first in ``competitors``.
        features, slices : sequence of str
            Keep apart votes that differ in these.
        """
        kept = by_annotator, by_side, tuple(features), tuple(slices)
        if kept not in self._tallies:
            self._tallies[kept] = self._sum(*kept)
        return self._tallies[kept]

    @cached_property
    def _tallies(self) -> dict[tuple[bool, bool, tuple[str, ...], tuple[str, ...]], Tally]:
        return {}

    def _sum(self, by_annotator: bool, by_side: bool, features: Sequence[str], slices: Sequence[str]) -> Tally:
        annotator = self.annotator if by_annotator else np.zeros_like(self.annotator)
        turned = np.zeros(len(self.a), dtype=bool) if by_side else self.a > self.b
        i, j = np.where(turned, self.b, self.a), np.where(turned, self.a, self.b)
        size = self.n_competitors
        key = (annotator * size + i) * size + j
        codes, differences = self.slice_rows(slices), self.feature_rows(features)
        differences[:, turned] *= -1
        mixture = [_mixture(differences)] if len(differences) else []
        order = np.lexsort((*mixture, *codes[::-1], key))
        new = np.arange(len(key)) == 0
        for values in (key, *codes, *differences):
            new[1:] |= np.diff(values[order]) != 0
        row, first, turned = np.cumsum(new) - 1, order[new], turned[order]
        counts = np.empty((len(OUTCOMES), len(order)))
        for start in range(0, len(order), AT_ONCE):
            part = slice(start, start + AT_ONCE)
            of_rows, other = self.counts.take(order[part], 0), turned[part]
            of_rows[other] = of_rows[other][:, [LOSS, WIN, TIE, BOTH_BAD]]
            counts[:, part] = of_rows.T
        if not new.all():
            counts = np.array([sum_by(row, column, len(first)) for column in counts])
        return Tally(
            i=i[first],
            j=j[first],
            k=annotator[first],
            counts=counts.T,
            features=differences.take(first, 1),
            slices=codes.take(first, 1),
        )

    def by_cell(self, features: Sequence[str] = (), slices: Sequence[str] = ()) -> Tally:
        """Return a tally that sums nothing: a row for every cell, in their order, with what is asked for."""
        rows = self.feature_rows(features), self.slice_rows(slices)
        return Tally(self.a, self.b, self.annotator, self.counts, *rows)

    def feature_rows(self, names: Sequence[str]) -> Floats:
        """Features of every cell, shape (len(names), n_cells).

        Raises
        ------
        ModelError
            If the votes do not carry one.
        """
        rows = _asked_for(self.features, names, "feature")
        return np.array(rows, dtype=np.float64).reshape(len(names), len(self.a))

    def slice_rows(self, names: Sequence[str]) -> Ints:
        """Slices of every cell, shape (len(names), n_cells); ``"program"`` is one, ``NO_PROGRAM`` where people vote.

        Raises
        ------
        ModelError
            If the votes do not carry one.
        """
        rows = _asked_for({**self.slices, PROGRAM: self._program} if PROGRAM in names else self.slices, names, "slice")
        return np.array(rows, dtype=np.int64).reshape(len(names), len(self.a))

    @property
    def _program(self) -> Ints:
        """Which program cast the votes of every cell, shape (n_cells,)."""
        place = {name: code for code, name in enumerate(self.programs)}
        of_annotators = [place.get(name, NO_PROGRAM) for name in self.annotators] or [NO_PROGRAM]
        return np.array(of_annotators, dtype=np.int64)[self.annotator]

    def save(self, path: str | Path) -> None:
        """Write the cells to a Parquet file, from which :func:`~bayes_arena.read_cells` reads them on any machine.

        Parameters
        ----------
        path : str or Path
            File, ``*.parquet``. One that is there is replaced when the new one is whole. Its columns are those of
            :mod:`bayes_arena.votes.exchange.files`.

        Raises
        ------
        OutputError
            If the file has another suffix, or cannot be written.
        """
        from bayes_arena.votes.exchange.files import save_cells

        save_cells(self, path)

    def votes_by_annotator(self) -> Floats:
        """Votes (summed weights) of every annotator, shape (n_annotators,)."""
        return self._votes_by_annotator

    @cached_property
    def _votes_by_annotator(self) -> Floats:
        votes = sum_by(self.annotator, self.counts.sum(axis=1), self.n_annotators)[: self.n_annotators]
        votes.setflags(write=False)
        return votes


@dataclass(frozen=True, eq=False)
class Tally:
    """Votes per pair (i, j), annotator k and the features and slices asked for, sorted by (k, i, j).

    Attributes
    ----------
    i, j, k : ndarray of int, shape (n_rows,)
        Competitors and annotator.
    counts : ndarray of float, shape (n_rows, 4)
        Wins of i, wins of j, ties, both-bad.
    features : ndarray, shape (n_features, n_rows)
        By how much i exceeds j in each.
    slices : ndarray of int, shape (n_slices, n_rows)
        Index into the names of each slice.
    """

    i: Ints
    j: Ints
    k: Ints
    counts: Floats
    features: Floats
    slices: Ints

    @cached_property
    def votes(self) -> Floats:
        """Votes of every row, shape (n_rows,)."""
        return np.asarray(self.counts.sum(axis=1))

    @cached_property
    def runs(self) -> Ints:
        """Where the rows of every annotator who has some begin."""
        return np.flatnonzero(np.diff(self.k, prepend=-1))

    @cached_property
    def pairs(self) -> Pairs:
        """Which competitors met."""
        size = int(max(self.i.max(initial=0), self.j.max(initial=0))) + 1
        met, row = np.unique(self.i * size + self.j, return_inverse=True)
        return Pairs(met // size, met % size, row)

    @cached_property
    def met(self) -> Met:
        """Which competitors every annotator met."""
        size = int(max(self.i.max(initial=0), self.j.max(initial=0))) + 1
        codes = np.concatenate([self.k * size + self.i, self.k * size + self.j])
        met, row = np.unique(codes, return_inverse=True)
        return Met(met // size, met % size, *np.split(row, 2))


@dataclass(frozen=True, eq=False)
class Pairs:
    """Pairs of competitors among the rows, each once.

    Attributes
    ----------
    i, j : ndarray of int, shape (n_pairs,)
    of_row : ndarray of int, shape (n_rows,)
        Which of them a row is of.
    """

    i: Ints
    j: Ints
    of_row: Ints

    def by_competitor(self, values: Floats, size: int) -> Floats:
        """Sum of the pairs where a competitor is i, less those where it is j, shape (size,)."""
        return sum_by(self.i, values, size) - sum_by(self.j, values, size)


@dataclass(frozen=True, eq=False)
class Met:
    """Annotators and the competitors among their votes, sorted by both.

    Attributes
    ----------
    annotator, competitor : ndarray of int, shape (e,)
        Each pair of these once.
    of_i, of_j : ndarray of int, shape (n_rows,)
        Which of them the annotator of a row, and its i or j, are.
    """

    annotator: Ints
    competitor: Ints
    of_i: Ints
    of_j: Ints


def _mixture(features: Floats) -> Floats:
    """One number for the features of every row: one sort by it brings those together that are equal in all."""
    mixture = np.zeros(features.shape[1])
    for place, values in enumerate(features):
        mixture += math.sqrt(place + 1.5) * values
    return mixture


def _asked_for(known: Mapping[str, Any], names: Sequence[str], kind: str) -> list[Any]:
    missing = [name for name in names if name not in known]
    if missing:
        option = "prompt=..., --prompt" if (kind, missing) == ("slice", [PROMPT]) else f"{kind}s=..., --{kind}"
        raise ModelError(
            f"The votes do not carry the {kind} {listing(map(repr, missing))}, which the model reads. Name "
            f"it when they are read ({option})."
        )
    return [known[name] for name in names]


def with_counts(cells: Cells, counts: Floats | Ints) -> Cells:
    """Return the same competitors and annotators with other counts; cells without a vote are left out."""
    rows = counts.sum(axis=1) > 0
    return cells.take(rows, counts=counts[rows].astype(np.float64))


def whole_votes(counts: Floats) -> Ints:
    """Return counts as integers.

    Raises
    ------
    ModelError
        If some weights are fractions, so that votes cannot be drawn or left out one by one.
    """
    if not are_whole(counts):
        raise ModelError("This needs whole votes, but some weights are fractions.")
    return counts.astype(np.int64)


def single_votes(cells: Cells) -> tuple[Ints, Ints]:
    """Cell and outcome of every vote, each of shape (n_votes,), in the order of the cells.

    Raises
    ------
    ModelError
        If some weights are fractions, so that there are no single votes.
    """
    counts = whole_votes(cells.counts)
    row, outcome = np.nonzero(counts)
    times = counts[row, outcome]
    return np.repeat(row, times), np.repeat(outcome, times)


def are_whole(counts: Floats) -> bool:
    """Whether every count is of whole votes, none weighted by a fraction."""
    return np.array_equal(counts, np.rint(counts))


def whole_counts(values: Floats) -> np.ndarray:
    """Return counts as integers where every one is whole (it is, unless votes are weighted)."""
    return values.astype(np.int64) if are_whole(values) else values
