"""Who agrees with nobody and yet votes by a ranking: not a coin."""

import itertools

import numpy as np
import pandas as pd
import pytest

import bayes_arena as ba
from bayes_arena.people.own_ranking import chance_of_own_ranking, variation_of
from bayes_arena.votes.votes import Votes
from tests.people.arenas import rows, votes_of


def votes_by(own, n_votes, seed, side=0.0):
    """Return one annotator's votes by strengths of their own, and random pairs."""
    rng = np.random.default_rng(seed)
    n = len(own)
    i = rng.integers(n, size=n_votes)
    j = (i + rng.integers(1, n, size=n_votes)) % n
    lead = own[i] - own[j] + side
    logits = np.stack([lead / 2, -lead / 2, np.zeros(n_votes)])
    p = np.exp(logits) / np.exp(logits).sum(axis=0)
    outcome = (rng.random(n_votes) > np.cumsum(p, axis=0)[:2]).sum(axis=0)
    names = tuple(f"m{c}" for c in range(n))
    counts = np.eye(3)[outcome]
    return Votes(names, ("k",), i, j, np.zeros(n_votes, np.intp), counts)


def share_found(slope, n_votes=60, n=8, **given):
    """Return how often a p-value is below .05; None is a ranking of one's own."""
    found = []
    for seed in range(60):
        rng = np.random.default_rng([seed, 3])
        r = rng.normal(size=n)
        own = 2 * rng.normal(size=n) if slope is None else slope * r
        votes = votes_by(own, n_votes, seed, **given)
        found.append(chance_of_own_ranking(votes, r) < 0.05)
    return np.mean(found)


@pytest.mark.slow
@pytest.mark.parametrize("slope", [0.0, 0.4, 1.0, -1.0])
def test_coins_and_followers_of_either_sign_have_no_ranking_of_their_own(slope):
    assert share_found(slope) <= 0.12


@pytest.mark.slow
def test_a_ranking_of_ones_own_is_found():
    assert share_found(None) > 0.7


@pytest.mark.slow
def test_a_side_is_no_ranking():
    assert share_found(0.0, side=2.0) <= 0.12


def test_the_variation_is_that_of_least_squares():
    """T is what a ranking of one's own explains, less what the shared one does."""
    votes = votes_by(np.linspace(1, -1, 5), 40, seed=1)
    r = np.array([0.3, -1.0, 0.4, 0.1, 0.2])
    X = np.eye(5)[votes.i] - np.eye(5)[votes.j]
    y = votes.score_of_first - votes.score_of_first.mean()

    def explained(columns):
        fitted = columns @ np.linalg.lstsq(columns, y, rcond=None)[0]
        return fitted @ fitted

    expected = explained(X) - explained(X @ r[:, None])
    variation = variation_of(votes, votes.score_of_first[None], r)
    assert variation[0] == pytest.approx(expected)


def test_fractions_of_votes_are_votes_of_less_weight():
    votes = votes_by(np.linspace(2, -2, 6), 80, seed=2)
    half = Votes(**{**vars(votes), "counts": votes.counts / 2})
    assert chance_of_own_ranking(half, np.zeros(6)) < 0.05


@pytest.mark.slow
def test_students_with_an_order_of_their_own_do_not_guess():
    """Each judges every pair once, by an order that has nothing to do with the others'."""
    crowd = votes_of(annotators=20, each=80)
    pairs = list(itertools.combinations(range(12), 2))
    students = []
    for number, seed in enumerate((5, 16, 21, 30)):
        order = np.random.default_rng(seed).permutation(12)
        names = [(f"model {i:02d}", f"model {j:02d}") for i, j in pairs]
        winner = ["model_a" if order[i] < order[j] else "model_b" for i, j in pairs]
        votes = pd.DataFrame(names, columns=["model_a", "model_b"])
        students.append(votes.assign(winner=winner, judge=f"student {number}"))
    votes = pd.concat([crowd, *students])
    table = rows(votes)
    students = table[table.index.str.startswith("student")]
    assert set(students["verdict"]) <= {"differs", "suspect"}
    differing = students[students["verdict"] == "differs"]
    assert len(differing) >= 2
    assert (
        differing["why"]
        .str.startswith("votes by a ranking of its own: agreement")
        .all()
    )
    assert not set(students.index) & set(ba.flag(votes))
