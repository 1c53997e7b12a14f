"""The estimated logarithm of the determinant of a sparse matrix, beside the exact one."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from bayes_arena.algebra.solving.determinant import log_determinant

N = 200


def laplacian(a, b, precision):
    rng = np.random.default_rng(0)
    matrix = np.zeros((N, N))
    matrix[a, b] = -rng.uniform(1, 5, len(a))
    matrix += matrix.T
    matrix[np.diag_indices(N)] = precision - matrix.sum(axis=1)
    return matrix


def graph(opponents):
    rng = np.random.default_rng(1)
    orders = [rng.permutation(N) for _ in range(opponents)]
    return np.concatenate(orders), np.concatenate([np.roll(order, 1) for order in orders])


GRAPHS = {
    "random": (graph(8), 0.1),
    "hub": ((np.zeros(N - 1, dtype=int), np.arange(1, N)), 0.5),
    "pairs": ((np.arange(0, N, 2), np.arange(1, N, 2)), 50.0),  # steps end after two
    "strangers": ((np.zeros(0, dtype=int), np.zeros(0, dtype=int)), 2.0),  # after one
}


@pytest.mark.parametrize(("ends", "precision"), GRAPHS.values(), ids=GRAPHS.keys())
def test_it_is_near_the_exact_one(ends, precision):
    matrix = laplacian(*ends, precision)
    up = np.full((N, 1), N**-0.5)
    exact = np.linalg.slogdet(matrix)[1] - np.log(precision)
    assert log_determinant(csr_array(matrix), up) == pytest.approx(exact, abs=0.5)


def test_on_the_plane_it_needs_no_prior():
    matrix, up = laplacian(*graph(8), 0.0), np.full((N, 1), N**-0.5)
    exact = np.log(np.linalg.eigvalsh(matrix)[1:]).sum()
    assert log_determinant(csr_array(matrix), up) == pytest.approx(exact, abs=0.5)
