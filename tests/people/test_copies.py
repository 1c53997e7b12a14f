"""Accounts that cast the same votes."""

import itertools

import numpy as np
import pandas as pd
import pytest

import bayes_arena as ba
from tests.people.arenas import rows, votes_of


@pytest.fixture(scope="module")
def honest():
    votes = votes_of(annotators=12, each=40)
    rng = np.random.default_rng(4)
    return votes.assign(prompt=[f"p{number}" for number in rng.integers(30, size=480)])


def with_copies(votes, size, n=2):
    source = votes[votes["judge"] == "honest 05"].head(size)
    copies = [source.assign(judge=f"zz {number}") for number in range(n)]
    others = votes[votes["judge"] != "honest 05"]
    return pd.concat([others, source, *copies])


def copies_in(votes):
    table = rows(votes)
    return table[table["reason"] == "copies"]


def test_all_but_the_first_are_named(honest):
    table = copies_in(with_copies(honest, 20))
    assert set(table.index) == {"zz 0", "zz 1"}
    assert set(table["verdict"]) == {"anomalous"}
    assert set(table["why"]) == {"casts the same 20 votes as honest 05"}


@pytest.mark.slow
def test_nine_votes_alike_are_not_named(honest):
    assert copies_in(with_copies(honest, 9)).empty
    assert len(copies_in(with_copies(honest, 10))) == 2


def test_whoever_is_shown_first_votes_are_the_same(honest):
    votes = with_copies(honest, 20, n=1)
    is_copy = votes["judge"] == "zz 0"
    names = {"model_a": "model_b", "model_b": "model_a"}
    turned = votes[is_copy].rename(columns=names)
    turned["winner"] = turned["winner"].replace(names)
    assert len(copies_in(pd.concat([votes[~is_copy], turned]))) == 1


@pytest.mark.slow
def test_another_prompt_or_verdict_is_another_vote(honest):
    votes = with_copies(honest, 20, n=1).reset_index(drop=True)
    last = votes.index[-1]
    other = {"model_a": "tie", "model_b": "tie", "tie": "model_a"}
    winner = votes["winner"].where(votes.index != last, votes["winner"].map(other))
    assert copies_in(votes.assign(winner=winner)).empty
    prompt = votes["prompt"].where(votes.index != last, "another")
    assert copies_in(votes.assign(prompt=prompt)).empty
    assert len(copies_in(votes.drop(columns="prompt"))) == 1


def test_honest_people_who_all_see_the_same_pairs_agree_by_chance():
    """Of thirty who judge the same ten clear pairs, many cast the same ten votes."""
    rng = np.random.default_rng(0)
    pairs = list(itertools.combinations(range(5), 2))
    table = pd.DataFrame(
        [
            (f"m{i}", f"m{j}", "model_a" if rng.random() < 0.93 else "model_b", f"k{k}")
            for k in range(30)
            for i, j in pairs
        ],
        columns=["model_a", "model_b", "winner", "judge"],
    )
    ballots = table.groupby("judge")["winner"].agg(tuple)
    assert ballots.duplicated().sum() > 5
    assert copies_in(table).empty


def test_the_example_has_no_copies():
    assert copies_in(ba.example_arena().votes).empty
