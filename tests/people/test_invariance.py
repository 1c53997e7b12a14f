"""What decides nothing about annotators: sides, weights, others, and who stands where."""

import numpy as np
import pandas as pd
import pytest

import bayes_arena as ba
from tests.people.arenas import KINDS, rows, votes_of

OTHER_SIDE = {"model_a": "model_b", "model_b": "model_a", "tie": "tie"}
NUMBERS = ["agreement", "lower", "upper", "theta", "ties", "votes"]
PLANTED = ("reversed", "first side")


def turned(votes):
    """Return the same votes with the two competitors shown the other way round."""
    sides = votes.rename(columns={"model_a": "model_b", "model_b": "model_a"})
    return sides.assign(winner=votes["winner"].map(OTHER_SIDE))


@pytest.fixture(scope="module")
def votes():
    return votes_of(annotators=8, each=60, planted=PLANTED)


@pytest.fixture(scope="module")
def table(votes):
    return rows(votes)


def test_sides_turned_over_turn_only_the_side(votes, table):
    other = rows(turned(votes)).loc[table.index]
    assert (other["verdict"] == table["verdict"]).all()
    np.testing.assert_allclose(other["side"], 1 - table["side"])
    np.testing.assert_allclose(other["theta"], table["theta"], atol=1e-5)
    np.testing.assert_allclose(other[NUMBERS], table[NUMBERS], atol=0.05)
    assert table["why"]["first side"].startswith("one side: the first")
    assert other["why"]["first side"].startswith("one side: the second")


def test_the_agreement_of_the_reversed_is_that_of_their_votes_turned_back(votes):
    """Who votes against the ranking agrees as much as with the outcomes swapped."""
    back = votes.copy()
    mask = (votes["judge"] == "reversed").to_numpy()
    back.loc[mask, "winner"] = votes.loc[mask, "winner"].map(OTHER_SIDE)
    before, after = rows(votes).loc["reversed"], rows(back).loc["reversed"]
    assert before["verdict"] == "anomalous"
    assert after["verdict"] == "ordinary"
    assert before["agreement"] == pytest.approx(-after["agreement"], abs=0.1)


@pytest.mark.slow
def test_a_weight_is_as_many_votes(votes, table):
    weighted = ba.read_votes(votes.assign(weight=2.0), weight="weight")
    twice = ba.read_votes(pd.concat([votes, votes]))
    one, two = rows(weighted), rows(twice)
    assert (one["votes"] == 2 * table["votes"].loc[one.index]).all()
    np.testing.assert_allclose(one[NUMBERS], two.loc[one.index, NUMBERS], atol=1e-6)
    tests = [ba.favourites(source) for source in (weighted, twice)]
    np.testing.assert_allclose(tests[0]["p_value"], tests[1]["p_value"], rtol=1e-6)


def test_names_of_competitors_decide_nothing(votes, table):
    names = sorted({*votes["model_a"], *votes["model_b"]})
    new = dict(zip(names, names[::-1], strict=True))
    renamed = votes.assign(
        model_a=votes["model_a"].map(new), model_b=votes["model_b"].map(new)
    )
    other = rows(renamed).loc[table.index]
    assert (other["verdict"] == table["verdict"]).all()
    np.testing.assert_allclose(other["theta"], table["theta"], atol=1e-5)
    first, second = (ba.contested(source) for source in (votes, renamed))
    np.testing.assert_allclose(first["disagreement"], second["disagreement"], atol=1e-4)


def test_flag_is_the_column_verdict(votes, table):
    assert list(ba.flag(votes)) == table.index[table["verdict"] == "anomalous"].tolist()


@pytest.mark.slow
def test_ten_votes_are_judged_and_nine_are_not():
    """The line is the same in the table, in `flag` and in the counts of it."""
    votes = votes_of(annotators=15, each=80, planted=("reversed",))
    mask = votes["judge"] == "reversed"
    for size, verdict in ((9, {"too few votes"}), (40, {"anomalous", "suspect"})):
        some = votes[~mask | (mask.cumsum() <= size)]
        assert rows(some).loc["reversed", "verdict"] in verdict


@pytest.mark.slow
def test_the_probability_of_an_anomaly_means_what_it_says():
    """Of those at P of .8 nearly all are planted, and below .2 hardly anybody is."""
    p, planted = [], []
    for seed in range(8):
        votes = votes_of(seed=seed, annotators=25, each=30, planted=KINDS[:2])
        is_late = votes.groupby("judge").cumcount() >= 30
        table = rows(votes[~is_late])
        p.append(table["p_anomaly"].to_numpy())
        planted.append(table.index.isin(KINDS[:2]))
    p, planted = np.concatenate(p), np.concatenate(planted)
    assert planted[p >= 0.8].mean() > 0.8
    assert planted[p < 0.2].mean() < 0.02
