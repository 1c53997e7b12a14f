"""Simulated people who disagree: they think what their regime says, and vote what they think."""

from dataclasses import replace

import numpy as np
import pytest
from dissenters import REGIMES, average, draw, of_leads, of_rankings

import bayes_arena as ba

SEED = 3


def people_of(name):
    return REGIMES[name].people(np.random.default_rng(SEED))


@pytest.mark.parametrize("name", REGIMES)
def test_leads_of_all_regimes_are_skew_symmetric(name):
    lead = people_of(name).lead
    assert np.allclose(lead, -np.swapaxes(lead, 1, 2))
    assert lead.any()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["camp of 30 %, 40 annotators", "riggers who tie otherwise", "specialists"])
def test_many_votes_average_to_the_truth(name):
    arena = draw(replace(REGIMES[name], votes=200_000), SEED)
    fit = ba.fit(arena.cells, model="bradley-terry", prior="flat")
    assert np.abs(fit.strength - arena.strength).max() < 0.05
    assert arena.strength.std() > 0.2


def test_the_average_of_one_mind_without_ties_is_that_mind():
    strength = np.array([0.7, -0.2, -0.5])
    rng = np.random.default_rng(SEED)
    people = of_rankings(np.vstack([strength, -5 * strength]), rng, tie=np.full(2, -30.0))
    assert np.allclose(average(people, np.array([9, 0])), strength, atol=1e-6)
    assert not np.allclose(average(people, np.array([9, 1])), strength, atol=0.1)


def test_the_same_seed_gives_the_same_votes_and_another_others():
    regime = REGIMES["gradient"]
    one, same, other = (draw(regime, seed) for seed in (SEED, SEED, SEED + 1))
    assert np.array_equal(one.cells.counts, same.cells.counts)
    assert np.array_equal(one.strength, same.strength)
    assert not np.allclose(one.strength, other.strength)


def test_programs_cast_half_of_the_votes_and_riggers_a_ninth():
    for name, who, share in (
        ("two programs, half of the votes", slice(0, 2), 0.5),
        ("one heavy expert", slice(0, 1), 0.2),
        ("riggers who tie otherwise", slice(100, 120), 1200 / 11_200),
    ):
        activity = people_of(name).activity
        assert activity[who].sum() / activity.sum() == pytest.approx(share)


def test_riggers_vote_for_their_target_and_tie_otherwise():
    people = people_of("riggers who tie otherwise")
    rigging = of_leads(people.lead[100:], np.random.default_rng(SEED), tie=people.tie[100:])
    (target,) = np.flatnonzero((rigging.lead[0] > 0).all(axis=1, where=~np.eye(20, dtype=bool)))
    strength = average(rigging, np.ones(20, dtype=int))
    others = np.delete(strength, target)
    assert np.ptp(others) < 1e-6
    assert strength[target] - others.max() > 5


def test_specialists_guess_where_they_know_neither():
    guessed = (people_of("specialists").lead == 0)[:, *np.triu_indices(20, 1)]
    neither = 14 * 13 / (20 * 19)  # of six known in twenty
    assert guessed.mean() == pytest.approx(neither)


def test_a_camp_is_as_large_as_it_says_and_apart():
    people = people_of("camp of 30 %, 40 annotators")
    i, j = np.triu_indices(20, 1)
    alike = np.corrcoef(people.lead[:, i, j])
    assert alike[:12, :12].min() > 0.99
    assert alike[12:, 12:].min() > 0.99
    assert alike[:12, 12:].max() < 0.9
    three = np.corrcoef(people_of("camp on three competitors").lead[:, i, j])
    assert alike[:12, 12:].max() < three[:12, 12:].min()
