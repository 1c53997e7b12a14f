from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import approx_fprime

from bayes_arena.model.arrow import invert
from bayes_arena.model.build import build_design, design_of_rows
from bayes_arena.model.objective import expand, value
from bayes_arena.model.priors import Prior
from bayes_arena.model.spec import PRESETS
from tests.model.arenas import (
    MODELS,
    dense,
    held_sums,
    random_design,
    random_point,
    random_votes,
)


@pytest.fixture(params=[*MODELS, "few saw each prompt"])
def case(request):
    """Return a design and a point."""
    if request.param in MODELS:
        design = random_design(MODELS[request.param])
    else:
        votes = random_votes(n_rows=30)
        design = build_design(votes, MODELS["prompts local"], Prior())
        assert len(np.unique(design.layout.n_local)) > 2
    return design, random_point(design)


def test_the_largest_kind_is_eliminated():
    by_topic = random_design(MODELS["prompts shared"])
    assert by_topic.layout.n_groups == 8
    by_prompt = random_design(MODELS["prompts local"])
    assert by_prompt.layout.n_groups == 9
    assert not random_design(MODELS["davidson"]).layout.n_local.any()


def test_gradient(case):
    design, x = case
    here = expand(design, x)
    assert here.value == pytest.approx(value(design, x), rel=1e-12)
    numeric = approx_fprime(x, lambda y: value(design, y), 1e-6)
    np.testing.assert_allclose(here.gradient, numeric, rtol=1e-4, atol=3e-4)


def test_hessian(case):
    design, x = case
    hessian = dense(expand(design, x, with_residuals=True).hessian, design.layout)
    numeric = approx_fprime(x, lambda y: expand(design, y).gradient, 1e-6)
    np.testing.assert_allclose(hessian, numeric, atol=1e-4)
    expected = dense(expand(design, x).hessian, design.layout)
    assert np.linalg.eigvalsh(expected).min() > 0


def test_averaged_gradient_is_that_of_the_average(case):
    """The nodes move with x, so the derivative of the sum over them is nearly exact."""
    design, x = case
    narrow = replace(
        design, n_votes=30 * design.n_votes, statistic=30 * design.statistic
    )
    covariance = invert(expand(narrow, x).hessian, design.layout)
    here = expand(design, x, covariance)
    step = 1e-4
    rng = np.random.default_rng(0)
    for _ in range(5):
        direction = rng.normal(size=len(x))
        ahead, behind = x + step * direction, x - step * direction
        rise = expand(design, ahead, covariance).value
        rise -= expand(design, behind, covariance).value
        slope = here.gradient @ direction
        assert slope == pytest.approx(rise / (2 * step), rel=0.01, abs=0.3)


def test_inverse(case):
    design, x = case
    layout = design.layout
    hessian = expand(design, x).hessian
    H = dense(hessian, layout)
    covariance = invert(hessian, layout)
    sums = held_sums(layout)
    plane = np.linalg.svd(sums)[0][:, sums.shape[1] :]
    on_plane = plane.T @ H @ plane
    S = plane @ np.linalg.inv(on_plane) @ plane.T
    np.testing.assert_allclose(covariance.solve(np.eye(layout.size)), S, atol=1e-11)
    np.testing.assert_allclose(covariance.variances(), np.diag(S), atol=1e-11)
    log_determinant = np.linalg.slogdet(on_plane)[1]
    log_determinant += np.linalg.slogdet(sums.T @ sums)[1]
    assert covariance.log_determinant == pytest.approx(log_determinant, abs=1e-8)
    parts = dense(covariance.of_groups(slice(None)), layout)
    np.testing.assert_allclose(parts[parts != 0], S[parts != 0], atol=1e-11)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["davidson", "am-davidson", "prompts local"])
def test_draws_have_the_covariance_and_hold_the_sums(name):
    design = random_design(MODELS[name])
    hessian = expand(design, random_point(design)).hessian
    covariance = invert(hessian, design.layout)
    S = covariance.solve(np.eye(design.layout.size))
    draws = covariance.draws(20_000, seed=0)
    np.testing.assert_allclose(draws @ draws.T / 20_000, S, atol=0.04 * S.max())
    np.testing.assert_allclose(held_sums(design.layout).T @ draws, 0, atol=1e-6)


def test_counts_are_the_votes_one_by_one():
    votes = random_votes()
    row, outcome = np.nonzero(votes.counts)
    times = votes.counts[row, outcome].astype(int)
    row, outcome = np.repeat(row, times), np.repeat(outcome, times)
    alone = replace(votes.take(row), counts=np.eye(3)[outcome])
    for model in (PRESETS["davidson"], PRESETS["am-davidson"], PRESETS["am-elo"]):
        counted = build_design(votes, model, Prior())
        each = design_of_rows(alone, model, Prior())
        x = random_point(counted)
        assert value(each, x) == pytest.approx(value(counted, x))


def test_chunks_change_nothing(monkeypatch):
    design = random_design(MODELS["am-davidson"])
    x = random_point(design)
    whole = expand(design, x)
    monkeypatch.setattr("bayes_arena.model.design.ROWS_PER_CHUNK", 8)
    assert len(list(design.chunks())) > 3
    pieces = expand(design, x)
    np.testing.assert_allclose(pieces.gradient, whole.gradient, atol=1e-12)
    np.testing.assert_allclose(pieces.hessian.local, whole.hessian.local, atol=1e-12)
    np.testing.assert_allclose(pieces.hessian.cross, whole.hessian.cross, atol=1e-12)
