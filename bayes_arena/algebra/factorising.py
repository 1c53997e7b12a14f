"""Factors of any Hessian."""

from __future__ import annotations

import numpy as np

from bayes_arena.algebra.bordered import Bordered
from bayes_arena.algebra.chain_factor import ChainFactor, factorise_chain
from bayes_arena.algebra.factor import Factor, factorise_units
from bayes_arena.algebra.rows import Rows
from bayes_arena.algebra.sparse_bordered import SparseBorderedFactor, factorise_sparse_bordered
from bayes_arena.algebra.sparse_factor import SparseFactor
from bayes_arena.algebra.sparse_hessian import SparseHessian
from bayes_arena.arrays import Floats

Hessian = Bordered | Rows | SparseHessian
"""With units; with numbers of periods; of many competitors, few pairs of whom met."""
DenseFactor = Factor | ChainFactor
AnyFactor = Factor | ChainFactor | SparseFactor | SparseBorderedFactor


def factorise(hessian: Hessian, *, extra: Floats | float = 0.0, held: np.ndarray, damping: float = 0.0) -> AnyFactor:
    """Factorise a Hessian, on the plane where sums are held.

    Parameters
    ----------
    hessian : Bordered, Rows or SparseHessian
        The matrix.
    extra : float or ndarray, shape (n, n)
        Gauge terms, added to the strengths' block; where it is sparse, the columns (n, k) whose outer products they
        are.
    held : ndarray of bool, shape (q,)
        Columns of the annotators' own numbers whose sum is held.
    damping : float
        Added to the diagonal.

    Raises
    ------
    numpy.linalg.LinAlgError
        If the matrix is not positive definite there.
    """
    if isinstance(hessian, SparseHessian):
        return hessian.factorise(extra, damping)
    if damping:
        h, count, width = hessian.shape
        hessian = hessian.stiffened(np.full(h + count * width, damping))
    if isinstance(hessian, Rows):
        return factorise_chain(hessian, extra, held)
    if isinstance(hessian.left, SparseHessian):
        return factorise_sparse_bordered(hessian, hessian.left, extra, held)
    return factorise_units(hessian, extra, held)
