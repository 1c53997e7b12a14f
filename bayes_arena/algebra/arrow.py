"""Arrow-shaped matrices, and what follows from their annotators' blocks alone.

Order the parameters as (head, annotators): the head has the strengths and what annotators have in common, and every
annotator k has a few numbers of their own. Given the head, annotators are independent, so the Hessian is an arrow,

    H = [[A, B], [B', D]],   A (h, h), B (h, M, q), D block-diagonal with small blocks (M, q, q),

and everything follows from the Schur complement S = A - B Q B' (h, h) with Q = D^-1: solutions of H x = g, positive
definiteness, the inverse, its determinant and draws. Nothing of size M x M or h x M is formed: of B, only the entries
that each annotator touches are kept (:mod:`bayes_arena.algebra.border`).

Holding the sum over annotators of some of their numbers confines x to the plane E'x = 0, where E has a one for every
annotator in each held column. The same formulas then give the constrained solution and covariance with

    Q = D^-1 - D^-1 E (E' D^-1 E)^-1 E' D^-1,

the limit of (D + rho E E')^-1 for large rho. It is applied as D^-1 minus a matrix of the rank of E.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from bayes_arena.algebra.border import Border
from bayes_arena.algebra.sparse_hessian import SparseHessian
from bayes_arena.arrays import Floats, Ints

DRAWN_AT_ONCE = 250_000
"""Draws times annotators that are drawn together."""


@dataclass(frozen=True, eq=False)
class Arrow:
    """The blocks A (h, h), B (h, M, q) and D (M, q, q) of an arrow matrix; A is sparse where few pairs met."""

    head: Floats | SparseHessian
    border: Border
    tail: Floats

    def head_in_full(self) -> Floats:
        """Return a dense copy of A."""
        return self.head.in_full() if isinstance(self.head, SparseHessian) else self.head.copy()


class Eliminated(ABC):
    """An arrow matrix with its annotators eliminated, ready to solve, however S is represented.

    Attributes
    ----------
    border : Border, shape (h, M, q)
        B.
    inverse_tail : ndarray, shape (M, q, q)
        D^-1.
    held : ndarray of bool, shape (q,)
        Columns whose sum over annotators is held.
    """

    border: Border
    inverse_tail: Floats
    held: NDArray[np.bool_]

    @abstractmethod
    def solve_schur(self, right: Floats) -> Floats:
        """Solve S x = right for (h,) or (h, m)."""

    @property
    def shape(self) -> tuple[int, int, int]:
        """Numbers of the head, annotators, and own numbers of each."""
        return self.border.shape

    def solve(self, head: Floats, tail: Floats) -> tuple[Floats, Floats]:
        """Solve H x = g.

        Parameters
        ----------
        head, tail : ndarray, shapes (h, m) and (M, q, m), or (h,) and (M, q)
            m right-hand sides g, or one.

        Returns
        -------
        head, tail : ndarray
            x in the same shapes; with sums held, the constrained solution.
        """
        if head.ndim == 1:
            x, own = self.solve(head[:, None], tail[..., None])
            return x[:, 0], own[..., 0]
        x = self.solve_schur(head - self.border.times(self.q_times(tail)))
        return x, self.q_times(tail - self.border.transposed_times(x))

    def draw_tail(
        self, rng: np.random.Generator, head: Floats, at_once: int = DRAWN_AT_ONCE, of: Ints | None = None
    ) -> Iterator[tuple[Ints, Floats]]:
        """Draw the annotators' numbers given draws of the head, in batches of annotators.

        Parameters
        ----------
        rng : numpy.random.Generator
            The same state gives the same draws, whatever ``at_once``.
        head : ndarray, shape (size, h)
            From :meth:`draw_head`.
        at_once : int
            Draws times annotators per batch; bounds the memory.
        of : ndarray of int, optional
            Only these annotators. The others' share of the held sums is drawn as one total, so the draws have the same
            distribution as without ``of``, but other values.

        Yields
        ------
        part : ndarray of int, shape (m,)
            Which annotators.
        own : ndarray, shape (size, m, q)
            Their numbers.
        """
        size, count = len(head), len(self.inverse_tail)
        step = max(1, at_once // max(size, 1))
        chosen = np.arange(count) if of is None else of
        parts = [chosen[first : first + step] for first in range(0, len(chosen), step)]
        excess = np.zeros((int(self.held.sum()), size))
        if self.held.any():
            others = self._noise_of_others(rng, chosen, size)
            ahead = deepcopy(rng)  # the same noise, seen once before it is used
            total = sum((self._noise(ahead, part, size).sum(axis=0) for part in parts), others)
            excess = np.linalg.solve(self.held_total(), total[self.held]) - self.towards.T @ head.T
        for part in parts:
            tail = self._noise(rng, part, size)
            tail -= self.inverse_tail[part] @ self.border.take(part).transposed_times(head.T)
            if self.held.any():
                tail -= self._held_columns[part] @ excess
            yield part, tail.transpose(2, 0, 1)

    def _noise(self, rng: np.random.Generator, part: Ints, size: int) -> Floats:
        """Draw noise with covariance D^-1, shape (m, q, size)."""
        roots = np.linalg.cholesky(self.inverse_tail[part])
        return np.asarray(roots @ rng.normal(size=(*roots.shape[:2], size)))

    def _noise_of_others(self, rng: np.random.Generator, chosen: Ints, size: int) -> Floats:
        """Draw the sum of such noise over all but the chosen annotators, shape (q, size)."""
        count, width = self.inverse_tail.shape[:2]
        if len(chosen) == count:
            return np.zeros((width, size))
        root = np.linalg.cholesky(np.delete(self.inverse_tail, chosen, axis=0).sum(axis=0))
        return np.asarray(root @ rng.normal(size=(width, size)))

    def held_total(self) -> Floats:
        """Return E' D^-1 E, shape (s, s)."""
        return np.asarray(self._held_columns.sum(axis=0)[self.held])

    def q_blocks(self) -> Floats:
        """Return the diagonal blocks of Q, (M, q, q)."""
        blocks = self.inverse_tail.copy()
        if self.held.any():
            columns = self._held_columns
            blocks -= columns @ np.linalg.inv(self.held_total()) @ columns.transpose(0, 2, 1)
        return blocks

    @property
    def _held_columns(self) -> Floats:
        """D^-1 E, shape (M, q, s)."""
        return self.inverse_tail[:, :, self.held]

    @cached_property
    def towards(self) -> Floats:
        """B D^-1 E (E' D^-1 E)^-1, shape (h, s)."""
        return towards_plane(self.border, self.inverse_tail, self.held)

    def q_times(self, tail: Floats) -> Floats:
        """Return Q x for x (M, q, m)."""
        moved = self.inverse_tail @ tail
        if self.held.any():
            moved -= self._held_columns @ np.linalg.solve(self.held_total(), moved.sum(axis=0)[self.held])
        return np.asarray(moved)


def towards_plane(border: Border, inverse_tail: Floats, held: NDArray[np.bool_]) -> Floats:
    """Return B D^-1 E (E' D^-1 E)^-1, shape (h, s)."""
    columns = inverse_tail[:, :, held]
    return np.asarray(np.linalg.solve(columns.sum(axis=0)[held], border.times(columns).T).T)


def times_q(border: Border, inverse_tail: Floats, held: NDArray[np.bool_], towards: Floats) -> Floats:
    """Return B Q of some annotators, (h, m, q), given their B and D^-1 (m, q, q)."""
    moved = border.times_tail(inverse_tail).dense()
    if held.any():
        moved -= (inverse_tail[:, :, held] @ towards.T).transpose(2, 0, 1)
    return moved
