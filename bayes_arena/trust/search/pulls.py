"""Where everybody's residuals pull: a sparse matrix of annotators and competitors, and its largest singular value.

Z is that of :mod:`bayes_arena.trust.search.blocs`. Hardly anybody meets every competitor, so its entries are those of
the meetings. Of few competitors the products of all their columns are small, and found in one pass; of many, the
largest singular value is found without them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from bayes_arena.arrays import Floats, Ints, sum_by
from bayes_arena.compiled import for_each, made_ready
from bayes_arena.likelihood.point import Point
from bayes_arena.threads import BLOCK, in_blocks
from bayes_arena.trust.plain.ballots import Ballots
from bayes_arena.trust.plain.residuals import Residuals

FEW = 400
"""Competitors of whom all products are looked at."""
GRAMS = 2**27
"""Bytes of products that threads hold, or so."""
PARTS = 8
"""Parts of the annotators that are worked on side by side."""


@dataclass(frozen=True, eq=False)
class Pulls:
    """Standardised residuals by annotator and competitor.

    Attributes
    ----------
    first : ndarray of int, shape (n_annotators + 1,)
        Where everybody's entries begin, and the last ones end.
    competitor : ndarray of int, shape (n_entries,)
    n_competitors : int
    z : ndarray, shape (n_entries,)
    even, tilted : ndarray, shape (n_entries,)
        By annotator, two directions of length one in which z is nothing: all up together, and as theta would have it.
    clear, agreed : ndarray, shape (n_annotators,)
        Length of the slope of z by theta, 1 / its standard error; and its product with z.
    """

    first: Ints
    competitor: NDArray[np.int32]
    n_competitors: int
    z: NDArray[np.float32]
    even: NDArray[np.float32]
    tilted: NDArray[np.float32]
    clear: Floats
    agreed: Floats

    @classmethod
    def of(cls, ballots: Ballots, point: Point, active: NDArray[np.bool_]) -> Pulls:
        """Return those of the active; of the others they are zero."""
        from bayes_arena.trust.search import kernels

        seen, meetings, residuals = active[ballots.k], ballots.meetings, Residuals.of(ballots, point)
        of_rows = [np.where(seen, one, 0.0) for one in (residuals.score, residuals.variance, residuals.by_theta)]
        size = ballots.n_annotators
        z, even, tilted = (np.empty(len(meetings.competitor), dtype=np.float32) for _ in range(3))
        clear, agreed = np.empty(size), np.empty(size)
        given = ballots.first, meetings.first, meetings.at_i, meetings.at_j, *of_rows
        for_each(kernels.standardise, size, *given, z, even, tilted, clear, agreed, what="the pulls of annotators")
        n = ballots.n_competitors
        return cls(meetings.first, meetings.competitor, n, z, even, tilted, np.sqrt(clear), agreed)

    def with_random_signs(self, rng: np.random.Generator) -> Pulls:
        """Return pulls of the same sizes, entry by entry or so, that nobody shares."""
        from bayes_arena.trust.search import kernels

        heads, flipped = rng.integers(2, size=len(self.z), dtype=np.int8), np.empty_like(self.z)
        given = self.first, self.z, self.even, self.tilted, heads, flipped
        for_each(kernels.flip, len(self.clear), *given, what="the pulls of annotators")
        return replace(self, z=flipped)

    def top(self) -> tuple[float, Floats]:
        """Return the largest singular value, and the direction of the competitors that has it."""
        (only,) = self._tops(np.zeros(len(self.clear), dtype=np.int64), 1, of_others=False)
        return only

    def tops_without(self, fold: Ints) -> Iterator[Floats]:
        """Return the direction that those have who are not in a fold, for every fold."""
        return (direction for _, direction in self._tops(fold, int(fold.max()) + 1, of_others=True))

    def along(self, direction: Floats) -> Floats:
        """Return everybody's pull in a direction, shape (n_annotators,)."""
        return self._by_annotator(self.z * direction[self.competitor])

    def squares(self) -> Floats:
        """Return everybody's squared length, shape (n_annotators,)."""
        return self._by_annotator(np.square(self.z, dtype=np.float64))

    def _by_annotator(self, values: Floats) -> Floats:
        size = len(self.clear)
        return sum_by(np.repeat(np.arange(size), np.diff(self.first)), values, size)

    def _tops(self, fold: Ints, folds: int, *, of_others: bool) -> Iterator[tuple[float, Floats]]:
        """Largest singular value and its direction in every fold, or without it."""
        if self.n_competitors <= FEW:
            grams = self._grams(fold, folds)
            yield from map(_top_of, grams.sum(axis=0) - grams if of_others else grams)
            return
        from scipy.sparse import csr_array  # slow to import
        from scipy.sparse.linalg import svds

        shape = len(self.clear), self.n_competitors
        matrix = csr_array((self.z.astype(np.float64), self.competitor, self.first), shape=shape)
        for one in range(folds):
            chosen: Any = matrix[np.flatnonzero((fold != one) if of_others else (fold == one))]
            if not chosen.data.any():
                yield 0.0, np.zeros(self.n_competitors)
                continue
            _, value, direction = svds(chosen, k=1, v0=np.ones(min(chosen.shape)), tol=1e-4)
            yield float(value[0]), direction[0]

    def _grams(self, fold: Ints, folds: int) -> Floats:
        """Products of every two columns, by fold, shape (folds, n, n)."""
        from bayes_arena.trust.search import kernels

        n, size = self.n_competitors, len(self.clear)
        parts = max(1, min(PARTS, size // BLOCK, GRAMS // (8 * folds * n * n)))
        grams, edges = np.zeros((parts, folds, n, n)), np.linspace(0, size, parts + 1).astype(int)
        add = kernels.add_grams

        def work(part: int) -> None:
            add(edges[part], edges[part + 1], self.first, self.competitor, self.z, fold, grams[part])

        made_ready(add, lambda: add(0, 0, self.first, self.competitor, self.z, fold, grams[0]), "the products of pulls")
        in_blocks(lambda block: work(block.start), parts, of=1)
        lower = grams.sum(axis=0)
        return np.asarray(lower + np.tril(lower, -1).swapaxes(1, 2))


def _top_of(gram: Floats) -> tuple[float, Floats]:
    """Largest singular value of a matrix, and its direction, by the products of its columns."""
    last = len(gram) - 1
    (value,), direction = scipy.linalg.eigh(gram, subset_by_index=(last, last), check_finite=False)
    return math.sqrt(max(value, 0.0)), direction[:, 0]
