"""Linear algebra of arrow-shaped matrices, with sums over the annotators free or held.

Order the parameters as (head, annotators): the head has the strengths and what annotators have in common, and every
annotator k a few numbers of their own. Given the head the annotators are independent, so the Hessian is an arrow,

    H = [[A, B], [B', D]],   A (h, h), B (h, M, q), D block-diagonal with small blocks (M, q, q),

and everything follows from the Schur complement S = A - B Q B' (h, h) with Q = D^-1: solutions of H x = g, positive
definiteness, the inverse, its determinant and draws. Nothing of size M x M is formed, nor of h x M: of B is kept what
every annotator touches (:mod:`bayes_arena.likelihood.algebra.sparse.border`).

Holding the sum over annotators of some of their numbers confines x to the plane E'x = 0, E having a one for every
annotator in each held column. The same formulas then give the constrained solution and covariance with

    Q = D^-1 - D^-1 E (E' D^-1 E)^-1 E' D^-1,

the limit of (D + rho E E')^-1 for large rho: D^-1 less a matrix of the rank of E, as which it is applied.
"""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass
from functools import cached_property
from typing import overload

import numpy as np
from numpy.typing import NDArray

from bayes_arena.arrays import Floats, Ints
from bayes_arena.likelihood.algebra.crossed import Crossed
from bayes_arena.likelihood.algebra.factor import CrossedFactor, solve_lower, solved
from bayes_arena.likelihood.algebra.sparse.border import Border
from bayes_arena.likelihood.algebra.sparse.factor import SparseFactor
from bayes_arena.likelihood.algebra.sparse.hessian import SparseHessian
from bayes_arena.likelihood.algebra.sparse.own_jacobian import OwnJacobian

TAIL_FLOOR = 1e-12
"""Added to the curvature of annotators: keeps D invertible for one who saw equal competitors only."""
DRAWN_AT_ONCE = 250_000
"""Draws times annotators that are drawn together."""


@dataclass(frozen=True, eq=False)
class Arrow:
    """The blocks A (h, h), B (h, M, q) and D (M, q, q) of an arrow matrix."""

    head: Floats
    border: Border
    tail: Floats


