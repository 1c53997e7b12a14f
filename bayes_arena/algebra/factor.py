"""The factor of a Hessian with units, of which a dense matrix is left."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import cast

import numpy as np

from bayes_arena.algebra.bordered import Bordered
from bayes_arena.algebra.dense import Dense
from bayes_arena.algebra.own_jacobian import OwnJacobian
from bayes_arena.algebra.rows import Rows, Spread, Summed, of_rows
from bayes_arena.algebra.units import DRAWN_AT_ONCE, Eliminated, Joint, eliminated, joint
from bayes_arena.arrays import Floats, Ints

Pairs = Iterator[tuple[Floats, Floats]]
"""Matrices (k, m) in pairs whose products, A' B, add up to J H^-1 J' for m functions."""


class WithUnits(ABC):
    """A Hessian whose units are eliminated, ready to solve, however what is left is represented.

    Attributes
    ----------
    eliminated : Eliminated
        What was eliminated.
    """

    eliminated: Eliminated

    @abstractmethod
    def solve_left(self, right: Floats) -> Floats:
        """Solve S x = right for (d,) or (d, m)."""

    @property
    def shape(self) -> tuple[int, int, int]:
        """Numbers of the head, annotators, and own numbers of each."""
        return self.eliminated.shape

    def solve(self, head: Floats, tail: Floats) -> tuple[Floats, Floats]:
        """Solve H x = g, on the plane where sums are held.

        Parameters
        ----------
        head, tail : ndarray, shapes (h, m) and (M, q, m), or (h,) and (M, q)
            m right-hand sides g, or one.

        Returns
        -------
        head, tail : ndarray
            x in the same shapes.
        """
        if head.ndim == 1:
            x, own = self.solve(head[:, None], tail[..., None])
            return x[:, 0], own[..., 0]
        left, (_, moved, _, excess) = self.eliminated.less(together(head, tail))
        return self.eliminated.whole(self.solve_left(left), moved, excess)

    @property
    def inverse_tail(self) -> Floats:
        """Covariance of every annotator's own numbers given what is left, (M, q, q)."""
        return self.eliminated.own_blocks

    def draw_own(
        self, rng: np.random.Generator, left: Floats, at_once: int = DRAWN_AT_ONCE, of: Ints | None = None
    ) -> Iterator[tuple[Ints, Floats]]:
        """Draw as :meth:`Eliminated.draw_own` does."""
        return self.eliminated.draw_own(rng, left, at_once, of)


