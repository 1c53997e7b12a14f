"""The board: its scale, its covariance, and what moves it."""

from dataclasses import replace

import numpy as np
import pytest

from bayes_arena.inference.average_vote import interpolate
from bayes_arena.inference.gaussian import nearest_gaussian
from bayes_arena.inference.maximum import maximum_likelihood
from bayes_arena.inference.sandwich import cluster_scores, clustered_covariance
from bayes_arena.inference.scale import (
    board_of,
    board_strengths,
    bradley_terry_strengths,
    solve_laplacian,
)
from bayes_arena.model.build import build_design
from bayes_arena.model.priors import FLAT, Prior
from bayes_arena.model.spec import PRESETS
from bayes_arena.reading.read import read_votes
from bayes_arena.simulation import simulate
from tests.model.arenas import MODELS, random_votes


def gaussian(name, votes=None):
    votes = votes or random_votes()
    return nearest_gaussian(build_design(votes, MODELS[name], Prior()))


def test_bradley_terry_is_its_own_scale():
    model = replace(PRESETS["bradley-terry"], position="common")
    posterior = nearest_gaussian(build_design(random_votes(), model, Prior()))
    board = board_of(posterior)
    strength = posterior.mean_of("strength")
    np.testing.assert_allclose(board.value, strength, atol=1e-6)
    sd = posterior.sd_of("strength")
    np.testing.assert_allclose(board.sd, sd, atol=1e-5)
    assert board.value.mean() == pytest.approx(0)


def test_strengths_of_their_own_scores():
    strength = np.array([-1.0, -0.2, 0.3, 0.9])
    p = 1 / (1 + np.exp(strength - strength[:, None]))
    totals = p.sum(axis=1) - 0.5
    found, laplacian = bradley_terry_strengths(totals)
    np.testing.assert_allclose(found, strength, atol=1e-9)
    product = laplacian @ solve_laplacian(laplacian, np.eye(len(laplacian)))
    np.testing.assert_allclose(product, np.eye(4) - 1 / 4, atol=1e-12)


def test_ties_pull_the_average_vote_together():
    """Davidson's leads in logits of wins are larger than those of the average score."""
    posterior = gaussian("davidson")
    board, r = board_of(posterior), posterior.mean_of("strength")
    assert np.array_equal(np.argsort(board.value), np.argsort(r))
    assert np.ptp(board.value) < np.ptp(r)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["davidson", "am-davidson", "am-elo"])
def test_covariance_is_that_of_draws(name):
    arena = simulate(competitors=5, annotators=12, votes=2500, seed=3)
    posterior = gaussian(name, read_votes(arena.votes))
    board = board_of(posterior)
    draws = posterior.mean + posterior.covariance.draws(500, seed=0).T
    sampled = board_strengths(posterior.design, draws)
    sd = board.sd
    np.testing.assert_allclose(sampled.std(axis=0), sd, rtol=0.12)
    assert np.abs(sampled.mean(axis=0) - board.value).max() < 0.3 * sd.max()


def test_a_sandwich_by_hand():
    """Bradley-Terry: White's covariance is H^-1 (sum of squared scores) H^-1."""
    votes = random_votes()
    votes = replace(votes, counts=votes.counts * [1, 1, 0])
    votes = votes.take(np.flatnonzero(votes.counts.any(axis=1)))
    model = PRESETS["bradley-terry"]
    posterior = maximum_likelihood(build_design(votes, model, FLAT), model)
    cluster = np.arange(len(votes)) % 40
    scores_of_clusters = cluster_scores(posterior, votes, model, cluster)
    moves = board_of(posterior).moves(scores_of_clusters)
    r, n = posterior.mean_of("strength"), len(votes.competitors)
    p = 1 / (1 + np.exp(r[votes.j] - r[votes.i]))
    cast = votes.counts.sum(axis=1)
    residual = votes.counts[:, 0] - cast * p
    contrast = np.eye(n)[votes.i] - np.eye(n)[votes.j]
    H = (contrast.T * (cast * p * (1 - p))) @ contrast
    scores = np.zeros((40, n))
    np.add.at(scores, cluster, residual[:, None] * contrast)
    inverse = solve_laplacian(H, np.eye(len(H)))
    expected = inverse @ (scores.T @ scores) @ inverse * 40 / 39
    np.testing.assert_allclose(clustered_covariance(moves), expected, atol=1e-8)


def test_interpolation_is_exact_for_cubics():
    grid = np.linspace(-2, 2, 9)
    cubic = np.polynomial.Polynomial([1.0, -2.0, 0.5, 3.0])
    x = np.linspace(-2, 2, 31).reshape(1, 31)
    values = np.stack([cubic(grid), -cubic(grid)])
    slopes = np.stack([cubic.deriv()(grid), -cubic.deriv()(grid)])
    found = interpolate(x, grid, values, slopes)
    np.testing.assert_allclose(found, [cubic(x), -cubic(x)], atol=1e-12)
