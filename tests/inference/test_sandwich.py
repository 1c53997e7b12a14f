"""How far votes move a board, and the covariances that follow."""

import numpy as np
import pytest
from scipy.sparse import csr_array, eye_array

import bayes_arena as ba
from bayes_arena.inference.mode import posterior_mode
from bayes_arena.inference.sandwich import (
    cluster_scores,
    clustered_covariance,
    sandwich_covariance,
)
from bayes_arena.inference.scale import board_of, board_strengths
from bayes_arena.model.build import build_design
from bayes_arena.model.spec import PRESETS
from tests.model.arenas import HELD

MODELS = ("davidson", "am-davidson")


def fitted(name, seed=3):
    """Return votes, their model, and the posterior mode."""
    arena = ba.simulate(competitors=5, annotators=6, votes=500, seed=seed)
    votes, model = ba.read_votes(arena.votes), PRESETS[name]
    return votes, model, posterior_mode(build_design(votes, model, HELD))


def derivatives(posterior, step=1e-5):
    """Return those of the board in all parameters, by differences."""
    size = posterior.design.layout.size
    steps = step * np.eye(size)
    ahead = board_strengths(posterior.design, posterior.mean + steps)
    behind = board_strengths(posterior.design, posterior.mean - steps)
    return ((ahead - behind) / (2 * step)).T


@pytest.mark.parametrize("name", MODELS)
def test_moves_are_the_covariance_with_the_board(name):
    """Of every parameter, shared and local: S J', which scores are multiplied by."""
    _, _, posterior = fitted(name)
    size = posterior.design.layout.size
    moves = board_of(posterior).moves(csr_array(eye_array(size)))
    expected = posterior.covariance.solve(derivatives(posterior).T.copy())
    np.testing.assert_allclose(moves, expected, atol=2e-7)


@pytest.mark.parametrize("name", MODELS)
def test_moves_of_clusters_add_up(name):
    """Single rows move the board as far as all do at once: at the mode, by the prior."""
    votes, model, posterior = fitted(name)
    board = board_of(posterior)
    row = np.arange(len(votes))
    rows = board.moves(cluster_scores(posterior, votes, model, row))
    halves = board.moves(cluster_scores(posterior, votes, model, row % 2))
    np.testing.assert_allclose(rows.sum(axis=0), halves.sum(axis=0), atol=1e-9)
    np.testing.assert_allclose(rows[1::2].sum(axis=0), halves[1], atol=1e-9)
    precision = posterior.design.prior_precision()
    prior = csr_array((precision * posterior.mean)[None])
    np.testing.assert_allclose(halves.sum(axis=0), -board.moves(prior)[0], atol=1e-6)


def test_where_the_model_is_right_the_sandwich_is_its_covariance():
    arena = ba.simulate(competitors=5, annotators=6, votes=40_000, seed=1)
    votes, model = ba.read_votes(arena.votes), PRESETS["am-davidson"]
    posterior = posterior_mode(build_design(votes, model, HELD))
    board = board_of(posterior)
    ratio = np.diag(sandwich_covariance(posterior, board, votes, model))
    ratio = ratio / np.diag(board.covariance)
    np.testing.assert_allclose(ratio, 1, atol=0.15)


def test_the_factor_of_clusters():
    """CR1: of G clusters the squares count G / (G - 1)."""
    moves = np.array([[1.0, -1.0], [-1.0, 1.0], [0.0, 0.0]])
    np.testing.assert_allclose(
        clustered_covariance(moves), 1.5 * np.array([[2, -2], [-2, 2]])
    )
