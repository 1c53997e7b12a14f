"""The four files of the presets as a PyMC user meets them: named nodes, one row a vote, tools that work."""

import importlib
import subprocess
import sys

import arviz as az
import numpy as np
import pandas as pd
import pymc as pm
import pytest
import xarray as xr
from programs import GRAPH, compile_kwargs

import bayes_arena as ba
from bayes_arena.likelihood.presets import PRESETS

pytestmark = pytest.mark.slow  # imports ArviZ or PyMC

FIXED = ba.Prior(hyper=None)


def build(name: str, cells: ba.Cells, prior: str | ba.Prior = "default") -> pm.Model:
    return importlib.import_module(f"bayes_arena.models.{name.replace('-', '_')}").build(cells, prior)


def posterior_tree(fit: ba.Fit) -> xr.DataTree:
    """Draws of a fit as those of the program's variables, laid out as ``to_datatree`` lays them out."""
    draws = ba.draw(fit, size=1000)
    shared = {effect.name: draws.common[:, column] for column, effect in enumerate(fit.target.common)}
    variables = {"strength": draws.strength} | {f"{name}_common": values for name, values in shared.items()}
    for column, effect in enumerate(fit.target.own):
        sd = getattr(FIXED, effect.spread)
        variables[f"{effect.name}_unit"] = (draws.own[:, :, column] - effect.mean) / sd
    dims = {name: ["annotator"] for name in variables if name.endswith("_unit")} | {"strength": ["competitor"]}
    chained = {name: values.reshape(4, 250, *values.shape[1:]) for name, values in variables.items()}
    coords = {"competitor": list(fit.cells.competitors), "annotator": list(fit.cells.annotators)}
    return az.from_dict({"posterior": chained}, dims=dims, coords=coords)


@pytest.fixture(scope="module")
def left_out(four_outcomes):
    """Fits at fixed spreads, and trees with the program's log-likelihood of every vote under draws of the fit."""
    found = {}
    for name in PRESETS:
        fit = ba.fit(four_outcomes, model=name, prior=FIXED, method="map")
        tree = posterior_tree(fit)
        pm.compute_log_likelihood(
            tree, model=build(name, four_outcomes, FIXED), progressbar=False, compile_kwargs={"mode": GRAPH}
        )
        found[name] = fit, tree
    return found


@pytest.mark.slow
class TestOfEveryVote:
    @pytest.mark.parametrize("name", PRESETS)
    def test_log_likelihood_has_the_rows_of_the_tree_of_a_fit(self, left_out, name):
        fit, tree = left_out[name]
        ours, theirs = tree["log_likelihood"]["outcome"], ba.to_datatree(fit)["log_likelihood"]["outcome"]
        assert ours.dims == theirs.dims == ("chain", "draw", "vote")
        np.testing.assert_allclose(ours.values, theirs.values, rtol=1e-9, atol=1e-10)

    @pytest.mark.parametrize("name", PRESETS)
    def test_leave_one_out_is_that_of_the_package(self, left_out, name):
        fit, tree = left_out[name]
        assert az.loo(tree, reff=1.0).elpd == pytest.approx(ba.leave_one_out(fit).total, abs=0.05)

    def test_models_of_the_same_votes_compare(self, left_out):
        table = az.compare({name: left_out[name][1] for name in ("bradley-terry", "am-elo")}, round_to="none")
        assert table.index[0] == "am-elo"
        by_us = ba.compare({name: left_out[name][0] for name in ("bradley-terry", "am-elo")})
        assert abs(table["elpd_diff"].iloc[1]) == pytest.approx(abs(by_us["elpd_diff"].iloc[1]), abs=0.1)


@pytest.mark.slow
@pytest.mark.parametrize("name", PRESETS)
def test_predictive_draws_are_single_votes(four_outcomes, left_out, name):
    options = {"random_seed": 1, "compile_kwargs": compile_kwargs(name)}
    with build(name, four_outcomes, FIXED):
        tree = pm.sample_prior_predictive(20, **options)
        posterior = left_out[name][1].isel(draw=slice(0, 5))
        tree.update(pm.sample_posterior_predictive(posterior, progressbar=False, **options))
    outcomes = {0, 1, 2} if "davidson" in name else {0, 1}  # half wins draw no tie
    for group in ("prior_predictive", "posterior_predictive"):
        drawn = tree[group]["outcome"]
        assert drawn.sizes["vote"] == four_outcomes.n_votes
        assert set(np.unique(drawn)) == outcomes
    assert tree["observed_data"]["outcome"].values.max() == 2
    shares = four_outcomes.counts.sum(axis=0) / four_outcomes.n_votes
    wins = shares[0] + (shares[2:].sum() / 2 if "davidson" not in name else 0)
    assert float((tree["posterior_predictive"]["outcome"] == 0).mean()) == pytest.approx(wins, abs=0.03)


