"""Numbers of the parameters: their covariance, and how far votes move them."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from bayes_arena.inference.estimate import Linear, delta_method
from bayes_arena.inference.mode import posterior_mode
from bayes_arena.inference.scale import board_of
from bayes_arena.model.build import build_design
from bayes_arena.model.priors import Prior
from tests.model.arenas import MODELS, random_votes


def sparse(rng, shape):
    """Return random numbers, of which most are zero."""
    return csr_array(rng.normal(size=shape) * (rng.random(shape) < 0.3))


@pytest.fixture(scope="module")
def posterior():
    """Of a model whose annotators have parameters, which are local ones."""
    return posterior_mode(build_design(random_votes(), MODELS["am-davidson"], Prior()))


@pytest.fixture(scope="module")
def linear(posterior):
    rng = np.random.default_rng(3)
    size = posterior.design.layout.size
    jacobian = sparse(rng, (7, size))
    return Linear(rng.normal(size=4), rng.normal(size=(4, 7)), jacobian)


def nowhere(draws):
    raise AssertionError


def test_covariance_and_moves_by_hand(posterior, linear):
    """J S J', and g S J', with S from a column for every parameter."""
    estimate = delta_method(posterior, linear, nowhere)
    size = posterior.design.layout.size
    S = posterior.covariance.solve(np.eye(size))
    J = linear.weights @ linear.jacobian.toarray()
    np.testing.assert_allclose(estimate.covariance, J @ S @ J.T, atol=1e-12)
    np.testing.assert_allclose(estimate.sd, np.sqrt(np.diag(J @ S @ J.T)))
    gradients = sparse(np.random.default_rng(1), (5, size))
    moves = estimate.moves(gradients)
    np.testing.assert_allclose(moves, gradients @ S @ J.T, atol=1e-12)


def test_contrasts_and_differences_have_the_derivatives_of_their_numbers(
    posterior, linear
):
    matrix = np.array([[1.0, -1.0, 0.0, 0.0], [0.25, 0.25, 0.25, 0.25]])
    plain = delta_method(posterior, linear, nowhere)
    contrast = delta_method(posterior, linear.contrast(matrix), nowhere)
    np.testing.assert_allclose(contrast.value, matrix @ plain.value)
    expected = matrix @ plain.covariance @ matrix.T
    np.testing.assert_allclose(contrast.covariance, expected, atol=1e-12)
    twice = Linear(2 * linear.value, 2 * linear.weights, linear.jacobian)
    difference = delta_method(posterior, twice.less(linear), nowhere)
    np.testing.assert_allclose(difference.value, plain.value)
    np.testing.assert_allclose(difference.covariance, plain.covariance, atol=1e-12)


def test_a_boards_covariance_is_a_sum_over_its_own_moves(posterior):
    """Gradients L with L'L = S^-1 move the board by a root of its covariance."""
    board = board_of(posterior)
    size = posterior.design.layout.size
    S = posterior.covariance.solve(np.eye(size))
    values, vectors = np.linalg.eigh(S)
    kept = values > 1e-10  # sums that are held have no variance
    root = csr_array(vectors[:, kept].T / np.sqrt(values[kept])[:, None])
    moves = board.moves(root)
    np.testing.assert_allclose(moves.T @ moves, board.covariance, atol=1e-10)
