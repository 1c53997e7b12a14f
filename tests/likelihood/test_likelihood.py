"""The objective against the paper's formula, and its derivatives against finite differences."""

import contextlib
import itertools
import math
from copy import deepcopy
from dataclasses import replace
from typing import get_args

import numpy as np
import pytest
from helpers import in_full
from scipy.linalg import block_diag

import bayes_arena as ba
from bayes_arena.algebra import own_jacobian, units as algebra
from bayes_arena.algebra.bordered import Bordered
from bayes_arena.algebra.factorising import factorise
from bayes_arena.algebra.own_jacobian import OwnJacobian
from bayes_arena.algebra.units import Units
from bayes_arena.likelihood import objective as objectives
from bayes_arena.likelihood.covariances import covariances
from bayes_arena.likelihood.derivatives import gradient_and_hessian
from bayes_arena.likelihood.objective import objective
from bayes_arena.likelihood.outcomes.likelihood import likelihood
from bayes_arena.likelihood.point import Point
from bayes_arena.likelihood.presets import PRESETS
from bayes_arena.likelihood.priors import FLAT, Prior
from bayes_arena.likelihood.specification import CHOICES, Model, Ties

PRIORS = {"flat": FLAT, "gauss": Prior(0.8, 0.3, 0.7, 0.4)}


def grid() -> list[Model]:
    """Every model of the grid, named by its choices."""
    models = []
    for values in itertools.product(*CHOICES.values()):
        with contextlib.suppress(ba.ModelError):
            models.append(Model(" ".join(values), **dict(zip(CHOICES, values, strict=True))))
    return models


GRID = grid()


def is_largest(model: Model) -> bool:
    """Whether annotators have every number that they can have with these ties."""
    return model.discrimination == model.position == "annotator" and (
        model.tie_propensity == "annotator" or not model.has_tie_outcome
    )


@pytest.fixture(
    params=[pytest.param(one, marks=[] if is_largest(one) else pytest.mark.slow, id=one.name) for one in GRID]
)
def model(request):
    return request.param


@pytest.fixture(params=PRIORS)
def target(request, model, four_outcomes):
    return objective(four_outcomes, model, PRIORS[request.param])


def random_point(target, seed: int, scale: float = 1.0) -> Point:
    rng = np.random.default_rng(seed)
    means = np.array([term.mean for term in target.own])
    return Point(
        rng.normal(0, scale, target.n_competitors),
        rng.normal(0, scale, len(target.common)),
        means + rng.normal(0, scale, (target.n_annotators, len(target.own))),
    )


def flat(point: Point) -> np.ndarray:
    return np.concatenate([point.strength, point.common, point.own.ravel()])


def unflat(target, x: np.ndarray) -> Point:
    n, c = target.n_competitors, len(target.common)
    return Point(x[:n], x[n : n + c], x[n + c :].reshape(target.n_annotators, len(target.own)))


def test_the_grid_is_whole():
    """Discrimination and position, tie propensity where ties are an outcome, and what becomes of both-bad votes."""
    sizes = [
        2 * 3 * (2 if one.has_tie_outcome else 1) * (3 if one.with_both_bad else 2)
        for one in map(likelihood, get_args(Ties))
    ]
    assert len(GRID) == sum(sizes)


@pytest.mark.parametrize("name", ["m-elo", "am-elo"])
def test_loss_is_equation_5_summed_vote_by_vote(arena, arena_cells, name):
    target = objective(arena_cells, PRESETS[name], FLAT)
    point = random_point(target, 0)
    r = dict(zip(arena_cells.competitors, point.strength, strict=True))
    theta = dict.fromkeys(arena_cells.annotators, 1.0)
    if target.n_annotators:
        theta = dict(zip(arena_cells.annotators, point.own[:, 0], strict=True))
    total = 0.0
    for a, b, winner, judge in arena.votes.iter_rows():
        w = {"model_a": 1.0, "tie": 0.5, "model_b": 0.0}[winner]
        p = 1 / (1 + math.exp(-theta[judge] * (r[a] - r[b])))
        total -= w * math.log(p) + (1 - w) * math.log(1 - p)
    assert target.loss(point) == pytest.approx(total, rel=1e-12)


