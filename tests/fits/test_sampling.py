"""NUTS behind the same tables, by nutpie and by PyMC's own sampler. Tiny models: plumbing and agreement are tested."""

import math
import os
import sys
import warnings

import lazy_loader
import numpy as np
import pytest
import xarray as xr
from programs import GRAPH, uncompiled

import bayes_arena as ba
from bayes_arena.inference.projected_draws import project_draws
from bayes_arena.inference.projection import project
from bayes_arena.likelihood.point import Point

pytestmark = pytest.mark.slow
pm = lazy_loader.load("pymc")
"""Not imported where only the quick tests are run: it takes seconds."""
SAMPLED = [("bradley-terry", "pymc"), ("am-davidson", "nutpie")]


@pytest.fixture(scope="module", params=SAMPLED, ids=" by ".join)
def sampled(request, arena_cells):
    model, sampler = request.param
    return ba.fit(arena_cells, model=model, method="nuts", draws=300, tune=400, sampler=sampler, seed=1)


def test_draws_are_on_the_plane_and_read_back(sampled):
    draws = ba.draw(sampled)
    assert draws is sampled.samples
    assert draws.strength.shape == (4 * 300, 6)
    np.testing.assert_allclose(draws.strength.sum(axis=1), 0, atol=1e-9)
    if sampled.target.own:
        np.testing.assert_allclose(draws.own[:, :, 0].mean(axis=1), 1, atol=1e-9)
        np.testing.assert_allclose(draws.own[:, :, 1:].sum(axis=1), 0, atol=1e-9)
    posterior = sampled.tree["posterior"]
    assert posterior["strength"].dims == ("chain", "draw", "competitor")
    assert posterior["competitor"].values.tolist() == list(sampled.cells.competitors)


def test_every_draw_has_the_likelihood_that_pymc_gives_it(sampled):
    """The program's pointwise log-likelihood of a draw against the NumPy loss at the same point."""
    from bayes_arena.models import build

    program = build(sampled.cells, model=sampled.model, pooled=True)
    some = [0, 7, 150, 290]
    tree = xr.DataTree.from_dict({"posterior": sampled.tree["posterior"].to_dataset().isel(draw=some)})
    pm.compute_log_likelihood(tree, model=program, progressbar=False, compile_kwargs={"mode": GRAPH})
    rows = tree["log_likelihood"]["votes"].values.reshape(4 * len(some), -1)
    draws = sampled.samples
    for row, index in enumerate(chain * 300 + draw for chain in range(4) for draw in some):
        point = Point(draws.strength[index], draws.common[index], draws.own[index])
        assert -rows[row].sum() == pytest.approx(sampled.target.loss(point), rel=1e-9)


def test_posterior_predictive_votes_are_as_many_and_much_like_those_cast(sampled):
    from bayes_arena.models import build

    with build(sampled.cells, model=sampled.model, pooled=True):
        tree = pm.sample_posterior_predictive(sampled.tree, random_seed=1, progressbar=False)
    votes = tree["posterior_predictive"]["votes"].values
    assert (votes.sum(axis=-1) == np.rint(sampled.target.counts.sum(axis=0))).all()
    if sampled.model.ties == "davidson":
        cast = sampled.target.counts.sum(axis=1)
        np.testing.assert_allclose(votes.sum(axis=2).mean(axis=(0, 1)), cast, atol=2 * np.sqrt(cast.max()))


def test_the_leaderboard_reads_the_draws(sampled):
    board = ba.leaderboard(sampled, level=0.8)
    assert board.columns[-1] == "p_best"
    assert board["p_best"].sum() == pytest.approx(1)
    scores = 1000 + 400 / np.log(10) * sampled.samples.elo_strength
    best = sampled.cells.competitors.index(board["competitor"][0])
    assert board["elo"][0] == pytest.approx(scores[:, best].mean())
    assert [board["lower"][0], board["upper"][0]] == pytest.approx(np.quantile(scores[:, best], [0.1, 0.9]))
    assert ba.rank_probabilities(sampled)["p_best"].max() == board["p_best"].max()


def test_nuts_agrees_with_marginal(sampled):
    marginal = ba.fit(sampled.cells, model=sampled.model, method="marginal")
    left, right = (ba.leaderboard(fit).set_index("competitor").sort_index() for fit in (sampled, marginal))
    sd = (right["upper"] - right["lower"]).mean() / 3.92
    np.testing.assert_allclose(left["elo"], right["elo"], atol=0.6 * sd)
    np.testing.assert_allclose(left["upper"] - left["lower"], right["upper"] - right["lower"], rtol=0.3)
    with pytest.raises(ba.ModelError, match="quantile intervals"):
        ba.leaderboard(sampled, interval="profile")
    table = ba.strengths(sampled, reference="model-3")
    assert table["sd"][2] == 0
    assert (table["lower"] <= table["strength"]).all() and (table["strength"] <= table["upper"]).all()


