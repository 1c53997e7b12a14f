import re
from dataclasses import replace

import numpy as np
import pytest

import bayes_arena as ba
from bayes_arena.errors import ArenaWarning, FitError, VotesError
from bayes_arena.fits.draws import draw
from bayes_arena.fits.marginals import Marginals
from bayes_arena.said import Use
from tests.helpers import real
from tests.people.arenas import KINDS, rows, votes_of

COLUMNS = ["verdict", "why", "reason", "p_anomaly", "agreement", "lower", "upper"]


@pytest.fixture(scope="module")
def planted():
    return rows(votes_of(planted=KINDS, loyal=60))


def test_columns(planted):
    assert list(planted.columns) == [*COLUMNS, "theta", "ties", "side", "votes"]
    assert planted["votes"]["honest 01"] == 100
    assert planted["votes"]["guesses"] == 300
    assert planted["theta"].mean() == pytest.approx(1)
    judged = planted.drop("first side")  # whose agreement is 0, by chance
    assert (judged["lower"] < judged["agreement"]).all()
    assert (judged["agreement"] < judged["upper"]).all()


def test_planted_annotators_are_anomalous_and_nobody_honest(planted):
    anomalous = planted.index[planted["verdict"] == "anomalous"]
    assert set(anomalous) == set(KINDS)
    assert (planted.loc[list(KINDS), "p_anomaly"] >= 0.8).all()


def test_why_says_in_what_way(planted):
    why = planted["why"]
    assert why["guesses"].startswith("agrees no more than chance: ")
    assert why["reversed"].startswith("reversed: agreement -0.")
    assert why["always ties"] == "always ties: 300 of 300"
    assert why["first side"].startswith("one side: the first in 2")
    assert (why[planted["verdict"] == "ordinary"] == "").all()


def test_the_kind_of_a_reason_stands_beside_its_words(planted):
    kinds = dict(zip(KINDS, ("chance", "reversed", "ties", "side"), strict=True))
    assert planted["reason"][list(KINDS)].to_dict() == kinds
    assert (planted["reason"][planted["verdict"] == "ordinary"] == "").all()


def test_a_favourite_is_named_with_its_counts(planted):
    row = planted.loc["honest 00"]
    assert row["reason"] == "favourite"
    assert row["verdict"] == "has a favourite"
    assert row["why"].startswith("favours model 10: ")
    assert row["why"].endswith("expected")


def test_the_example_names_those_who_are_reversed():
    arena = ba.example_arena()
    why = rows(arena.votes).loc[list(arena.anomalous), "why"]
    assert why.str.startswith("reversed: agreement -0.").all()


def test_the_order_is_that_of_the_verdicts(planted):
    order = list(dict.fromkeys(planted["verdict"]))
    assert order == ["anomalous", "has a favourite", "ordinary"]
    p = planted["p_anomaly"][planted["verdict"] == "ordinary"]
    assert p.is_monotonic_decreasing


def test_agreement_is_that_of_the_true_parameters():
    votes = votes_of(annotators=40, each=400, taste=0.0)
    r = np.linspace(1.5, -1.5, 12)
    i, j = np.triu_indices(12, 1)
    lead = r[i] - r[j]
    net = 2 * np.sinh(lead / 2) / (2 * np.cosh(lead / 2) + 1)
    assert rows(votes)["agreement"].mean() == pytest.approx(net.mean(), abs=0.02)


@pytest.mark.slow
def test_order_and_names_of_votes_decide_nothing(planted):
    votes = votes_of(planted=KINDS, loyal=60)
    shuffled = votes.sample(frac=1, random_state=1)
    same = rows(shuffled).loc[planted.index]
    assert (same["p_anomaly"] == planted["p_anomaly"]).all()
    names = {name: f"z{99 - c}" for c, name in enumerate(planted.index)}
    renamed = votes.assign(judge=votes["judge"].map(names))
    other = rows(renamed).loc[[names[name] for name in planted.index]]
    # The draws are others, the verdicts are not.
    assert (other["verdict"].to_numpy() == planted["verdict"].to_numpy()).all()
    np.testing.assert_allclose(other["theta"], planted["theta"], atol=1e-6)


def test_a_fit_with_theta_is_taken_as_it_is():
    votes = votes_of(annotators=8, each=40)
    fit = ba.fit(votes, model="am-davidson")
    np.testing.assert_allclose(
        rows(fit)["theta"].sort_index(), fit.discrimination, rtol=1e-12
    )
    alike = rows(ba.fit(votes))
    np.testing.assert_allclose(alike["theta"], rows(fit)["theta"], rtol=1e-9)


def test_few_votes_are_not_judged():
    votes = votes_of(annotators=12, each=40, planted=("reversed",))
    is_planted = votes["judge"] == "reversed"
    few = votes[~is_planted | (is_planted.cumsum() <= 9)]
    row = rows(few).loc["reversed"]
    assert row["verdict"] == "too few votes"
    assert row["votes"] == 9
    assert row["why"] == ""
    assert rows(few).index[-1] == "reversed"