@pytest.mark.parametrize("ties", ["davidson", "rao-kupper"])
def test_proper_tie_models_are_probabilities_vote_by_vote(arena, arena_cells, ties):
    """Shown first helps by b_k; the three outcomes of every vote sum to one."""
    model = Model("full", "annotator", ties, "annotator", "tie", "annotator")
    target = objective(arena_cells, model, FLAT)
    point = random_point(target, 4, 0.5)
    r = dict(zip(arena_cells.competitors, point.strength, strict=True))
    own = dict(zip(arena_cells.annotators, point.own, strict=True))
    total = 0.0
    for a, b, winner, judge in arena.votes.iter_rows():
        theta, u, v = own[judge]
        t, eta = point.common[0] + u, theta * (r[a] - r[b]) + point.common[1] + v
        if ties == "davidson":
            weights = [math.exp(eta / 2), math.exp(t), math.exp(-eta / 2)]
            p = [weight / sum(weights) for weight in weights]
        else:
            kappa = math.exp(t)
            win, loss = 1 / (1 + math.exp(kappa - eta)), 1 / (1 + math.exp(kappa + eta))
            p = [win, (math.exp(2 * kappa) - 1) * win * loss, loss]
        assert sum(p) == pytest.approx(1, abs=1e-12)
        total -= math.log(p[["model_a", "tie", "model_b"].index(winner)])
    assert target.loss(point) == pytest.approx(total, rel=1e-12)


def test_dropped_outcomes_count_nowhere(four_outcomes):
    counts = four_outcomes.counts.sum(axis=0)
    seen = {
        (model.ties, model.both_bad): objective(four_outcomes, model, FLAT).n_votes
        for model in GRID
        if model.position == "none"
    }
    assert seen["half", "tie"] == counts.sum()
    assert seen["half", "drop"] == counts[:3].sum()
    assert seen["drop", "tie"] == seen["drop", "drop"] == counts[:2].sum()
    assert seen["davidson", "outcome"] == counts.sum()


ROWS_AT_ONCE = pytest.mark.parametrize(("scale", "block"), [(0.01, objectives.BLOCK), (1.0, 25)])


@ROWS_AT_ONCE
def test_gradient_by_finite_differences(target, scale, block, monkeypatch):
    """Along directions at random, in which every coordinate takes part; so the Hessian below."""
    monkeypatch.setattr(objectives, "BLOCK", block)
    point = random_point(target, 1, scale)
    x = flat(point)
    directions = np.random.default_rng(3).normal(size=(4, len(x)))
    steps = 1e-6 * directions
    numeric = [(target.value(unflat(target, x + s)) - target.value(unflat(target, x - s))) / 2e-6 for s in steps]
    slope = flat(gradient_and_hessian(target, point)[0])
    np.testing.assert_allclose(directions @ slope, numeric, rtol=1e-5, atol=1e-4)


@ROWS_AT_ONCE
def test_hessian_by_finite_differences(target, scale, block, monkeypatch):
    monkeypatch.setattr(objectives, "BLOCK", block)
    point = random_point(target, 2, scale)
    x = flat(point)
    directions = np.random.default_rng(3).normal(size=(4, len(x)))

    def gradient(y):
        return flat(gradient_and_hessian(target, unflat(target, y))[0])

    numeric = [(gradient(x + s) - gradient(x - s)) / 2e-6 for s in 1e-6 * directions]
    hessian = in_full(gradient_and_hessian(target, point)[1])
    np.testing.assert_allclose(directions @ hessian, numeric, rtol=1e-5, atol=1e-4)


def test_the_best_scale_predicts_the_same_and_no_other_is_likelier(arena_cells):
    given = objective(arena_cells, PRESETS["am-davidson"], Prior())
    theta, *others = given.own
    target = replace(given, own=(replace(theta, mean=0.0), *others))
    point = random_point(given, 5)
    best = target.at_best_scale(point)
    assert target.loss(best) == pytest.approx(target.loss(point), rel=1e-12)
    for alpha in (0.5, 0.9, 1.1, 2.0):
        own = best.own / [alpha, *np.ones(len(others))]
        assert target.value(best) < target.value(replace(best, strength=alpha * best.strength, own=own))
    assert given.at_best_scale(point) is point  # its mean is one


