"""Sums over many votes with features, by blocks and compiled: those that the objective takes of few."""

from dataclasses import replace

import numpy as np
import pytest
from helpers import every_likelihood
from numpy.testing import assert_allclose

import bayes_arena as ba
from bayes_arena.likelihood.algebra import features_pass
from bayes_arena.likelihood.objective import objective
from bayes_arena.likelihood.point import Point
from bayes_arena.likelihood.priors import Prior


def votes(size: int = 500) -> ba.Cells:
    rng = np.random.default_rng(3)
    a = rng.integers(6, size=size)
    b = (a + rng.integers(1, 6, size=size)) % 6
    features = {name: rng.normal(size=size) for name in ("length", "lists")}
    counts = rng.integers(3, size=(size, 4)).astype(float)
    return ba.Cells(tuple("abcdef"), (), a, b, np.zeros(size, int), counts, features=features)


@pytest.mark.slow
@pytest.mark.parametrize("likelihood", every_likelihood(), ids=lambda one: f"{one.name}-{one.n_coordinates}")
@pytest.mark.parametrize("position", ["none", "common"])
def test_value_gradient_and_hessian_are_the_same(likelihood, position, monkeypatch):
    both_bad = "outcome" if likelihood.n_coordinates == 3 else "tie"
    model = ba.Model("m", ties=likelihood.name, both_bad=both_bad, position=position, style=("length", "lists"))
    target, rng = objective(votes(), model, Prior()), np.random.default_rng(0)
    point = Point(rng.normal(size=6), rng.normal(size=len(target.common)), np.zeros((0, 0)))
    value, (gradient, arrow) = target.value(point), target.gradient_and_hessian(point)
    monkeypatch.setattr(features_pass, "MANY", 1)
    monkeypatch.setattr(features_pass, "BLOCK", 64)
    by_block, (its_gradient, its_arrow) = target.value(point), target.gradient_and_hessian(point)
    assert by_block == pytest.approx(value, rel=1e-13)
    assert_allclose(its_gradient.head, gradient.head, rtol=1e-12, atol=1e-11)
    assert_allclose(its_arrow.head, arrow.head, rtol=1e-12, atol=1e-11)
    assert (its_arrow.border.shape, its_arrow.tail.shape) == (arrow.border.shape, arrow.tail.shape)


@pytest.mark.slow
def test_the_fit_is_the_same(monkeypatch):
    model = ba.Model("m", style=("length", "lists"))
    plain = ba.fit(votes(), model=model, method="map")
    monkeypatch.setattr(features_pass, "MANY", 1)
    by_block = ba.fit(votes(), model=model, method="map")
    assert_allclose(by_block.point.head, plain.point.head, atol=1e-12)
    assert_allclose(ba.effects(by_block)["sd"], ba.effects(plain)["sd"], rtol=1e-10)


def test_rows_that_are_equal_in_all_features_are_one_row():
    cells = votes()
    twice = cells.take(np.r_[np.arange(500), np.arange(500)])
    model = ba.Model("m", style=("length", "lists"))
    once, other = model.tally(cells), model.tally(twice)
    assert other.features.shape == once.features.shape == (2, 500)
    assert_allclose(other.counts, 2 * once.counts)
    turned = replace(
        cells,
        a=cells.b,
        b=cells.a,
        counts=cells.counts[:, [1, 0, 2, 3]],
        features={name: -x for name, x in cells.features.items()},
    )
    assert_allclose(model.tally(turned).features, once.features)
