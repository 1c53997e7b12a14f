import numpy as np
import pandas as pd
import pytest

import bayes_arena as ba
from bayes_arena.people.shared import compare_boards
from tests.helpers import real
from tests.people.arenas import votes_of

COLUMNS = ["z", "p_value", "largest_gap", "exposure", "reading"]


def two_camps():
    """Return votes of many, and of a few who are sure, and see the best six reversed."""
    place = {f"model {c:02d}": 5 - c if c < 6 else c for c in range(12)}
    few = votes_of(seed=1, annotators=5, each=150)
    is_first = few["model_a"].map(place) < few["model_b"].map(place)
    is_first ^= np.random.default_rng(0).random(len(few)) < 0.05
    few["winner"] = np.where(is_first, "model_a", "model_b")
    few["judge"] = "sure " + few["judge"]
    return pd.concat([votes_of(annotators=20, each=150), few])


def test_one_ranking_is_not_doubted():
    table = ba.shared_ranking(votes_of(annotators=30))
    assert list(table.columns) == COLUMNS
    assert len(table) == 1
    row = table.iloc[0]
    assert row["p_value"] > 0.01
    assert row["exposure"] == pytest.approx(0.9, abs=0.2)
    assert row["largest_gap"] < 20
    assert row["reading"].startswith(
        "The boards of equal and of weighed votes differ by no more"
    )


def test_camps_are_said():
    row = ba.shared_ranking(two_camps()).iloc[0]
    assert row["p_value"] < 0.01
    assert row["reading"].startswith("Annotators disagree on the ranking")


def test_experts_who_saw_the_best_are_said():
    sharp = votes_of(seed=3, annotators=20, each=400, ties=False)
    is_top = (sharp["model_a"] < "model 06") & (sharp["model_b"] < "model 06")
    sharp = sharp[is_top].assign(judge="expert " + sharp["judge"])
    rng = np.random.default_rng(0)
    dull = votes_of(seed=4, annotators=20, each=200)
    guess = rng.random(len(dull)) < 0.6
    outcomes = rng.choice(["model_a", "model_b", "tie"], len(dull))
    dull["winner"] = np.where(guess, outcomes, dull["winner"])
    row = ba.shared_ranking(pd.concat([sharp, dull])).iloc[0]
    assert row["p_value"] < 0.01
    assert row["exposure"] > 1.5
    assert "model='am-davidson'" in row["reading"]


def test_one_annotator_shares_a_ranking_with_himself():
    row = ba.shared_ranking(votes_of(annotators=1, each=200)).iloc[0]
    assert row["p_value"] > 0.5
    assert row["largest_gap"] < 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "p", "gap", "exposure"),
    [("llmfao", 0.001, 49, 1.0), ("mt_bench_human", 0.70, 3.4, 3.5)],
)
def test_real_votes_by_prompt(name, p, gap, exposure):
    row = ba.shared_ranking(real(f"{name}.csv")).iloc[0]
    assert row["p_value"] == pytest.approx(p, rel=0.05)
    assert row["largest_gap"] == pytest.approx(gap, abs=0.5)
    assert row["exposure"] == pytest.approx(exposure, abs=0.05)


def test_without_prompts_each_row_is_a_cluster():
    votes = ba.read_votes(real("llmfao.csv"), prompt=False)
    fits = ba.fit(votes), ba.fit(votes, model="am-davidson")
    assert compare_boards(*fits).p_value < 1e-12
