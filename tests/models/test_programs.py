"""The programs are the models that the engine fits, and run by themselves."""

import inspect
import subprocess
import sys
from importlib import import_module
from types import ModuleType

import numpy as np
import pytest

import bayes_arena as ba
from bayes_arena.errors import ModelError
from bayes_arena.model.build import build_design
from bayes_arena.model.objective import value
from bayes_arena.model.spec import PRESETS, resolve_model
from tests.model.arenas import HELD
from tests.models.arenas import small

pytestmark = pytest.mark.slow  # PyMC takes two seconds to import

EVERYTHING = ba.Model(
    discrimination="annotator",
    ties="davidson",
    tie_propensity="annotator",
    position="annotator",
    grades=True,
    strength_by=("topic",),
    style=("length",),
)


@pytest.fixture(scope="module")
def votes():
    return small()


def program_of(name):
    return import_module(f"bayes_arena.models.{name.replace('-', '_')}")


def any_program(votes, model, prior):
    from bayes_arena.models import any_model

    return any_model.build(votes, model, prior)


def functions_of(program, names):
    """Return the program's variables, its log-density, and the parameters at a point."""
    from pymc.model.transform.conditioning import remove_value_transforms

    free = remove_value_transforms(program)
    variables = free.replace_rvs_by_values([free[name] for name in names])
    options = {"mode": "FAST_COMPILE", "on_unused_input": "ignore"}
    parameters = free.compile_fn(variables, inputs=free.value_vars, **options)
    return free, free.compile_logp(mode="FAST_COMPILE", jacobian=False), parameters


def value_of(design, parameters):
    """Return the engine's log-posterior at parameters by effect, up to a constant."""

    x = np.zeros(design.layout.size)
    for block, values in zip(design.blocks, parameters, strict=True):
        indices = design.indices(block)
        if block.effect.per_competitor:
            indices = design.indices(block)
        x[indices] = values - (block.effect.name == "discrimination")
    return -value(design, x)


@pytest.mark.parametrize("name", [*PRESETS, "everything", "drop"])
def test_density_is_that_of_the_engine(votes, name):
    drop = ba.Model(ties="drop", discrimination="annotator")
    models = {**PRESETS, "everything": EVERYTHING, "drop": drop}
    prior = HELD
    model, *_ = resolve_model(models[name], votes)
    programs = [any_program(votes, model, prior)]
    if name in PRESETS:
        programs.append(program_of(name).build(votes, prior))
    design = build_design(votes, model, prior)
    rng = np.random.default_rng(2)
    for program in programs:
        names = [block.effect.name for block in design.blocks]
        free, logp, parameters = functions_of(program, names)
        differences = []
        for _ in range(10):
            point = {}
            for variable in free.free_RVs:
                shape = tuple(variable.shape.eval())
                x = rng.normal(size=shape)
                if "ZeroSum" in type(variable.owner.op).__name__:
                    x -= x.mean()
                point[variable.name] = x
            at_point = value_of(design, parameters(point))
            differences.append(float(logp(point)) - at_point)
        np.testing.assert_allclose(differences, differences[0], rtol=0, atol=1e-8)


@pytest.mark.parametrize("prior", ["flat", "default"])
@pytest.mark.parametrize("name", PRESETS)
def test_modes_are_those_that_pymc_finds(votes, name, prior):
    """Under a flat prior it is maximum likelihood; else spreads are those of the fit."""
    import pymc as pm

    fit = ba.fit(votes, model=name, prior=prior, method="map")
    if prior == "default":
        prior = ba.Prior(**fit.spreads)
    start = {"strength": fit.strength.round(2), "discrimination": fit.discrimination}
    with program_of(name).build(votes, prior) as program:
        tree = pm.find_MAP(
            initvals={key: x for key, x in start.items() if key in program.named_vars},
            progressbar=False,
            return_inferencedata=True,
            jitter=0,
            options={"ftol": 1e-15, "gtol": 1e-9},
            compile_kwargs={"mode": "FAST_COMPILE"},
        )
    mode = tree["posterior"].isel(chain=0, draw=0)
    np.testing.assert_allclose(mode["strength"], fit.strength, atol=1e-5)
    if "discrimination" in mode:
        np.testing.assert_allclose(
            mode["discrimination"], fit.discrimination, atol=1e-5
        )


