"""The border B of an arrow matrix, kept where it is not zero, and multiplied block by block.

B[h, k, p] is the entry of the Hessian for number h of the head and number p of annotator k. The votes of an annotator
meet few competitors, and B is zero for all others. So only the numbers of the head that each annotator touches are
kept, annotator by annotator. Products of matrices lay out a batch of annotators in full, which a processor multiplies
many times as fast.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import NDArray

from bayes_arena.arrays import Floats, Ints

if TYPE_CHECKING:
    from scipy.sparse import csr_array

AT_ONCE = 500_000
"""Numbers of B that are laid out together: few enough for a processor's cache."""


@dataclass(frozen=True, eq=False)
class Border:
    """B (h, M, q): h numbers of the head by q of every annotator.

    Attributes
    ----------
    size : int
        Numbers of the head, h.
    start : ndarray of int, shape (M + 1,)
        Where the entries of every annotator begin.
    column : ndarray of int32, shape (e,)
        The number of the head of every entry, each once per annotator.
    value : ndarray, shape (e, q)
        The entries.
    """

    size: int
    start: Ints
    column: NDArray[np.int32]
    value: Floats

    @classmethod
    def of(cls, dense: Floats) -> Self:
        """Return the border of a dense array (h, M, q)."""
        size, count, width = dense.shape
        column = np.tile(np.arange(size, dtype=np.int32), count)
        return cls(size, size * np.arange(count + 1), column, dense.transpose(1, 0, 2).reshape(size * count, width))

    @property
    def shape(self) -> tuple[int, int, int]:
        """Numbers of the head, annotators, and own numbers of each."""
        return self.size, len(self.start) - 1, self.value.shape[1]

    def dense(self) -> Floats:
        """Return B in full, (h, M, q).

        It lies in memory as (M, q, h), so that products of matrices can use (h, M q) as a view.
        """
        size, count, width = self.shape
        block = np.zeros((count, width, size))
        for p, places in enumerate(self.places()):
            block.reshape(-1)[places] = self.value[:, p]
        return block.transpose(2, 0, 1)

    def places(self) -> Iterator[NDArray[np.signedinteger]]:
        """Yield, for every own number, where its entries are in a flat array (M, q, h), shape (e,)."""
        size, count, width = self.shape
        first = np.repeat(np.arange(count) * (width * size), np.diff(self.start)) + self.column
        for p in range(width):
            yield first + p * size

    def between(self, annotators: slice) -> Self:
        """Return B of consecutive annotators, which shares memory with this one."""
        start = self.start[annotators.start : annotators.stop + 1]
        entries = slice(start[0], start[-1])
        return type(self)(self.size, start - start[0], self.column[entries], self.value[entries])

    def take(self, annotators: Ints) -> Self:
        """Return B of some annotators."""
        counts = np.diff(self.start)[annotators]
        start = np.concatenate([[0], np.cumsum(counts)])
        entries = np.arange(start[-1]) + np.repeat(self.start[annotators] - start[:-1], counts)
        return type(self)(self.size, start, self.column[entries], self.value[entries])

    def parts(self) -> Iterator[tuple[slice, Self]]:
        """Yield batches of annotators, and their B, which shares memory with this one."""
        size, count, width = self.shape
        step = max(1, AT_ONCE // max(size * width, 1))
        for first in range(0, count, step):
            start = self.start[first : first + step + 1]
            entries = slice(start[0], start[-1])
            some = type(self)(size, start - start[0], self.column[entries], self.value[entries])
            yield slice(first, first + len(start) - 1), self if count <= step else some

    def times_tail(self, tail: Floats) -> Self:
        """Return B D for blocks D (M, q, q) of the annotators; they touch the same numbers as in B."""
        counts, value = np.diff(self.start), np.zeros_like(self.value)
        for p, q in np.ndindex(tail.shape[1:]):
            value[:, q] += self.value[:, p] * np.repeat(tail[:, p, q], counts)
        return type(self)(self.size, self.start, self.column, value)

    def times(self, own: Floats) -> Floats:
        """Return B x for x (M, q, m), shape (h, m)."""
        product = np.zeros((self.size, own.shape[2]))
        for p, plane in enumerate(self._planes):
            product += plane.T @ np.ascontiguousarray(own[:, p])
        return product

    def transposed_times(self, head: Floats) -> Floats:
        """Return B' x for x (h, m), shape (M, q, m)."""
        _, count, width = self.shape
        product, head = np.empty((count, width, head.shape[1])), np.ascontiguousarray(head)
        for p, plane in enumerate(self._planes):
            product[:, p] = plane @ head
        return product

    @cached_property
    def _planes(self) -> list[csr_array]:
        """B' of every own number, (M, h) each."""
        _, count, width = self.shape
        if not width:
            return []
        from scipy.sparse import csr_array

        numbers = (np.ascontiguousarray(self.value[:, p]) for p in range(width))
        return [csr_array((values, self.column, self.start), shape=(count, self.size)) for values in numbers]
