"""Who votes for a side, whoever is shown there."""

import numpy as np
import pandas as pd
import pytest

import bayes_arena as ba
from bayes_arena.people.sides import side_scores, votes_for_one_side
from tests.people.arenas import votes_of


def scores_of(votes):
    fit = ba.fit(votes, model="am-davidson")
    return pd.Series(side_scores(fit), fit.votes.annotators)


def test_by_chance_scores_are_standard_normal():
    score = scores_of(votes_of(annotators=60, each=100))
    assert abs(score.mean()) < 0.4
    assert 0.7 < score.std() < 1.3
    assert not any(votes_for_one_side(value, 0.95) for value in score)


def test_the_sign_is_the_side():
    votes = votes_of(annotators=12, each=80, planted=("first side",))
    score = scores_of(votes)
    assert score.idxmax() == "first side" and score.max() > 6
    swapped = votes.rename(columns={"model_a": "model_b", "model_b": "model_a"})
    swap = {"model_a": "model_b", "model_b": "model_a", "tie": "tie"}
    swapped["winner"] = votes["winner"].map(swap)
    assert scores_of(swapped)["first side"] == pytest.approx(-score.max(), abs=1e-6)


def test_a_strong_competitor_shown_first_is_no_side():
    """Of fixed places the share of the first is high, and as high as expected."""
    votes = votes_of(annotators=12, each=80)
    strong = votes["model_a"] < votes["model_b"]
    sided = votes["judge"] != "honest 00"
    score = scores_of(votes[strong | sided])
    assert abs(score["honest 00"]) < 3


@pytest.mark.parametrize(
    ("score", "share", "answer"),
    [(4.0, 0.9, True), (-4.0, 0.1, True), (3.9, 1.0, False), (9.0, 0.89, False)],
)
def test_nearly_all_votes_and_surely(score, share, answer):
    assert votes_for_one_side(score, share) == answer


def test_without_sides_there_is_no_score():
    rows = {"winner": ["x", "y", "x"] * 9, "loser": ["y", "x", "y"] * 9}
    votes = ba.read_votes(rows | {"judge": ["k", "l", "l"] * 9})
    fit = ba.fit(votes, model="am-davidson")
    assert side_scores(fit).tolist() == [0, 0]


def test_an_advantage_that_all_see_is_nobodys_side():
    """Where the first wins more often by everybody's votes, scores stay about 0."""
    rng = np.random.default_rng(0)
    votes = votes_of(annotators=20, each=150)
    votes.loc[rng.random(len(votes)) < 0.5, "winner"] = "model_a"
    score = scores_of(votes)
    assert abs(score.mean()) < 0.5 and score.abs().max() < 4


@pytest.mark.parametrize("sharp", [2.0, 6.0])
def test_who_follows_the_ranking_closely_is_not_taken_for_one_sided(sharp):
    """Where the stronger is always shown first, experts vote for the first."""
    rng = np.random.default_rng(0)
    r = np.linspace(1.5, -1.5, 10)
    first, second = np.sort(
        [rng.choice(10, 2, replace=False) for _ in range(3_000)], axis=1
    ).T
    k = rng.integers(30, size=len(first))
    theta = np.where(k < 6, sharp, 1.0)
    wins = rng.random(len(first)) < 1 / (1 + np.exp(-theta * (r[first] - r[second])))
    votes = pd.DataFrame(
        {
            "model_a": [f"m{i}" for i in first],
            "model_b": [f"m{j}" for j in second],
            "winner": np.where(wins, "model_a", "model_b"),
            "judge": [f"k{number:02d}" for number in k],
        }
    )
    table = ba.annotators(votes)
    assert (table["side"] > 0.9).any()
    assert not table["why"].str.startswith("one side").any()
