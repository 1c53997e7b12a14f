"""Every table of a fit by NUTS, here from draws of its Gaussian in place of samples."""

from dataclasses import replace

import numpy as np
import pytest

import bayes_arena as ba
from bayes_arena.errors import ModelError
from bayes_arena.fits.marginals import Marginals
from tests.boards.arenas import columns, fitted

SAMPLES = 200


def sampled(fit, size=SAMPLES, seed=0):
    """Return a fit as if NUTS had sampled it in two chains."""
    draws = ba.draw(fit, 2 * size, seed)
    samples = {name: values.reshape(2, size, -1) for name, values in draws.items()}
    return replace(fit, method="nuts", marginals=Marginals(fit.posterior, samples))


@pytest.fixture(scope="module")
def fits():
    fit = fitted(5, 500)
    return fit, sampled(fit)


@pytest.mark.parametrize("interval", ["clustered", "sandwich", "bootstrap"])
def test_other_intervals_are_refused(interval):
    fit = sampled(fitted(3, 60), 10)
    for function in (ba.leaderboard, ba.pairs, ba.verdict, ba.next_pairs):
        with pytest.raises(ModelError, match="method='gaussian'"):
            function(fit, interval=interval)


def test_strengths_and_effects_are_near_the_gaussians(fits):
    for function, name, value in (
        (ba.strengths, "competitor", "strength"),
        (ba.effects, "effect", "estimate"),
    ):
        gaussian, nuts = (function(fit).set_index(name) for fit in fits)
        nuts = nuts.loc[gaussian.index]
        error = np.abs(nuts[value] - gaussian[value]) / gaussian["sd"]
        assert error.max() < 0.2
        np.testing.assert_allclose(nuts["sd"], gaussian["sd"], rtol=0.15)
    own = ba.strengths(fits[1]).set_index("competitor")["strength"]
    table = ba.strengths(fits[1], reference="m01").set_index("competitor")
    np.testing.assert_allclose(table["strength"], own - own["m01"], atol=1e-12)


@pytest.mark.slow
def test_pairs_count_the_samples(fits):
    pair = ba.pairs(fits[1], between=("m01", "m03")).iloc[0]
    samples = fits[1].marginals.board.samples
    gap = samples[:, 1] - samples[:, 3]
    assert pair["p_ahead"] == pytest.approx((gap > 0).mean(), abs=1e-12)
    points = ba.EloScale().points_per_logit
    assert pair["gap"] == pytest.approx(points * gap.mean(), abs=1e-6)
    gaussian = ba.pairs(fits[0], between=("m01", "m03")).iloc[0]
    np.testing.assert_allclose(
        pair[["lower", "upper"]].astype(float),
        gaussian[["lower", "upper"]].astype(float),
        atol=10,
    )


@pytest.mark.slow
def test_ranks_of_samples_are_near_those_of_the_gaussian(fits):
    gaussian, nuts = (ba.rank_probabilities(fit) for fit in fits)
    np.testing.assert_allclose(nuts.loc[gaussian.index], gaussian, atol=0.08)


@pytest.mark.slow
def test_boards_of_slices_are_from_the_samples():
    votes, _ = columns(4, 500, prompts=2, prompt_sd=0.8)
    votes["month"] = votes.pop("prompt")
    model = ba.Model("by month", ties="davidson", strength_by=("month",))
    fit = ba.fit(ba.read_votes(votes, slices=("month",)), model=model)
    gaussian = ba.leaderboard(fit, by="month").set_index(["month", "competitor"])
    nuts = ba.leaderboard(sampled(fit, 50), by="month").set_index(
        ["month", "competitor"]
    )
    nuts = nuts.loc[gaussian.index]
    bounds = ["elo", "lower", "upper"]
    np.testing.assert_allclose(nuts[bounds], gaussian[bounds], atol=20)
    assert (nuts["p_best"] - gaussian["p_best"]).abs().max() < 0.15


def test_samples_have_their_own_covariances(fits):
    fit, samples = fits
    strengths = samples.marginals.samples["strength"].reshape(-1, 5)
    covariance = samples.marginals.covariance_of("strength")
    np.testing.assert_allclose(covariance, np.cov(strengths.T, ddof=0))
    gaussian = fit.marginals.covariance_of("strength")
    np.testing.assert_allclose(covariance, gaussian, atol=0.2 * gaussian.max())
