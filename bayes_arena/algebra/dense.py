"""What is left after elimination: a dense matrix S, on the plane where some sums are held.

Where E'x = 0 is to hold for numbers that are left, rho E E' is added to S, which changes nothing on the plane, and
solutions x are moved there,

    x - S^-1 E (E' S^-1 E)^-1 E' x,        ln |S| on the plane = ln |S| + ln |E' S^-1 E|.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack

from bayes_arena.algebra.units import batches_of
from bayes_arena.arrays import Floats, Ints


def solve_lower(lower: Floats, right: Floats, *, transposed: bool = False) -> Floats:
    """Solve L x = right or L' x = right, for a lower triangular L (h, h) and right (h,) or (h, m)."""
    return np.asarray(lapack.dtrtrs(lower.T, right, trans=not transposed)[0])  # L', as LAPACK stores by columns


def solved(lower: Floats, right: Floats) -> Floats:
    """Solve S x = right, given the lower Cholesky factor of S."""
    return np.asarray(lapack.dpotrs(lower.T, right)[0])


@dataclass(frozen=True, eq=False)
class Dense:
    """A dense matrix, factorised.

    Attributes
    ----------
    lower : ndarray, shape (d, d)
        Cholesky factor of S, rho E E' included.
    columns, back : ndarray, shape (d, w)
        E and S^-1 E.
    places : ndarray of int, shape (d,)
        Which numbers are left, as places in (head, own), sorted.
    shape : (int, int, int)
        Numbers of the head, annotators, and own numbers of each.
    rho : float
        Zero where there is no E.
    """

    lower: Floats
    columns: Floats
    back: Floats
    places: Ints
    shape: tuple[int, int, int]
    rho: float = 0.0

    @classmethod
    def of(
        cls,
        matrix: Floats,
        places: Ints,
        shape: tuple[int, int, int],
        held: tuple[NDArray[np.bool_], tuple[Ints, ...]],
    ) -> Self:
        """Factorise S, which is overwritten.

        Parameters
        ----------
        matrix : ndarray, shape (d, d)
        places, shape
            As in the class.
        held : (ndarray of bool, shape (q,), tuple of ndarray of int)
            Columns of annotators' own numbers that are left whose sum is held; and places among what is left of other
            numbers whose sum is.

        Raises
        ------
        numpy.linalg.LinAlgError
            If S is not positive definite.
        """
        own, others = np.flatnonzero(held[0]), held[1]
        columns = np.zeros((len(places), len(own) + len(others)))
        if len(own):
            columns[_own(places, shape)[:, own], np.arange(len(own))] = 1.0
        for column, some in enumerate(others, len(own)):
            columns[some, column] = 1.0
        return cls(matrix, columns, columns, places, shape).changed(matrix)

    def changed(self, matrix: Floats) -> Self:
        """Return the same numbers with another S, which is overwritten, factorised."""
        rho, columns = 0.0, self.columns
        if columns.any():
            rho = float(np.diag(matrix).mean() / columns.sum(axis=0).max())
            matrix += rho * columns @ columns.T
        lower = np.asarray(np.linalg.cholesky(matrix), dtype=np.float64)
        return replace(self, lower=lower, back=solved(lower, columns) if columns.size else columns, rho=rho)

    @property
    def matrix(self) -> Floats:
        """S, with whatever was added to it, (d, d)."""
        return np.asarray(self.lower @ self.lower.T)

    def solve(self, right: Floats) -> Floats:
        """Solve S x = right for (d,) or (d, m), on the plane."""
        x = solved(self.lower, right)
        return x if not self.columns.any() else x - self.back @ self._multipliers(x)

    def form(self, right: Floats) -> list[tuple[Floats, Floats]]:
        """Return matrices (k, m) in pairs whose products, A' B, add up to g' S^-1 g on the plane, for g (d, m)."""
        half = solve_lower(self.lower, right)
        if not self.columns.any():
            return [(half, half)]
        x = solve_lower(self.lower, half, transposed=True)
        return [(half, half), (self.columns.T @ x, -self._multipliers(x))]

    def draw(self, rng: np.random.Generator, size: int) -> Floats:
        """Draw from the Gaussian with this precision on the plane, shape (d, size)."""
        x = solve_lower(self.lower, rng.normal(size=(len(self.lower), size)), transposed=True)
        return x if not self.columns.any() else x - self.back @ self._multipliers(x)

    def log_determinant(self) -> float:
        """Return ln |S| on the plane."""
        found = 2 * float(np.log(np.diag(self.lower)).sum())
        return found + float(np.linalg.slogdet(self.columns.T @ self.back)[1]) if self.columns.any() else found

    @cached_property
    def covariance(self) -> Floats:
        """S^-1 on the plane, (d, d)."""
        inverse, _ = lapack.dpotri(self.lower, lower=1)
        inverse = np.tril(inverse) + np.tril(inverse, -1).T
        if self.columns.any():
            inverse -= self.back @ np.linalg.solve(self.columns.T @ self.back, self.back.T)
        return np.asarray(inverse)

    def draw_own(self, draws: Floats, at_once: int, of: Ints | None) -> Iterator[tuple[Ints, Floats]]:
        """Yield annotators, and their own numbers, which are left, among draws (size, d) of these, in batches."""
        places = _own(self.places, self.shape)
        return ((part, draws[:, places[part]]) for part in batches_of(len(draws), len(places), of, at_once))

    def own_covariance(self) -> Floats:
        """Return the covariances of the annotators' own numbers, which are left, (M, q, q)."""
        places = _own(self.places, self.shape)
        return np.asarray(self.covariance[places[:, :, None], places[:, None, :]])

    def own_given_others(self) -> Floats:
        """Return the covariances of the annotators' own numbers, which are left, given all others, (M, q, q)."""
        rows = self.lower[_own(self.places, self.shape)]
        matrix = rows @ rows.transpose(0, 2, 1) - self.rho * np.eye(self.shape[2])
        return np.asarray(np.linalg.inv(matrix), dtype=np.float64)

    def _multipliers(self, x: Floats) -> Floats:
        return np.asarray(np.linalg.solve(self.columns.T @ self.back, self.columns.T @ x), dtype=np.float64)


def _own(places: Ints, shape: tuple[int, int, int]) -> Ints:
    """Return where the annotators' own numbers are among what is left, shape (M, q)."""
    h, count, width = shape
    return np.searchsorted(places, h + np.arange(count * width)).reshape(count, width)
