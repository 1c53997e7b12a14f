import numpy as np
import pandas as pd
import pytest

import bayes_arena as ba
from bayes_arena.people.annotators import votes_apart
from bayes_arena.people.favourites import favourite_rows, find_favourites
from tests.helpers import real
from tests.people.arenas import KINDS, fan, votes_of

COLUMNS = ["annotator", "competitor", "direction", "votes", "wins", "score", "expected"]


def flagged(votes):
    table = ba.favourites(votes)
    return table[table["flagged"]]


def test_a_favourite_is_found_and_nobody_else():
    table = ba.favourites(votes_of(loyal=80))
    assert list(table.columns) == [*COLUMNS, "p_value", "flagged"]
    assert table["p_value"].is_monotonic_increasing
    assert (table["votes"] >= 5).all()
    row = table[table["flagged"]].iloc[0]
    assert len(table[table["flagged"]]) == 1
    assert row["annotator"] == "honest 00"
    assert row["competitor"] == "model 10"
    assert row["direction"] == "for"
    assert row["wins"] / row["votes"] > 0.8
    assert row["expected"] < 0.4 * row["votes"]


def test_one_who_votes_against_a_competitor():
    votes = votes_of()
    best = "model 00"
    is_judged = votes["judge"] == "honest 03"
    against = votes_of(seed=1, annotators=1, each=600)
    against = against[(against["model_a"] == best) | (against["model_b"] == best)]
    loser = np.where(against["model_a"] == best, "model_b", "model_a")
    against = against.assign(judge="honest 03", winner=loser)
    row = flagged(pd.concat([votes[~is_judged], against])).iloc[0]
    assert (row["annotator"], row["competitor"]) == ("honest 03", best)
    assert row["direction"] == "against"
    assert row["wins"] == 0


@pytest.mark.parametrize("seed", range(4))
def test_ten_votes_by_chance_are_not_named(seed):
    votes = votes_of(seed=seed, annotators=30, each=60)
    luck = votes_of(seed=seed + 50, annotators=1, each=10)
    luck = luck.assign(model_a="model 06", winner="model_a", judge="honest 01")
    luck = luck[luck["model_b"] != "model 06"]
    assert flagged(pd.concat([votes, luck])).empty


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_nobody_honest_is_named_beside_bad_annotators(seed):
    votes = votes_of(seed=seed, planted=KINDS, annotators=40, taste=0.4)
    assert set(flagged(votes)["annotator"]) <= {"reversed"}


def test_order_and_names_decide_nothing():
    votes = votes_of(annotators=15, loyal=80)
    table = ba.favourites(votes)
    shuffled = ba.favourites(votes.sample(frac=1, random_state=0))
    np.testing.assert_allclose(shuffled["p_value"], table["p_value"], rtol=1e-7)
    swap = votes.rename(columns={"model_a": "model_b", "model_b": "model_a"})
    other = {"model_a": "model_b", "model_b": "model_a", "tie": "tie"}
    swapped = ba.favourites(swap.assign(winner=votes["winner"].map(other)))
    np.testing.assert_allclose(swapped["p_value"], table["p_value"], rtol=1e-4)


def test_fits_and_votes_give_the_same():
    votes = ba.read_votes(votes_of(annotators=10, loyal=40))
    by_fit = ba.favourites(ba.fit(votes, model="am-davidson"))
    assert by_fit.equals(ba.favourites(votes))


def test_two_annotators_with_few_votes():
    votes = votes_of(annotators=2, each=4)
    assert ba.favourites(votes).empty or not ba.favourites(votes)["flagged"].any()


def test_llmfao():
    table = flagged(real("llmfao.csv"))
    assert table["annotator"].tolist() == ["worker_15", "worker_70"]
    assert set(table["competitor"]) == {"Weaver 12k"}
    assert table["votes"].tolist() == [110, 45]
    assert (table["score"] / table["votes"]).round(2).tolist() == [0.97, 0.96]
    assert (table["expected"] / table["votes"]).round(2).tolist() == [0.40, 0.37]
    assert table["p_value"].tolist() == pytest.approx([2.7e-9, 1.5e-6], rel=0.05)


