"""Simulated truth is found again, within intervals that hold what they promise."""

import numpy as np
import pytest

import bayes_arena as ba


@pytest.mark.slow
def test_strengths_and_annotators_are_recovered():
    arena = ba.simulate(
        competitors=12,
        annotators=30,
        votes=9000,
        reversed=2,
        tie_spread=0.8,
        position_spread=0.4,
        seed=6,
    )
    fit = ba.fit(arena.votes, model="am-davidson")
    scale = arena.discrimination.mean()
    z = (fit.strength - arena.strength * scale) / fit.marginals.sd_of("strength")
    assert np.sqrt(np.mean(z**2)) < 2
    assert np.corrcoef(fit.discrimination, arena.discrimination)[0, 1] > 0.97
    negative = np.array(fit.votes.annotators)[fit.discrimination < 0]
    assert set(negative) == set(arena.anomalous)


@pytest.mark.slow
@pytest.mark.parametrize(("n_votes", "least"), [(40, 0.88), (400, 0.9)])
def test_intervals_cover(n_votes, least):
    """Davidson's intervals, where the model is true and with few votes."""
    covered = []
    for seed in range(40):
        arena = ba.simulate(
            competitors=6,
            annotators=4,
            votes=n_votes,
            discrimination_sd=0,
            seed=100 + seed,
        )
        fit = ba.fit(arena.votes)
        names = [arena.competitors.index(name) for name in fit.votes.competitors]
        truth = arena.strength[names] - arena.strength[names].mean()
        covered.append(
            np.abs(fit.strength - truth) < 1.96 * fit.marginals.sd_of("strength")
        )
    assert least < np.mean(np.concatenate(covered)) < 0.99


@pytest.mark.slow
def test_more_votes_are_nearer():
    errors = []
    for n_votes in (300, 4800):
        arena = ba.simulate(
            competitors=8, annotators=6, votes=n_votes, discrimination_sd=0, seed=1
        )
        fit = ba.fit(arena.votes)
        errors.append(np.sqrt(np.mean((fit.strength - arena.strength) ** 2)))
    assert errors[1] < errors[0] / 2
