"""The objective against the paper's formula, and its derivatives against finite differences."""

import math

import numpy as np
import pytest

from bayes_arena.arrow import Arrow, factorise
from bayes_arena.likelihood import Point, objective
from bayes_arena.priors import FLAT, Prior
from bayes_arena.specification import PRESETS

PRIORS = {"flat": FLAT, "gauss": Prior(strength=0.8, discrimination=0.3)}


@pytest.fixture(params=["m-elo", "am-elo"])
def model(request):
    return PRESETS[request.param]


@pytest.fixture(params=PRIORS)
def target(request, model, arena_cells):
    return objective(arena_cells, model, PRIORS[request.param])


def random_point(target, seed: int, scale: float = 1.0) -> Point:
    rng = np.random.default_rng(seed)
    return Point(rng.normal(0, scale, target.n_competitors), rng.normal(0.5, scale, target.n_annotators))


def flat(point: Point) -> np.ndarray:
    return np.concatenate([point.strength, point.discrimination])


def unflat(target, x: np.ndarray) -> Point:
    return Point(x[: target.n_competitors], x[target.n_competitors :])


def test_loss_is_equation_5_summed_vote_by_vote(arena, arena_cells, model):
    target = objective(arena_cells, model, FLAT)
    point = random_point(target, 0)
    r = dict(zip(arena_cells.competitors, point.strength, strict=True))
    theta = dict.fromkeys(arena_cells.annotators, 1.0)
    if target.n_annotators:
        theta = dict(zip(arena_cells.annotators, point.discrimination, strict=True))
    total = 0.0
    for a, b, winner, judge in arena.votes.iter_rows():
        w = {"model_a": 1.0, "tie": 0.5, "model_b": 0.0}[winner]
        p = 1 / (1 + math.exp(-theta[judge] * (r[a] - r[b])))
        total -= w * math.log(p) + (1 - w) * math.log(1 - p)
    assert target.loss(point) == pytest.approx(total, rel=1e-12)


@pytest.mark.parametrize("scale", [0.01, 1.0, 5.0])
def test_gradient_by_finite_differences(target, scale):
    point = random_point(target, 1, scale)
    x = flat(point)
    steps = 1e-6 * np.eye(len(x))
    numeric = [(target.value(unflat(target, x + s)) - target.value(unflat(target, x - s))) / 2e-6 for s in steps]
    np.testing.assert_allclose(flat(target.gradient_and_hessian(point)[0]), numeric, rtol=1e-5, atol=1e-4)


@pytest.mark.parametrize("scale", [0.01, 1.0, 5.0])
def test_hessian_by_finite_differences(target, scale):
    point = random_point(target, 2, scale)
    x = flat(point)
    steps = 1e-6 * np.eye(len(x))

    def gradient(y):
        return flat(target.gradient_and_hessian(unflat(target, y))[0])

    numeric = [(gradient(x + s) - gradient(x - s)) / 2e-6 for s in steps]
    np.testing.assert_allclose(dense(target.gradient_and_hessian(point)[1]), numeric, rtol=1e-5, atol=1e-4)


def dense(arrow: Arrow) -> np.ndarray:
    return np.block([[arrow.head, arrow.border], [arrow.border.T, np.diag(arrow.tail)]])


def random_arrow(n: int = 4, m: int = 7) -> Arrow:
    rng = np.random.default_rng(5)
    root = rng.normal(size=(n, n))
    border = rng.normal(size=(n, m))
    tail = 1 + rng.random(m)
    return Arrow(root @ root.T + (border / tail) @ border.T + np.eye(n), border, tail)


def test_arrow_solves_and_inverts_like_the_dense_matrix():
    arrow = random_arrow()
    factor = factorise(arrow, hold_sum=False)
    rng = np.random.default_rng(6)
    right = rng.normal(size=11)
    solution = np.concatenate(factor.solve(right[:4], right[4:]))
    np.testing.assert_allclose(solution, np.linalg.solve(dense(arrow), right), rtol=1e-10)
    inverse = np.linalg.inv(dense(arrow))
    np.testing.assert_allclose(factor.tail_variances(), np.diag(inverse)[4:], rtol=1e-10)
    many = rng.normal(size=(11, 3))
    np.testing.assert_allclose(
        np.vstack(factor.solve(many[:4], many[4:])), np.linalg.solve(dense(arrow), many), rtol=1e-10
    )


def test_arrow_with_held_sum_is_the_inverse_on_the_plane():
    arrow = random_arrow()
    factor = factorise(arrow, hold_sum=True)
    basis = np.zeros((11, 10))
    basis[:4, :4] = np.eye(4)
    basis[4:, 4:] = np.linalg.svd(np.ones((1, 7)))[2][1:].T
    covariance = basis @ np.linalg.inv(basis.T @ dense(arrow) @ basis) @ basis.T
    np.testing.assert_allclose(factor.tail_variances(), np.diag(covariance)[4:], rtol=1e-10)
    head, tail = factor.solve(np.eye(11)[:4], np.eye(11)[4:])
    np.testing.assert_allclose(np.vstack([head, tail]), covariance, atol=1e-12)


def test_arrow_refuses_an_indefinite_matrix():
    arrow = random_arrow()
    with pytest.raises(np.linalg.LinAlgError):
        factorise(Arrow(arrow.head - 100 * np.eye(4), arrow.border, arrow.tail), hold_sum=False)
