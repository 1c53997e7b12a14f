"""The compiled density against the PyMC program: value and gradient in the coordinates of the sampler."""

from dataclasses import replace

import numpy as np
import pymc as pm
import pytest
from helpers import sliced_votes
from programs import GRAPH, logp_and_dlogp

import bayes_arena as ba
from bayes_arena.inference.density.coordinates import Coordinates
from bayes_arena.inference.density.log_density import log_density
from bayes_arena.likelihood.presets import PRESETS
from bayes_arena.likelihood.priors import spread_label
from bayes_arena.likelihood.problem import Problem
from bayes_arena.models.grid import compose

pytestmark = pytest.mark.slow
SLICED = ba.Model(
    "sliced",
    "annotator",
    "davidson",
    "annotator",
    position="annotator",
    style=("length",),
    style_slopes="annotator",
    strength_by=("prompt",),
    ties_by=("prompt", "competitor"),
)
DIRECTIONS = [replace(PRESETS["am-davidson"], name=f"{q} directions", dimensions=q) for q in (1, 2)]
MODELS = [
    ba.Model("davidson", "annotator", "davidson", "annotator", position="annotator"),
    ba.Model("both-bad", ties="davidson", both_bad="outcome", position="common"),
    ba.Model("rao-kupper", "annotator", "rao-kupper", "annotator", "drop", "common"),
    ba.Model("by NumPy", ties="glenn-david", tie_propensity="annotator", position="common"),
    SLICED,
    ba.Model("sharper", "annotator", "davidson", strength_by=("prompt", "category"), discrimination_by=("prompt",)),
    *DIRECTIONS,
    ba.Model(
        "sliced along directions", "annotator", "davidson", style=("length",), strength_by=("prompt",), dimensions=2
    ),
    ba.Model("directions by NumPy", ties="glenn-david", position="common", dimensions=1),
]


def by_variable(at: Coordinates, x: np.ndarray, program: pm.Model) -> dict[str, np.ndarray]:
    """Cut what is in the sampler's coordinates, a point or a gradient, into the program's free variables."""
    parts, position = {}, 0
    for one in at.vectors:
        if one.degrees:
            parts[spread_label(one.spread)], position = x[position], position + 1
        size, name = one.size - int(one.zero_sum), f"{one.name}_unit" if one.degrees else one.name
        parts[name], position = x[position : position + size], position + size
    names = [variable.name for variable in program.free_RVs]
    for effect in at.target.common:
        level = f"{effect.name}_level"
        parts[level if level in names else effect.common_label], position = x[position], position + 1
    return {program.rvs_to_values[program[name]].name: np.asarray(part) for name, part in parts.items()}


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
def test_value_and_gradient_are_those_of_the_program(four_outcomes, model):
    cells = sliced_votes(5, 8, 4, 250) if model.slices else four_outcomes
    problem = Problem.of(cells, model, "default")
    known = {name: 3.0 for name in problem.objective.spreads}
    program, at = compose(problem, known), Coordinates.of(problem, known)
    density, rng = log_density(at), np.random.default_rng(1)
    points = [at.start + rng.normal(0, 0.5, at.size) for _ in range(2)]
    logp, dlogp = logp_and_dlogp(program)
    ours, theirs = ([value(x) for x in points] for value in (density, lambda x: logp(by_variable(at, x, program))))
    assert ours[0][0] - ours[1][0] == pytest.approx(theirs[0] - theirs[1], rel=1e-9)
    for x, (_, slope) in zip(points, ours, strict=True):
        gradient = by_variable(at, slope, program)
        flat = np.concatenate([gradient[one.name].ravel() for one in program.value_vars])
        np.testing.assert_allclose(flat, dlogp(by_variable(at, x, program)), rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize(
    ("model", "pooled"),
    [(MODELS[0], True), (MODELS[0], False), (DIRECTIONS[1], True), (DIRECTIONS[1], False), (SLICED, True)],
    ids=lambda one: getattr(one, "name", f"pooled {one}"),
)
def test_numbers_are_those_of_the_program(four_outcomes, pooled, model):
    cells = sliced_votes(5, 8, 4, 250) if model.slices else four_outcomes
    problem = Problem.of(cells, model, "default")
    known = {name: 3.0 for name in problem.objective.spreads} if pooled else None
    program, at = compose(problem, known), Coordinates.of(problem, known)
    x = at.start + np.random.default_rng(2).normal(0, 0.5, at.size)
    named = at.named(x[None])
    if pooled:
        wanted = [*program.deterministics, *program.free_RVs]
        outputs = program.replace_rvs_by_values(wanted)
        found = pm.pytensorf.compile(program.value_vars, outputs, mode=GRAPH)(**by_variable(at, x, program))
        fixed = {f"loading_{one}_deviation" for one in range(1, 1 + model.dimensions)}  # the same as the loadings
        assert {one.name for one in wanted} - fixed == set(named)
        for variable, value in zip(wanted, found, strict=True):
            if variable.name in fixed:
                continue
            np.testing.assert_allclose(named[variable.name][0], value, rtol=1e-10, atol=1e-12, err_msg=variable.name)
    else:
        assert set(named) == {one.name for one in program.deterministics} | {
            "strength",
            "tie_propensity_common",
            "position_common",
            *(f"direction_{one}" for one in range(1, 1 + model.dimensions)),
        }
        np.testing.assert_allclose(named["strength"].sum(), 0, atol=1e-12)
        np.testing.assert_allclose(named["discrimination"].mean(), 1)
