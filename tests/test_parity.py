"""NumPy against PyMC: value, gradient and mode of every model under every prior."""

import numpy as np
import pymc as pm
import pytest
from pymc.model.transform.conditioning import remove_value_transforms

import bayes_arena as ba
from bayes_arena.likelihood import Point, objective
from bayes_arena.models import BUILDERS, build
from bayes_arena.models.m_elo import LOGITS_PER_POINT
from bayes_arena.specification import PRESETS

PRIORS = {"flat": "flat", "default": "default", "tight": ba.Prior(strength=0.3, discrimination=0.2)}


def values(name: str, point: Point) -> dict[str, np.ndarray]:
    """A NumPy point as the values of the PyMC model's variables."""
    if name == "m-elo":
        return {"rating": point.strength / LOGITS_PER_POINT}
    if name == "am-elo":
        return {"discrimination_deviation": point.discrimination - 1, "strength": point.strength}
    return {"strength": point.strength}


def random_point(target, seed: int) -> Point:
    """A point on the plane sum r = 0, mean theta = 1, where both sides are defined."""
    rng = np.random.default_rng(seed)
    r, z = rng.normal(size=target.n_competitors), rng.normal(0, 0.5, target.n_annotators)
    return Point(r - r.mean(), 1 + z - z.mean() if len(z) else z)


@pytest.mark.parametrize("prior", PRIORS)
@pytest.mark.parametrize("name", BUILDERS)
def test_value_gradient_and_mode(arena_cells, name, prior):
    fit = ba.fit(arena_cells, model=name, prior=PRIORS[prior])
    target = objective(arena_cells, PRESETS[name], fit.prior)
    model = remove_value_transforms(build(arena_cells, model=name, prior=PRIORS[prior]))
    logp, dlogp = model.compile_logp(), model.compile_dlogp()
    points = [random_point(target, seed) for seed in range(3)]

    differences = [logp(values(name, p)) - logp(values(name, points[0])) for p in points]
    expected = [target.value(points[0]) - target.value(p) for p in points]
    np.testing.assert_allclose(differences, expected, rtol=1e-9, atol=1e-9)

    order = [variable.name for variable in model.value_vars]
    for point in points:
        gradient = target.gradient_and_hessian(point)[0]
        scale = LOGITS_PER_POINT if name == "m-elo" else 1.0
        parts = {
            "strength": gradient.strength,
            "rating": gradient.strength * scale,
            "discrimination_deviation": gradient.discrimination,
        }
        np.testing.assert_allclose(
            -dlogp(values(name, point)), np.concatenate([parts[variable] for variable in order]), rtol=1e-9, atol=1e-9
        )

    mode = dlogp(values(name, Point(fit.strength, fit.discrimination)))
    sizes = [len(values(name, Point(fit.strength, fit.discrimination))[variable]) for variable in order]
    for part in np.split(mode, np.cumsum(sizes)[:-1]):
        np.testing.assert_allclose(part, part.mean(), atol=1e-8)  # zero on the plane


def test_find_map_lands_on_the_mode(arena_cells):
    tree = pm.find_MAP(model=build(arena_cells), jitter=False, progressbar=False, return_inferencedata=True)
    fit = ba.fit(arena_cells)
    np.testing.assert_allclose(tree.posterior["strength"].values.ravel(), fit.strength, atol=1e-4)
    np.testing.assert_allclose(tree.posterior["discrimination"].values.ravel(), fit.discrimination, atol=1e-4)


def test_pointwise_log_likelihood_sums_to_the_loss(arena_cells):
    """Ties count as half wins in every row: a Bernoulli would have made them losses."""
    fit = ba.fit(arena_cells)
    model = remove_value_transforms(build(arena_cells))
    logp = model.compile_logp(vars=model.observed_RVs, sum=False)
    (rows,) = logp(values("am-elo", Point(fit.strength, fit.discrimination)))
    assert rows.shape == (len(arena_cells.tally.n),)
    assert -rows.sum() == pytest.approx(fit.loss, rel=1e-10)


@pytest.mark.slow
def test_sampling_agrees_with_laplace(arena_cells):
    with build(arena_cells):
        tree = pm.sample(
            500, tune=500, chains=2, cores=1, nuts_sampler="pymc", random_seed=1, progressbar=False, quiet=True
        )
    fit = ba.fit(arena_cells)
    draws = tree.posterior["strength"]
    assert draws.dims == ("chain", "draw", "competitor")
    assert draws["competitor"].values.tolist() == list(arena_cells.competitors)
    sd = np.sqrt(np.diag(fit.laplace.strength_covariance()))
    np.testing.assert_allclose(draws.mean(("chain", "draw")), fit.strength, atol=0.5 * sd.max())
    np.testing.assert_allclose(draws.std(("chain", "draw")), sd, rtol=0.25)
