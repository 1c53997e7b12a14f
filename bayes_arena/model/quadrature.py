"""Averages over normal variables, as sums over nodes.

For x ~ N(m, K), the average of f(x) is about sum_k w_k f(m + L e_k), where L is the
Cholesky factor of K, and e_k and w_k are nodes and weights for standard normals.
"""

from __future__ import annotations

from functools import cache
from itertools import product

import numpy as np

from bayes_arena.arrays import Floats
from bayes_arena.model.constants import NODES_OF_ONE, TINY


def nodes_and_weights(size: int) -> tuple[Floats, Floats]:
    """Return nodes (nodes, size) and weights of degree five, for ``size`` variables.

    For two these are a hexagon and its centre (Stroud, 1971), else products of three
    Gauss-Hermite nodes.  For one they are more, of a higher degree: without ties votes may
    be all of one kind, and a lead as uncertain as the curve of its outcomes is wide.
    """
    if size == 1:
        node, weight = gauss_hermite(NODES_OF_ONE)
        return node[:, None], weight
    if size == 2:
        angle = np.arange(6) * np.pi / 3
        hexagon = 2 * np.column_stack([np.cos(angle), np.sin(angle)])
        return np.vstack([[0, 0], hexagon]), np.array([1 / 2, *[1 / 12] * 6])
    node, weight = gauss_hermite(3)
    nodes = np.array(list(product(node, repeat=size)))
    weights = np.array(list(product(weight, repeat=size)))
    return nodes, weights.prod(axis=1)


@cache
def gauss_hermite(n_nodes: int) -> tuple[Floats, Floats]:
    """Return the Gauss-Hermite nodes and weights for one variable."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(n_nodes)
    return nodes, weights / weights.sum()


def partial_cholesky(K: Floats, n_columns: int) -> tuple[Floats, Floats]:
    """Return the first columns of the Cholesky factors of many matrices.

    Parameters
    ----------
    K : ndarray, shape (size, size, rows)
    n_columns : int

    Returns
    -------
    columns : ndarray, shape (columns, size, rows)
    conditional : ndarray, shape (size - columns, size - columns, rows)
        Covariance of the last variables given the first ones (the Schur complement).
    """
    columns = np.empty((n_columns, *K.shape[1:]))
    schur = K
    for c in range(n_columns):
        columns[c] = schur[c] / np.sqrt(np.maximum(schur[c, c], TINY))
        schur = schur - columns[c][:, None] * columns[c]
    return columns, schur[n_columns:, n_columns:]
