"""What ArviZ sees of a fit, whatever the route; and what a fit is after a night on disk."""

import json
import warnings

import lazy_loader
import numpy as np
import polars as pl
import pytest

import bayes_arena as ba
from bayes_arena.likelihood.point import Point

pytestmark = pytest.mark.slow  # imports ArviZ or PyMC

az = lazy_loader.load("arviz")
"""Not imported where only the quick tests are run: it takes seconds."""
MODELS = ["am-davidson", "bradley-terry", ba.Model("both", "fixed", "davidson", "common", "outcome", "common")]
ROUTES = ["marginal", pytest.param("nuts", marks=pytest.mark.slow)]


@pytest.fixture(scope="module", params=ROUTES)
def fitted(request, arena_cells):
    return request.getfixturevalue("sampled_davidson") if request.param == "nuts" else ba.fit(arena_cells)


@pytest.fixture(scope="module")
def tree(fitted):
    return ba.to_datatree(fitted)


def test_groups_dimensions_and_attributes(fitted, tree):
    expected = {"posterior", "prior", "log_likelihood", "posterior_predictive", "prior_predictive"}
    expected |= {"observed_data", "constant_data"}
    expected |= {"sample_stats", "log_prior"} if fitted.method == "nuts" else set()
    assert set(tree.children) == expected
    posterior = tree["posterior"]
    assert posterior["strength"].dims == ("chain", "draw", "competitor")
    assert posterior["discrimination"].dims == ("chain", "draw", "annotator")
    assert posterior["competitor"].values.tolist() == list(fitted.cells.competitors)
    assert ("strength_sd" in posterior) == (fitted.method == "nuts")
    assert tree["log_likelihood"]["outcome"].sizes["vote"] == fitted.cells.n_votes
    assert tree["prior"]["strength"].sizes["draw"] == 500
    assert json.loads(tree.attrs["model"])["name"] == "am-davidson"
    assert tree.attrs["method"] == fitted.method
    assert tree.attrs["bayes_arena_version"] == ba.__version__


def test_prior_predictive_is_votes_of_the_prior(fitted, tree):
    imagined = tree["prior_predictive"]["outcome"]
    assert imagined.dims == ("chain", "draw", "vote")
    assert (imagined.sizes["draw"], imagined.sizes["vote"]) == (500, fitted.cells.n_votes)
    assert set(np.unique(imagined)) == {0, 1, 2}
    ties = (imagined == 2).mean("vote").values.ravel()
    checked = ba.prior_check(fitted.cells, size=2000).set_index("quantity").loc["share of ties"]
    np.testing.assert_allclose(np.quantile(ties, [0.05, 0.5, 0.95]), checked[["q05", "q50", "q95"]], atol=0.08)


def test_arviz_draws_votes_of_the_prior(tree):
    shown = az.plot_ppc_dist(tree, group="prior_predictive", kind="ecdf", num_samples=20, backend="none")
    assert "outcome" in str(shown.viz)
    az.plot_prior_posterior(tree, var_names=["strength"], backend="none")


def test_every_vote_is_there_once(fitted, tree):
    data, seen = tree["constant_data"], tree["observed_data"]["outcome"].values
    counts = np.zeros((6, 6, 5, 4))
    np.add.at(counts, (data["a"].values, data["b"].values, data["k"].values, seen), 1)
    cells = fitted.cells
    np.testing.assert_array_equal(counts[cells.a, cells.b, cells.annotator], cells.counts)
    assert counts.sum() == cells.n_votes


def test_log_likelihood_is_that_of_the_draws(fitted, tree):
    draws = fitted.samples or ba.draw(fitted, size=1000)
    every = tree["log_likelihood"]["outcome"].values.reshape(len(draws.strength), -1)
    for index in (0, 150, 399):
        point = Point(draws.strength[index], draws.common[index], draws.own[index])
        assert -every[index].sum() == pytest.approx(fitted.target.loss(point), rel=1e-9)
    np.testing.assert_array_equal(tree["posterior"]["strength"].values.reshape(-1, 6)[7], draws.strength[7])


def test_log_prior_differs_from_the_target_only_by_the_likelihood(arena_cells):
    fit = ba.fit(arena_cells, method="map")
    tree, draws = ba.to_datatree(fit, votes=False), ba.draw(fit, size=1000)
    total = sum(tree["log_prior"][name].values.ravel() for name in tree["log_prior"])
    for left, right in [(0, 1), (2, 500)]:
        points = [Point(draws.strength[i], draws.common[i], draws.own[i]) for i in (left, right)]
        gap = [fit.target.value(point) - fit.target.loss(point) for point in points]
        assert total[left] - total[right] == pytest.approx(gap[1] - gap[0], rel=1e-9)


@pytest.mark.slow
def test_arviz_works_unchanged(fitted, tree):
    summary = az.summary(tree, var_names=["strength"], round_to="none")
    assert summary.index[0] == "strength[model-1]"
    assert summary["mean"].to_numpy() == pytest.approx(tree["posterior"]["strength"].mean(("chain", "draw")).values)
    for plot in (az.plot_forest, az.plot_rank):
        plot(tree, var_names=["strength"], backend="none")
    with warnings.catch_warnings(action="ignore"):
        loo = az.loo(tree)
    assert float(loo.elpd) == pytest.approx(ba.leave_one_out(fitted).total, abs=0.05)


