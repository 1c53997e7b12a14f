"""Many competitors, few of whom met, and few annotators, who differ: the same answers as from dense matrices."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

import bayes_arena as ba
from bayes_arena.algebra.factorising import Factor, factorise
from bayes_arena.algebra.solving.gradients import NotSettledError
from bayes_arena.algebra.sparse_bordered import SparseBorderedFactor
from bayes_arena.inference.mode.direction import vague_objective
from bayes_arena.inference.mode.newton import Gauge, minimise
from bayes_arena.likelihood.derivatives import gradient_and_hessian
from bayes_arena.likelihood.point import Point
from bayes_arena.likelihood.predictor import THETA
from bayes_arena.likelihood.problem import Problem
from bayes_arena.votes.cells import Cells

N, M = 120, 8
FIXED = ba.Prior(strength=1.0, discrimination=0.4, tie_spread=0.5, position_spread=0.3, hyper=None)
MODELS = {"am-davidson": "am-davidson", "am-elo": ba.Model("am", "annotator")}


@pytest.fixture(scope="module")
def cells():
    rng = np.random.default_rng(3)
    orders = [rng.permutation(N) for _ in range(6)]
    a, b = np.concatenate(orders), np.concatenate([np.roll(order, 1) for order in orders])
    a, b = np.tile(a, M), np.tile(b, M)
    annotator = np.repeat(np.arange(M), len(a) // M)
    strength, theta, tie = rng.normal(size=N), 1 + 0.4 * rng.normal(size=M), 0.5 * rng.normal(size=M)
    half = 0.5 * theta[annotator] * (strength[a] - strength[b])
    chances = np.exp(np.stack([half, -half, tie[annotator]], axis=1))
    counts = rng.multinomial(4, chances / chances.sum(axis=1, keepdims=True))
    names = tuple(f"c{index:03d}" for index in range(N)), tuple(f"k{index}" for index in range(M))
    return Cells(*names, a, b, annotator, np.column_stack([counts, np.zeros(len(a))]).astype(float))


def both(sparse, cells, **options):
    for many in (True, False):
        sparse(many)
        yield ba.fit(cells, robust=False, **options)


@pytest.mark.slow
@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS.keys())
def test_mode_board_and_annotators(sparse, cells, model):
    fast, slow = both(sparse, cells, model=model, prior=FIXED)
    assert isinstance(fast.laplace.factor, SparseBorderedFactor)
    assert_allclose(fast.strength, slow.strength, atol=1e-8)
    assert_allclose(fast.point.own, slow.point.own, atol=1e-8)
    tables = []
    for many, fit in ((True, fast), (False, slow)):
        sparse(many)
        tables.append((ba.leaderboard(fit).set_index("competitor"), ba.annotators(fit).set_index("annotator")))
    (board, people), (exact, known) = tables
    exact, known = exact.loc[board.index], known.loc[people.index]
    assert_allclose(board["elo"], exact["elo"], atol=1e-6)
    assert_allclose(board["upper"] - board["lower"], exact["upper"] - exact["lower"], rtol=0.01)
    assert 0 < board.attrs["sd_error"] < 0.01 / 3
    for name in ("theta", "theta_lower", "theta_upper"):
        assert_allclose(people[name], known[name], atol=1e-7)


@pytest.mark.slow
def test_solutions_covariances_and_variances(sparse, cells):
    fast, slow = both(sparse, cells, prior=FIXED)
    rng = np.random.default_rng(0)
    head, own = rng.normal(size=(3, N)), rng.normal(size=(3, M, fast.point.own.shape[1]))
    for found, exact in zip(fast.laplace.solve(head, own), slow.laplace.solve(head, own), strict=True):
        assert_allclose(found, exact, atol=1e-7)
    assert_allclose(fast.laplace.own_covariance(), slow.laplace.own_covariance(), rtol=1e-7)
    assert_allclose(fast.laplace.variance(head, own), slow.laplace.variance(head, own), rtol=1e-7)


@pytest.mark.slow
def test_the_determinant_follows_the_spreads(sparse, cells):
    """It is known up to a constant, and of that much an estimate."""
    found = []
    for many in (True, False):
        sparse(many)
        fits = [ba.fit(cells, robust=False, prior=replace(FIXED, strength=sd)) for sd in (0.3, 3.0)]
        found.append(np.diff([fit.laplace.log_of_determinant() for fit in fits])[0])
    assert found[0] == pytest.approx(found[1], rel=0.02)
    assert abs(found[1]) > 1


@pytest.mark.slow
def test_what_is_not_positive_definite_is_refused(sparse, cells):
    """Where everybody is equal and nothing speaks for a direction, the votes want r and theta to grow together."""
    target = Problem.of(cells, ba.fit(cells, robust=False, prior=FIXED).model, FIXED).objective
    rng = np.random.default_rng(1)
    at = Point(0.01 * rng.normal(size=N), np.zeros(len(target.common)), 0.01 * rng.normal(size=(M, len(target.own))))
    gauge = Gauge(np.full((N, 1), N**-0.5), free_scale=False, held=np.ones(len(target.own), dtype=bool))
    for many in (True, False):
        sparse(many)
        _, arrow = gradient_and_hessian(target, at)
        with pytest.raises(np.linalg.LinAlgError):
            factorise(arrow, extra=gauge.extra(at, arrow), held=gauge.held)
        damped = factorise(arrow, extra=gauge.extra(at, arrow), held=gauge.held, damping=1e4)
        assert isinstance(damped, SparseBorderedFactor if many else Factor)


@pytest.mark.slow
def test_loose_graphs_give_way_to_a_dense_matrix(sparse, cells, monkeypatch):
    def never(*_):
        raise NotSettledError

    monkeypatch.setattr("bayes_arena.algebra.sparse_bordered.solve_by_gradients", never)
    dense, slow = both(sparse, cells, prior=FIXED)
    assert isinstance(dense.laplace.factor, SparseBorderedFactor)
    assert_allclose(dense.strength, slow.strength, atol=1e-10)
    assert_allclose(dense.laplace.own_covariance(), slow.laplace.own_covariance(), rtol=1e-10, atol=1e-14)


@pytest.mark.parametrize("model", [pytest.param("am-davidson", marks=pytest.mark.slow), "bradley-terry"])
def test_solutions_whose_steps_are_not_enough_are_made_by_a_dense_matrix(sparse, cells, monkeypatch, model):
    """From somewhere conjugate gradients arrived when the matrix was factorised; from elsewhere they need not."""
    fast, slow = both(sparse, cells, model=model, prior=FIXED)

    def never(*_):
        raise NotSettledError

    for user in ("sparse_bordered", "sparse_factor"):
        monkeypatch.setattr(f"bayes_arena.algebra.{user}.solve_in_parts", never)
    head, own = np.random.default_rng(0).normal(size=(3, N)), np.ones((3, *fast.point.own.shape))
    for found, exact in zip(fast.laplace.solve(head, own), slow.laplace.solve(head, own), strict=True):
        assert_allclose(found, exact, atol=1e-7)


@pytest.mark.slow
def test_a_saddle_is_left(sparse, cells):
    """Where nobody differs and theta may have either sign the gradient vanishes, and both directions lead down."""
    model = ba.fit(cells, robust=False, prior=FIXED).model
    target = vague_objective(Problem.of(cells, model, FIXED).objective)
    gauge = Gauge(np.full((N, 1), N**-0.5), free_scale=False, held=np.arange(len(target.own)) != THETA)
    values = []
    for many in (True, False):
        sparse(many)
        values.append(minimise(target, target.start(), gauge).value)
    assert values[0] == pytest.approx(values[1], abs=1e-6)
    assert values[0] < target.value(target.start()) - 100


@pytest.mark.slow
def test_estimated_spreads(sparse, cells):
    fast, slow = both(sparse, cells)
    for name in ("strength", "discrimination", "tie_spread"):
        assert getattr(fast.spreads, name) == pytest.approx(getattr(slow.spreads, name), rel=0.02)


@pytest.mark.slow
def test_draws_scatter_as_the_posterior_does(sparse, cells):
    sparse(True)
    fit = ba.fit(cells, robust=False, prior=FIXED)
    drawn = ba.draw(fit, size=2000, seed=1)
    sd = drawn.strength.std(axis=0) / np.sqrt(fit.laplace.strength_variance())
    assert sd.mean() == pytest.approx(1, abs=0.01)
    own = drawn.own.reshape(2000, M, -1).var(axis=0) / np.einsum("mqq->mq", fit.laplace.own_covariance())
    assert own == pytest.approx(1, abs=0.15)


@pytest.mark.slow
def test_a_saved_fit_reads_back(sparse, cells, tmp_path):
    sparse(True)
    fit = ba.fit(cells, robust=False, prior=FIXED)
    ba.save(fit, tmp_path / "fit.nc")
    again = ba.load(tmp_path / "fit.nc")
    assert ba.leaderboard(again).equals(ba.leaderboard(fit))
    assert ba.annotators(again).equals(ba.annotators(fit))


@pytest.mark.slow
def test_the_scale_of_some_hundreds_is_that_of_their_pairs(cells, monkeypatch):
    fit = ba.fit(cells, robust=False, prior=FIXED)
    exact = ba.leaderboard(fit)
    monkeypatch.setattr("bayes_arena.inference.projection.ONE_BY_ONE", N - 1)
    board = ba.leaderboard(replace(fit))
    assert (board["competitor"] == exact["competitor"]).all()
    assert_allclose(board[["elo", "lower", "upper"]], exact[["elo", "lower", "upper"]], atol=1e-6)
    assert np.abs(board["elo"] - exact["elo"]).max() > 0  # it went another way