def random_matrix(touched: list[list[int]], n: int = 4, q: int = 2) -> Bordered:
    """A matrix of n numbers that are left, and annotators who touch some of them."""
    rng, m = np.random.default_rng(5), len(touched)
    root, roots = rng.normal(size=(n, n)), rng.normal(size=(m, q, q))
    tail = roots @ roots.transpose(0, 2, 1) + np.eye(q)
    start = np.append(0, np.cumsum([len(columns) for columns in touched]))
    places = np.array([one for columns in touched for one in columns], dtype=np.int64)
    units = Units(np.arange(n), n + np.arange(m * q), q * np.arange(m + 1), places, start, q)
    across = rng.normal(size=units.across_start[-1])
    border = units.towards(across).toarray()
    left = root @ root.T + np.eye(n) + border.T @ np.linalg.inv(block_diag(*tail)) @ border
    return Bordered(units, (n, m, q), left, tail.ravel(), across, ())


@pytest.fixture(params=["full", "laid out", "added in place"])
def matrix(request, monkeypatch):
    """Units that touch all that is left, taken together; or two or three numbers, or none, one at a time."""
    if request.param == "full":
        return random_matrix([[0, 1, 2, 3]] * 5)
    added = math.inf if request.param == "laid out" else 0
    for name, value in {"TOGETHER": 1, "BLOCK": 1, "PARTS": 100, "ADDED": added}.items():
        monkeypatch.setattr(algebra, name, value)
    monkeypatch.setattr(own_jacobian, "AT_ONCE", 1)
    return random_matrix([[0, 2], [3], [], [0, 1, 3], [1, 2]])


def plane(held: list[bool], n: int = 4, m: int = 5) -> np.ndarray:
    """Orthonormal basis of the plane on which the held columns sum to zero."""
    normals = [np.concatenate([np.zeros(n), np.tile(np.eye(len(held))[q], m)]) for q in np.flatnonzero(held)]
    if not normals:
        return np.eye(n + m * len(held))
    return np.linalg.svd(np.array(normals))[2][len(normals) :].T


@pytest.mark.parametrize("held", [[False, False], [True, False], [True, True]])
def test_a_factor_is_the_dense_matrix_on_the_plane(matrix, held):
    basis = plane(held)
    factor = factorise(matrix, held=np.array(held))
    covariance = basis @ np.linalg.inv(basis.T @ in_full(matrix) @ basis) @ basis.T
    head, tail = factor.solve(np.eye(14)[:4], np.eye(14)[4:].reshape(5, 2, 14))
    np.testing.assert_allclose(np.vstack([head, tail.reshape(10, 14)]), covariance, atol=1e-12)
    right = np.random.default_rng(6).normal(size=14)
    single = factor.solve(right[:4], right[4:].reshape(5, 2))
    np.testing.assert_allclose(np.concatenate([single[0], single[1].ravel()]), covariance @ right, atol=1e-12)
    blocks = [covariance[4 + 2 * k : 6 + 2 * k, 4 + 2 * k : 6 + 2 * k] for k in range(5)]
    np.testing.assert_allclose(factor.tail_covariance(), blocks, atol=1e-12)
    jacobian = np.random.default_rng(8).normal(size=(3, 14))
    by_own = jacobian[:, 4:].reshape(3, 5, 2)
    streamed = OwnJacobian(by_own.shape, lambda part: by_own[:, part])[[2, 0]]
    expected = (jacobian @ covariance @ jacobian.T)[np.ix_([2, 0], [2, 0])]
    for by_annotators in (streamed, np.asarray(streamed)):
        found = sum(a.T @ b for a, b in factor.form(jacobian[[2, 0], :4], by_annotators))
        np.testing.assert_allclose(found, expected, atol=1e-12)
    np.testing.assert_array_equal(np.asarray(streamed), by_own[[2, 0]])