@pytest.mark.parametrize("name", PRESETS)
def test_what_is_copied_out_runs_by_itself(votes, name):
    import pymc as pm

    lines = inspect.getsource(program_of(name)).splitlines()
    imports = [line for line in lines if line.startswith(("import", "from"))]
    modules = {line.split()[1] for line in imports}
    assert modules <= {
        "__future__",
        "collections.abc",
        "numpy",
        "pymc",
        "bayes_arena.models",
    }
    constants = [line for line in lines if line.startswith("C = ")]
    source = "\n".join(
        [*imports, *constants, inspect.getsource(program_of(name).build)]
    )
    empty = ModuleType("empty")
    exec(compile(source, "empty", "exec"), empty.__dict__)
    with empty.build(votes):
        drawn = pm.sample_prior_predictive(
            5, random_seed=1, compile_kwargs={"mode": "FAST_COMPILE"}
        )
    assert drawn["prior"]["strength"].sizes["competitor"] == 6
    counts = drawn["prior_predictive"]["votes"]
    np.testing.assert_allclose(counts.sum(("row", "outcome")), 600)


def test_one_row_a_vote_has_the_same_density(votes):
    from bayes_arena.models import am_davidson, data

    rows = data(votes, per_vote=True)
    assert rows.counts.sum(axis=1).tolist() == [1.0] * 600
    summed, single = am_davidson.build(votes), am_davidson.build(rows)
    point = summed.initial_point(random_seed=1)
    densities = [m.compile_logp(mode="FAST_COMPILE")(point) for m in (summed, single)]
    assert densities[0] == pytest.approx(densities[1], abs=1e-8)


def test_information_changes_coordinates_and_not_the_prior():
    import pymc as pm

    from bayes_arena.models import normal, zero_sum

    medians = []
    for information in (None, {"annotator": 30.0}):
        with pm.Model(coords={"annotator": range(8)}):
            theta = zero_sum("discrimination", "default", "annotator", information)
            habit = normal("habit", ba.Prior().discrimination, "annotator", information)
        drawn = pm.draw([theta, habit], 4000, random_seed=3, mode="FAST_COMPILE")
        medians.append([np.quantile(np.abs(x), 0.5) for x in drawn])
    np.testing.assert_allclose(medians[0], medians[1], rtol=0.08)


def test_what_votes_say_on_a_parameter_is_about_what_the_engine_finds(votes):
    from bayes_arena.models import data

    fit = ba.fit(votes, model="am-davidson")
    known = data(votes).information
    for name, dim in (("strength", "competitor"), ("discrimination", "annotator")):
        found = 1 / np.mean(fit.posterior.sd_of(name) ** 2) - fit.spreads[name] ** -2
        assert found / 2 < known[dim] < found * 2


def test_a_prior_without_a_spread_of_this_name_is_refused():
    import pymc as pm

    from bayes_arena.models import normal

    with pm.Model(), pytest.raises(ModelError, match="no spread of 'tie_by_topic'"):
        normal("tie_by_topic", "default")


def test_any_program_draws_votes_from_its_prior(votes):
    import pymc as pm

    model, *_ = resolve_model(EVERYTHING, votes)
    with any_program(votes, model, "default"):
        options = {"random_seed": 1, "compile_kwargs": {"mode": "FAST_COMPILE"}}
        drawn = pm.sample_prior_predictive(400, **options)
    r = drawn["prior"]["strength"]
    np.testing.assert_allclose(r.sum("competitor"), 0, atol=1e-9)
    # s / 1.5 ~ chi(2), and r has the variance s^2 (1 - 1 / 6).
    assert float((r**2).mean()) == pytest.approx(1.5**2 * 2 * 5 / 6, rel=0.2)
    counts = drawn["prior_predictive"]["votes"]
    np.testing.assert_allclose(counts.sum(("row", "outcome")), 600)


def test_terms_that_the_votes_cannot_tell_are_left_out():
    records = [
        {"model_a": a, "model_b": b, "winner": "model_a", "judge": "j"}
        for a, b in (("x", "y"), ("y", "z"), ("x", "z"))
    ]
    votes = ba.read_votes(records)
    from bayes_arena.models import am_davidson

    program = am_davidson.build(votes)
    assert not {"position", "tie"} & set(program.named_vars)


def test_fractions_cannot_be_written_one_a_row():
    from bayes_arena.models import data

    record = {"model_a": "x", "model_b": "y", "winner": "tie", "w": 0.5}
    votes = ba.read_votes([record], weight="w")
    with pytest.raises(ModelError, match="fractional weights"):
        data(votes, per_vote=True)


def test_the_folder_imports_nothing_until_asked():
    code = (
        "import sys, bayes_arena.models as m; print(*dir(m)); "
        "assert 'pymc' not in sys.modules"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert {"am_davidson", "any_model", "data", "zero_sum"} <= set(done.stdout.split())
