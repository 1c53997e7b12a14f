"""Pairs that knew the ranking: chains, leagues and ladders of neighbours in strength."""

import warnings

import numpy as np
import pytest
from scipy.special import expit

import bayes_arena as ba
from bayes_arena.inference.pairing import gap, knew_the_ranking, random_gap, sorting, with_pairing
from bayes_arena.likelihood.priors import WEAK
from bayes_arena.likelihood.problem import Problem
from bayes_arena.votes.cells import Cells

N = 20


def cells_of(a, b, strength, seed=0):
    """Single votes of Bradley-Terry's model, sides by lot."""
    rng = np.random.default_rng(seed)
    turned = rng.random(len(a)) < 0.5
    a, b = np.where(turned, b, a), np.where(turned, a, b)
    won = rng.random(len(a)) < expit(strength[a] - strength[b])
    key, cell = np.unique(a * N + b, return_inverse=True)
    counts = np.zeros((len(key), 4))
    np.add.at(counts, (cell, np.where(won, 0, 1)), 1.0)
    names = tuple(f"c{index:02d}" for index in range(len(strength)))
    return Cells(names, (), key // N, key % N, np.zeros_like(key), counts)


def strengths(seed=1):
    return np.sort(np.random.default_rng(seed).normal(size=N))


def chain(votes, seed=0):
    a = np.random.default_rng(seed).integers(N - 1, size=votes)
    return a, a + 1


def anyone(votes, seed=0):
    rng = np.random.default_rng(seed)
    a = rng.integers(N, size=votes)
    return a, (a + rng.integers(1, N, size=votes)) % N


def leagues(votes, seed=0):
    rng = np.random.default_rng(seed)
    a, b = rng.integers(N, size=(2, 20 * votes))
    there = (a != b) & np.where(rng.random(len(a)) < 0.03, abs(a // 5 - b // 5) == 1, a // 5 == b // 5)
    return a[there][:votes], b[there][:votes]


@pytest.mark.parametrize("pairs", [chain, leagues])
def test_neighbours_alone_are_not_drawn_together(pairs):
    truth = strengths()
    with pytest.warns(ba.errors.IdentificationWarning, match="as in a league or on a ladder"):
        fit = ba.fit(cells_of(*pairs(4000), truth), model="bradley-terry", method="marginal")
    assert fit.spreads.strength == WEAK.strength and str(fit.spreads) == "weak"
    sd = np.sqrt(fit.laplace.strength_variance())
    assert (np.abs(fit.strength - truth + truth.mean()) < 3 * sd).all()
    assert np.ptp(fit.strength) > 0.6 * np.ptp(truth)


def test_an_estimated_spread_draws_them_together():
    """What the rule is there for: without it the ends of the chain come out far too close."""
    truth, votes = strengths(), chain(4000)
    problem = Problem.of(cells_of(*votes, truth), "bradley-terry", "default")
    from bayes_arena.inference.marginal.spreads import estimate_spreads

    drawn = estimate_spreads(problem)
    assert np.ptp(drawn.point.strength) < 0.5 * np.ptp(truth)


@pytest.mark.parametrize("votes", [100, 400, 4000])
def test_random_pairs_keep_the_estimated_spread(votes):
    for seed in range(5):
        assert not knew_the_ranking(cells_of(*anyone(votes, seed), strengths(seed), seed), ba.Prior())


def test_pairing_that_learns_from_the_votes_keeps_it():
    """Neighbours in the current Elo ranking: the votes themselves say all there is to know of such pairs."""
    rng, truth, elo = np.random.default_rng(3), np.random.default_rng(4).normal(size=N), np.zeros(N)
    a, b = np.zeros((2, 0), dtype=int)
    for _ in range(80):
        order, place = np.argsort(elo + rng.normal(0, 1e-6, N)), rng.integers(N - 1, size=50)
        one, other = order[place], order[place + 1]
        won = rng.random(50) < expit(truth[one] - truth[other])
        change = 0.1 * (won - expit(elo[one] - elo[other]))
        elo += np.bincount(one, change, N) - np.bincount(other, change, N)
        a, b = np.append(a, np.where(won, one, other)), np.append(b, np.where(won, other, one))
    key, times = np.unique(a * N + b, return_counts=True)
    counts = np.zeros((len(key), 4))
    counts[:, 0] = times
    names = tuple(f"c{index:02d}" for index in range(N))
    cells = Cells(names, (), key // N, key % N, np.zeros_like(key), counts, sided=False)
    assert not knew_the_ranking(cells, ba.Prior())


def test_the_answer_depends_on_no_name_and_no_side():
    truth, pairs = strengths(), leagues(2000)
    order = np.random.default_rng(5).permutation(N)
    cells = cells_of(*pairs, truth)
    place = np.argsort(order)
    renamed = cells.take(np.arange(len(cells.a)), a=place[cells.a], b=place[cells.b])
    for one in (cells, renamed, cells.take(slice(None), a=cells.b, b=cells.a, counts=cells.counts[:, [1, 0, 2, 3]])):
        assert knew_the_ranking(one, ba.Prior())


def test_priors_that_fix_the_spread_are_taken_as_they_are():
    cells = cells_of(*chain(1000), strengths())
    for prior in (ba.Prior(hyper=None), ba.Prior(known=("strength",)), "flat", "weak"):
        problem = Problem.of(cells, "bradley-terry", prior)
        assert with_pairing(problem) == (problem, "")
    with warnings.catch_warnings(action="error"):
        assert ba.fit(cells, model="bradley-terry", prior="weak").spreads == WEAK


def test_the_gap_of_random_pairs_is_about_the_published_one():
    for votes in (100, 400, 4000):
        found = [gap(tally, tally.votes) for tally in tallies(votes)]
        assert np.median(found) == pytest.approx(random_gap(2 * votes / N), abs=0.12)


def tallies(votes):
    return [cells_of(*anyone(votes, seed), strengths()).tally(by_annotator=False) for seed in range(9)]


@pytest.mark.slow
@pytest.mark.parametrize("model", ["davidson", "am-davidson"])
def test_known_spreads_stay_by_every_route(arena_cells, model):
    prior = ba.Prior(strength=2.0, known=("strength",))
    marginal = ba.fit(arena_cells, model=model, prior=prior, method="marginal", robust=False)
    sampled = ba.fit(arena_cells, model=model, prior=prior, method="nuts", draws=500, robust=False)
    assert marginal.spreads.strength == sampled.spreads.strength == 2.0
    assert "strength_sd" not in sampled.tree["posterior"]
    drawn = sampled.samples.strength
    assert drawn.mean(axis=0) == pytest.approx(marginal.strength, abs=0.15 * drawn.std(axis=0).max())


def test_sorting_compares_those_who_met_with_all_pairs():
    strength = np.array([0.0, 3.0, 1.0, 7.0])
    everyone = np.abs(strength - strength[:, None])[np.triu_indices(4, 1)].mean()
    cells = cells_of(np.array([0, 0, 1]), np.array([1, 2, 3]), strength)
    tally = Problem.of(cells, "bradley-terry", "default").objective.tally
    assert sorting(tally, strength) == pytest.approx((3.0 + 1.0 + 4.0) / 3 / everyone)
