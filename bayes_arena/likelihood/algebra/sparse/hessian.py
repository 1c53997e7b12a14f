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
from bayes_arena.likelihood.algebra.row_sums import RowSums, of_head
from bayes_arena.likelihood.algebra.sparse.factor import SparseFactor
from bayes_arena.likelihood.point import Point

if TYPE_CHECKING:
    from bayes_arena.likelihood.objective import Objective

MANY = 1500
"""Competitors from which it is worth it: fewer are solved exactly in a tenth of a second."""
FULL = 0.05
"""Share of the pairs that met above which dense matrices are faster."""
FEW_OWN, OWN_SHARE = 1500, 0.25
"""Numbers of annotators up to which they are solved for together, and that in all and relative to the competitors."""
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
        stiffer = self.damped(damping)
        columns = gauge if isinstance(gauge, np.ndarray) else np.zeros((len(self.across), 0))
        return SparseFactor(stiffer.strengths, stiffer.across, stiffer.common, columns)

    def damped(self, damping: float) -> SparseHessian:
        """Return it with something added to the diagonal."""
        if not damping:
            return self
        from scipy.sparse import eye_array

        n, c = self.across.shape
        strengths = self.strengths + damping * eye_array(n, format="csr")
        return SparseHessian(strengths, self.across, self.common + damping * np.eye(c))

    def in_full(self) -> Floats:
        """Return it as a dense matrix, (h, h)."""
        n, c = self.across.shape
        full = np.zeros((n + c, n + c))
        full[:n, :n] = self.strengths.toarray()
        full[:n, n:], full[n:, :n], full[n:, n:] = self.across, self.across.T, self.common
        return full


def are_many(n: int) -> bool:
    """Whether there are so many competitors that matrices of all their pairs are done without where they can be."""
    return n >= MANY


def has_few_pairs(target: Objective) -> bool:
    """Whether a model has such a Hessian: of many competitors, few of whom met, and without slices.

    If annotators have numbers of their own these have to be few, and have a prior: they are solved for together.
    """
    n, own = target.n_competitors, target.n_annotators * len(target.own)
    if not are_many(n) or target.slices or target.likelihood.loop not in CONVEX:
        return False
    if own and (own > min(FEW_OWN, OWN_SHARE * n) or not target.is_proper):
        return False
    return len(target.tally.pairs.i if own else target.tally.i) <= 0.5 * FULL * n * n


def sparse_hessian(target: Objective, point: Point, sums: RowSums) -> tuple[Point, SparseHessian]:
    """Return gradient and Hessian by strengths and common numbers, given the sums over the rows."""
    from scipy.sparse import coo_array, diags_array

    n, pairs = target.n_competitors, target.tally.pairs
    weights = coo_array((sums.weight, (pairs.i, pairs.j)), shape=(n, n)).tocsr()
    weights = weights + weights.T
    laplacian = diags_array(target.strength_sd**-2 + weights.sum(axis=1), format="csr") - weights
    gradient, across, common = of_head(target, point, sums)
    return gradient, SparseHessian(laplacian.tocsr(), across, common)
