"""The one rule that decides what an annotator is called, at its edges."""

import numpy as np
import pandas as pd
import pytest

import bayes_arena as ba
from bayes_arena.errors import ArenaWarning
from bayes_arena.people.evidence import Evidence
from bayes_arena.people.favourites import Favourite
from bayes_arena.people.judgement import verdict_on
from tests.people.arenas import rows, votes_of

FAVOURITE = Favourite("oak", is_for=True, wins=9, votes=9, expected=4)


def judged(p=0.0, votes=50, own=1.0, **facts):
    """Return the judgement on somebody who agrees no more than chance, if not said."""
    half = votes / 2
    known = {"ties": 0, "agreement": 0, "lower": -0.1, "upper": 0.1, "p_anomaly": p}
    evidence = Evidence(**{"first": half, "second": half, **known, **facts})
    return verdict_on(evidence, lambda: own)


@pytest.mark.parametrize(
    ("p", "votes", "has_favourite", "verdict"),
    [
        (0.80, 10, False, "anomalous"),
        (0.79, 10, False, "suspect"),
        (0.50, 10, False, "suspect"),
        (0.49, 10, False, "ordinary"),
        (0.99, 9, False, "too few votes"),
        (0.00, 9, False, "too few votes"),
        (0.60, 10, True, "has a favourite"),
        (0.10, 9, True, "has a favourite"),
        (0.80, 10, True, "anomalous"),
    ],
)
def test_the_rule(p, votes, has_favourite, verdict):
    favourite = FAVOURITE if has_favourite else None
    assert judged(p, votes, favourite=favourite).verdict == verdict


def test_of_an_open_direction_nobody_is_anomalous_by_it():
    verdicts = [judged(p, is_open=True).verdict for p in (0.5, 0.4, 0.39, 0.9)]
    assert verdicts == ["suspect", "suspect", "ordinary", "anomalous"]
    opposed = judged(0.9, is_open=True, lower=-0.5, upper=-0.2)
    assert (opposed.verdict, opposed.reason.kind) == ("suspect", "opposed")


def test_faults_are_asked_in_order():
    facts = {"first": 10, "second": 0, "ties": 190, "side_score": 5.0}
    facts |= {"lower": -0.3, "upper": -0.1, "favourite": FAVOURITE}
    kinds = [judged(0.9, **facts).reason.kind]
    kinds.append(judged(0.9, **facts | {"favourite": None}).reason.kind)
    facts |= {"favourite": None, "upper": 0.1}
    kinds.append(judged(0.9, **facts).reason.kind)
    kinds.append(judged(0.9, **facts | {"ties": 0}).reason.kind)
    kinds.append(judged(0.9, **facts | {"ties": 0, "side_score": 0}).reason.kind)
    assert kinds == ["favourite", "reversed", "ties", "side", "chance"]


def test_who_agrees_surely_is_not_anomalous_for_agreement():
    loose = {"agreement": 0.28, "lower": 0.2, "upper": 0.36}
    judgement = judged(0.99, **loose)
    assert judgement.verdict == "suspect"
    words = "follows the others loosely: agreement 0.28 (0.20 … 0.36)"
    assert judgement.reason.text == words
    assert judged(0.99, **loose, favourite=FAVOURITE).verdict == "anomalous"
    assert judged(0.99, **loose, ties=500).reason.kind == "ties"


def test_a_ranking_of_ones_own_is_asked_of_those_alone_who_agree_by_chance():
    differs = judged(0.9, own=0.04)
    assert (differs.verdict, differs.reason.kind) == ("differs", "own ranking")
    assert judged(0.9, own=0.05).verdict == "anomalous"
    assert judged(0.9, own=0.01, lower=-0.3, upper=-0.1).verdict == "anomalous"
    assert judged(0.6, own=0.01).verdict == "suspect"


@pytest.mark.parametrize(
    ("score", "share", "verdict"),
    [(4.0, 0.75, "suspect"), (3.9, 0.75, "ordinary"), (9.0, 0.74, "ordinary")],
)
def test_three_in_four_for_a_side_are_suspect(score, share, verdict):
    sides = {"first": 100 * share, "second": 100 * (1 - share), "side_score": score}
    judgement = judged(0.1, **sides, lower=0.2, upper=0.4)
    assert judgement.verdict == verdict
    if verdict == "suspect":
        assert judgement.reason.text == "one side: the first in 75 of 100 decided votes"