@dataclass(frozen=True, eq=False)
class Factor:
    """An arrow matrix ready to solve.

    Attributes
    ----------
    schur : ndarray, shape (h, h)
        S, with whatever was added to the head.
    lower : ndarray, shape (h, h)
        Its lower Cholesky factor.
    border : Border, shape (h, M, q)
        B.
    inverse_tail : ndarray, shape (M, q, q)
        D^-1.
    held : ndarray of bool, shape (q,)
        Columns whose sum over annotators is held.
    """

    schur: Floats
    lower: Floats
    border: Border
    inverse_tail: Floats
    held: NDArray[np.bool_]

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
        x = self.solve_schur(head - self.border.times(self._q_times(tail)))
        return x, self._q_times(tail - self.border.transposed_times(x))

    def solve_schur(self, right: Floats) -> Floats:
        """Solve S x = right for (h,) or (h, m)."""
        return solved(self.lower, right)

    def tail_covariance(self) -> Floats:
        """Diagonal blocks of the lower right part of the (constrained) inverse, Q + Q B' S^-1 B Q, (M, q, q)."""
        blocks = self.inverse_tail.copy()
        if self.held.any():
            columns = self._held_columns
            blocks -= columns @ np.linalg.inv(self._held_total()) @ columns.transpose(0, 2, 1)
        for part, border in self.border.blocks():
            moved = _times_q(border, self.inverse_tail[part], self.held, self._towards)
            half = solve_lower(self.lower, moved.reshape(len(moved), -1))
            cube = np.reshape(half, moved.shape)
            blocks[part] += np.einsum("hmp,hmq->mpq", cube, cube)
        return blocks

    def variance(self, head: Floats, own: OwnJacobian) -> Floats:
        """Diagonal of J H^-1 J', (m,), for derivatives J by the head (m, h) and by the annotators' numbers."""
        left, variance = head.copy(), np.zeros(len(head))
        held = np.zeros((len(head), int(self.held.sum())))
        for part, by_own in own.blocks():
            moved = np.einsum("fmp,mpq->fmq", by_own, self.inverse_tail[part])
            variance += np.einsum("fmq,fmq->f", moved, by_own)
            border = self.border.dense(part.start, part.stop)
            left -= moved.reshape(len(head), -1) @ border.reshape(len(border), -1).T
            held += moved[:, :, self.held].sum(axis=1)
        if self.held.any():
            left += held @ self._towards.T
            variance -= np.einsum("fs,sf->f", held, np.linalg.solve(self._held_total(), held.T))
        half = solve_lower(self.lower, left.T)
        return np.asarray(variance + np.einsum("hf,hf->f", half, half))

    def log_determinant(self) -> float:
        """Logarithm of the determinant of H on the plane, up to a constant of the shapes."""
        log_det = 2 * np.log(np.diag(self.lower)).sum() - np.linalg.slogdet(self.inverse_tail)[1].sum()
        if self.held.any():
            log_det += np.linalg.slogdet(self._held_total())[1]
        return float(log_det)

    def draw_head(self, rng: np.random.Generator, size: int) -> Floats:
        """Draw the head from the Gaussian with this (constrained) precision, shape (size, h)."""
        noise = rng.normal(size=(len(self.lower), size))
        return solve_lower(self.lower, noise, transposed=True).T

    def draw_tail(
        self, rng: np.random.Generator, head: Floats, at_once: int = DRAWN_AT_ONCE, of: Ints | None = None
    ) -> Iterator[tuple[Ints, Floats]]:
        """Draw the annotators' numbers given draws of the head, some annotators at a time.

        Parameters
        ----------
        rng : numpy.random.Generator
            The same state gives the same draws, whatever ``at_once``.
        head : ndarray, shape (size, h)
            From :meth:`draw_head`.
        at_once : int
            Draws times annotators per part: bounds the memory.
        of : ndarray of int, optional
            Only these annotators. What the others share of the sums that are held is drawn as a whole, so that without
            it the draws are the same in law, and not in number.

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
            excess = np.linalg.solve(self._held_total(), total[self.held])
        for part in parts:
            tail = self._noise(rng, part, size)
            tail -= self._held_columns[part] @ excess
            border = self.border.take(part).dense()
            moved = _times_q(border, self.inverse_tail[part], self.held, self._towards)
            tail -= (moved.reshape(len(moved), -1).T @ head.T).reshape(tail.shape)
            yield part, tail.transpose(2, 0, 1)

    def _noise(self, rng: np.random.Generator, part: Ints, size: int) -> Floats:
        """Draws with covariance D^-1, shape (m, q, size)."""
        roots = np.linalg.cholesky(self.inverse_tail[part])
        return np.asarray(roots @ rng.normal(size=(*roots.shape[:2], size)))

    def _noise_of_others(self, rng: np.random.Generator, chosen: Ints, size: int) -> Floats:
        """Sum over all but the chosen annotators of such draws, shape (q, size)."""
        count, width = self.inverse_tail.shape[:2]
        if len(chosen) == count:
            return np.zeros((width, size))
        root = np.linalg.cholesky(np.delete(self.inverse_tail, chosen, axis=0).sum(axis=0))
        return np.asarray(root @ rng.normal(size=(width, size)))

    def _held_total(self) -> Floats:
        return np.asarray(self._held_columns.sum(axis=0)[self.held])

    @property
    def _held_columns(self) -> Floats:
        """D^-1 E, shape (M, q, s)."""
        return self.inverse_tail[:, :, self.held]

    @cached_property
    def _towards(self) -> Floats:
        return _towards_plane(self.border, self.inverse_tail, self.held)

    def _q_times(self, tail: Floats) -> Floats:
        """Q x for x (M, q, m)."""
        moved = np.einsum("mpq,mqs->mps", self.inverse_tail, tail)
        if self.held.any():
            moved -= self._held_columns @ np.linalg.solve(self._held_total(), moved.sum(axis=0)[self.held])
        return np.asarray(moved)


@overload
def factorise(arrow: Arrow, *, extra: Floats | float = ..., held: np.ndarray, damping: float = ...) -> Factor: ...
@overload
def factorise(
    arrow: Crossed, *, extra: Floats | float = ..., held: np.ndarray, damping: float = ...
) -> CrossedFactor: ...
@overload
def factorise(
    arrow: Arrow | Crossed | SparseHessian, *, extra: Floats | float = ..., held: np.ndarray, damping: float = ...
) -> Factor | CrossedFactor | SparseFactor: ...
def factorise(
    arrow: Arrow | Crossed | SparseHessian, *, extra: Floats | float = 0.0, held: np.ndarray, damping: float = 0.0
) -> Factor | CrossedFactor | SparseFactor:
    """Factorise an arrow matrix, or that of a model with slices or of many competitors.

    Parameters
    ----------
    arrow : Arrow, Crossed or SparseHessian
        The matrix.
    extra : float or ndarray, shape (h, h)
        Added to its ``head``: gauge terms. Of a sparse one the columns (n, k) whose outer products they are.
    held : ndarray of bool, shape (q,)
        Columns of the annotators whose sum is held; with slices all are.
    damping : float
        Added to the diagonal.

    Raises
    ------
    numpy.linalg.LinAlgError
        If the matrix (on the plane, where sums are held) is not positive definite.
    """
    if not isinstance(arrow, Arrow):
        return arrow.factorise(extra, damping)
    size, count, width = arrow.border.shape
    if damping:
        extra = extra + damping * np.eye(size)
        arrow = Arrow(arrow.head, arrow.border, arrow.tail + damping * np.eye(width))
    if not count or not width:  # nobody has numbers of their own
        schur = arrow.head + extra
        return Factor(schur, _lower(schur), arrow.border, arrow.tail, np.zeros_like(held))
    inverse_tail: Floats = np.asarray(np.linalg.inv(arrow.tail + TAIL_FLOOR * np.eye(width)), dtype=np.float64)
    if width > 1:
        np.linalg.cholesky(inverse_tail)
    elif inverse_tail.min(initial=1.0) <= 0:
        raise np.linalg.LinAlgError("an annotator's curvature is negative")
    schur = schur_complement(arrow, inverse_tail, held) + extra
    return Factor(schur, _lower(schur), arrow.border, inverse_tail, held)


def _lower(schur: Floats) -> Floats:
    return np.asarray(np.linalg.cholesky(schur), dtype=np.float64)


def schur_complement(arrow: Arrow, inverse_tail: Floats, held: NDArray[np.bool_]) -> Floats:
    """Return A - B Q B', given D^-1."""
    schur, towards = arrow.head.copy(), _towards_plane(arrow.border, inverse_tail, held)
    for part, border in arrow.border.blocks():
        moved = _times_q(border, inverse_tail[part], held, towards)
        schur -= moved.reshape(len(moved), -1) @ border.reshape(len(moved), -1).T
    return schur


def _towards_plane(border: Border, inverse_tail: Floats, held: NDArray[np.bool_]) -> Floats:
    """B D^-1 E (E' D^-1 E)^-1, shape (h, s)."""
    columns = inverse_tail[:, :, held]
    return np.asarray(np.linalg.solve(columns.sum(axis=0)[held], border.times(columns).T).T)


def _times_q(border: Floats, inverse_tail: Floats, held: NDArray[np.bool_], towards: Floats) -> Floats:
    """B Q of some annotators, given B (h, m, q) and D^-1 (m, q, q) of these."""
    moved = np.einsum("hmp,mpq->hmq", border, inverse_tail)
    if held.any():
        moved -= np.einsum("hs,mqs->hmq", towards, inverse_tail[:, :, held])
    return np.asarray(moved)
