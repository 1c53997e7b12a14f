"""The factor of a Hessian whose numbers of periods are eliminated in order of time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import cast

import numpy as np

from bayes_arena.algebra.chain import Link, backward, covariances, forward, linked
from bayes_arena.algebra.dense import Dense
from bayes_arena.algebra.elimination import Chain
from bayes_arena.algebra.factor import Pairs, together
from bayes_arena.algebra.own_jacobian import OwnJacobian
from bayes_arena.algebra.rows import Rows, Spread, of_rows, votes_of
from bayes_arena.algebra.units import DRAWN_AT_ONCE, Joint
from bayes_arena.arrays import Floats, Ints


@dataclass(frozen=True, eq=False)
class ChainFactor:
    """Such a Hessian, ready to solve; offers what ``Factor`` does.

    Attributes
    ----------
    rows : Rows
        The rows of votes.
    left : Dense
        What is left.
    links : list of Link
        The numbers of every period, given what follows.
    log_of_links : float
        What they add to ln |H|.
    """

    rows: Rows
    left: Dense
    links: list[Link]
    log_of_links: float

    @property
    def shape(self) -> tuple[int, int, int]:
        """Numbers of the head, annotators, and own numbers of each."""
        return self.rows.shape

    def log_determinant(self) -> float:
        """Return ln |H| on the plane, up to a constant of the shapes."""
        return self.log_of_links + self.left.log_determinant()

    def solve(self, head: Floats, tail: Floats) -> tuple[Floats, Floats]:
        """Solve H x = g as :meth:`Factor.solve` does."""
        if head.ndim == 1:
            x, own = self.solve(head[:, None], tail[..., None])
            return x[:, 0], own[..., 0]
        right = together(head, tail)
        dense = right[self.left.places]
        free = forward(self.links, right, dense)
        return self._along(self.left.solve(dense), free)

    def form(self, head: Floats, own: OwnJacobian | Floats | None) -> Pairs:
        """Yield matrices whose products add up to J H^-1 J', as :meth:`Factor.form` does."""
        whole = np.zeros((len(head), *self.shape[1:])) if own is None else np.asarray(own)
        right = head.T, whole.transpose(1, 2, 0)
        yield together(*right), together(*self.solve(*right))

    def draw(self, rng: np.random.Generator, size: int) -> tuple[Floats, Floats]:
        """Draw the head (size, h) and own numbers (size, M, q) from the Gaussian with this precision on the plane."""
        left = self.left.draw(rng, size)
        roots = (np.linalg.cholesky(link.inverse) for link in self.links)
        head, own = self._along(left, [root @ rng.normal(size=(len(root), size)) for root in roots])
        return head.T, own.transpose(2, 0, 1)

    def draw_head(self, rng: np.random.Generator, size: int) -> Floats:
        """Draw what is left, strengths and common numbers first, shape (size, d)."""
        return self.left.draw(rng, size).T

    def draw_own(
        self, rng: np.random.Generator, left: Floats, at_once: int = DRAWN_AT_ONCE, of: Ints | None = None
    ) -> Iterator[tuple[Ints, Floats]]:
        """Yield the annotators' numbers among draws of what is left, (size, d), in batches."""
        return self.left.draw_own(left, at_once, of)

    @cached_property
    def spread(self) -> Spread:
        """The parts of the inverse for the rows, and for single numbers."""
        covariance, order, (h, count, width) = self.left.covariance, self.rows.elimination, self.shape
        every, last, nothing = np.empty(h + count * width), len(order.start) - 1, np.zeros(0)
        every[self.left.places] = np.diag(covariance)

        def joints() -> Iterator[tuple[int, int, Joint]]:
            yield last - 1, last, Joint(nothing, nothing, covariance)
            for link, left, steps in covariances(self.links, covariance):
                every[link.numbers] = steps
                yield link.period, link.period + 1, Joint(nothing, nothing, left.copy())  # the next one overwrites it

        pieces = of_rows(self.rows, joints())
        return Spread(pieces, every[:h], self.left.own_covariance())

    @property
    def inverse_tail(self) -> Floats:
        """Covariance of every annotator's own numbers given all others but those of periods, (M, q, q)."""
        return self.left.own_given_others()

    def tail_covariance(self) -> Floats:
        """Return the covariance of every annotator's own numbers, shape (M, q, q)."""
        return self.spread.own

    def _along(self, left: Floats, free: list[Floats]) -> tuple[Floats, Floats]:
        """Assemble head and own numbers, with the numbers of periods that follow from what is left."""
        h, count, width = self.shape
        x = np.empty((h + count * width, left.shape[1]))
        x[self.left.places] = left
        backward(self.links, free, left, x)
        return x[:h], x[h:].reshape(count, width, left.shape[1])


def factorise_chain(rows: Rows, extra: Floats | float, held: np.ndarray) -> ChainFactor:
    """Factorise a Hessian with numbers of periods, on the plane where sums are held.

    Parameters
    ----------
    rows : Rows
    extra : ndarray, shape (n, n), or 0
        Added to the strengths' block.
    held : ndarray of bool, shape (q,)
        Columns of the annotators' own numbers whose sum is held.

    Raises
    ------
    numpy.linalg.LinAlgError
        If it is not positive definite.
    """
    order, chain = rows.elimination, cast(Chain, rows.elimination.chain)
    dense, last = order.units.dense, len(order.start) - 1
    weights = rows.precision.copy()
    np.add.at(weights, order.walk[0], rows.between)
    links, rest, log_of_links = linked(
        chain, weights[chain.numbers], len(dense), lambda period: votes_of(rows, period, period + 1)[0]
    )
    left = votes_of(rows, last - 1, last)[0] + rest
    left[np.diag_indices(len(left))] += rows.precision[dense]
    if isinstance(extra, np.ndarray):
        left[: len(extra), : len(extra)] += extra
    return ChainFactor(rows, Dense.of(left, dense, rows.shape, (held, order.held)), links, log_of_links)
