"""The Hessian of a model, its units apart: A, B' and D of :mod:`bayes_arena.algebra.units`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from bayes_arena.algebra.sparse_hessian import SparseHessian
from bayes_arena.algebra.units import Units
from bayes_arena.arrays import Floats, Ints


@dataclass(frozen=True, eq=False)
class Bordered:
    """A symmetric matrix with independent blocks.

    Attributes
    ----------
    units : Units
        Which numbers are left, and which belong to every unit.
    shape : (int, int, int)
        Numbers of the head, annotators, and own numbers of each.
    left : ndarray, shape (d, d), or SparseHessian
        A; sparse where few of many competitors met.
    own, across : ndarray
        D and B' of every unit, flat.
    held : tuple of ndarray of int
        Places among what is left of numbers of slices whose sum is held.
    """

    units: Units
    shape: tuple[int, int, int]
    left: Floats | SparseHessian
    own: Floats
    across: Floats
    held: tuple[Ints, ...]

    def in_full(self) -> Floats:
        """Return A as a dense matrix, a copy."""
        return self.left.in_full() if isinstance(self.left, SparseHessian) else self.left.copy()

    def left_diagonal(self) -> Floats:
        """Return the diagonal of A, shape (d,)."""
        return self.left.left_diagonal() if isinstance(self.left, SparseHessian) else np.diag(self.left)

    def own_blocks(self) -> Floats:
        """Return D of the annotators' own numbers, where annotators are units, (M, q, q)."""
        return np.asarray(self.own[self.units.own_blocks(self.shape[1])])

    def stiffened(self, more: Floats) -> Self:
        """Return it with more on its diagonal, (p,), in the order (head, own)."""
        units, own = self.units, self.own.copy()
        own[units.diagonal] += more[units.tail]
        if isinstance(self.left, SparseHessian):
            return replace(self, left=self.left.stiffened(more[units.dense]), own=own)
        left = self.left.copy()
        left[np.diag_indices(len(left))] += more[units.dense]
        return replace(self, left=left, own=own)
