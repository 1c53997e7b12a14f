"""Votes as counts: the sufficient statistics of every model.

A row counts the votes of one annotator on one ordered pair in one slice, by outcome.  Rows
are sorted by their codes and names are sorted, so that the order of votes decides nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from bayes_arena.arrays import Array, Floats, Ints

# Columns of the counts.  Those of clear wins (A>>B, B>>A) are there if verdicts are graded.
FIRST, SECOND, TIE, FIRST_CLEARLY, SECOND_CLEARLY = range(5)
PROMPT = "prompt"  # the slice that holds the prompts


@dataclass(frozen=True, eq=False)
class Votes:
    """Counts of votes, one row for each annotator, ordered pair and slice.

    Attributes
    ----------
    competitors : tuple of str
        Names, sorted.
    annotators : tuple of str
        Names, sorted; empty where annotators are unknown.
    i, j : ndarray of int, shape (rows,)
        Codes of the competitors shown first and second.
    annotator : ndarray of int, shape (rows,)
        Codes of the annotators; 0 where they are unknown.
    counts : ndarray, shape (rows, 3) or (rows, 5)
        Votes for the first, for the second, and ties; where verdicts are graded also clear
        wins of the first and of the second.
    slices : mapping of str to ndarray of int, shape (rows,)
        Codes of the levels of each slice (category, language, "prompt").
    levels : mapping of str to tuple of str
        Names of the levels of each slice, sorted.
    features : mapping of str to ndarray, shape (rows,)
        Differences between the two answers (length, style), first minus second.
    sided : bool
        Whether the votes say who was shown first.
    dropped : mapping of str to int
        Votes that were left out on reading, by reason.
    remarks : tuple of str
        What reading noticed: a sentence each.
    """

    competitors: tuple[str, ...]
    annotators: tuple[str, ...]
    i: Ints
    j: Ints
    annotator: Ints
    counts: Floats
    slices: Mapping[str, Ints] = field(default_factory=dict)
    levels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    features: Mapping[str, Floats] = field(default_factory=dict)
    sided: bool = True
    dropped: Mapping[str, int] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.i)

    @property
    def n_votes(self) -> float:
        """Number of votes, or the sum of their weights."""
        return float(self.counts.sum())

    @property
    def n_competitors(self) -> int:
        """Number of competitors."""
        return len(self.competitors)

    @property
    def n_annotators(self) -> int:
        """Number of annotators; 0 where they are unknown."""
        return len(self.annotators)

    @property
    def graded(self) -> bool:
        """Whether verdicts tell clear wins from others."""
        return self.counts.shape[1] > 3

    @property
    def folded(self) -> Floats:
        """Wins of the first, wins of the second and ties, grades put together, (rows, 3)."""
        if not self.graded:
            return self.counts
        folded = self.counts[:, :3].copy()
        folded[:, FIRST] += self.counts[:, FIRST_CLEARLY]
        folded[:, SECOND] += self.counts[:, SECOND_CLEARLY]
        return folded

    @property
    def votes_by_competitor(self) -> Floats:
        """Votes on each competitor, (competitors,)."""
        cast = self.counts.sum(axis=1)
        n = self.n_competitors
        return np.bincount(self.i, cast, n) + np.bincount(self.j, cast, n)

    @property
    def votes_by_annotator(self) -> Floats:
        """Votes of each annotator, (annotators,)."""
        return np.bincount(self.annotator, self.counts.sum(axis=1), self.n_annotators)

    def level(self, by: str | None) -> Ints:
        """Return the code of the annotator, or of the level of a slice; 0 for None."""
        if by is None:
            return np.zeros(len(self), np.intp)
        return self.annotator if by == "annotator" else self.slices[by]

    def take(self, rows: Array) -> Votes:
        """Return some rows, in the given order, with the same names."""
        return replace(
            self,
            i=self.i[rows],
            j=self.j[rows],
            annotator=self.annotator[rows],
            counts=self.counts[rows],
            slices={name: codes[rows] for name, codes in self.slices.items()},
            features={name: values[rows] for name, values in self.features.items()},
        )

    def collapse(
        self,
        *,
        annotators: bool = False,
        slices: Sequence[str] = (),
        features: Sequence[str] = (),
    ) -> Votes:
        """Return the counts summed over all that a model does not tell apart.

        Parameters
        ----------
        annotators : bool
            Whether rows of different annotators stay apart.
        slices, features : sequence of str
            Slices and features that stay apart.
        """
        keep_all = annotators or not self.n_annotators
        if (
            keep_all
            and set(slices) == set(self.slices)
            and set(features) == set(self.features)
        ):
            return self
        columns = [self.annotator] if annotators else []
        columns += [self.i, self.j, *(self.slices[name] for name in slices)]
        columns += [self.features[name] for name in features]
        first, row = distinct_rows(columns)
        counts = np.zeros((len(first), self.counts.shape[1]))
        for outcome in range(counts.shape[1]):
            counts[:, outcome] = np.bincount(row, self.counts[:, outcome], len(first))
        summed = replace(
            self.take(first),
            counts=counts,
            slices={name: self.slices[name][first] for name in slices},
            levels={name: self.levels[name] for name in slices},
            features={name: self.features[name][first] for name in features},
        )
        if annotators:
            return summed
        return replace(summed, annotators=(), annotator=np.zeros(len(first), np.intp))


def distinct_rows(columns: Sequence[Array]) -> tuple[Ints, Ints]:
    """Return the distinct rows of some columns, sorted by the first column, then the next.

    Returns
    -------
    first : ndarray, shape (distinct,)
        The index of one row of each kind.
    row : ndarray, shape (rows,)
        The number of each row's kind.
    """
    if all(column.dtype.kind in "iu" for column in columns):
        sizes = [int(column.max(initial=0)) + 1 for column in columns]
        if np.prod([float(size) for size in sizes]) < 2**62:
            key = np.zeros(len(columns[0]), np.int64)
            for column, size in zip(columns, sizes, strict=True):
                key = key * size + column
            _, first, row = np.unique(key, return_index=True, return_inverse=True)
            return first, row
    order = np.lexsort([column for column in reversed(columns)])
    is_new = np.zeros(len(order), bool)
    is_new[:1] = True
    for column in columns:
        is_new[1:] |= np.diff(column[order]) != 0
    row = np.empty(len(order), np.intp)
    row[order] = np.cumsum(is_new) - 1
    return order[is_new], row
