import numpy as np
import pandas as pd
import pytest

import bayes_arena as ba
from bayes_arena.people.contested import describe_contested, find_contested
from bayes_arena.people.table import pair_table
from tests.helpers import real
from tests.people.arenas import fan, votes_of


def bought(accounts, each, seed=0):
    """Return votes, with those of accounts that only vote for the weakest but one."""
    rng = np.random.default_rng(seed)
    honest = votes_of(seed=seed, annotators=60, each=60)
    paid = [fan(rng, each, judge=f"paid {k:02d}") for k in range(accounts)]
    return pd.concat([honest, *paid], ignore_index=True)


def test_a_competitor_with_bought_votes_is_contested_and_no_other():
    table = ba.contested(bought(20, 15))
    assert list(table.columns) == ["competitor", "disagreement", "flagged"]
    assert table["competitor"][0] == "model 10"
    assert table["flagged"].tolist() == [True] + [False] * 11
    assert table["disagreement"].is_monotonic_decreasing


def test_a_sentence_says_who_disagrees():
    votes = ba.read_votes(bought(20, 15))
    table = pair_table(votes)
    (sentence,) = describe_contested(table, votes.competitors, find_contested(table))
    start = "Annotators disagree about model 10 far more than about others: "
    assert sentence.startswith(start)
    loyal = int(sentence.removeprefix(start).split()[0])
    assert 20 <= loyal <= 30
    assert "of cases" in sentence


@pytest.mark.parametrize("seed", range(3))
def test_honest_arenas_have_none(seed):
    votes = ba.read_votes(votes_of(seed=seed, annotators=40, taste=0.6))
    assert find_contested(pair_table(votes)).max() < 8


@pytest.mark.parametrize(("name", "best"), [("llmfao", 2.5), ("mt_bench_human", 0.4)])
def test_real_votes_have_none(name, best):
    table = ba.contested(real(f"{name}.csv"))
    assert not table["flagged"].any()
    assert table["disagreement"][0] == pytest.approx(best, abs=0.05)


def test_order_of_votes_decides_nothing():
    votes = votes_of(annotators=15)
    shuffled = votes.sample(frac=1, random_state=0)
    assert ba.contested(shuffled).equals(ba.contested(votes))
