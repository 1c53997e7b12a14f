"""The model's own numbers: those of the seed, to the digit."""

import numpy as np
import pytest

import bayes_arena as ba
from tests.boards.arenas import SEED, columns, fitted


@pytest.fixture(scope="module")
def seed_fit():
    return ba.fit(SEED, model="bradley-terry", prior="flat")


def test_coefficients_against_a_reference(seed_fit):
    """Wang (2025), the summary of BradleyTerry2."""
    table = ba.strengths(seed_fit, reference="A").set_index("competitor")
    expected = {
        "B": (-0.6931, 0.4330, -1.601, 0.109),
        "C": (0.5108, 0.5164, 0.989, 0.323),
    }
    for name, numbers in expected.items():
        row = table.loc[name, ["strength", "sd", "z", "p"]].to_numpy(float)
        np.testing.assert_allclose(row, numbers, atol=6e-4)
    assert table.loc["A", "sd"] == 0 and np.isnan(table.loc["A", "z"])


def test_profile_intervals(seed_fit):
    table = ba.strengths(seed_fit, reference="A", interval="profile")
    table = table.set_index("competitor")
    bounds = table.loc[["B", "C"], ["lower", "upper"]].to_numpy()
    expected = [[-1.5958865, 0.1280845], [-0.4797566, 1.5889808]]
    np.testing.assert_allclose(bounds, expected, atol=1e-4)


def test_strengths_around_their_mean(seed_fit):
    table = ba.strengths(seed_fit).set_index("competitor").loc[["A", "B", "C"]]
    np.testing.assert_allclose(table["strength"], [0.0608, -0.6324, 0.5716], atol=6e-5)
    np.testing.assert_allclose(table["sd"], [0.2246, 0.3361, 0.3733], atol=6e-5)
    np.testing.assert_allclose(table["lower"], [-0.3795, -1.2911, -0.1601], atol=6e-5)
    np.testing.assert_allclose(table["upper"], [0.5011, 0.0264, 1.3033], atol=6e-5)


def test_criteria(seed_fit):
    assert seed_fit.aic == pytest.approx(14.803, abs=6e-4)
    assert seed_fit.deviance == pytest.approx(0, abs=1e-9)


def test_profile_is_for_bradley_terry_under_a_flat_prior():
    for model, prior in (("davidson", "flat"), ("bradley-terry", "default")):
        fit = fitted(model=model, prior=prior)
        with pytest.raises(ba.errors.ModelError, match="prior='flat'"):
            ba.strengths(fit, interval="profile")


def test_a_reference_has_to_be_a_competitor():
    with pytest.raises(ba.errors.ModelError, match="'m7'"):
        ba.strengths(fitted(), reference="m7")


def test_strengths_are_the_fits():
    fit = fitted()
    table = ba.strengths(fit).set_index("competitor").loc[list(fit.votes.competitors)]
    np.testing.assert_allclose(table["strength"], fit.strength)
    np.testing.assert_allclose(table["sd"], fit.marginals.sd_of("strength"))


def test_effects_find_what_was_simulated():
    votes, _ = columns(4, 4000, tie=0.8, spread=0.5)
    table = ba.effects(ba.fit(votes)).set_index("effect")
    assert abs(table.loc["tie", "estimate"] - np.log(0.8)) < 3 * table.loc["tie", "sd"]
    assert abs(table.loc["position", "estimate"]) < 3 * table.loc["position", "sd"]
    assert (table["lower"] < table["estimate"]).all()


def test_bradley_terry_has_no_effects():
    assert len(ba.effects(fitted(model="bradley-terry"))) == 0
