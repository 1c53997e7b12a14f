"""What is left after elimination: a dense matrix S, on the plane where some sums are held.

Where E'x = 0 is to hold for numbers that are left, rho E E' is added to S, which changes nothing on the plane, and
solutions x are moved there,

    x - S^-1 E (E' S^-1 E)^-1 E' x,        ln |S| on the plane = ln |S| + ln |E' S^-1 E|.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
import scipy

from bayes_arena.arrays import Floats

SMALL = 250
"""Size up to which solving with NumPy takes less time than importing SciPy."""


def solve_lower(lower: Floats, right: Floats, *, transposed: bool = False) -> Floats:
    """Solve L x = right or L' x = right, for a lower triangular L (h, h) and right (h,) or (h, m)."""
    if len(lower) <= SMALL:
        return np.asarray(np.linalg.solve(lower.T if transposed else lower, right), dtype=np.float64)
    x = scipy.linalg.solve_triangular(lower, right, lower=True, trans=1 if transposed else 0, check_finite=False)
    return np.asarray(x)


def solved(lower: Floats, right: Floats) -> Floats:
    """Solve S x = right, given the lower Cholesky factor of S."""
    return solve_lower(lower, solve_lower(lower, right), transposed=True)


@dataclass(frozen=True, eq=False)
class Dense:
    """A dense matrix, factorised.

    Attributes
    ----------
    lower : ndarray, shape (d, d)
        Cholesky factor of S, rho E E' included.
    columns, back : ndarray, shape (d, w)
        E and S^-1 E.
    rho : float
        Zero where there is no E.
    """

    lower: Floats
    columns: Floats
    back: Floats
    rho: float = 0.0

    @classmethod
    def of(cls, matrix: Floats, columns: Floats) -> Self:
        """Factorise S, which is overwritten, for E; raise LinAlgError if it is not positive definite."""
        rho = 0.0
        if columns.any():
            rho = float(np.diag(matrix).mean() / columns.sum(axis=0).max())
            matrix += rho * columns @ columns.T
        lower = np.asarray(np.linalg.cholesky(matrix), dtype=np.float64)
        return cls(lower, columns, solved(lower, columns) if columns.size else columns, rho)

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
        inverse, _ = scipy.linalg.lapack.dpotri(self.lower, lower=1)
        inverse = np.tril(inverse) + np.tril(inverse, -1).T
        if self.columns.any():
            inverse -= self.back @ np.linalg.solve(self.columns.T @ self.back, self.back.T)
        return np.asarray(inverse)

    def _multipliers(self, x: Floats) -> Floats:
        return np.asarray(np.linalg.solve(self.columns.T @ self.back, self.columns.T @ x), dtype=np.float64)
