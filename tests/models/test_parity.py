"""NumPy against PyMC: value, gradient and mode of every model under every prior."""

import importlib
from dataclasses import replace

import numpy as np
import pymc as pm
import pytest
from helpers import every_likelihood
from programs import GRAPH, compile_kwargs, logp_and_dlogp
from pymc.model.transform.conditioning import remove_value_transforms
from scipy.stats import chi, norm

import bayes_arena as ba
from bayes_arena.inference.marginal.finding import information_of
from bayes_arena.likelihood import loops, predictor
from bayes_arena.likelihood.derivatives import gradient_and_hessian
from bayes_arena.likelihood.objective import objective
from bayes_arena.likelihood.outcomes.likelihood import ETA
from bayes_arena.likelihood.point import Point
from bayes_arena.likelihood.presets import PRESETS
from bayes_arena.likelihood.priors import Prior, degrees, spread_label
from bayes_arena.likelihood.problem import Problem
from bayes_arena.likelihood.specification import Model
from bayes_arena.models import build

pytestmark = pytest.mark.slow
PRIORS = {"flat": "flat", "default": "default", "tight": ba.Prior(0.3, 0.2, 0.4, 0.1)}
MODELS = [
    *PRESETS.values(),
    Model("davidson", ties="davidson", both_bad="outcome", position="common"),
    Model("rao-kupper", "annotator", "rao-kupper", "annotator", "drop", "common"),
    Model("drop", "fixed", "drop", position="annotator"),
    *(
        Model(f"graph of {one.name}", ties=one.name, position="common")
        for one in every_likelihood()
        if one.loop is None and one.grades == 1
    ),
    Model("davidson, 2 grades", "annotator", "davidson", "annotator", "outcome", "annotator", grades=2),
    Model("rao-kupper, 3 grades", "annotator", "rao-kupper", "annotator", position="common", grades=3),
]
WRITTEN = [*((name, 1) for name in PRESETS), ("davidson", 3), ("am-davidson", 3)]
COUNTED, RAO_KUPPER = MODELS[len(PRESETS) :][:2]
ROWS = {
    "half": (loops.prepare_nothing, loops.half),
    "davidson": (loops.prepare_davidson, loops.davidson),
    "rao-kupper": (loops.prepare_rao_kupper, loops.rao_kupper),
}
"""What the compiled density computes for each annotator, and for each row."""


def written_out(name: str):
    """Return the file of a preset."""
    return importlib.import_module(f"bayes_arena.models.{name.replace('-', '_')}")


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
def test_value_gradient_and_mode(four_outcomes, graded, model, prior):
    votes = graded if model.grades > 1 else four_outcomes
    fit = ba.fit(votes, model=model, prior=PRIORS[prior], method="map")
    target = fit.target
    program = remove_value_transforms(build(votes, model=model, prior=PRIORS[prior]))
    logp, dlogp = logp_and_dlogp(program)
    points = [random_point(target, seed) for seed in range(3)]

    differences = [logp(values(target, p)) - logp(values(target, points[0])) for p in points]
    expected = [target.value(points[0]) - target.value(p) for p in points]
    np.testing.assert_allclose(differences, expected, rtol=1e-9, atol=1e-9)

    order = [variable.name for variable in program.value_vars]
    for point in points:
        gradient = gradient_and_hessian(target, point)[0]
        parts = values(target, Point(gradient.strength, gradient.common, gradient.own + [t.mean for t in target.own]))
        flat = np.concatenate([np.atleast_1d(parts[name]) for name in order])
        np.testing.assert_allclose(-dlogp(values(target, point)), flat, rtol=1e-8, atol=1e-8)

    at_mode = values(target, fit.point)
    ends = np.cumsum([np.size(at_mode[name]) for name in order])[:-1]
    for name, part in zip(order, np.split(dlogp(at_mode), ends), strict=True):
        free = 0.0 if name.endswith("_common") else part.mean()  # zero-sum variables: zero on the plane
        np.testing.assert_allclose(part, free, atol=1e-7)


@pytest.mark.parametrize("log_odds", [1e-300, 1e-3, 1.0, 30.0, 700.0, 1e4])
@pytest.mark.parametrize("ties", ["half", "davidson", "rao-kupper"])
def test_loops_hold_far_out(ties, log_odds):
    prepare, row = ROWS[ties]
    given = np.array([3.0, 1.0, 2.0, 0.0])
    model = Model(ties, ties=ties)
    for eta in (log_odds, -log_odds):
        found = row(eta, *prepare(-0.4), 0.0, 0.0, *given)
        coordinates = np.array([[eta], [-0.4]])[: 1 + model.has_tie_outcome]
        terms = model.likelihood.rows(given[:, None], coordinates)
        assert -found[0] == pytest.approx(terms.value[0], rel=1e-13)
        np.testing.assert_allclose(-np.array(found[1 : 1 + len(coordinates)]), terms.gradient[:, 0], atol=1e-13)


