"""Sums over the rows of votes: the same whether rows are added in one block or in many."""

from dataclasses import replace

import numpy as np
import pytest
from helpers import every_likelihood, in_full
from numpy.testing import assert_allclose

import bayes_arena as ba
from bayes_arena.likelihood import objective as objectives
from bayes_arena.likelihood.derivatives import value_and_derivatives
from bayes_arena.likelihood.objective import objective
from bayes_arena.likelihood.point import Point
from bayes_arena.likelihood.priors import Prior
from bayes_arena.votes.outcomes import BOTH_BAD

ANNOTATORS = ("one with many votes", "one without", "one", "another")


def votes(size: int = 500) -> ba.Cells:
    rng = np.random.default_rng(3)
    a = rng.integers(6, size=size)
    b = (a + rng.integers(1, 6, size=size)) % 6
    annotator = rng.choice(4, p=[0.7, 0.0, 0.1, 0.2], size=size)
    features = {name: rng.normal(size=size) for name in ("length", "lists")}
    counts = rng.integers(3, size=(size, 8)).astype(float)
    return ba.Cells(tuple("abcdef"), ANNOTATORS, a, b, annotator, counts, features=features)


@pytest.mark.parametrize("residuals", [True, False])
@pytest.mark.parametrize("of", ["common", "annotator"])
@pytest.mark.parametrize("likelihood", every_likelihood(), ids=lambda one: f"{one.name}-{len(one.outcomes)}")
def test_blocks_of_rows_add_up_to_all_rows(likelihood, of, residuals, monkeypatch):
    model = ba.Model(
        "m",
        ties=likelihood.name,
        discrimination="annotator" if of == "annotator" else "fixed",
        tie_propensity=of if likelihood.has_tie_outcome else "common",
        both_bad="outcome" if BOTH_BAD in likelihood.outcomes else "tie",
        grades=likelihood.grades,
        position=of,
        style=("length", "lists"),
        style_slopes=of,
    )
    target, rng = objective(votes(), model, Prior()), np.random.default_rng(0)
    own = rng.normal(1.0, 0.3, size=(target.n_annotators, len(target.own)))
    point = Point(rng.normal(size=6), rng.normal(size=len(target.common)), own)
    value, gradient, hessian = value_and_derivatives(target, point, residuals=residuals)
    monkeypatch.setattr(objectives, "BLOCK", 64)
    by_block, its_gradient, its_hessian = value_and_derivatives(target, point, residuals=residuals)
    assert by_block == pytest.approx(value, rel=1e-13)
    assert target.value(point) == pytest.approx(value, rel=1e-13)
    for one, other in [
        (its_gradient.head, gradient.head),
        (its_gradient.own, gradient.own),
        (in_full(its_hessian), in_full(hessian)),
    ]:
        assert_allclose(one, other, rtol=1e-12, atol=1e-11)


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
