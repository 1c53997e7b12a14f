import numpy as np
import pytest
from scipy.optimize import approx_fprime

from bayes_arena.model.effects import DAVIDSON, GRADED, HALF_WINS
from bayes_arena.model.likelihood import (
    average_loss,
    cumulants,
    loss_at,
    moments_with_coordinates,
)
from bayes_arena.model.quadrature import nodes_and_weights, partial_cholesky

OUTCOMES = [HALF_WINS, DAVIDSON, GRADED]


def one_row(outcomes, seed=0):
    """Return predictors, counts and the statistic of a row."""
    rng = np.random.default_rng(seed)
    C = outcomes.phi.shape[1]
    u = 0.5 * rng.normal(size=C + 2) + np.eye(C + 2)[-1]
    counts = rng.integers(1, 5, len(outcomes.phi)).astype(float)
    return u, counts.sum(keepdims=True), (counts @ outcomes.phi)[:, None], counts


def test_probabilities_of_davidson():
    eta, tau = 0.8, -0.3
    logits = np.array([eta / 2, -eta / 2, tau])
    A, mean, covariance = cumulants(DAVIDSON.phi, np.array([[eta], [tau]]))
    p = np.exp(logits - A[0])
    assert p.sum() == pytest.approx(1)
    assert mean[0, 0] == pytest.approx((p[0] - p[1]) / 2)
    assert mean[1, 0] == pytest.approx(p[2])
    expected = (p[0] + p[1]) / 4 - mean[0, 0] ** 2
    assert covariance[0, 0, 0] == pytest.approx(expected)


def test_half_wins_are_a_logistic_curve():
    eta = np.array([[-2.0, 0.0, 0.7]])
    A, mean, _ = cumulants(HALF_WINS.phi, eta)
    p = 1 / (1 + np.exp(-eta[0]))
    np.testing.assert_allclose(np.exp(eta[0] / 2 - A), p)
    np.testing.assert_allclose(mean[0] + 0.5, p)


def test_large_predictors_do_not_overflow():
    A, mean, covariance = cumulants(DAVIDSON.phi, np.array([[2000.0], [0.0]]))
    assert A[0] == 1000
    np.testing.assert_allclose(mean[:, 0], [0.5, 0])
    assert np.isfinite(covariance).all()


@pytest.mark.parametrize("outcomes", OUTCOMES)
def test_derivatives_of_a_row(outcomes):
    u, n, s, counts = one_row(outcomes)

    def loss(x):
        return loss_at(x[:, None], n, s, outcomes.phi)

    z = np.append(u[0] + u[-1] * u[-2], u[1:-2])
    log_p = outcomes.phi @ z - np.logaddexp.reduce(outcomes.phi @ z)
    assert loss(u).total == pytest.approx(-counts @ log_p)
    gradient = loss(u).gradient[:, 0]
    numeric = approx_fprime(u, lambda x: loss(x).total, 1e-7)
    np.testing.assert_allclose(gradient, numeric, atol=1e-5)
    numeric = approx_fprime(u, lambda x: loss(x).gradient[:, 0], 1e-7)
    complete = loss(u).hessian[..., 0]
    complete[[-1, -2], [-2, -1]] += gradient[0]  # the residual of theta times the lead
    np.testing.assert_allclose(complete, numeric, atol=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("outcomes", OUTCOMES)
def test_averages_are_those_over_draws(outcomes):
    u, n, s, _ = one_row(outcomes)
    rng = np.random.default_rng(1)
    root = 0.12 * rng.normal(size=(len(u), len(u)))
    S = (root @ root.T)[:, :, None]
    average = average_loss(u[:, None], S, n, s, outcomes.phi)
    size = 200_000
    draws = u[:, None] + root @ rng.normal(size=(len(u), size))
    rows = np.repeat(n, size), np.repeat(s, size, axis=1)
    sampled = loss_at(draws, *rows, outcomes.phi)
    assert average.total == pytest.approx(sampled.total / size, abs=0.02)
    gradient = sampled.gradient.mean(axis=1)
    np.testing.assert_allclose(average.gradient[:, 0], gradient, atol=0.03)
    hessian = sampled.hessian.mean(axis=2)
    np.testing.assert_allclose(average.hessian[..., 0], hessian, atol=0.06)


def test_averages_over_nothing_open_are_values_at_the_point():
    u, n, s, _ = one_row(DAVIDSON)
    at_point = loss_at(u[:, None], n, s, DAVIDSON.phi)
    average = average_loss(u[:, None], np.zeros((4, 4, 1)), n, s, DAVIDSON.phi)
    assert average.total == pytest.approx(at_point.total, abs=1e-5)
    np.testing.assert_allclose(average.gradient, at_point.gradient, atol=1e-5)
    np.testing.assert_allclose(average.hessian, at_point.hessian, atol=1e-5)


@pytest.mark.slow
def test_moments_with_coordinates_are_exact():
    rng = np.random.default_rng(2)
    u, root = rng.normal(size=(4, 1)), 0.6 * rng.normal(size=(4, 4))
    mean, K = moments_with_coordinates(u, (root @ root.T)[:, :, None])
    v = u + root @ rng.normal(size=(4, 400_000))
    v[0] += v[-1] * v[-2]
    np.testing.assert_allclose(mean[:, 0], v.mean(axis=1), atol=0.02)
    np.testing.assert_allclose(K[..., 0], np.cov(v), rtol=0.04, atol=0.03)


def test_partial_cholesky():
    root = np.random.default_rng(3).normal(size=(4, 4))
    K = root @ root.T
    columns, conditional = partial_cholesky(K[:, :, None], 2)
    full = np.linalg.cholesky(K)
    np.testing.assert_allclose(columns[..., 0].T, full[:, :2], atol=1e-12)
    schur = full[2:, 2:] @ full[2:, 2:].T
    np.testing.assert_allclose(conditional[..., 0], schur, atol=1e-12)


@pytest.mark.parametrize("size", [1, 2, 3])
def test_nodes_have_the_moments_of_standard_normals(size):
    nodes, weights = nodes_and_weights(size)
    assert weights.sum() == pytest.approx(1)
    np.testing.assert_allclose(weights @ nodes, 0, atol=1e-12)
    np.testing.assert_allclose(nodes.T * weights @ nodes, np.eye(size), atol=1e-12)
    np.testing.assert_allclose(weights @ nodes**4, 3)