def test_second_derivatives_are_those_of_the_objective(four_outcomes):
    fit = ba.fit(four_outcomes, model=COUNTED, method="map")
    program = remove_value_transforms(build(four_outcomes, model=COUNTED))
    point = random_point(fit.target, 2)
    hessian = gradient_and_hessian(fit.target, point)[1]
    names = np.repeat(["strength", *(f"{term.name}_common" for term in fit.target.common)], [6, 1, 1, 1])
    order = np.concatenate([np.flatnonzero(names == variable.name) for variable in program.value_vars])
    dlogp, at = program.compile_dlogp(mode=GRAPH), values(fit.target, point)
    cuts = np.cumsum([np.size(at[variable.name]) for variable in program.value_vars])[:-1]

    def slope(x: np.ndarray) -> np.ndarray:
        parts = zip(program.value_vars, np.split(x, cuts), strict=True)
        return dlogp({variable.name: part.reshape(np.shape(at[variable.name])) for variable, part in parts})

    x = np.concatenate([np.ravel(at[variable.name]) for variable in program.value_vars])
    stencil = {-2: 1 / 12, -1: -2 / 3, 1: 2 / 3, 2: -1 / 12}  # exact to the fourth order
    found = [-sum(weight * slope(x + step * e) for step, weight in stencil.items()) / 1e-3 for e in 1e-3 * np.eye(9)]
    np.testing.assert_allclose(found, hessian.left[np.ix_(order, order)], atol=1e-8)


@pytest.mark.parametrize("model", ["bradley-terry", "am-davidson", RAO_KUPPER])
def test_pooled_coordinates_leave_the_posterior_what_it_is(four_outcomes, model):
    """Logp in the sampler's coordinates against hyperprior x prior x likelihood, with the Jacobian of the change."""
    fit = ba.fit(four_outcomes, model=model, method="map")
    target, prior = fit.target, ba.Prior()
    program = remove_value_transforms(build(four_outcomes, model=model, pooled=True))
    known = information_of(Problem(four_outcomes, fit.model, prior))
    logp = program.compile_logp(mode=GRAPH)
    share = np.bincount(target.tally.k, target.counts.sum(axis=0)) / target.n_votes

    def both(seed: int) -> tuple[float, float]:
        point, rng = random_point(target, seed), np.random.default_rng(seed)
        given, expected = {}, -target.loss(point)
        groups = {"strength": ("strength", point.strength)}
        for term, column in zip(target.own, point.own.T, strict=True):
            groups[f"{term.name}_deviation"] = (term.spread, column - term.mean)
        for name, (spread, numbers) in groups.items():
            sd = rng.uniform(0.2, 1.5)
            scale = np.sqrt(1 + known[spread] * sd**2)
            given[spread if spread.endswith("spread") else f"{spread}_sd"] = sd
            given[f"{name}_unit"] = numbers * scale / sd
            free = len(numbers) - 1
            expected += norm.logpdf(numbers, scale=sd).sum() + np.log(sd) + free * np.log(sd / scale)
            expected += chi.logpdf(sd, degrees(spread), scale=prior.hyper.spread(spread))
        for term, value in zip(target.common, point.common, strict=True):
            numbers = groups.get(f"{term.name}_deviation")
            given[f"{term.name}_{'level' if numbers else 'common'}"] = value + (share @ numbers[1] if numbers else 0.0)
            expected += norm.logpdf(value, term.mean, term.sd)
        return float(logp(given)), float(expected)

    found, expected = np.array([both(seed) for seed in range(4)]).T
    np.testing.assert_allclose(found - found[0], expected - expected[0], rtol=1e-10, atol=1e-9)


