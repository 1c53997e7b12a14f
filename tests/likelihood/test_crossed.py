"""The linear algebra of models with slices, against the same matrices written out in full."""

from dataclasses import dataclass, replace

import numpy as np
import pytest
from helpers import sliced_votes

import bayes_arena as ba
from bayes_arena.algebra.rows import MIXED
from bayes_arena.errors import TooLargeError
from bayes_arena.inference.mode.laplace import laplace_at
from bayes_arena.likelihood import numbering
from bayes_arena.likelihood.averaging import FACTOR, LEAD
from bayes_arena.likelihood.covariances import covariances
from bayes_arena.likelihood.derivatives import gradient_and_hessian
from bayes_arena.likelihood.objective import Objective
from bayes_arena.likelihood.point import Point
from bayes_arena.likelihood.problem import Problem

SHAPES = {"annotator": (5, 6, 10, 200), "prompt": (5, 40, 4, 300), "": (4, 7, 0, 150)}
"""Competitors, prompts, annotators and votes such that annotators or prompts are eliminated; and nobody known."""


@dataclass
class Written:
    """A problem at a point, with its Hessian without residuals and what belongs to it in full."""

    problem: Problem
    target: Objective
    point: Point
    jacobian: np.ndarray
    hessian: np.ndarray
    covariance: np.ndarray
    plane: np.ndarray

    @property
    def flat(self) -> np.ndarray:
        return np.append(self.point.head, self.point.own.ravel())

    def at(self, flat: np.ndarray) -> Point:
        head, n, c = self.target.numbering.n_head, self.target.n_competitors, len(self.target.common)
        own = flat[head:].reshape(self.point.own.shape)
        return Point(flat[:n], flat[n : n + c], own, flat[n + c : head])

    def gradient(self, flat: np.ndarray) -> np.ndarray:
        found = gradient_and_hessian(self.target, self.at(flat))[0]
        return np.append(found.head, found.own.ravel())


def problem_of(shape: tuple[int, int, int, int]) -> Problem:
    own = {
        "discrimination": "annotator",
        "tie_propensity": "annotator",
        "position": "annotator",
        "style": ("length",),
        "style_slopes": "annotator",
        "strength_by": ("prompt", "category", "annotator", "program"),
        "dimensions": 2,
    }
    kinds = own if shape[2] else {"strength_by": ("prompt", "category")}
    kinds |= {"ties_by": ("prompt", "competitor"), "discrimination_by": ("prompt", "category")}
    model = ba.Model("all of it", ties="davidson", **kinds)
    cells = sliced_votes(*shape)
    return Problem.of(replace(cells, programs=cells.annotators[1:3]), model, "default")


@pytest.fixture(scope="module", params=SHAPES, ids=lambda by: f"{by} eliminated" if by else "no annotators")
def written(request) -> Written:
    problem = problem_of(SHAPES[request.param])
    target, rng = problem.objective, np.random.default_rng(1)
    start, n, count, width = target.start(), target.n_competitors, target.n_annotators, len(target.own)
    strength, own = rng.normal(size=n), rng.normal(0, 0.2, start.own.shape)
    own = start.own + own - own.mean(axis=0) if count else own
    common, slices = rng.normal(0, 0.3, len(target.common)), rng.normal(0, 0.5, len(start.slices))
    point = Point(strength - strength.mean(), common, own, slices)
    crossed = gradient_and_hessian(target, point, residuals=False)[1].rows
    order, head = target.numbering.elimination, target.numbering.n_head
    size = head + count * width
    jacobian = np.zeros((target.likelihood.n_coordinates, len(order.rows), size))
    for entry, coordinate in enumerate(order.coordinate):
        column = target.numbering.layout.columns[entry]
        np.add.at(jacobian[coordinate], (np.arange(len(column)), column), crossed.entry[entry])
    hessian = np.einsum("arp,abr,brq->pq", jacobian, crossed.curve, jacobian) + np.diag(crossed.precision)
    parts, first = target.numbering.held, n + len(common)
    held = np.zeros((size, width + 1 + len(parts)))
    held[head + np.arange(count * width), np.tile(np.arange(width), count)] = 1
    held[:n, width] = 1
    for column, part in enumerate(parts, width + 1):
        held[first + part.start : first + part.stop, column] = 1
    held = held[:, held.any(axis=0)]
    plane = np.linalg.svd(held.T)[2][held.shape[1] :].T
    covariance = plane @ np.linalg.inv(plane.T @ hessian @ plane) @ plane.T
    if count:
        assert order.by == request.param
    return Written(problem, target, point, jacobian, hessian, covariance, plane)


@pytest.mark.slow
def test_gradient_and_hessian_by_finite_differences(written):
    steps = 1e-5 * np.eye(len(written.flat))
    value = [written.target.value(written.at(written.flat + s * step)) for step in steps for s in (1, -1)]
    slopes = np.array([written.gradient(written.flat + step) - written.gradient(written.flat - step) for step in steps])
    value = np.array(value).reshape(-1, 2)
    np.testing.assert_allclose(written.gradient(written.flat), (value[:, 0] - value[:, 1]) / 2e-5, atol=1e-6)

    full = written.hessian.copy()
    order, columns = written.target.numbering.elimination, written.target.numbering.layout.columns
    found = gradient_and_hessian(written.target, written.point)[1].rows
    for entry in np.flatnonzero(order.sign):
        dimension = order.dimension[entry]
        slope = found.products[dimension - 1, MIXED] if dimension else found.slope
        for factor in np.flatnonzero(order.factor == dimension):
            at = columns[entry], columns[factor]
            np.add.at(full, at, order.sign[entry] * slope)
            np.add.at(full.T, at, order.sign[entry] * slope)
    np.testing.assert_allclose(slopes / 2e-5, full, atol=1e-6)