def test_its_text_is_short_and_names_everything(arena_cells):
    lines = [line.split() for line in build("am-davidson", arena_cells).str_repr().splitlines()]
    assert {line[0] for line in lines} == {
        *("i", "j", "k", "voted", "outcome", "strength", "strength_sd"),
        *("discrimination", "discrimination_unit", "discrimination_sd"),
        *("log_tie_propensity", "tie_propensity_common", "tie_propensity_unit", "tie_spread"),
        *("position", "position_common", "position_unit", "position_spread"),
    }
    text = build("am-elo", arena_cells).str_repr()
    assert "outcome ~ HalfWins(f(k, discrimination, j, strength, i))" in text
    assert max(map(len, text.splitlines())) < 100


def test_its_graph_is_drawn(arena_cells):
    program = build("m-elo", arena_cells)
    mermaid = pm.model_to_mermaid(program)
    for arrow in ("strength_sd --> strength", "strength --> rating", "rating --> outcome"):
        assert arrow in mermaid
    assert "vote (600)" in mermaid
    pytest.importorskip("graphviz")
    assert "rating -> outcome" in pm.model_to_graphviz(program).source


def test_m_elo_is_in_elo_points(arena_cells):
    program = build("m-elo", arena_cells)
    strength, rating = pm.draw([program["strength"], program["rating"]], random_seed=1, mode=GRAPH)
    np.testing.assert_allclose(rating, strength * 400 / np.log(10))


def test_other_votes_can_be_put_in(arena_cells):
    program = build("bradley-terry", arena_cells, FIXED)
    logp = program.compile_logp(vars=program.observed_RVs, mode="FAST_COMPILE")
    with program:
        pm.set_data({"i": [0, 0, 0], "j": [1, 1, 1], "voted": [0, 1, 2]})
    start = program.initial_point()
    assert logp(start) == pytest.approx(3 * np.log(0.5))


def test_votes_without_sides_have_no_position(arena):
    cells = ba.read_votes(pd.DataFrame({"winner": ["x", "y", "x"], "loser": ["y", "z", "z"], "judge": ["p", "q", "p"]}))
    program = build("am-davidson", cells)
    assert "position" not in program.named_vars
    assert "log_tie_propensity" in program.named_vars


@pytest.mark.parametrize("name", PRESETS)
def test_the_mode_under_a_flat_prior_is_the_estimate_of_the_paper(arena_cells, name):
    with build(name, arena_cells, "flat"):
        options = {"options": {"ftol": 1e-15, "gtol": 1e-10}, "compile_kwargs": {"mode": GRAPH}}
        mode = pm.find_MAP(progressbar=False, return_inferencedata=True, jitter=0, **options)["posterior"]
    fit = ba.fit(arena_cells, model=name, prior="flat")
    np.testing.assert_allclose(mode["strength"].values.ravel(), fit.strength, atol=1e-6)
    if "discrimination" in mode:
        theta = ba.annotators(fit).set_index("annotator").loc[list(arena_cells.annotators), "theta"]
        np.testing.assert_allclose(mode["discrimination"].values.ravel(), theta, atol=1e-6)


def test_what_cannot_be_written_one_row_a_vote_is_refused():
    unknown = ba.read_votes(pd.DataFrame({"model_a": ["x"], "model_b": ["y"], "winner": ["tie"]}))
    with pytest.raises(ba.ModelError, match="'am-elo' needs to know who cast each vote"):
        build("am-elo", unknown)
    weighted = ba.read_votes(
        pd.DataFrame({"model_a": ["x"], "model_b": ["y"], "winner": ["tie"], "w": [0.3]}), weight="w"
    )
    with pytest.raises(ba.ModelError, match="weights are fractional"):
        build("bradley-terry", weighted)


def test_the_folder_imports_nothing_until_asked():
    code = "import sys, bayes_arena.models as m; assert 'pymc' not in sys.modules; print(*sorted(dir(m)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == [
        "am_davidson",
        "am_elo",
        "am_elo_directions",
        "bradley_terry",
        "build",
        "davidson",
        "m_elo",
    ]