@pytest.mark.parametrize("prior", ["fixed", "tight", "pooled"])
@pytest.mark.parametrize(("name", "grades"), WRITTEN)
def test_the_program_written_out_has_the_same_posterior(four_outcomes, graded, name, grades, prior):
    """Value and gradient of the four files, one row a vote, against the NumPy objective of summed votes."""
    prior = {"fixed": ba.Prior(hyper=None), "tight": replace(PRIORS["tight"], hyper=None), "pooled": ba.Prior()}[prior]
    votes, model = graded if grades > 1 else four_outcomes, replace(PRESETS[name], grades=grades)
    target = objective(votes, model, replace(prior, hyper=None))
    program = remove_value_transforms(written_out(name).build(votes, prior))
    logp, dlogp = logp_and_dlogp(program)
    order = [variable.name for variable in program.value_vars]
    found, expected = [], []
    for seed in range(3):
        point, rng = random_point(target, seed), np.random.default_rng(seed)
        sd = {effect.spread: effect.sd for effect in target.own} | {"strength": target.strength_sd}
        if prior.hyper is not None:
            sd = {spread: rng.uniform(0.2, 1.5) for spread in sd}
        at_sd = objective(votes, model, replace(prior.with_spreads(sd), hyper=None))
        given = {"strength": point.strength}
        given |= {f"{effect.name}_common": value for effect, value in zip(target.common, point.common, strict=True)}
        for effect, column in zip(target.own, point.own.T, strict=True):
            given[f"{effect.name}_unit"] = (column - effect.mean) / sd[effect.spread]
        density = -at_sd.value(point)
        if prior.hyper is not None:
            density -= (len(point.strength) - 1) * np.log(sd["strength"])
            density += sum(
                chi.logpdf(value, degrees(spread), scale=prior.hyper.spread(spread)) for spread, value in sd.items()
            )
            given |= {spread_label(spread): value for spread, value in sd.items()}
        expected.append(density)
        found.append(float(logp(given)))

        gradient = gradient_and_hessian(at_sd, point)[0]
        slopes = {"strength": gradient.strength}
        slopes |= {f"{effect.name}_common": value for effect, value in zip(target.common, gradient.common, strict=True)}
        for effect, column in zip(target.own, gradient.own.T, strict=True):
            slopes[f"{effect.name}_unit"] = column * sd[effect.spread]
        at = np.split(dlogp(given), np.cumsum([np.size(given[one]) for one in order])[:-1])
        for one, part in zip(order, at, strict=True):
            if one in slopes:  # those of the spreads follow from the values
                np.testing.assert_allclose(-part, slopes[one], rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(np.subtract(found, found[0]), np.subtract(expected, expected[0]), rtol=1e-9, atol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("name", PRESETS)
def test_find_map_of_the_program_written_out_lands_on_the_mode(arena_cells, name):
    prior = ba.Prior(hyper=None)
    program = written_out(name).build(arena_cells, prior)
    options = {"jitter": False, "progressbar": False, "return_inferencedata": True}
    tree = pm.find_MAP(model=program, compile_kwargs=compile_kwargs(name), **options)
    fit = ba.fit(arena_cells, model=name, prior=prior, method="map")
    found = {label: tree.posterior[label].values.ravel() for label in tree.posterior}
    np.testing.assert_allclose(found["strength"], fit.strength, atol=1e-3)
    if fit.target.own:
        np.testing.assert_allclose(found["discrimination"], fit.discrimination, atol=1e-3)


def test_find_map_lands_on_the_mode(arena_cells):
    options = {"jitter": False, "progressbar": False, "return_inferencedata": True}
    tree = pm.find_MAP(model=build(arena_cells), compile_kwargs={"mode": GRAPH}, **options)
    fit = ba.fit(arena_cells, method="map")
    np.testing.assert_allclose(tree.posterior["strength"].values.ravel(), fit.strength, atol=1e-4)
    np.testing.assert_allclose(tree.posterior["discrimination"].values.ravel(), fit.discrimination, atol=1e-4)


def test_pointwise_log_likelihood_sums_to_the_loss(arena_cells):
    """Ties count as half wins in every row: a Bernoulli would have made them losses."""
    fit = ba.fit(arena_cells, method="map")
    program = remove_value_transforms(build(arena_cells))
    (rows,) = program.compile_logp(vars=program.observed_RVs, sum=False, mode=GRAPH)(values(fit.target, fit.point))
    assert rows.shape == fit.target.tally.i.shape
    assert -rows.sum() == pytest.approx(fit.loss, rel=1e-10)


def test_sampling_agrees_with_laplace(arena_cells):
    with build(arena_cells):
        tree = pm.sample(
            300, tune=300, chains=2, cores=1, nuts_sampler="pymc", random_seed=1, progressbar=False, quiet=True
        )
    fit = ba.fit(arena_cells, method="map")
    draws = tree.posterior["strength"]
    assert draws.dims == ("chain", "draw", "competitor")
    assert draws["competitor"].values.tolist() == list(arena_cells.competitors)
    sd = np.sqrt(np.diag(fit.laplace.strength_covariance()))
    np.testing.assert_allclose(draws.mean(("chain", "draw")), fit.strength, atol=0.5 * sd.max())
    np.testing.assert_allclose(draws.std(("chain", "draw")), sd, rtol=0.25)


def test_a_new_effect_is_in_the_program_without_a_line(four_outcomes, monkeypatch):
    """What CONTRIBUTING promises who adds an effect: here a second advantage of the first."""
    both = [*predictor.effects(MODELS[3], Prior()), predictor.Effect("home", "home", ETA, "common", 0.0, 1.0)]
    monkeypatch.setattr("bayes_arena.likelihood.objective.effects", lambda model, prior: tuple(both))
    problem = Problem(four_outcomes, MODELS[3], Prior(hyper=None))
    program = remove_value_transforms(build(four_outcomes, model=MODELS[3], prior=Prior(hyper=None)))
    target, logp = problem.objective, program.compile_logp(mode=GRAPH)
    assert "home" in {variable.name for variable in program.deterministics}
    points = [random_point(target, seed) for seed in range(2)]
    ours = [-target.value(point) for point in points]
    theirs = [logp(values(target, point)) for point in points]
    assert theirs[1] - theirs[0] == pytest.approx(ours[1] - ours[0], abs=1e-8)
