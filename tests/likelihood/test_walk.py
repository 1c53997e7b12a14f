"""Strengths that move: the algebra of the walk against the same matrices written out in full."""

import numpy as np
import polars as pl
import pytest
from helpers import drifting

import bayes_arena as ba
from bayes_arena.inference.mode.laplace import laplace_at
from bayes_arena.inference.mode.mode import find_mode
from bayes_arena.likelihood.covariances import covariances
from bayes_arena.likelihood.derivatives import gradient_and_hessian
from bayes_arena.likelihood.point import Point
from bayes_arena.likelihood.problem import Problem

ANNOTATORS = {"discrimination": "annotator", "tie_propensity": "annotator", "position": "annotator"}


class Case:
    """A problem with its point and, in full, the precision and its inverse on the plane."""

    def __init__(self, annotators: int):
        kinds = ANNOTATORS if annotators else {"position": "common", "ties_by": ("competitor",)}
        model = ba.Model("moving", ties="davidson", drift=True, **kinds)
        self.problem = Problem.of(drifting(annotators=annotators, gaps=True), model, "default")
        self.target, self.point = self.problem.objective, find_mode(self.problem).point
        own = self.point.own
        self.flat = np.append(self.point.head, self.point.own.ravel())
        steps = 1e-5 * np.eye(len(self.flat))
        slopes = [self.gradient(self.flat + step) - self.gradient(self.flat - step) for step in steps]
        self.hessian = np.array(slopes) / 2e-5
        n, count, width = self.target.n_competitors, *own.shape
        head = len(self.flat) - count * width
        held = np.zeros((len(self.flat), width + 1))
        held[head + np.arange(count * width), np.tile(np.arange(width), count)] = 1
        held[:n, width] = 1
        held = held[:, held.any(axis=0)]
        self.plane = np.linalg.svd(held.T)[2][held.shape[1] :].T
        self.on_plane = self.plane.T @ self.hessian @ self.plane
        self.covariance = self.plane @ np.linalg.inv(self.on_plane) @ self.plane.T

    def at(self, flat: np.ndarray) -> Point:
        head, n, c = self.target.numbering.n_head, self.target.n_competitors, len(self.target.common)
        return Point(flat[:n], flat[n : n + c], flat[head:].reshape(self.point.own.shape), flat[n + c : head])

    def gradient(self, flat: np.ndarray) -> np.ndarray:
        found = gradient_and_hessian(self.target, self.at(flat))[0]
        return np.append(found.head, found.own.ravel())


@pytest.fixture(scope="module", params=[0, 4, 12], ids=["periods in order", "few annotators left", "annotators first"])
def case(request) -> Case:
    found = Case(request.param)
    assert (found.target.numbering.elimination.chain is None) == (request.param == 12)
    return found


@pytest.mark.slow
def test_gradient_by_finite_differences(case):
    steps, away = 1e-5 * np.eye(len(case.flat)), case.flat + np.random.default_rng(1).normal(0, 0.3, len(case.flat))
    value = [[case.target.value(case.at(away + s * step)) for s in (1, -1)] for step in steps]
    np.testing.assert_allclose(case.gradient(away), np.subtract(*np.transpose(value)) / 2e-5, atol=1e-6)


def test_solutions_determinant_and_variances(case):
    laplace = laplace_at(case.target, case.point, case.problem.shifts)
    right, head = np.random.default_rng(2).normal(size=(len(case.flat), 3)), case.target.numbering.n_head
    shape = case.point.own.shape
    x_head, x_own = laplace.solve(right[:head].T, right[head:].T.reshape(3, *shape))
    np.testing.assert_allclose(np.vstack([x_head, x_own.reshape(-1, 3)]), case.covariance @ right, atol=1e-7)
    sums = shape[1] * np.log(max(shape[0], 1))
    assert laplace.log_determinant - np.linalg.slogdet(case.on_plane)[1] == pytest.approx(sums, abs=1e-7)

    n = case.target.n_competitors
    numbering, first = case.target.numbering, head - case.target.numbering.n_slices
    between = numbering.steps.between(np.eye(numbering.n_slices)).T
    of_steps = between @ case.covariance[first:head, first:head] @ between.T
    found = covariances(case.target, laplace.factor).variances
    np.testing.assert_allclose(found[first:], np.diag(of_steps), atol=1e-7)
    np.testing.assert_allclose(found[n:first], np.diag(case.covariance)[n:first], atol=1e-7)