def test_who_casts_the_votes_of_another_is_anomalous_whatever_else():
    judgement = judged(0.0, votes=20, copy_of="bot0", favourite=FAVOURITE)
    assert judgement.verdict == "anomalous"
    assert judgement.reason.text == "casts the same 20 votes as bot0"


@pytest.mark.parametrize("kind", ["guesses", "reversed", "always ties"])
@pytest.mark.parametrize("seed", range(2))
def test_each_kind_alone_is_found(kind, seed):
    row = rows(votes_of(seed=seed, annotators=15, each=80, planted=(kind,))).loc[kind]
    assert row["verdict"] == "anomalous"
    # By chance a guesser's votes may lean to a side, and a few reversed ones to none.
    kinds = {"always ties": {"ties"}}.get(kind, {"chance", "reversed", "side"})
    assert row["reason"] in kinds


@pytest.mark.parametrize("seed", range(3))
def test_one_who_takes_one_side_is_named(seed):
    """Alone among others, too, though its votes hardly tell its theta."""
    table = rows(votes_of(seed=seed, annotators=15, each=80, planted=("first side",)))
    assert table["verdict"]["first side"] == "anomalous"
    assert table["why"]["first side"].startswith("one side: the first in ")
    assert table["agreement"]["first side"] == 0
    assert table["side"].idxmax() == "first side"
    assert table["side"]["first side"] > 0.95
    assert table["side"].drop("first side").max() < 0.75
    assert table["p_anomaly"]["first side"] == 1


@pytest.mark.slow
def test_slices_do_not_hide_whom_annotators_favour():
    """The same votes on a hundred prompts are a hundred rows each, and one answer."""
    votes = votes_of(annotators=15, loyal=60)
    sliced = votes.assign(prompt=[f"p{k % 100}" for k in range(len(votes))])
    sliced = ba.read_votes(sliced, prompt="prompt")
    for function in (ba.favourites, ba.contested):
        pd.testing.assert_frame_equal(function(sliced), function(votes))


@pytest.mark.slow
def test_honest_arenas_have_hardly_any_discoveries():
    """Tastes are wide, and with them the scores that an ordinary annotator may give."""
    named = [
        ba.favourites(votes_of(seed=seed, annotators=25, taste=taste))["flagged"].sum()
        for seed in range(8)
        for taste in (0.0, 0.5)
    ]
    assert sum(count > 0 for count in named) <= 2


@pytest.mark.slow
def test_one_ranking_is_hardly_ever_doubted():
    p = [
        ba.shared_ranking(votes_of(seed=seed, annotators=12, taste=0.0))["p_value"][0]
        for seed in range(12)
    ]
    assert np.mean(np.array(p) < 0.01) < 0.1
    assert np.mean(p) > 0.25


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("each", [1, 5])
def test_of_two_equal_camps_nobody_is_named(each, seed):
    """Which of them is right, votes cannot tell: all are suspect, and it is said."""
    votes = votes_of(seed=seed, annotators=2 * each, each=150)
    is_reversed = votes["judge"].str[-2:].astype(int) >= each
    swapped = votes["winner"].replace({"model_a": "model_b", "model_b": "model_a"})
    votes["winner"] = votes["winner"].where(~is_reversed, swapped)
    with pytest.warns(ArenaWarning, match="which is right, they cannot tell"):
        table = ba.annotators(votes)
    assert set(table["verdict"]) == {"suspect"}
    assert set(table["reason"]) == {"opposed"}


def test_maximum_likelihood_does_not_choose_between_camps_either():
    """The paper's model gives both directions the same likelihood."""
    votes = votes_of(annotators=4, each=300)
    is_reversed = votes["judge"].str[-2:].astype(int) >= 2
    swapped = votes["winner"].replace({"model_a": "model_b", "model_b": "model_a"})
    votes["winner"] = votes["winner"].where(~is_reversed, swapped)
    with pytest.warns(ArenaWarning, match="which is right, they cannot tell"):
        fit = ba.fit(votes, model="am-elo", prior="flat")
    assert set(ba.annotators(fit)["verdict"]) == {"suspect"}
