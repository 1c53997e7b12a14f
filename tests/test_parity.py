"""NumPy against PyMC: value, gradient and mode of every model under every prior."""

import importlib

import numpy as np
import pymc as pm
import pytest
from pymc.model.transform.conditioning import remove_value_transforms

import bayes_arena as ba
from bayes_arena.likelihood import Point
from bayes_arena.models import build, m_elo
from bayes_arena.specification import PRESETS, Model

PRIORS = {"flat": "flat", "default": "default", "tight": ba.Prior(0.3, 0.2, 0.4, 0.1)}
MODELS = [
    *PRESETS.values(),
    Model("davidson", ties="davidson", both_bad="outcome", position="common"),
    Model("rao-kupper", "annotator", "rao-kupper", "annotator", "drop", "common"),
    Model("drop", "fixed", "drop", position="annotator"),
]


def values(target, point: Point) -> dict[str, np.ndarray]:
    """A NumPy point as the values of the PyMC program's variables."""
    found = {"strength": point.strength}
    found |= {f"{term.name}_common": value for term, value in zip(target.common, point.common, strict=True)}
    columns = zip(target.own, point.own.T, strict=True)
    return found | {f"{term.name}_deviation": column - term.mean for term, column in columns}


def random_point(target, seed: int) -> Point:
    """A point on the plane of zero sums, where both sides are defined."""
    rng = np.random.default_rng(seed)
    r, own = rng.normal(size=target.n_competitors), rng.normal(0, 0.5, (target.n_annotators, len(target.own)))
    means = np.array([term.mean for term in target.own])
    own = means + own - own.mean(axis=0) if len(own) else own
    return Point(r - r.mean(), rng.normal(0, 0.5, len(target.common)), own)


@pytest.mark.parametrize("prior", PRIORS)
@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
def test_value_gradient_and_mode(four_outcomes, model, prior):
    fit = ba.fit(four_outcomes, model=model, prior=PRIORS[prior], method="map")
    target = fit.target
    program = remove_value_transforms(build(four_outcomes, model=model, prior=PRIORS[prior]))
    logp, dlogp = program.compile_logp(), program.compile_dlogp()
    points = [random_point(target, seed) for seed in range(3)]

    differences = [logp(values(target, p)) - logp(values(target, points[0])) for p in points]
    expected = [target.value(points[0]) - target.value(p) for p in points]
    np.testing.assert_allclose(differences, expected, rtol=1e-9, atol=1e-9)

    order = [variable.name for variable in program.value_vars]
    for point in points:
        gradient = target.gradient_and_hessian(point)[0]
        parts = values(target, Point(gradient.strength, gradient.common, gradient.own + [t.mean for t in target.own]))
        flat = np.concatenate([np.atleast_1d(parts[name]) for name in order])
        np.testing.assert_allclose(-dlogp(values(target, point)), flat, rtol=1e-8, atol=1e-8)

    at_mode = values(target, fit.point)
    ends = np.cumsum([np.size(at_mode[name]) for name in order])[:-1]
    for name, part in zip(order, np.split(dlogp(at_mode), ends), strict=True):
        free = 0.0 if name.endswith("_common") else part.mean()  # zero-sum variables: zero on the plane
        np.testing.assert_allclose(part, free, atol=1e-7)


@pytest.mark.parametrize("name", ["bradley_terry", "m_elo", "am_elo", "am_davidson"])
def test_every_preset_has_a_file(arena_cells, name):
    module = importlib.import_module(f"bayes_arena.models.{name}")
    program = module.build(arena_cells, ba.Prior())
    assert {variable.name for variable in program.observed_RVs} == {"votes"}
    assert list(program.named_vars_to_dims["strength"]) == ["competitor"]


def test_m_elo_is_in_elo_points(arena_cells):
    program = m_elo.build(arena_cells, ba.Prior())
    strength, rating = pm.draw([program["strength"], program["rating"]], random_seed=1)
    np.testing.assert_allclose(rating, strength * 400 / np.log(10))


def test_find_map_lands_on_the_mode(arena_cells):
    tree = pm.find_MAP(model=build(arena_cells), jitter=False, progressbar=False, return_inferencedata=True)
    fit = ba.fit(arena_cells, method="map")
    np.testing.assert_allclose(tree.posterior["strength"].values.ravel(), fit.strength, atol=1e-4)
    np.testing.assert_allclose(tree.posterior["discrimination"].values.ravel(), fit.discrimination, atol=1e-4)


def test_pointwise_log_likelihood_sums_to_the_loss(arena_cells):
    """Ties count as half wins in every row: a Bernoulli would have made them losses."""
    fit = ba.fit(arena_cells, method="map")
    program = remove_value_transforms(build(arena_cells))
    (rows,) = program.compile_logp(vars=program.observed_RVs, sum=False)(values(fit.target, fit.point))
    assert rows.shape == fit.target.tally.i.shape
    assert -rows.sum() == pytest.approx(fit.loss, rel=1e-10)


@pytest.mark.slow
def test_sampling_agrees_with_laplace(arena_cells):
    with build(arena_cells):
        tree = pm.sample(
            500, tune=500, chains=2, cores=1, nuts_sampler="pymc", random_seed=1, progressbar=False, quiet=True
        )
    fit = ba.fit(arena_cells, method="map")
    draws = tree.posterior["strength"]
    assert draws.dims == ("chain", "draw", "competitor")
    assert draws["competitor"].values.tolist() == list(arena_cells.competitors)
    sd = np.sqrt(np.diag(fit.laplace.strength_covariance()))
    np.testing.assert_allclose(draws.mean(("chain", "draw")), fit.strength, atol=0.5 * sd.max())
    np.testing.assert_allclose(draws.std(("chain", "draw")), sd, rtol=0.25)
