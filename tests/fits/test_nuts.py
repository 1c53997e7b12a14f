"""Sampling a program: against the Gaussian, and what is refused."""

import io
from contextlib import redirect_stderr

import numpy as np
import pytest

import bayes_arena as ba
from bayes_arena.errors import MissingPackageError, ModelError
from bayes_arena.fits import nuts
from tests.models.arenas import small

DRAWS = {"draws": 500, "tune": 200}


@pytest.fixture(scope="module")
def votes():
    arena = ba.simulate(competitors=8, annotators=12, votes=1500, seed=4)
    return ba.read_votes(arena.votes)


@pytest.fixture(scope="module")
def sampled(votes):
    """am-Davidson's own program, and what was said on the way."""
    said = io.StringIO()
    with pytest.MonkeyPatch.context() as patch, redirect_stderr(said):
        patch.setattr(nuts, "LONG", 0.0)
        fit = ba.fit(votes, model="am-davidson", method="nuts", seed=1, **DRAWS)
    return fit, said.getvalue()


@pytest.mark.slow
def test_samples_are_those_of_the_posterior(votes, sampled):
    fit, _ = sampled
    gaussian = fit.posterior
    for block in gaussian.design.blocks:
        name = block.effect.name
        samples = fit.samples[name]
        assert samples.shape[:2] == (4, 500)
        off = (samples.mean(axis=(0, 1)) - gaussian.mean_of(name)) / gaussian.sd_of(
            name
        )
        assert np.abs(off).mean() < 0.2  # 500 draws a chain, and a few votes each
        assert np.abs(off).max() < 0.5
        ratio = samples.std(axis=(0, 1)) / gaussian.sd_of(name)
        assert np.mean(ratio) == pytest.approx(1, abs=0.08)
    for name, spread in gaussian.spreads.items():
        assert fit.samples[f"{name}_sd"].mean() == pytest.approx(spread, rel=0.3)
        assert fit.spreads[name] == fit.samples[f"{name}_sd"].mean()
    assert fit.marginals.statistics["diverging"].sum() == 0
    assert fit.warnings == ()


@pytest.mark.slow
def test_results_read_the_samples(votes, sampled):
    fit, _ = sampled
    gaussian = ba.fit(votes, model="am-davidson")
    np.testing.assert_allclose(fit.strength.sum(), 0, atol=1e-9)
    assert fit.discrimination.mean() == pytest.approx(1)
    difference = fit.marginals.board.value - gaussian.marginals.board.value
    assert np.abs(difference / gaussian.marginals.board.sd).max() < 0.2
    drawn = ba.draw(fit, size=50)
    assert drawn["discrimination"].shape == (50, 12)


@pytest.mark.slow
def test_long_sampling_is_announced(sampled):
    assert "Sampling 4 x 700 draws, given " in sampled[1]


@pytest.mark.slow
def test_samples_are_saved_and_loaded(sampled, tmp_path):
    fit, _ = sampled
    ba.save(fit, tmp_path / "fit.nc")
    again = ba.load(tmp_path / "fit.nc")
    assert again.plan == fit.plan
    for name, values in fit.samples.items():
        np.testing.assert_allclose(again.samples[name], values)
    np.testing.assert_array_equal(
        again.marginals.statistics["diverging"], fit.marginals.statistics["diverging"]
    )
    np.testing.assert_allclose(again.marginals.board.value, fit.marginals.board.value)


@pytest.mark.slow
def test_any_model_is_sampled():
    model = ba.Model(ties="davidson", grades=True, strength_by="topic", style="length")
    prior = ba.Prior(strength_by_slice=0.5, tie_by_slice=0.5)
    fit = ba.fit(small(), model=model, prior=prior, method="nuts", **DRAWS)
    gaussian = fit.posterior
    for name in ("strength", "tie", "emphasis", "style_length"):
        off = fit.samples[name].mean(axis=(0, 1)) - gaussian.mean_of(name)
        assert np.abs(off / gaussian.sd_of(name)).max() < 0.4


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"prior": "flat"}, "needs a proper prior"),
        ({"draws": 3}, "draws=3 must be a whole number of at least 4"),
        ({"tune": -1}, "tune=-1 must be a whole number of at least 0"),
    ],
)
def test_what_cannot_be_sampled_is_refused(votes, options, text):
    with pytest.raises(ModelError, match=text):
        ba.fit(votes, method="nuts", **options)


def test_a_missing_package_is_named(votes, monkeypatch):
    monkeypatch.setattr(nuts, "find_spec", lambda name: None)
    with pytest.raises(
        MissingPackageError, match=r"pip install 'bayes-arena\[posterior\]'"
    ):
        ba.fit(votes, method="nuts")


def test_chains_start_at_the_gaussian(votes):
    fit = ba.fit(votes, model="am-davidson")
    sd, mean = fit.spreads["strength"], fit.posterior.mean_of("strength")

    class Program:
        named_vars = ("strength_raw", "strength_sd")

    start = nuts.starting_point(fit.posterior, {"competitor": 50.0}, Program)
    width = np.sqrt(1 + 50.0 * sd**2)
    np.testing.assert_allclose(start["strength_raw"] * sd / width, mean)
    assert set(start) == {"strength_raw", "strength_sd"}