@pytest.mark.slow
def test_solutions_and_determinant_on_the_plane(written):
    target, rng = written.target, np.random.default_rng(2)
    laplace = laplace_at(target, written.point, written.problem.shifts, residuals=False)
    right = rng.normal(size=(len(written.flat), 3))
    head, shape = target.numbering.n_head, written.point.own.shape
    x_head, x_own = laplace.solve(right[:head].T, right[head:].T.reshape(3, *shape))
    np.testing.assert_allclose(np.vstack([x_head, x_own.reshape(-1, 3)]), written.covariance @ right, atol=1e-11)

    one_head, one_own = laplace.factor.solve(right[:head, 0], right[head:, 0].reshape(shape))
    np.testing.assert_allclose(one_own.ravel(), x_own[..., 0].ravel(), atol=1e-11)
    np.testing.assert_allclose(one_head[target.n_competitors :], x_head[target.n_competitors :, 0], atol=1e-11)

    dense = np.linalg.slogdet(written.plane.T @ written.hessian @ written.plane)[1]
    sizes = [max(shape[0], 1)] * shape[1] + [part.stop - part.start for part in target.numbering.held]
    sums = np.log(sizes).sum()  # of the shapes alone: sums are held, not means
    assert laplace.log_determinant - dense == pytest.approx(sums, abs=1e-9)


@pytest.mark.slow
def test_variances_of_rows_and_numbers(written):
    target, n = written.target, written.target.n_competitors
    factor = laplace_at(target, written.point, written.problem.shifts, residuals=False).factor
    spread, head = factor.spread, target.numbering.n_head
    order, leads = target.numbering.elimination, target.leads_at(written.point)
    around = covariances(target, factor)
    scatter = around.rows(slice(None), leads, target.factors(written.point), target.tally.features)
    root = scatter.root
    expected = np.einsum("arp,pq,brq->abr", written.jacobian, written.covariance, written.jacobian)
    for of_lead, of_factor, mixed in scatter.products:
        expected[0, 0] += of_lead * of_factor + mixed**2
    np.testing.assert_allclose(np.einsum("acr,bcr->abr", root, root), expected, atol=1e-11)
    np.testing.assert_allclose(spread.head[n:], np.diag(written.covariance)[n:head], atol=1e-11)

    count, width = written.point.own.shape
    blocks = written.covariance[head:, head:].reshape(count, width, count, width)
    expected = np.array([blocks[k, :, k] for k in range(count)]).reshape(count, width, width)
    np.testing.assert_allclose(factor.tail_covariance(), expected, atol=1e-11)

    for dimension in range(1 + target.predictor.dimensions):
        factors = np.flatnonzero(order.factor == dimension)
        lead, of_factor = np.zeros((2, len(order.rows), len(written.flat)))
        for entry in np.flatnonzero((order.sign != 0) & (order.dimension == dimension)):
            np.add.at(lead, (np.arange(len(lead)), target.numbering.layout.columns[entry]), order.sign[entry])
        expected = np.einsum("crp,pq,rq->cr", written.jacobian, written.covariance, lead)
        np.testing.assert_allclose(scatter.towards[dimension, LEAD], expected, atol=1e-11)
        for place in factors:
            of_factor[np.arange(len(lead)), target.numbering.layout.columns[place]] = 1
        if len(factors):
            expected = np.einsum("crp,pq,rq->cr", written.jacobian, written.covariance, of_factor)
            np.testing.assert_allclose(scatter.towards[dimension, FACTOR], expected, atol=1e-11)
        if dimension:
            both = np.array([lead, of_factor])
            products = np.einsum("xrp,pq,yrq->xyr", both, written.covariance, both)
            np.testing.assert_allclose(
                scatter.products[dimension - 1],
                [products[0, 0], products[1, 1], products[0, 1]],
                atol=1e-11,
            )


@pytest.mark.slow
def test_draws_have_the_covariance(written):
    factor = laplace_at(written.target, written.point, written.problem.shifts, residuals=False).factor
    n, size = written.target.n_competitors, 40_000
    head, own = factor.draw(np.random.default_rng(3), size)
    head[:, :n] -= head[:, :n].mean(axis=1, keepdims=True)
    found = np.cov(np.column_stack([head, own.reshape(size, -1)]).T)
    variance = np.diag(written.covariance)
    error = np.sqrt((np.outer(variance, variance) + written.covariance**2) / size)
    np.testing.assert_array_less(np.abs(found - written.covariance), 6 * error + 1e-12)
    np.testing.assert_allclose(own.sum(axis=1), 0, atol=1e-9)


def test_too_many_numbers_are_refused_by_name(monkeypatch):
    monkeypatch.setattr(numbering, "DENSE", 30)
    with pytest.raises(TooLargeError, match=r"numbers of 10 annotators and of slices \(category, prompt\).*at most 30"):
        _ = problem_of(SHAPES["annotator"]).objective.numbering.elimination


def test_slices_that_no_vote_of_the_fit_carries_have_no_numbers():
    """Whether they come before, between or after those that have."""
    problem = problem_of(SHAPES[""])
    target = problem.objective
    row = next(effect.feature for effect in target.slices if effect.name == "strength_by_prompt")
    for code in (-1, target.tally.slices[row].max() + 1):
        slices = target.tally.slices.copy()
        slices[row] = code
        tally = replace(target.tally, slices=slices)
        by_name = dict(zip((effect.name for effect in target.slices), target.numbering.places(tally), strict=True))
        assert all((place == -1).all() for place in by_name["strength_by_prompt"] + by_name["ties_by_prompt"])
        assert all((place >= 0).all() for place in by_name["strength_by_category"])
