"""Trees for ArviZ, for Gaussian fits, too."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import bayes_arena as ba
from bayes_arena.errors import ArenaWarning, ModelError
from bayes_arena.fits import tree as module
from bayes_arena.fits.marginals import Marginals
from tests.models.arenas import small

pytestmark = pytest.mark.slow  # ArviZ takes a second to import

TASTES = ba.Model(ties="davidson", discrimination="annotator", strength_by=("topic",))
BY_TOPIC = ba.Model(ties="davidson", strength_by="topic", style="length", grades=True)


@pytest.fixture(scope="module")
def votes():
    return small()


@pytest.fixture(scope="module")
def fit(votes):
    return ba.fit(votes, model="am-davidson")


@pytest.fixture(scope="module")
def tree(fit):
    return ba.to_datatree(fit)


def test_draws_have_the_names_of_the_program(votes, fit, tree):
    posterior = tree["posterior"]
    assert dict(posterior["strength"].sizes) == {
        "chain": 4,
        "draw": 250,
        "competitor": 6,
    }
    assert posterior["discrimination"].dims == ("chain", "draw", "annotator")
    assert list(posterior["annotator"].values) == list(votes.annotators)
    assert posterior["tie"].dims == ("chain", "draw")
    mean = posterior["discrimination"].mean(("chain", "draw"))
    np.testing.assert_allclose(mean, fit.discrimination, atol=0.1)


def test_every_vote_has_a_column(votes, tree):
    observed = tree["observed_data"]["outcome"]
    assert observed.sizes == {"vote": 600}
    np.testing.assert_array_equal(
        np.bincount(observed.values), votes.folded.sum(axis=0)
    )
    log_likelihood = tree["log_likelihood"]["outcome"]
    assert log_likelihood.sizes == {"chain": 4, "draw": 250, "vote": 600}
    assert float(log_likelihood.max()) < 0
    first = np.array(votes.competitors)[tree["constant_data"]["model_a"].values]
    assert set(first) == set(votes.competitors)


@pytest.mark.parametrize("model", ["am-davidson", "am-elo", BY_TOPIC])
def test_leave_one_out_is_that_of_the_counts(votes, model):
    import arviz as az

    fit = ba.fit(votes, model=model)
    loo = az.loo(ba.to_datatree(fit, seed=fit.seed), reff=1.0)
    assert loo.elpd == pytest.approx(ba.leave_one_out(fit).total, abs=1e-6)


def test_predicted_votes_have_the_observed_shares(votes, tree):
    shares = votes.folded.sum(axis=0) / votes.n_votes
    predicted = tree["posterior_predictive"]["outcome"]
    for outcome, share in enumerate(shares):
        assert float((predicted == outcome).mean()) == pytest.approx(share, abs=0.03)
    assert tree["prior_predictive"]["outcome"].sizes["draw"] == 500


def test_prior_draws_have_the_spread_of_the_prior(tree):
    prior = tree["prior"]
    np.testing.assert_allclose(prior["strength"].sum("competitor"), 0, atol=1e-9)
    assert float(prior["position"].std()) == pytest.approx(0.5, rel=0.15)
    # E s^2 = 1.5^2 * 2 for a chi with two degrees; less 1/6 for the sum.
    variance = float((prior["strength"] ** 2).mean())
    assert variance == pytest.approx(1.5**2 * 2 * 5 / 6, rel=0.2)


def test_a_spread_that_was_sampled_has_a_prior(fit, tree):
    assert "strength_sd" not in tree["prior"]
    size = 4000
    _, spreads = module.draw_prior(fit, size, seed=0)
    # E s^2 = scale^2 * degrees: 1.5^2 * 2 for strengths, 1 for theta.
    assert np.mean(spreads["strength_sd"] ** 2) == pytest.approx(4.5, rel=0.1)
    assert np.mean(spreads["discrimination_sd"] ** 2) == pytest.approx(1, rel=0.1)
    means = {f"{name}_sd": x for name, x in fit.posterior.spreads.items()}
    samples = dict(fit.marginals.chains(400, 0))
    for name, spread in means.items():
        samples[name] = np.full((4, 100, 1), spread)
    sampled = replace(fit, marginals=Marginals(fit.posterior, samples))
    prior = ba.to_datatree(sampled)["prior"]
    assert prior["strength_sd"].sizes == {"chain": 1, "draw": 500}


def test_half_wins_without_ties_predict_none():
    records = [("x", "y", "model_a"), ("y", "z", "model_b"), ("z", "x", "model_a")] * 4
    rows = [{"model_a": a, "model_b": b, "winner": w} for a, b, w in records]
    predicted = ba.to_datatree(ba.fit(rows, model="m-elo"))["posterior_predictive"]
    assert set(np.unique(predicted["outcome"])) == {0, 1}


@pytest.mark.filterwarnings("ignore:Estimated shape parameter:UserWarning")
def test_calls_of_arviz_run(tree):
    import arviz as az

    assert "strength[m0]" in az.summary(tree, var_names=["strength"]).index
    az.loo(tree, pointwise=True)
    az.compare({"a": tree, "b": tree})
    az.plot_forest(tree, var_names=["strength"], backend="none")
    az.plot_ppc_pava(tree, data_type="ordinal", backend="none")
    az.plot_prior_posterior(tree, var_names=["tie"], backend="none")


def test_round_trip(votes, fit, tree):
    again = ba.from_posterior(tree, votes)
    assert again.model == fit.model
    np.testing.assert_allclose(
        again.strength, tree["posterior"]["strength"].mean(("chain", "draw"))
    )
    np.testing.assert_allclose(again.discrimination, fit.discrimination, atol=0.1)


def test_round_trip_of_slices(votes):
    tree = ba.to_datatree(ba.fit(votes, model=BY_TOPIC))
    again = ba.from_posterior(tree, votes, model=BY_TOPIC)
    labels = list(tree["posterior"]["competitor_by_topic"].values)
    assert labels[0] == "m0 | code"
    np.testing.assert_allclose(
        again.samples["strength_by_topic"], tree["posterior"]["strength_by_topic"]
    )


def test_other_scales_and_orders_are_put_right(votes, tree):
    posterior = tree["posterior"].to_dataset().copy()
    posterior["strength"] = posterior["strength"] / 2 + 3
    posterior["discrimination"] = posterior["discrimination"] * 2
    posterior["tie_by_annotator"] = posterior["tie_by_annotator"] + posterior["tie"]
    own = posterior.drop_vars("tie").isel(competitor=slice(None, None, -1))
    import xarray as xr

    again = ba.from_posterior(xr.DataTree.from_dict({"posterior": own}), votes)
    right = ba.from_posterior(tree, votes)
    for name, values in right.samples.items():
        np.testing.assert_allclose(again.samples[name], values, atol=1e-9)


@pytest.mark.filterwarnings("ignore:The chains disagree")  # of a few draws
def test_scale_and_sums_of_draws_move_no_board(votes):
    import xarray as xr

    posterior = ba.to_datatree(ba.fit(votes, model=TASTES))["posterior"].to_dataset()
    few = posterior.isel(draw=slice(None, None, 25))
    tree = xr.DataTree.from_dict({"posterior": few})
    right = ba.from_posterior(tree, votes, model=TASTES)

    def other(posterior):
        r, u = posterior["strength"], posterior["strength_by_topic"]
        theta = posterior["discrimination"]
        scaled = {"strength": r / 3 + 2, "strength_by_topic": u / 3 + 1}
        return posterior.assign(discrimination=3 * theta, **scaled)

    again = ba.from_posterior(changed(tree, other), votes, model=TASTES)
    for read in (
        ba.leaderboard,
        ba.win_probability,
        lambda fit: ba.leaderboard(fit, by="topic"),
        lambda fit: ba.slice_gaps(fit, "topic"),
    ):
        pd.testing.assert_frame_equal(read(again), read(right))


def test_draws_without_a_direction_are_refused(votes, tree):
    def split(posterior):
        theta = posterior["discrimination"]
        return posterior.assign(discrimination=theta - theta.mean("annotator"))

    with pytest.raises(
        ModelError, match="sum to zero, so the ranking has no direction"
    ):
        ba.from_posterior(changed(tree, split), votes)


def changed(tree, change):
    import xarray as xr

    posterior = change(tree["posterior"].to_dataset())
    return xr.DataTree.from_dict({"posterior": posterior})


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (lambda p: p.drop_vars("strength"), "needs 'strength'.*pm.Deterministic"),
        (lambda p: p.isel(competitor=slice(5)), "not those of the votes: m5"),
        (lambda p: p.isel(draw=slice(3)), "only 3 draws"),
        (lambda p: p.where(p["draw"] > 0), "draws that are not finite"),
        (lambda p: p.rename(competitor="player"), r"not chain, draw, competitor"),
        (lambda p: p.drop_vars("position"), None),
    ],
)
def test_draws_that_cannot_be_read_are_refused(votes, tree, change, text):
    own = changed(tree, change)
    if text is None:  # the annotators' numbers are then all there is
        assert ba.from_posterior(own, votes).model.name == "am-davidson"
        return
    with pytest.raises(ModelError, match=text):
        ba.from_posterior(own, votes)


def test_another_model_than_the_draws_is_refused(votes, tree):
    own = changed(tree, lambda p: p[["strength"]])
    with pytest.raises(ModelError, match="has 'position', and the posterior does not"):
        ba.from_posterior(own, votes, model="davidson")


def test_what_is_too_large_is_left_out(fit, monkeypatch):
    monkeypatch.setattr(module, "MOST_BYTES", 1e6)
    with pytest.warns(
        ArenaWarning, match=r"1,000 draws of 600 votes would take 0.0 GB"
    ):
        tree = ba.to_datatree(fit)
    assert set(tree.children) == {"posterior", "prior"}


def test_flat_priors_and_few_draws_are_refused(votes, fit):
    with pytest.raises(ModelError, match="flat prior there is no posterior"):
        ba.to_datatree(ba.fit(votes, prior="flat"))
    with pytest.raises(
        ModelError, match=r"size=.* must be a whole number of at least 16"
    ):
        ba.to_datatree(fit, size=3)


def test_votes_of_fractional_weights_have_no_values_each():
    votes = ba.example_arena().votes.head(400).assign(w=0.5)
    fit = ba.fit(votes, weight="w")
    with pytest.warns(ba.errors.ArenaWarning, match="fractional weights"):
        tree = ba.to_datatree(fit, size=16)
    assert "posterior" in tree
    assert not {"log_likelihood", "posterior_predictive"} & set(tree)
