import numpy as np
import pytest

import bayes_arena as ba
from bayes_arena.checks.compare import comparison_columns, stacking_weights
from bayes_arena.checks.loo import LeaveOneOut


@pytest.fixture(scope="module")
def votes():
    arena = ba.simulate(competitors=4, annotators=6, votes=200, reversed=1, seed=2)
    return ba.read_votes(arena.votes)


def estimate(elpd, votes):
    zeros = np.zeros(len(elpd))
    return LeaveOneOut(np.array(elpd), zeros + 0.3, zeros, np.array(votes))


def test_known_answer():
    votes = [3.0, 1.0]
    worse, better = estimate([-1.0, -2.0], votes), estimate([-1.0, -1.0], votes)
    columns = comparison_columns({"x": worse, "y": better})
    assert columns["model"] == ["y", "x"]
    assert columns["rank"].tolist() == [1, 2]
    assert columns["elpd"] == [-4, -5]
    assert columns["elpd_diff"] == [0, -1]
    # Differences 0, 0, 0 and -1: n times their variance is 3/4.
    assert columns["dse"] == [0, pytest.approx(np.sqrt(0.75))]
    assert columns["weight"] == pytest.approx([1, 0], abs=1e-6)
    assert columns["pareto_k"] == [0.3, 0.3]


def test_stacking_mixes_models_that_are_right_in_turn():
    good, bad = np.log(0.9), np.log(0.1)
    elpd = np.array([[good, bad], [bad, good]])
    np.testing.assert_allclose(stacking_weights(elpd, np.array([1.0, 1.0])), 0.5)
    # w maximises 3 ln(.1 + .8 w) + ln(.9 - .8 w).
    weights = stacking_weights(elpd, np.array([3.0, 1.0]))
    assert weights[0] == pytest.approx((0.75 - 0.1) / 0.8, abs=1e-5)


@pytest.mark.slow
def test_annotators_that_differ(votes):
    fits = {"alike": ba.fit(votes), "by annotator": ba.fit(votes, model="am-davidson")}
    table = ba.compare(fits)
    names = "model rank elpd elpd_diff se dse weight pareto_k"
    assert list(table.columns) == names.split()
    assert table["model"][0] == "by annotator"
    assert table["elpd_diff"][1] < -2 * table["dse"][1]
    same = ba.compare({"x": fits["alike"], "y": fits["alike"]})
    assert same["elpd_diff"].tolist() == same["dse"].tolist() == [0, 0]


def test_ties_treated_differently_are_refused(votes):
    fits = {"x": ba.fit(votes), "y": ba.fit(votes, model="bradley-terry")}
    with pytest.raises(ba.ArenaError, match=r"different things.*treat ties alike"):
        ba.compare(fits)


def test_without_ties_bradley_terry_and_davidson_are_comparable():
    from bayes_arena.checks.compare import require_comparable

    arena = ba.simulate(competitors=4, annotators=3, votes=90, tie_propensity=0)
    models = ("bradley-terry", "davidson", ba.Model("x", ties="drop"))
    require_comparable({str(m): ba.fit(arena.votes, model=m) for m in models})


def test_different_votes_are_refused(votes):
    fewer = votes.take(np.arange(len(votes) - 5))
    with pytest.raises(ba.ArenaError, match="different votes"):
        ba.compare({"x": ba.fit(votes), "y": ba.fit(fewer)})


@pytest.mark.parametrize("fits", [{}, [1, 2]])
def test_one_fit_is_not_enough(fits):
    with pytest.raises(ba.ArenaError, match="two fits or more"):
        ba.compare(fits)
