"""The Hessian of strengths and common numbers where most pairs of competitors never met.

    H = [[L, B], [B', C]] + G G',    L (n, n) sparse,  B (n, c),  C (c, c),

L is the Laplacian of the graph of comparisons, every pair with the curvature of its votes, and the precision of the
prior on its diagonal; the c common numbers are few. G has the directions in which strengths shift freely.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayes_arena.arrays import Floats
from bayes_arena.likelihood.algebra.row_sums import RowSums
from bayes_arena.likelihood.algebra.sparse.factor import SparseFactor
from bayes_arena.likelihood.point import Point

if TYPE_CHECKING:
    from bayes_arena.likelihood.objective import Objective

MANY = 1500
"""Competitors from which it is worth it: fewer are solved exactly in a tenth of a second."""
FULL = 0.05
"""Share of the pairs that met, counted once by every row of votes, above which dense matrices are faster."""
CONVEX = ("half", "davidson", "both-bad")
"""Loops of likelihoods whose Hessian is positive definite everywhere, as conjugate gradients need it."""


@dataclass(frozen=True, eq=False)
class SparseHessian:
    """The blocks L, B and C.

    Attributes
    ----------
    strengths : sparse array, shape (n, n)
        L.
    across : ndarray, shape (n, c)
        B.
    common : ndarray, shape (c, c)
        C.
    """

    strengths: Any
    across: Floats
    common: Floats

    def diagonal(self) -> Floats:
        """Return the diagonal, shape (h,)."""
        return np.append(self.strengths.diagonal(), np.diag(self.common))

    def factorise(self, gauge: Floats | float = 0.0, damping: float = 0.0) -> SparseFactor:
        """Return it ready to solve.

        Parameters
        ----------
        gauge : ndarray, shape (n, k), or 0
            G.
        damping : float
            Added to the diagonal.

        Raises
        ------
        numpy.linalg.LinAlgError
            If it is not positive definite.
        """
        from scipy.sparse import eye_array

        n, c = self.across.shape
        strengths = self.strengths + damping * eye_array(n, format="csr") if damping else self.strengths
        columns = gauge if isinstance(gauge, np.ndarray) else np.zeros((n, 0))
        return SparseFactor(strengths, self.across, self.common + damping * np.eye(c), columns)


def are_many(n: int) -> bool:
    """Whether there are so many competitors that matrices of all their pairs are done without where they can be."""
    return n >= MANY


def has_few_pairs(target: Objective) -> bool:
    """Whether a model has such a Hessian: of many competitors, few of whom met, and without own numbers or slices."""
    n = target.n_competitors
    if not are_many(n) or target.own or target.slices or target.likelihood.loop not in CONVEX:
        return False
    return len(target.tally.i) <= 0.5 * FULL * n * n


def sparse_hessian(target: Objective, point: Point, sums: RowSums) -> tuple[Point, SparseHessian]:
    """Return gradient and Hessian, given the sums over the rows."""
    from scipy.sparse import coo_array, diags_array

    n, pairs, common = target.n_competitors, target.tally.pairs, target.common
    weights = coo_array((sums.weight, (pairs.i, pairs.j)), shape=(n, n)).tocsr()
    weights = weights + weights.T
    laplacian = diags_array(target.strength_sd**-2 + weights.sum(axis=1), format="csr") - weights
    mean, sd = (np.array([getattr(effect, name) for effect in common]) for name in ("mean", "sd"))
    across = np.zeros((n, len(common)))
    for s, curvature in enumerate(sums.across):
        across[:, s] = pairs.by_competitor(curvature, n)
    both = sums.hessian.sum(axis=2) + np.diag(sd**-2.0)
    g_common = sums.gradient.sum(axis=1) + (point.common - mean) / sd**2
    g_strength = pairs.by_competitor(sums.lead, n) + point.strength / target.strength_sd**2
    return Point(g_strength, g_common, np.zeros((0, 0))), SparseHessian(laplacian.tocsr(), across, both)