@pytest.mark.slow
def test_power_scaling_is_of_the_priors_at_the_top(arena_cells):
    """The spread of strengths is unknown: how they scatter given it is no prior that votes could conflict with.

    A sensitivity from 100 draws is off by .02 or so, where ArviZ draws the line at .05: hence more of them.
    """
    tree = ba.to_datatree(ba.fit(arena_cells, method="nuts", seed=1))
    spreads = {"strength_sd", "discrimination_sd", "tie_spread", "position_spread"}
    assert set(tree["log_prior"].data_vars) == spreads | {"tie_propensity_common", "position_common"}
    sensitivity = az.psense_summary(tree, var_names=["strength"])
    assert len(sensitivity) == 6
    assert (sensitivity["prior"] < 0.05).all()
    narrow = ba.fit(arena_cells, prior=ba.Prior(0.2, 0.2, hyper=None))
    with warnings.catch_warnings(action="ignore"):
        conflict = az.psense_summary(ba.to_datatree(narrow), var_names=["strength"])
    assert "potential prior-data conflict" in set(conflict["diagnosis"])
    assert conflict["prior"].max() > 0.4
    with pytest.raises(TypeError, match="log prior not found"):
        az.psense_summary(ba.to_datatree(ba.fit(arena_cells)))


@pytest.mark.slow
def test_votes_that_the_model_leaves_out_are_not_in_the_tree(four_outcomes):
    fit = ba.fit(four_outcomes, model=ba.Model("drop", ties="drop"))
    tree = ba.to_datatree(fit)
    decided = four_outcomes.counts[:, :2].sum()
    for group in ("log_likelihood", "posterior_predictive", "observed_data"):
        assert tree[group].sizes["vote"] == decided
    np.testing.assert_array_equal(np.unique(tree["observed_data"]["outcome"]), [0, 1])
    with warnings.catch_warnings(action="ignore"):
        assert float(az.loo(tree).elpd) == pytest.approx(ba.leave_one_out(fit).total, abs=0.05)


def test_predicted_votes_look_like_the_votes(tree):
    """Shares of outcomes, observed and predicted: the model has a parameter for each of them."""
    observed = np.bincount(tree["observed_data"]["outcome"].values, minlength=4)
    drawn = tree["posterior_predictive"]["outcome"].values
    predicted = np.bincount(drawn.ravel(), minlength=4) / drawn[..., 0].size
    np.testing.assert_allclose(predicted, observed, atol=4 * np.sqrt(observed.max()))
    assert drawn.std(axis=(0, 1)).max() > 0


@pytest.mark.parametrize("model", MODELS[1:], ids=str)
def test_other_models_have_their_parameters(four_outcomes, model):
    tree = ba.to_datatree(ba.fit(four_outcomes, model=model, method="map"))
    named = set(tree["posterior"].data_vars) - {"strength", "elo_strength"}
    assert named == (set() if model == "bradley-terry" else {"log_tie_propensity", "position", "log_both_bad"})
    assert all(tree["posterior"][name].dims == ("chain", "draw") for name in named)


@pytest.mark.slow
def test_what_has_no_tree_is_refused(arena, arena_cells, monkeypatch):
    with pytest.raises(ba.ModelError, match="flat prior"):
        ba.to_datatree(ba.fit(arena_cells, prior="flat"))
    weighted = ba.fit(ba.read_votes(arena.votes.with_columns(w=pl.lit(0.5)), weight="w"))
    with pytest.raises(ba.ModelError, match="fractional"):
        ba.to_datatree(weighted)
    assert "posterior" in ba.to_datatree(weighted, votes=False)
    monkeypatch.setattr("bayes_arena.fits.tree.LARGEST", 1e4)
    with pytest.raises(ba.ModelError, match="votes=False"):
        ba.to_datatree(ba.fit(arena_cells))


@pytest.mark.slow
@pytest.mark.parametrize("suffix", ["nc", "zarr"])
def test_a_fit_comes_back_from_disk(fitted, suffix, tmp_path):
    path = tmp_path / f"fit.{suffix}"
    ba.save(fitted, path)
    ba.save(fitted, path)  # replaces
    again = ba.load(path)
    for table in (ba.leaderboard, ba.annotators, ba.strengths, ba.win_probability, ba.diagnose):
        assert table(again).equals(table(fitted)), table.__name__
    assert (again.model, again.prior, again.spreads, again.seed) == (
        fitted.model,
        fitted.prior,
        fitted.spreads,
        fitted.seed,
    )
    assert again.cells.competitors == fitted.cells.competitors
    np.testing.assert_array_equal(again.cells.counts, fitted.cells.counts)


@pytest.mark.slow
@pytest.mark.parametrize("options", [{"prior": "flat"}, {"model": "m-elo"}], ids=["flat", "no annotators"])
def test_flat_and_plain_fits_come_back_too(arena, options, tmp_path):
    fit = ba.fit(ba.read_votes(arena.votes, annotator=False if "model" in options else None), **options)
    ba.save(fit, tmp_path / "fit.nc")
    assert ba.leaderboard(ba.load(tmp_path / "fit.nc")).equals(ba.leaderboard(fit))


@pytest.mark.slow
def test_arviz_reads_the_file(fitted, tmp_path):
    ba.save(fitted, tmp_path / "fit.nc")
    with az.from_netcdf(tmp_path / "fit.nc", engine="h5netcdf") as tree:
        tree.load()
    assert len(az.summary(tree, var_names=["strength"])) == 6


def test_files_that_are_something_else(arena_cells, tmp_path):
    with pytest.raises(ba.errors.OutputError, match="nc"):
        ba.save(ba.fit(arena_cells, method="map"), tmp_path / "fit.pickle")
    az.from_dict({"posterior": {"x": np.zeros((1, 5))}}).to_netcdf(tmp_path / "other.nc", engine="h5netcdf")
    with pytest.raises(ba.errors.OutputError, match="not written by save"):
        ba.load(tmp_path / "other.nc")
