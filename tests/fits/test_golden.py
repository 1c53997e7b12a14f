"""Boards beside those of version 0.3 (golden/make.py), and beside NUTS (golden/sample.py)."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import bayes_arena as ba
from bayes_arena.fits.result import mean_loss
from bayes_arena.model.priors import Spread
from tests.helpers import elo_of, elo_sd, real

GOLDEN = Path(__file__).parents[1] / "golden"
ARENAS = ("example", "llmfao", "mt_bench_human")
BY_ANNOTATOR = {
    "discrimination": "annotator",
    "ties": "davidson",
    "tie_propensity": "annotator",
    "position": "annotator",
}
COMMON = {"ties": "davidson", "position": "common"}
OLD = ba.Prior(strength=Spread(1.0, scale=1.5, degrees=3))  # that of version 0.3
CONVEX = ("bradley-terry", "davidson", "m-elo")


def golden(name):
    return json.loads((GOLDEN / f"{name}.json").read_text())


def table(arena):
    if arena == "example":
        votes = ba.example_arena().votes
    else:
        votes = pd.read_csv(real(f"{arena}.csv"))
    votes["length"] = ((np.arange(len(votes)) * 7919) % 101 - 50) / 25
    if "turn" in votes:
        votes["answer"] = (
            votes["question_id"].astype(str) + "/" + votes["turn"].astype(str)
        )
    elif "prompt" in votes:
        votes["answer"] = votes["prompt"]
    return votes


def moved(fit, expected):
    """Return by how many half-widths the board differs, and the ratio of the widths."""
    half_width = np.array(expected["half_width"])
    moves = np.abs(elo_of(fit) - expected["elo"]) / half_width
    return moves.max(), elo_sd(fit) * 1.959964 / half_width


@pytest.mark.parametrize("arena", ARENAS)
@pytest.mark.parametrize("model", CONVEX)
def test_maximum_likelihood(arena, model):
    votes = ba.read_votes(table(arena), prompt=False)
    fit = ba.fit(votes, model=model, prior="flat")
    expected = golden(arena)[f"{model} flat"]
    np.testing.assert_allclose(fit.strength, expected["strength"], atol=1e-8)
    np.testing.assert_allclose(
        fit.marginals.sd_of("strength"), expected["strength_sd"], rtol=1e-7
    )
    np.testing.assert_allclose(elo_of(fit), expected["elo"], atol=1e-5)
    assert mean_loss(fit) == pytest.approx(expected["mean_loss"], abs=1e-9)


@pytest.mark.parametrize("arena", ARENAS)
def test_flat_am_elo(arena):
    votes = ba.read_votes(table(arena), prompt=False).keep(more_than=50)
    fit = ba.fit(votes, model="am-elo", prior="flat")
    expected = golden(arena)["am-elo flat"]
    np.testing.assert_allclose(fit.strength, expected["strength"], atol=1e-8)
    np.testing.assert_allclose(
        fit.discrimination, expected["discrimination"], atol=1e-7
    )
    np.testing.assert_allclose(elo_of(fit), expected["elo"], atol=1e-4)


@pytest.mark.parametrize("arena", ARENAS)
@pytest.mark.parametrize("model", ["bradley-terry", "davidson"])
def test_modes(arena, model):
    prior = ba.Prior(strength=1.0)
    fit = ba.fit(table(arena), model=model, prior=prior, method="map", prompt=False)
    expected = golden(arena)[f"{model} map"]
    np.testing.assert_allclose(fit.strength, expected["strength"], atol=1e-8)
    np.testing.assert_allclose(elo_of(fit), expected["elo"], atol=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("arena", ARENAS)
def test_gaussians(arena):
    votes = ba.read_votes(table(arena), prompt=False, features=["length"])
    models = {
        "bradley-terry gaussian": ("bradley-terry", 0.001),
        "davidson gaussian": ("davidson", 0.001),
        "am-elo gaussian": ("am-elo", 0.03),
        "am-davidson gaussian": ("am-davidson", 0.03),
        "davidson style": (ba.Model(**COMMON, style=("length",)), 0.001),
        "am-davidson style": (ba.Model(**BY_ANNOTATOR, style=("length",)), 0.03),
    }
    boards = golden(arena)
    for name, (model, tolerance) in models.items():
        move, ratio = moved(ba.fit(votes, model=model, prior=OLD), boards[name])
        assert move < tolerance, name
        assert np.all(np.abs(ratio - 1) < 0.035), name


@pytest.mark.slow
@pytest.mark.parametrize("arena", ARENAS[1:])
def test_gaussians_beside_nuts(arena):
    votes = ba.read_votes(table(arena), prompt=False)
    for name in ("davidson", "am-davidson"):
        sampled = golden(f"{arena}_nuts")[name]
        assert sampled["rhat"] < 1.01
        fit = ba.fit(votes, model=name)
        for effect in ("strength", "discrimination"):
            if effect in sampled:
                sd = np.array(sampled[f"{effect}_sd"])
                off = getattr(fit, effect) - sampled[effect]
                assert np.max(np.abs(off) / sd) < 0.15
                ratio_of_sd = fit.marginals.sd_of(effect) / sd
                assert abs(np.mean(ratio_of_sd) - 1) < 0.05
        move, ratio = moved(fit, sampled)
        assert move < 0.05
        assert np.all(np.abs(ratio - 1) < 0.05)


@pytest.mark.slow
@pytest.mark.parametrize("arena", ARENAS[1:])
def test_prompts_beside_nuts(arena):
    votes = ba.read_votes(table(arena), prompt="answer")
    model = ba.Model(**BY_ANNOTATOR, strength_by=("prompt",))
    sampled = golden(f"{arena}_nuts")["am-davidson prompts"]
    fit = ba.fit(votes, model=model)
    move, ratio = moved(fit, sampled)
    assert move < 0.2
    assert np.all(np.abs(ratio - 1) < 0.15)
    sd = np.array(sampled["strength_sd"])
    assert np.max(np.abs(fit.strength - sampled["strength"]) / (2 * sd)) < 0.2
    assert abs(np.mean(fit.marginals.sd_of("strength") / sd) - 1) < 0.15