@dataclass(frozen=True, eq=False)
class Factor(WithUnits):
    """A Hessian ready to solve.

    Attributes
    ----------
    eliminated : Eliminated
        Its units.
    left : Dense
        What is left.
    rows : Rows or None
        The rows of votes, for a model with slices.
    """

    eliminated: Eliminated
    left: Dense
    rows: Rows | None = None

    def solve_left(self, right: Floats) -> Floats:
        """Solve S x = right for (d,) or (d, m), on the plane."""
        return self.left.solve(right)

    def log_determinant(self) -> float:
        """Return ln |H| on the plane, up to a constant of the shapes."""
        return self.eliminated.log_determinant() + self.left.log_determinant()

    def form(self, head: Floats, own: OwnJacobian | Floats | None) -> Pairs:
        """Yield matrices whose products add up to J H^-1 J', for derivatives J in the head (m, h) and own (m, M, q).

        Annotators are taken in batches where units hold nothing but their own numbers.
        """
        found, (_, count, width) = self.eliminated, self.shape
        alone = len(found.units.tail) == count * width and found.units.n_own == min(width, count * width)
        if not alone or isinstance(own, np.ndarray):
            whole = np.zeros((len(head), count, width)) if own is None else np.asarray(own)
            left, (given, moved, sums, excess) = found.less(together(head.T, whole.transpose(1, 2, 0)))
            yield given, moved
            yield sums, -excess
        elif own is None:
            left = head.T
        else:
            left, sums = head.T.copy(), np.zeros((len(found.held), len(head)))
            for part, by_own in own.blocks():
                given, blocks = by_own.reshape(len(head), -1).T, found.own_blocks[part]
                moved = (blocks @ given.reshape(len(blocks), width, -1)).reshape(given.shape)
                left -= (given.T @ found.answers[part.start * width : part.stop * width].toarray()).T
                sums += moved.reshape(len(blocks), width, -1).sum(axis=0)[found.held]
                yield given, moved
            excess = np.asarray(np.linalg.solve(found.total, sums), dtype=np.float64) if len(sums) else sums
            left += found.towards @ excess
            yield sums, -excess
        yield from self.left.form(left)

    def draw(self, rng: np.random.Generator, size: int) -> tuple[Floats, Floats]:
        """Draw the head (size, h) and own numbers (size, M, q) from the Gaussian with this precision on the plane."""
        left = self.left.draw(rng, size)
        head, own = self.eliminated.whole(left, *self.eliminated.noise(rng, size))
        return head.T, own.transpose(2, 0, 1)

    def draw_head(self, rng: np.random.Generator, size: int) -> Floats:
        """Draw what is left, strengths and common numbers first, shape (size, d)."""
        return self.left.draw(rng, size).T

    def draw_own(
        self, rng: np.random.Generator, left: Floats, at_once: int = DRAWN_AT_ONCE, of: Ints | None = None
    ) -> Iterator[tuple[Ints, Floats]]:
        """Draw the annotators' numbers given draws of what is left, in batches."""
        if self.eliminated.units.n_own:
            return super().draw_own(rng, left, at_once, of)
        return self.left.draw_own(left, at_once, of)

    def joint(self) -> Joint:
        """Return the covariances of the numbers of units."""
        return joint(self.eliminated, self.left.covariance)

    @cached_property
    def spread(self) -> Spread:
        """The parts of the inverse for the rows, and for single numbers; of a model with slices."""
        votes = cast(Rows, self.rows)
        units, covariance, among, order = self.eliminated.units, self.left.covariance, self.joint(), votes.elimination
        every = np.empty(len(units.dense) + len(units.tail))
        every[units.dense], every[units.tail] = np.diag(covariance), among.own[units.diagonal]
        later, earlier = (np.searchsorted(units.dense, one) for one in order.walk)
        every[order.walk[1]] += np.diag(covariance)[later] - 2 * covariance[later, earlier]
        pieces = of_rows(votes, [(0, len(order.start) - 1, among)])
        return Spread(pieces, every[: self.shape[0]], self.own_covariance(among))

    @property
    def inverse_tail(self) -> Floats:
        """Covariance of every annotator's own numbers given the head but for slices, (M, q, q).

        These are given, too, unless they are units before the annotators, or with them.
        """
        return super().inverse_tail if self.eliminated.units.n_own else self.left.own_given_others()

    def tail_covariance(self) -> Floats:
        """Return the covariance of every annotator's own numbers, shape (M, q, q)."""
        return self.spread.own if self.rows else self.own_covariance(self.joint())

    def own_covariance(self, among: Joint) -> Floats:
        """Return the same, given the covariances of the numbers of units."""
        units = self.eliminated.units
        return among.own[units.own_blocks(self.shape[1])] if units.n_own else self.left.own_covariance()


def factorise_units(matrix: Bordered, extra: Floats | float, held: np.ndarray) -> Factor:
    """Factorise a matrix of which something dense is left, on the plane where sums are held.

    Parameters
    ----------
    matrix : Bordered
    extra : ndarray, shape (n, n), or 0
        Added to the strengths' block.
    held : ndarray of bool, shape (q,)
        Columns of the annotators' own numbers whose sum is held.

    Raises
    ------
    numpy.linalg.LinAlgError
        If it is not positive definite.
    """
    units, left = matrix.units, matrix.in_full()
    own = np.flatnonzero(held) if units.n_own else np.zeros(0, dtype=np.int64)
    if isinstance(extra, np.ndarray):
        left[: len(extra), : len(extra)] += extra
    found = eliminated(units, matrix.shape, matrix.own, matrix.across, own, left)
    held_left = np.zeros_like(held) if units.n_own else held
    dense = Dense.of(left, units.dense, matrix.shape, (held_left, matrix.held))
    return Factor(found, dense, matrix.rows if isinstance(matrix, Summed) else None)


def together(head: Floats, tail: Floats) -> Floats:
    """Return numbers of the head (h, m) and of annotators (M, q, m) in one array, (p, m)."""
    return np.concatenate([head, tail.reshape(-1, head.shape[1])])
