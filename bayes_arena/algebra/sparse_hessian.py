"""The Hessian of strengths and common numbers where most pairs of competitors never met.

    H = [[L, B], [B', C]] + G G',    L (n, n) sparse,  B (n, c),  C (c, c),

L is the Laplacian of the graph of comparisons, every pair weighted by the curvature of its votes, plus the prior's
precision on the diagonal. The c common numbers are few. The columns of G are the directions in which strengths shift
freely.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from bayes_arena.algebra.sparse_factor import SparseFactor
from bayes_arena.arrays import Floats


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

    def left_diagonal(self) -> Floats:
        """Return the diagonal, shape (h,)."""
        return np.append(self.strengths.diagonal(), np.diag(self.common))

    def factorise(self, gauge: Floats | float = 0.0, damping: float = 0.0) -> SparseFactor:
        """Return its factor.

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
        stiffer = self.stiffened(np.full(sum(self.across.shape), damping)) if damping else self
        columns = gauge if isinstance(gauge, np.ndarray) else np.zeros((len(self.across), 0))
        return SparseFactor(stiffer.strengths, stiffer.across, stiffer.common, columns)

    def stiffened(self, more: Floats) -> SparseHessian:
        """Return it with more on its diagonal, (h,)."""
        from scipy.sparse import diags_array

        n = len(self.across)
        strengths = self.strengths + diags_array(more[:n], format="csr")
        return SparseHessian(strengths, self.across, self.common + np.diag(more[n:]))

    def in_full(self) -> Floats:
        """Return it as a dense matrix, (h, h)."""
        n, c = self.across.shape
        full = np.zeros((n + c, n + c))
        full[:n, :n] = self.strengths.toarray()
        full[:n, n:], full[n:, :n], full[n:, n:] = self.across, self.across.T, self.common
        return full