def test_annotators_read_the_draws(arena_cells):
    fit = ba.fit(arena_cells, model="am-elo", method="nuts", draws=200, tune=300, seed=2)
    table = ba.annotators(fit)
    assert table["theta"].mean() == pytest.approx(1)
    k = fit.cells.annotators.index(table["annotator"][0])
    assert table["p_negative"][0] == (fit.samples.own[:, k, 0] < 0).mean()


def test_the_seed_decides_the_draws_and_nothing_is_printed(arena_cells, capsys):
    def once():
        options = {"draws": 5, "tune": 5, "sampler": "pymc", "seed": 5}
        with warnings.catch_warnings(action="ignore"), uncompiled():
            return ba.fit(arena_cells, model="bradley-terry", method="nuts", **options).samples.strength

    np.testing.assert_array_equal(once(), once())
    assert capsys.readouterr().out == ""


def test_one_core_is_enough(arena_cells, monkeypatch):
    """PyMC takes half of the cores, which is none of one."""
    monkeypatch.setattr(os, "cpu_count", lambda: 1)
    with warnings.catch_warnings(action="ignore"), uncompiled():
        fit = ba.fit(arena_cells, model="bradley-terry", method="nuts", draws=5, tune=5, sampler="pymc", seed=5)
    assert fit.samples.strength.shape == (4 * 5, 6)


@pytest.mark.parametrize(
    ("model", "prior", "endless"),
    [
        ("bradley-terry", "flat", "strength"),
        ("am-elo", "flat", "strength, discrimination"),
        ("am-davidson", ba.Prior(tie_spread=math.inf, hyper=None), "tie_spread"),
        ("am-davidson", ba.Prior(position_spread=math.inf), "position_spread"),
    ],
)
def test_an_improper_prior_is_refused_before_anything_is_compiled(arena_cells, monkeypatch, model, prior, endless):
    monkeypatch.setattr(pm, "sample", lambda *_, **__: pytest.fail("sampled"))
    with pytest.raises(ba.ModelError, match=f"proper prior, .* spread of {endless} is infinite.*prior='default'"):
        ba.fit(arena_cells, model=model, prior=prior, method="nuts")


def test_a_spread_that_the_model_does_not_have_may_be_infinite(arena_cells, monkeypatch):
    def stop(*_, **__):
        raise InterruptedError

    monkeypatch.setattr(pm, "sample", stop)
    with pytest.raises(InterruptedError):
        options = {"prior": ba.Prior(tie_spread=math.inf, hyper=None), "method": "nuts", "sampler": "pymc"}
        ba.fit(arena_cells, model="am-elo", **options)


@pytest.mark.parametrize(
    ("sampler", "error", "message"),
    [
        ("stan", ba.ModelError, "sampler must be one of nutpie, pymc, numpyro, blackjax, not 'stan'"),
        ("blackjax", ba.errors.MissingPackageError, "blackjax, which is not installed. Run: pip install blackjax$"),
    ],
)
def test_a_sampler_that_is_not_there(arena_cells, monkeypatch, sampler, error, message):
    monkeypatch.setattr(pm, "sample", lambda *_, **__: pytest.fail("sampled"))
    monkeypatch.setitem(sys.modules, "blackjax", None)  # as if it were not installed
    with pytest.raises(error, match=message):
        ba.fit(arena_cells, model="bradley-terry", method="nuts", sampler=sampler)


@pytest.mark.parametrize(("draws", "tune"), [(0, 100), (3, 100), (100, -1)])
def test_too_few_draws_are_refused_before_anything_is_sampled(arena_cells, draws, tune):
    with pytest.raises(ba.ModelError, match="draws must be at least 4 and tune at least 0"):
        ba.fit(arena_cells, method="nuts", draws=draws, tune=tune)


@pytest.mark.parametrize("model", ["am-elo", "am-davidson"])
def test_projection_of_draws_is_the_projection_of_each(arena_cells, model):
    fit = ba.fit(arena_cells, model=model)
    draws = ba.draw(fit, size=20, seed=1)
    votes = arena_cells.votes_by_annotator()
    many = project_draws(fit.target, draws.strength, draws.common, draws.own, votes)
    for index in range(20):
        point = Point(draws.strength[index], draws.common[index], draws.own[index])
        np.testing.assert_allclose(many[index], project(fit.target, point, votes).strength, atol=1e-5)
