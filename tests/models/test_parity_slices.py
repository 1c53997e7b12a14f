"""NumPy against PyMC where models have slices: value, gradient, and the sampler's coordinates."""

from dataclasses import replace

import numpy as np
import pymc as pm
import pytest
from helpers import sliced_votes
from programs import GRAPH, logp_and_dlogp
from pymc.model.transform.conditioning import remove_value_transforms
from scipy.stats import chi, norm

import bayes_arena as ba
from bayes_arena.inference.marginal.finding import information_of
from bayes_arena.likelihood.derivatives import gradient_and_hessian
from bayes_arena.likelihood.objective import Objective, objective
from bayes_arena.likelihood.point import Point
from bayes_arena.likelihood.presets import PRESETS
from bayes_arena.likelihood.priors import degrees, spread_label
from bayes_arena.likelihood.problem import Problem
from bayes_arena.models import am_elo_directions, build

pytestmark = pytest.mark.slow
EVERYTHING = ba.Model(
    "everything",
    "annotator",
    "davidson",
    "annotator",
    position="annotator",
    style=("length",),
    style_slopes="annotator",
    strength_by=("prompt", "category", "annotator"),
    ties_by=("prompt", "competitor"),
    discrimination_by=("category",),
)
MODELS = [
    EVERYTHING,
    ba.Model("answers", strength_by=("prompt",)),
    ba.Model("sharper", strength_by=("prompt", "category"), discrimination_by=("prompt",)),
    ba.Model("ties alone", ties="rao-kupper", ties_by=("competitor",)),
    ba.Model("taste", ties="davidson", both_bad="outcome", strength_by=("annotator", "program")),
    ba.Model("one direction", ties="davidson", position="common", dimensions=1),
    ba.Model("two directions", "annotator", "davidson", "annotator", position="annotator", dimensions=2),
    replace(EVERYTHING, name="everything along directions", dimensions=2),
]
FIXED = ba.Prior(hyper=None)


def random_point(target: Objective, seed: int) -> Point:
    rng, start = np.random.default_rng(seed), target.start()
    strength, own = rng.normal(size=target.n_competitors), rng.normal(0, 0.3, start.own.shape)
    own = start.own + own - (own.mean(axis=0) if len(own) else 0.0)
    common, slices = rng.normal(0, 0.5, len(target.common)), rng.normal(0, 0.7, len(start.slices))
    for part in target.numbering.held:
        slices[part] -= slices[part].mean()
    return Point(strength - strength.mean(), common, own, slices)


def values(target: Objective, point: Point, power: int = 1) -> dict[str, np.ndarray]:
    """A NumPy point, or (power -1) a gradient, as that of the program's variables, slopes in units of their feature."""
    found = {"strength": point.strength}
    found |= {effect.common_label: value for effect, value in zip(target.common, point.common, strict=True)}
    for effect, column in zip(target.own, point.own.T, strict=True):
        found[f"{effect.name}_deviation"] = (column - effect.mean * (power > 0)) * effect.unit**power
    numbers = zip(target.slices, target.numbers_by_slice(point.slices), strict=True)
    return found | {effect.label: part for effect, part in numbers}


@pytest.fixture(scope="module")
def cells() -> ba.Cells:
    found = sliced_votes(5, 8, 4, 250)
    return replace(found, programs=found.annotators[1:3])


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
def test_value_and_gradient(cells, model):
    prior = FIXED.with_spreads({"strength_by_prompt": 0.8, "ties_by_competitor": 0.4, "direction_1": 0.9})
    target = objective(cells, model, prior)
    program = remove_value_transforms(build(cells, model=model, prior=prior))
    logp, dlogp = logp_and_dlogp(program)
    points = [random_point(target, seed) for seed in range(3)]
    found, expected = ([logp(values(target, p)) for p in points], [-target.value(p) for p in points])
    np.testing.assert_allclose(np.subtract(found, found[0]), np.subtract(expected, expected[0]), rtol=1e-9, atol=1e-9)
    order = [variable.name for variable in program.value_vars]
    for point in points:
        slopes = values(target, gradient_and_hessian(target, point)[0], power=-1)
        flat = np.concatenate([np.atleast_1d(slopes[name]) for name in order])
        np.testing.assert_allclose(-dlogp(values(target, point)), flat, rtol=1e-8, atol=1e-8)


def test_names_of_dimensions(cells):
    program = build(cells, model=EVERYTHING, prior=FIXED)
    assert program.named_vars_to_dims["strength_by_prompt"] == ("prompt_of_competitor",)
    assert program.named_vars_to_dims["ties_by_competitor"] == ("competitor_of_ties",)
    assert program.named_vars_to_dims["discrimination_by_category"] == ("category_of_discrimination",)
    assert list(program.coords["category_of_competitor"])[:2] == ["x: c00", "x: c01"]
    assert list(program.coords["competitor_of_ties"]) == list(cells.competitors)
    along = build(cells, model=MODELS[-1], prior=FIXED)
    assert along.named_vars_to_dims["direction_2"] == ("competitor",)
    assert along.named_vars_to_dims["loading_2"] == ("annotator",)
    assert list(along.coords["competitor"]) == list(cells.competitors)