def test_an_only_annotator_agrees_with_nobody():
    row = rows(votes_of(annotators=1, each=100)).iloc[0]
    assert row["verdict"] == "only annotator"
    assert np.isnan(row["p_anomaly"])
    assert np.isnan(row["agreement"])


def test_without_ties_and_without_sides():
    votes = votes_of(
        annotators=12, each=60, planted=("reversed", "guesses"), ties=False
    )
    table = rows(votes)
    assert (table["ties"] == 0).all()
    assert table.loc["reversed", "verdict"] == "anomalous"
    wins = votes.rename(columns={"model_a": "winner", "model_b": "loser"})
    winner = votes["model_a"].where(votes["winner"] == "model_a", votes["model_b"])
    loser = votes["model_b"].where(votes["winner"] == "model_a", votes["model_a"])
    wins = votes[["judge"]].assign(winner=winner, loser=loser)
    unsided = rows(wins)
    assert unsided["side"].isna().all()
    assert unsided.loc["reversed", "verdict"] == "anomalous"


def test_the_papers_theta_stands_beside_am_elo():
    votes = votes_of(annotators=12, each=80, planted=("reversed", "always ties"))
    table = rows(ba.fit(votes, model="am-elo", prior="flat"))
    assert table["theta_of_sum_one"].sum() == pytest.approx(1)
    flagged = table.index[table["flagged_by_theta"]]
    assert set(flagged) == {"reversed", "always ties"}
    assert set(ba.flag_by_theta(votes)) == set(flagged)


def test_annotators_have_to_be_known():
    votes = votes_of(annotators=3).drop(columns="judge")
    for function in (ba.annotators, ba.favourites, ba.contested, ba.shared_ranking):
        with pytest.raises(VotesError, match="do not say who voted"):
            function(votes)


def test_samples_count_in_place_of_the_gaussian():
    votes = votes_of(annotators=8, each=60, planted=("reversed",))
    fit = ba.fit(votes, model="am-davidson")
    samples = {name: values[None] for name, values in draw(fit, 400, seed=5).items()}
    samples["discrimination"] = samples["discrimination"] - 1
    sampled = rows(replace(fit, marginals=Marginals(fit.posterior, samples)))
    close = rows(fit).loc[sampled.index]
    assert (sampled["verdict"] == close["verdict"]).all()
    np.testing.assert_allclose(sampled["agreement"], close["agreement"], atol=0.02)
    samples["discrimination"] = np.ones_like(samples["discrimination"]) * 1e-3
    assert (
        rows(replace(fit, marginals=Marginals(fit.posterior, samples)))["agreement"] > 0
    ).all()


def test_where_no_fit_judges_annotators_the_reason_is_said(monkeypatch):
    """A board needs no such fit; favourites are found without it, too."""

    def no_answer(*_, **__):
        raise FitError("There is no answer.", Use(method="map"))

    monkeypatch.setattr("bayes_arena.people.doors.fit_model", no_answer)
    votes = votes_of(annotators=12, each=60, loyal=60)
    said = "Annotators were not judged. There is no answer. Use method='map'."
    with pytest.warns(ArenaWarning, match=re.escape(said)):
        table = rows(votes)
    assert list(table.columns)[:3] == ["verdict", "why", "reason"]
    assert table["verdict"].to_dict() == {
        name: "has a favourite" if name == "honest 00" else "not judged"
        for name in table.index
    }
    assert table["p_anomaly"].isna().all() and table["theta"].isna().all()
    with pytest.raises(FitError, match="There is no answer"):
        rows(votes, prior="weak")
    with pytest.raises(FitError, match="There is no answer"):
        ba.flag(votes)


@pytest.mark.slow
def test_llmfao():
    table = rows(real("llmfao.csv"))
    anomalous = table.index[table["verdict"] == "anomalous"]
    numbers = [int(name.removeprefix("worker_")) for name in anomalous]
    assert set(numbers) == {11, 15, 20, 32, 70, 65, 77, 74}
    assert numbers[:2] == [15, 70]
    assert table["why"].iloc[0] == "favours Weaver 12k: 106 of 110, 44 expected"
    assert table["why"].iloc[1] == "favours Weaver 12k: 43 of 45, 17 expected"
    assert (
        table["why"]["worker_11"] == "agrees no more than chance: -0.01 (-0.06 … 0.04)"
    )
    assert table["why"]["worker_32"] == "one side: the first in 21 of 21 decided votes"
    assert (table["verdict"] == "too few votes").sum() == 33
    assert (table["verdict"] == "suspect").sum() == 6


def test_mt_bench_has_nobody_to_name():
    verdicts = rows(real("mt_bench_human.csv"))["verdict"].value_counts()
    assert dict(verdicts) == {"ordinary": 62, "too few votes": 3}
