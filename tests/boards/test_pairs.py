"""Pairs, the gate, and the matrix of expected scores."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.special import expit, ndtr

import bayes_arena as ba
from bayes_arena.boards.pairs import gate, pair_columns, what_pairs_lack
from bayes_arena.boards.standing import standing_of
from bayes_arena.errors import ArenaWarning
from tests.boards.arenas import SEED, columns, fitted, of_wins


def test_a_row_a_pair_the_stronger_first():
    fit = fitted()
    table = ba.pairs(fit)
    assert len(table) == 15
    assert (table["gap"] >= 0).all() and (table["p_ahead"] >= 0.5).all()
    board = ba.leaderboard(fit).set_index("competitor")["elo"]
    gap = board[table["first"]].to_numpy() - board[table["second"]].to_numpy()
    np.testing.assert_allclose(table["gap"], gap)
    np.testing.assert_allclose(table["score"], 1 / (1 + 10 ** (-gap / 400)))


def test_a_gap_is_surer_than_its_two_scores():
    fit = fitted(2, 100)
    pair = ba.pairs(fit, interval="posterior").iloc[0]
    board = fit.marginals.board
    strength, covariance = board.value, board.covariance
    sd = np.sqrt(covariance[0, 0] + covariance[1, 1] - 2 * covariance[0, 1])
    points = ba.EloScale().points_per_logit
    assert pair["upper"] - pair["gap"] == pytest.approx(
        1.959964 * points * sd, rel=1e-6
    )
    assert pair["p_ahead"] == pytest.approx(ndtr(np.ptp(strength) / sd))


def test_one_pair_is_turned_as_it_is_asked():
    fit = fitted()
    there = ba.pairs(fit, between=("m01", "m04")).iloc[0]
    back = ba.pairs(fit, between=("m04", "m01")).iloc[0]
    assert there["gap"] == pytest.approx(-back["gap"])
    assert there["lower"] == pytest.approx(-back["upper"])
    assert there["p_ahead"] == pytest.approx(1 - back["p_ahead"])
    votes, _ = columns()
    sides = zip(votes["model_a"], votes["model_b"], strict=True)
    assert there["votes"] == sum({a, b} == {"m01", "m04"} for a, b in sides)


def test_more_votes_are_none_where_the_order_is_settled():
    table = ba.pairs(fitted(6, 300))
    settled = (table["lower"] > 0) | (table["upper"] < 0)
    assert settled.any() and not settled.all()
    assert ((table["more_votes"] == 0) == settled).all()


def test_equal_competitors_take_no_number_of_votes():
    table = ba.pairs(of_wins([("a", "b", 20), ("b", "a", 20)]))
    assert np.isinf(table["more_votes"][0])


@pytest.mark.parametrize(
    ("between", "error"),
    [(("m01", "m9"), "'m9' is no competitor"), (("m01", "m01"), "two competitors")],
)
def test_pairs_that_are_none(between, error):
    with pytest.raises(ba.errors.ModelError, match=error):
        ba.pairs(fitted(), between=between)


def standing_with_gap(gap, sd=10.0):
    """Return a standing of two whose first leads by some Elo."""
    points = ba.EloScale().points_per_logit
    fit = fitted(2, 50)
    standing = standing_of(fit)
    covariance = np.array([[1.0, -1.0], [-1.0, 1.0]]) * (sd / points / 2) ** 2
    names = vars(standing) | {
        "strength": np.array([gap, -gap]) / points / 2,
        "uncertainty": SimpleNamespace(
            cluster=None, covariance=covariance, df=np.inf, samples=None
        ),
    }
    return type(standing)(**{k: names[k] for k in standing.__dataclass_fields__})


@pytest.mark.parametrize(
    ("gap", "require", "margin", "answer"),
    [
        (30, "better", 0, "yes"),
        (-30, "better", 0, "no"),
        (10, "better", 0, "open"),
        (30, "better", 20, "open"),
        (-30, "better", 20, "no"),
        (0, "not-worse", 30, "yes"),
        (-10, "not-worse", 20, "open"),
        (-60, "not-worse", 20, "no"),
        (-30, "settled", 0, "yes"),
        (10, "settled", 0, "open"),
    ],
)
def test_the_gate(gap, require, margin, answer):
    standing = standing_with_gap(gap)
    assert gate(standing, ("m00", "m01"), require, margin) == answer


def test_the_gate_is_open_where_nothing_compares_the_two():
    votes = of_wins([("a", "b", 60), ("b", "a", 2), ("c", "d", 60), ("d", "c", 2)])
    with pytest.warns(ArenaWarning, match="never compared"):
        standing = standing_of(ba.fit(votes))
    assert gate(standing, ("a", "b"), "better") == "yes"
    assert gate(standing, ("a", "d"), "better") == "open"


def test_the_gate_refuses_what_it_does_not_know():
    standing = standing_with_gap(10)
    with pytest.raises(ba.errors.ModelError, match="require"):
        gate(standing, ("m00", "m01"), "best")
    with pytest.raises(ba.errors.ModelError, match="margin"):
        gate(standing, ("m00", "m01"), "better", -1)


def test_without_an_estimate_there_is_no_pair():
    votes = of_wins([("a", "b", 9), ("b", "a", 6), ("a", "c", 12)])
    with pytest.warns(ArenaWarning, match="No finite estimate"):
        fit = ba.fit(votes, model="bradley-terry", prior="flat")
    assert len(ba.pairs(fit)) == 1
    with pytest.raises(ba.errors.NotIdentifiedError, match="'c' has no finite"):
        ba.pairs(fit, between=("a", "c"))


def test_win_probability_is_the_matrix_of_the_board():
    fit = ba.fit(SEED, model="bradley-terry", prior="flat")
    matrix = ba.win_probability(fit)
    assert matrix.loc["B", "C"] == pytest.approx(0.5 / (0.5 + 5 / 3))
    values = matrix.to_numpy()
    off = ~np.eye(3, dtype=bool)
    np.testing.assert_allclose((values + values.T)[off], 1)
    assert np.isnan(np.diag(values)).all()


def test_expected_scores_are_those_of_the_votes():
    votes, strength = columns(2, 4_000, tie=0.0, seed=6)
    matrix = ba.win_probability(ba.fit(votes))
    expected = expit(strength[0] - strength[1])
    assert matrix.loc["m00", "m01"] == pytest.approx(expected, abs=0.03)


def test_where_no_vote_is_a_tie_none_is_expected():
    wins = [("oak", "elm"), ("oak", "ash"), ("elm", "ash"), ("ash", "elm")]
    fit = ba.fit(of_wins([(*pair, 1) for pair in wins]))
    prediction = ba.predict(fit, [("oak", "elm")])
    assert prediction["p_tie"][0] == 0
    assert "no ties" in fit.plan


def test_where_prompts_lack_no_number_of_votes_is_given():
    standing = standing_of(fitted(8, 3000, prompts=12, prompt_sd=1.0, spread=0.3))
    table = pair_columns(standing)
    is_open = np.asarray(table["more_votes"]) != 0
    assert is_open.any() and np.isnan(table["more_votes"][is_open]).all()
    line = str(what_pairs_lack(standing, table)[0])
    assert line.startswith("More prompts would settle them, about ")
    assert line.endswith("; more votes on these 12 would not.")


def test_so_many_prompts_would_settle_a_pair():
    """Twice the half-width for the gap takes four times the prompts: 3 x 12 more."""
    standing = standing_of(fitted(8, 3000, prompts=12, prompt_sd=1.0, spread=0.3))
    n = standing.uncertainty.n_clusters
    names = {"first": ["a"], "second": ["b"], "more_votes": [np.nan]}
    open_pair = names | {"gap": [10.0], "lower": [-10.0]}
    line = str(what_pairs_lack(standing, open_pair)[0])
    assert line.startswith(f"About {3 * n} more prompts would settle it")