def test_pooled_coordinates_leave_the_posterior_what_it_is(cells):
    """Logp in the sampler's coordinates against hyperprior x prior x likelihood, with the Jacobian of the change."""
    model, prior = MODELS[1], ba.Prior()
    program = remove_value_transforms(build(cells, model=model, pooled=True))
    assert {"strength", "strength_sd", "strength_by_prompt", "strength_by_prompt_sd"} <= set(program.named_vars)
    known = information_of(Problem.of(cells, model, prior))
    target, logp = objective(cells, model, FIXED), program.compile_logp(mode=GRAPH)
    found, expected = [], []
    for seed in range(4):
        point, rng, given = random_point(target, seed), np.random.default_rng(seed), {}
        density = -target.loss(point)
        groups = {"strength": (point.strength, 1), "strength_by_prompt": (point.slices, 0)}
        for name, (numbers, held) in groups.items():
            sd = rng.uniform(0.2, 1.5)
            scale = np.sqrt(1 + known[name] * sd**2)
            given |= {spread_label(name): sd, f"{name}_unit": numbers * scale / sd}
            density += norm.logpdf(numbers, scale=sd).sum() + np.log(sd) * held
            density += (len(numbers) - held) * np.log(sd / scale)
            density += chi.logpdf(sd, degrees(name), scale=prior.hyper.spread(name))
        found.append(float(logp(given)))
        expected.append(density)
    np.testing.assert_allclose(np.subtract(found, found[0]), np.subtract(expected, expected[0]), rtol=1e-9, atol=1e-9)


def test_pooled_coordinates_of_everything_compile(cells):
    program = build(cells, model=EVERYTHING, pooled=True)
    labels = {spread_label(name) for name in objective(cells, EVERYTHING, FIXED).spreads}
    assert labels | {"style_length", "strength_by_annotator", "ties_by_prompt"} <= set(program.named_vars)
    every = program.compile_logp(sum=False, mode=GRAPH)(program.initial_point())
    assert all(np.isfinite(part).all() for part in every)


@pytest.mark.parametrize("prior", [FIXED, ba.Prior()], ids=["fixed", "pooled"])
@pytest.mark.parametrize("dimensions", [1, 2])
def test_the_program_of_several_dimensions_written_out_has_the_same_posterior(cells, dimensions, prior):
    """Value and gradient, and what is reported: turned so that the reference's position is positive."""
    model = replace(PRESETS["am-elo"], dimensions=dimensions)
    program = am_elo_directions.build(cells, prior, dimensions, cells.competitors[2])
    program.rvs_to_initial_values.update(dict.fromkeys(program.rvs_to_initial_values))  # refused by what follows
    program = remove_value_transforms(program)
    logp, dlogp = logp_and_dlogp(program)
    pooled = prior.hyper is not None
    order, found, expected = [variable.name for variable in program.value_vars], [], []
    for seed in range(3):
        rng = np.random.default_rng(seed)
        spreads = dict(zip(objective(cells, model, FIXED).spreads, rng.uniform(0.2, 1.5, 10), strict=False))
        spreads = {name: sd for name, sd in spreads.items() if name}
        falling = np.sort([sd for name, sd in spreads.items() if name.startswith("direction")])[::-1]
        spreads |= {f"direction_{one}": sd for one, sd in enumerate(falling.tolist(), 1)}
        target = objective(cells, model, FIXED.with_spreads(spreads) if pooled else FIXED)
        point, sd = random_point(target, seed), target.spread_values
        w, v = np.array(target.numbers_by_slice(point.slices)), point.own[:, 1:].T
        of_w = sd[-dimensions:, None]
        given = {"strength": point.strength, "discrimination_unit": (point.own[:, 0] - 1) / sd[1]}
        given |= {"direction_unit": w / of_w, "loading_unit": v}
        density = -target.value(point)
        if pooled:
            named = {"strength_sd": sd[0], "discrimination_sd": sd[1], "direction_sd": sd[-dimensions:]}
            given |= named
            density -= (len(point.strength) - 1) * np.log(sd[0])
            hyper = [prior.hyper.strength, prior.hyper.discrimination, *[1.0] * dimensions]
            of = [degrees("strength"), *[1] * (1 + dimensions)]
            density += chi.logpdf(np.concatenate([sd[:2], sd[-dimensions:]]), of, scale=hyper).sum()
        found.append(float(logp(given)))
        expected.append(density)

        gradient = gradient_and_hessian(target, point)[0]
        slopes = {
            "strength": gradient.strength,
            "discrimination_unit": gradient.own[:, 0] * sd[1],
            "direction_unit": (np.array(target.numbers_by_slice(gradient.slices)) * of_w).ravel(),
            "loading_unit": gradient.own[:, 1:].T.ravel(),
        }
        parts = np.split(dlogp(given), np.cumsum([np.size(given[one]) for one in order])[:-1])
        for one, part in zip(order, parts, strict=True):
            if one in slopes:  # those of the spreads follow from the values
                np.testing.assert_allclose(-part, slopes[one], rtol=1e-8, atol=1e-8, err_msg=one)
    np.testing.assert_allclose(np.subtract(found, found[0]), np.subtract(expected, expected[0]), rtol=1e-9, atol=1e-9)
    drawn = pm.draw(program["direction_1"], 20, random_seed=1, mode=GRAPH)
    assert (drawn[:, 2] > 0).all()
    assert (drawn[:, 1] < 0).any()