@pytest.mark.parametrize("held", [[False, False], [True, False], [True, True]])
def test_the_determinant_moves_like_that_of_the_dense_matrix(matrix, held):
    basis = plane(held)

    def both(scale):
        scaled = matrix.stiffened(np.full(14, scale - 1))
        exact = np.linalg.slogdet(basis.T @ in_full(scaled) @ basis)[1]
        return factorise(scaled, held=np.array(held)).log_determinant(), exact

    (ours, exact), (ours_2, exact_2) = both(1.0), both(1.7)
    assert ours_2 - ours == pytest.approx(exact_2 - exact, rel=1e-10)


@pytest.mark.parametrize("held", [[False, False], [True, True]])
def test_draws_have_the_covariance(matrix, held):
    basis = plane(held)
    covariance = basis @ np.linalg.inv(basis.T @ in_full(matrix) @ basis) @ basis.T
    factor, rng = factorise(matrix, held=np.array(held)), np.random.default_rng(0)
    head = factor.draw_head(rng, 40_000)
    again = deepcopy(rng)
    ((_, tail),) = factor.draw_own(rng, head, at_once=10**9)
    draws = np.concatenate([head, tail.reshape(40_000, -1)], axis=1)
    np.testing.assert_allclose(np.cov(draws.T), covariance, atol=0.05 * covariance.max())
    one_by_one = [own for _, own in factor.draw_own(again, head, at_once=1)]
    np.testing.assert_allclose(np.concatenate(one_by_one, axis=1), tail, atol=1e-12)


@pytest.mark.parametrize("held", [[False, False], [True, True]])
def test_draws_of_some_annotators_have_their_covariance(held):
    matrix, basis = random_matrix([[0, 1, 2, 3]] * 5), plane(held)
    covariance = basis @ np.linalg.inv(basis.T @ in_full(matrix) @ basis) @ basis.T
    factor, rng, some = factorise(matrix, held=np.array(held)), np.random.default_rng(0), np.array([0, 2])
    head = factor.draw_head(rng, 40_000)
    tail = np.concatenate([own for _, own in factor.draw_own(rng, head, at_once=1, of=some)], axis=1)
    draws = np.concatenate([head, tail.reshape(40_000, -1)], axis=1)
    width = tail.shape[2]
    kept = [*range(head.shape[1]), *(head.shape[1] + width * some[:, None] + np.arange(width)).ravel()]
    np.testing.assert_allclose(np.cov(draws.T), covariance[np.ix_(kept, kept)], atol=0.05 * covariance.max())


def test_an_indefinite_matrix_is_refused():
    matrix = random_matrix([[0, 1, 2, 3]] * 5)
    of_left = np.where(np.arange(14) < 4, 100.0, 0.0)
    for broken in (matrix.stiffened(-of_left), replace(matrix, own=-matrix.own)):
        with pytest.raises(np.linalg.LinAlgError):
            factorise(broken, held=np.zeros(2, dtype=bool))


@pytest.mark.parametrize(
    "bad",
    [
        {"ties": "elo"},
        {"ties": "half", "tie_propensity": "annotator"},
        {"ties": "half", "both_bad": "outcome"},
        {"ties": "rao-kupper", "both_bad": "outcome"},
        {"position": "left"},
    ],
)
def test_impossible_models(bad):
    with pytest.raises(ba.ModelError):
        Model("bad", **bad)


def test_coordinates_vary_as_strengths_and_common_parameters_do(arena_cells):
    fit = ba.fit(arena_cells, model=ba.Model("plain", ties="davidson", position="common"), robust=False)
    target, n = fit.target, fit.target.n_competitors
    assert [effect.name for effect in target.common] == ["tie_propensity", "position"]
    around = covariances(target, fit.laplace.factor)
    root = around.rows(slice(None), target.leads_at(fit.point), target.factors(fit.point), target.tally.features).root
    unit, rows = np.eye(n + 2), len(target.tally.i)
    jacobian = np.array([unit[target.tally.i] - unit[target.tally.j] + unit[n + 1], np.tile(unit[n], (rows, 1))])
    expected = np.einsum("crp,pq,drq->cdr", jacobian, fit.laplace.covariance(unit), jacobian)
    np.testing.assert_allclose(root[0][0] ** 2, expected[0, 0], rtol=1e-6)
    np.testing.assert_allclose(root[0][0] * root[1][0], expected[0, 1], rtol=1e-6)