def test_variances_of_eta(case):
    target, n = case.target, case.target.n_competitors
    around = covariances(target, laplace_at(target, case.point, case.problem.shifts).factor)
    scatter = around.rows(slice(None), target.leads_at(case.point), target.factors(case.point), target.tally.features)
    step, size = 1e-6, len(case.flat)
    moved = [target.coordinates(case.at(case.flat + step * one))[0] for one in np.eye(size)]
    jacobian = (np.array(moved) - target.coordinates(case.point)[0]).T / step
    variance = np.einsum("rp,pq,rq->r", jacobian, case.covariance, jacobian)
    np.testing.assert_allclose(scatter.root[0][0] ** 2, variance, rtol=1e-4)
    assert n < target.numbering.n_head


def test_steps_and_sums_are_inverses(case):
    steps, rng = case.target.numbering.steps, np.random.default_rng(3)
    numbers, slopes = rng.normal(size=(2, 3, case.target.numbering.n_slices))
    np.testing.assert_allclose(steps.summed(steps.between(numbers)), numbers, atol=1e-12)
    np.testing.assert_allclose((steps.back(slopes) * numbers).sum(), (slopes * steps.between(numbers)).sum())
    assert steps.gap.max() > 1


@pytest.mark.slow
def test_draws_have_the_covariance(case):
    factor, size = laplace_at(case.target, case.point, case.problem.shifts).factor, 40_000
    head, own = factor.draw(np.random.default_rng(3), size)
    n = case.target.n_competitors
    head[:, :n] -= head[:, :n].mean(axis=1, keepdims=True)
    found = np.cov(np.column_stack([head, own.reshape(size, -1)]).T)
    variance = np.diag(case.covariance)
    error = np.sqrt((np.outer(variance, variance) + case.covariance**2) / size)
    np.testing.assert_array_less(np.abs(found - case.covariance), 6 * error + 1e-12)


def test_two_competitors_and_two_periods():
    """The mode under fixed spreads solves two equations in the leads x now and y before.

    With r = (x / 2, -x / 2) and u = (y - x) / 2 for one, the opposite for the other, the prior costs
    x^2 / (4 s^2) + (y - x)^2 / (4 d^2), and the votes say p = 1 / (1 + exp(-x)) now and the same of y before.
    """
    rows = [("2024", "model_a", 30), ("2024", "model_b", 10), ("2026", "model_a", 10), ("2026", "model_b", 20)]
    records = [{"model_a": "a", "model_b": "b", "winner": w, "date": t} for t, w, n in rows for _ in range(n)]
    cells = ba.read_votes(pl.DataFrame(records), period="year")
    prior = ba.Prior(strength=1.0, hyper=None, by={"drift": 0.4})
    fit = ba.fit(cells, model=ba.Model("moving", drift=True), prior=prior, method="map")
    (x,), (first, second) = fit.point.strength[:1] * 2, fit.point.slices
    y = x + first - second
    assert first == pytest.approx(-second)
    d = 0.4 * np.sqrt(2)  # two years
    by_y = (y - x) / (2 * d**2) + 40 / (1 + np.exp(-y)) - 30
    by_x = x / 2 - (y - x) / (2 * d**2) + 30 / (1 + np.exp(-x)) - 10
    assert [by_x, by_y] == pytest.approx([0, 0], abs=1e-5)
    information = [p * (1 - p) * n for p, n in ((1 / (1 + np.exp(-x)), 30), (1 / (1 + np.exp(-y)), 40))]
    hessian = np.array([[0.5 + 0.5 / d**2, -0.5 / d**2], [-0.5 / d**2, 0.5 / d**2]]) + np.diag(information)
    assert fit.laplace.covariance(np.array([[1.0, -1.0]])).item() == pytest.approx(np.linalg.inv(hessian)[0, 0])
