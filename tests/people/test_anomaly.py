import numpy as np
import pytest

import bayes_arena as ba
from bayes_arena.model.spec import PRESETS, Model
from bayes_arena.people.anomaly import binned_leads, net_agreement

GRADED = Model(
    discrimination="annotator",
    ties="davidson",
    tie_propensity="annotator",
    position="annotator",
    grades=True,
)


def draws_of(model, theta, strength=(1.0, 0.0, -1.0), tie=0.0):
    """Return one draw of annotators of some theta."""
    m = len(theta)
    draws = {
        "strength": np.array([strength]),
        "discrimination": np.array([theta], float),
    }
    if model.ties == "davidson":
        draws["tie"] = np.full((1, 1), tie)
        draws["tie_by_annotator"] = np.zeros((1, m))
    if model.grades:
        draws["emphasis"] = np.full((1, 1), -1.0)
        draws["emphasis_by_annotator"] = np.zeros((1, m))
    return draws


@pytest.mark.parametrize("model", [PRESETS["am-davidson"], PRESETS["am-elo"], GRADED])
def test_guessers_have_none_and_the_reversed_its_opposite(model):
    guess, plain, against, sure = net_agreement(model, draws_of(model, [0, 1, -1, 60]))[
        0
    ]
    assert guess == 0
    assert against == pytest.approx(-plain)
    assert 0 < plain < sure
    assert sure == pytest.approx(1, abs=1e-9)


def test_known_values():
    draws = draws_of(PRESETS["am-davidson"], [1.0], tie=np.log(2))
    lead = np.array([1.0, 1.0, 2.0])
    expected = 2 * np.sinh(lead / 2) / (2 * np.cosh(lead / 2) + 2)
    value = net_agreement(PRESETS["am-davidson"], draws)[0, 0]
    assert value == pytest.approx(expected.mean())
    draws = draws_of(PRESETS["am-elo"], [1.0])
    value = net_agreement(PRESETS["am-elo"], draws)[0, 0]
    assert value == pytest.approx(np.tanh(lead / 2).mean())


def test_who_always_ties_has_none_whatever_theta():
    draws = draws_of(PRESETS["am-davidson"], [1.0, 3.0], tie=20.0)
    assert np.abs(net_agreement(PRESETS["am-davidson"], draws)).max() < 1e-6


@pytest.mark.parametrize("n", [2, 5, 36, 59, 200])
def test_bins_stand_for_all_pairs(n):
    rng = np.random.default_rng(n)
    strength = rng.normal(size=(3, n))
    leads, weights = binned_leads(strength)
    i, j = np.triu_indices(n, 1)
    every = np.abs(strength[:, i] - strength[:, j])
    assert weights.sum() == pytest.approx(1)
    np.testing.assert_allclose(leads @ weights, every.mean(axis=1), rtol=0.02)
    net = np.tanh(every / 2).mean(axis=1)
    np.testing.assert_allclose(np.tanh(leads / 2) @ weights, net, rtol=0.02)


def test_bins_do_not_know_the_order_of_competitors():
    rng = np.random.default_rng(0)
    strength = rng.normal(size=(3, 80))
    shuffled = strength[:, rng.permutation(80)]
    np.testing.assert_allclose(binned_leads(shuffled)[0], binned_leads(strength)[0])


@pytest.mark.slow
def test_five_thousand_annotators_take_seconds():
    import time

    arena = ba.simulate(competitors=30, annotators=5_000, votes=60_000, seed=2)
    fit = ba.fit(arena.votes, model="am-davidson")
    start = time.process_time()
    table = ba.annotators(fit)
    assert len(table) == 5_000
    assert time.process_time() - start < 8
