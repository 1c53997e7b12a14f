"""What the guard works out once: pairs, who met whom, strengths; and the singular value in which blocs show."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import bayes_arena as ba
from bayes_arena.arrays import sum_runs
from bayes_arena.inference.mode.mode import find_mode
from bayes_arena.likelihood.problem import Problem
from bayes_arena.trust.plain.ballots import DAVIDSON, Ballots
from bayes_arena.trust.plain.strengths import strengths
from bayes_arena.trust.search import pulls


@pytest.fixture(scope="module")
def cells():
    return ba.read_votes(ba.simulate(competitors=70, annotators=12, votes=900, seed=4).votes)


@pytest.fixture(scope="module")
def ballots(cells):
    return Ballots.of(cells)


def test_meetings_are_the_competitors_of_every_annotator(ballots):
    meetings, n = ballots.meetings, ballots.n_competitors
    key = np.concatenate([ballots.k * n + ballots.i, ballots.k * n + ballots.j])
    distinct, place = np.unique(key, return_inverse=True)
    assert_array_equal(meetings.annotator * n + meetings.competitor, distinct)
    assert_array_equal(np.concatenate([meetings.at_i, meetings.at_j]), place)
    assert_array_equal(np.diff(meetings.first), np.bincount(distinct // n, minlength=ballots.n_annotators))
    met = meetings.sum(ballots.votes, ballots.votes)
    assert_allclose(sum_runs(meetings.first, met), 2 * ballots.by_annotator)


def test_strengths_by_pair_are_those_of_the_votes(cells, ballots):
    whole = find_mode(Problem.of(cells, DAVIDSON, "default"), thorough=False).point
    assert_allclose(strengths(ballots).strength, whole.strength, atol=1e-6)


def test_of_many_competitors_the_largest_singular_value_is_found_without_all_products(ballots, monkeypatch):
    everybody = np.ones(ballots.n_annotators, dtype=bool)
    found = pulls.Pulls.of(ballots, strengths(ballots), everybody)
    fold = np.arange(ballots.n_annotators) % 2
    value, direction = found.top()
    parts = list(found.tops_without(fold))
    monkeypatch.setattr(pulls, "FEW", 0)
    other, same = found.top()
    assert other == pytest.approx(value, rel=1e-4)
    assert abs(direction @ same) == pytest.approx(1, abs=1e-3)
    assert [abs(one @ two) for one, two in zip(parts, found.tops_without(fold), strict=True)] == pytest.approx([1, 1])


def test_random_signs_keep_everybodys_size_and_what_votes_cannot_tell(ballots):
    found = pulls.Pulls.of(ballots, strengths(ballots), np.ones(ballots.n_annotators, dtype=bool))
    flipped = found.with_random_signs(np.random.default_rng(0))
    assert_allclose(flipped.squares(), found.squares(), rtol=1e-4)
    assert not np.allclose(flipped.z, found.z)
    first = slice(found.first[0], found.first[1])
    for one in (found, flipped):
        assert_allclose([one.z[first] @ one.even[first], one.z[first] @ one.tilted[first]], 0, atol=1e-4)
