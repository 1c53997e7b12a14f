"""The bootstrap: votes or clusters drawn with replacement."""

import numpy as np
import pandas as pd
import pytest

import bayes_arena as ba
from bayes_arena.boards import bootstrap
from bayes_arena.boards.look import Look
from bayes_arena.boards.standing import standing_of
from tests.boards.arenas import columns, fitted, of_wins

RESAMPLES = 30


@pytest.fixture(autouse=True)
def fewer_resamples(monkeypatch):
    monkeypatch.setattr(bootstrap, "RESAMPLES", RESAMPLES)


def sd_of(fit, **options):
    return standing_of(fit, Look(interval="bootstrap", **options)).uncertainty.sd


@pytest.mark.slow
def test_two_competitors_have_the_binomials_spread():
    """sd(log odds) = 1 / sqrt(n p (1 - p)); each strength is half of the log odds."""
    fit = ba.fit(
        of_wins([("a", "b", 120), ("b", "a", 80)]), model="bradley-terry", prior="flat"
    )
    expected = 0.5 / np.sqrt(200 * 0.6 * 0.4)
    np.testing.assert_allclose(sd_of(fit), expected, rtol=0.25)


@pytest.mark.slow
def test_resamples_of_hardly_any_votes_are_as_uncertain_as_the_posterior():
    rows = columns(5, 300)[0]
    for names in (["rare", "m01"], *[["seldom", f"m0{k % 5}"] for k in range(8)]):
        for name, value in zip(rows, [*names, "model_a"], strict=True):
            rows[name].append(value)
    fit = ba.fit(rows)
    posterior = standing_of(fit, Look(interval="posterior")).uncertainty
    drawn = standing_of(fit, Look(interval="bootstrap")).uncertainty
    assert ["'rare'" in str(note) for note in drawn.notes] == [True]
    ratio = dict(zip(fit.votes.competitors, drawn.sd / posterior.sd, strict=True))
    assert ratio["rare"] >= 1
    assert 0.7 < ratio["seldom"] < 1.3


@pytest.mark.slow
def test_one_seed_one_answer(monkeypatch):
    monkeypatch.setattr(bootstrap, "RESAMPLES", 5)
    fit = fitted(3, 100)
    np.testing.assert_array_equal(sd_of(fit, seed=3), sd_of(fit, seed=3))
    assert (sd_of(fit, seed=3) != sd_of(fit, seed=4)).any()


@pytest.mark.slow
def test_clusters_of_copies_are_drawn_whole():
    """Each prompt's votes are copies: five times as many votes tell no more."""
    rows = pd.DataFrame(columns(4, 60, tie=0.0, spread=0.3)[0])
    rows["prompt"] = [f"p{k}" for k in range(len(rows))]
    copies = pd.concat([rows] * 5)
    options = {"model": "bradley-terry", "prior": "flat"}
    fit = ba.fit(copies, **options)
    by_prompt = sd_of(fit, cluster="prompt")
    np.testing.assert_allclose(by_prompt, sd_of(ba.fit(rows, **options)), rtol=0.4)
    assert (by_prompt > 1.5 * sd_of(fit)).all()


@pytest.mark.slow
def test_models_with_annotators_have_it_too():
    arena = ba.simulate(
        competitors=4, annotators=6, votes=300, discrimination_sd=0.2, seed=1
    )
    fit = ba.fit(arena.votes, model="am-davidson")
    own = standing_of(fit, Look(interval="posterior")).uncertainty.sd
    for options in ({}, {"cluster": "annotator"}):
        sd = sd_of(fit, **options)
        assert ((sd > 0.3 * own) & (sd < 3 * own)).all()


def test_a_resample_has_as_many_votes():
    fit = fitted(4, 100, tie=0.0)
    rng = np.random.default_rng(0)
    designs = list(bootstrap.resampled_designs(fit, None, rng))
    assert len(designs) == RESAMPLES
    assert {design.votes.counts.sum() for design in designs} == {100.0}
    counts = [design.votes.counts.ravel() for design in designs]
    original = fit.posterior.design.votes.counts.ravel()
    spread = 4 * np.sqrt(original.max() / len(designs))
    np.testing.assert_allclose(np.mean(counts, axis=0), original, atol=spread)