def test_mt_bench_has_none():
    assert flagged(real("mt_bench_human.csv")).empty


def test_named_pairs_are_left_out_of_the_expectations():
    votes = ba.read_votes(votes_of(annotators=15, loyal=80))
    result = find_favourites(votes)
    pair = int(np.flatnonzero(result.is_for)[0])
    fair = ba.favourites(votes_of(annotators=15))
    others = fair[fair["competitor"] == "model 10"]
    share = others["score"].sum() / others["votes"].sum()
    assert result.expected[pair] == pytest.approx(share, abs=0.08)


@pytest.mark.parametrize(("accounts", "each"), [(4, 60), (5, 40)])
def test_a_ring_does_not_hide_behind_itself(accounts, each):
    """Each of the accounts is held to what is expected from the honest votes."""
    honest = votes_of(annotators=30, each=40)
    rng = np.random.default_rng(1)
    names = [f"bot {number}" for number in range(accounts)]
    ring = [fan(rng, each, favourite=6, judge=name) for name in names]
    ring = [votes[votes["winner"] == "model_a"] for votes in ring]
    table = flagged(pd.concat([honest, *ring]))
    assert set(table["annotator"]) == set(names)
    assert set(table["competitor"]) == {"model 06"}
    verdicts = ba.annotators(pd.concat([honest, *ring])).set_index("annotator")[
        "verdict"
    ]
    assert set(verdicts[names]) <= {"has a favourite", "anomalous"}


def test_a_ring_makes_nobody_else_look_wrong():
    """Four accounts raise the weakest; who does not follow them stays ordinary."""
    honest = votes_of(annotators=30, each=40)
    rng = np.random.default_rng(1)
    ring = [fan(rng, 80, favourite=11, judge=f"bot {k}") for k in range(4)]
    ring = [votes[votes["winner"] == "model_a"] for votes in ring]
    table = ba.annotators(pd.concat([honest, *ring])).set_index("annotator")
    honest_names = [name for name in table.index if name.startswith("honest")]
    assert set(table.loc[honest_names, "verdict"]) == {"ordinary"}
    alone = ba.annotators(honest).set_index("annotator")
    np.testing.assert_allclose(
        table.loc[honest_names, "agreement"],
        alone.loc[honest_names, "agreement"],
        atol=0.08,
    )


def test_a_favourite_has_a_label_and_a_sentence():
    columns = {
        "annotator": ["eve", "bob"],
        "competitor": ["elm", "oak"],
        "direction": ["for", "against"],
        "votes": [20.0, 10.0],
        "score": [19.0, 1.0],
        "expected": [8.0, 6.0],
    }
    eve, bob = favourite_rows({k: np.array(x, object) for k, x in columns.items()})
    assert (eve["label"], bob["label"]) == ("eve: elm", "bob: against oak")
    assert eve["sentence"] == "eve gave elm 95 % in 20 votes; 40 % are expected."


def test_where_hardly_anybody_else_is_left_all_votes_judge():
    """Of one who always ties, among fans of eight competitors, it is still said."""
    honest = votes_of(annotators=1, each=40).assign(winner="tie")
    fans = [
        fan(np.random.default_rng(0), 40, favourite=k, judge=f"fan {k}")
        for k in range(8)
    ]
    table = ba.annotators(pd.concat([honest, *fans])).set_index("annotator")
    assert table.loc["honest 00", "reason"] == "ties"


@pytest.mark.parametrize("method", ["gaussian", "map"])
def test_the_others_are_judged_apart_from_favourites_where_they_are_enough(method):
    honest = votes_of(annotators=12, each=60)
    loyal = fan(np.random.default_rng(1), 80, judge="fan")
    fit = ba.fit(pd.concat([honest, loyal]), model="am-davidson", method=method)
    assert votes_apart(fit, find_favourites(fit.votes)).n_annotators == 12
    few = pd.concat([votes_of(annotators=3, each=60), loyal])
    few = ba.fit(few, model="am-davidson", method=method)
    assert votes_apart(few, find_favourites(few.votes)) is None
