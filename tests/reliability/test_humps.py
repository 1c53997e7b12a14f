"""Mixtures of normal distributions: their likelihood, their valleys, and how many there are."""

import math

import numpy as np
import pytest
from scipy.special import logsumexp
from scipy.stats import multivariate_normal

from bayes_arena.reliability.humps import Humps, announced, humps, log_normal, named_humps


def test_the_likelihood_and_members_are_those_of_the_mixture():
    rng = np.random.default_rng(0)
    x = np.array([[-2.0, 0.0], [2.0, 0.0]])[[0, 0, 0, 1, 1]] + 0.5 * rng.normal(size=(5, 2))
    noise = np.array([0.1, 0.3, 0.2, 0.1, 0.4])[:, None, None] * np.array([[1.0, 0.2], [0.2, 0.5]])
    one, two = humps(x, noise)
    for found in (one, two):
        by_camp = np.array(
            [
                [
                    math.log(p) + multivariate_normal(m, v + found.spread).logpdf(at)
                    for p, m in zip(found.share, found.mean, strict=True)
                ]
                for at, v in zip(x, noise, strict=True)
            ]
        )
        assert found.log_likelihood == pytest.approx(logsumexp(by_camp, axis=1).sum())
        np.testing.assert_allclose(found.membership, np.exp(by_camp - logsumexp(by_camp, axis=1, keepdims=True)))
    assert two.membership.argmax(axis=1).tolist() in ([0, 0, 0, 1, 1], [1, 1, 1, 0, 0])
    better = 2 * (two.log_likelihood - one.log_likelihood)
    assert two.gain(one) == pytest.approx(better - 3 * math.log(5))
    assert two.gain(one, named=True) == pytest.approx(better - 2 * math.log(5))
    np.testing.assert_allclose(
        log_normal(x, noise), [multivariate_normal([0, 0], v).logpdf(at) for at, v in zip(x, noise, strict=True)]
    )


def test_the_valley_is_halfway_between_equal_camps():
    def valley(*mean):
        some = np.array(mean)[:, None]
        return Humps(np.full(len(some), 1 / len(some)), some, np.array([[0.25]]), some, 0.0).valley

    assert valley(0.0) == 1
    assert valley(0.0, 2.0) == pytest.approx(2 * math.exp(-2) / (1 + math.exp(-8)))  # four standard deviations apart
    assert valley(0.0, 2.0, 5.0) == pytest.approx(valley(0.0, 2.0))


@pytest.mark.slow
def test_they_are_counted():
    rng = np.random.default_rng(0)
    centers = np.array([[0.0, 0.0], [3.0, 0.0], [0.0, 3.0]])
    camp = np.repeat([0, 1, 2], [30, 20, 15])
    x, noise = centers[camp] + 0.4 * rng.normal(size=(65, 2)), np.broadcast_to(0.1 * np.eye(2), (65, 2, 2))
    found = announced(humps(x, noise))
    assert found.size == 3 and found.share.sum() == pytest.approx(1)
    where = found.membership.argmax(axis=1)
    assert len({(a, b) for a, b in zip(camp, where, strict=True)}) == 3
    turned = x @ np.array([[0.6, 0.8], [-0.8, 0.6]])  # directions are known up to a rotation
    assert announced(humps(turned, noise)).log_likelihood == pytest.approx(found.log_likelihood, abs=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize("draw", ["normal", "laplace", "gumbel"])
def test_one_hump_of_any_shape_is_one(draw):
    for seed in range(5):
        x = getattr(np.random.default_rng(seed), draw)(size=(100, 1))
        assert announced(humps(x, np.full((100, 1, 1), 0.1))).size == 1


@pytest.mark.slow
def test_one_by_itself_is_no_camp():
    x = np.append(np.random.default_rng(0).normal(0, 0.3, 40), 8.0)[:, None]
    noise = np.full((41, 1, 1), 0.1)
    one, two, *_ = humps(x, noise)
    assert two.gain(one) > 6 and announced([one, two]).size == 1


def test_known_members_keep_their_camps():
    membership = np.eye(2)[[0, 0, 1, 1]]
    found = named_humps(np.array([[0.0], [0.2], [1.0], [1.4]]), np.full((4, 1, 1), 0.01), membership)
    assert found.mean.ravel() == pytest.approx([0.1, 1.2]) and (found.membership == membership).all()
