"""Whom to compare next."""

from collections import Counter

import numpy as np
import pytest
from helpers import frame

import bayes_arena as ba
from bayes_arena.decisions import next_pairs


def duels(won: dict[str, int], lost: int = 0) -> ba.Fit:
    """Fit votes on pairs such as ``"xy"``: so many wins of the first, each with some losses."""
    rows = [(a, b, winner) for (a, b), n in won.items() for winner in ["model_a"] * n + ["model_b"] * lost]
    return ba.fit(ba.read_votes(frame(rows)))


@pytest.fixture(scope="module")
def two_strong() -> ba.Fit:
    """Fit votes by which x and y are much better than v and w, and may both be the best."""
    return duels({"xy": 20, "yx": 20, "xw": 40, "xv": 40, "yw": 40, "yv": 40, "vw": 20, "wv": 20})


@pytest.mark.parametrize("goal", ["best", "ranking"])
class TestEitherGoal:
    def test_a_pair_never_voted_on_comes_first(self, goal):
        table = ba.next_pairs(duels({"xy": 3, "yz": 3}, lost=1), 2, goal=goal)
        assert table.columns.tolist() == ["a", "b", "why"]
        assert {table["a"][0], table["b"][0]} == {"x", "z"}
        assert table["why"][0] == "never compared"

    def test_the_same_seed_gives_the_same_pairs(self, two_strong, goal):
        one, again, other = (ba.next_pairs(two_strong, 12, goal=goal, seed=seed) for seed in (1, 1, 2))
        assert one.equals(again)
        assert not one.equals(other)

    def test_neither_side_is_favoured(self, two_strong, goal):
        table = ba.next_pairs(two_strong, 300, goal=goal)
        assert 0.4 < (table["a"] < table["b"]).mean() < 0.6

    @pytest.mark.parametrize(("n", "seed"), [(0, 0), (1, -1)])
    def test_impossible_numbers_are_refused(self, two_strong, goal, n, seed):
        with pytest.raises(ba.ModelError, match=f"not {n} and {seed}"):
            ba.next_pairs(two_strong, n, goal=goal, seed=seed)


def test_for_the_ranking_counts_are_evened_out():
    table = ba.next_pairs(duels({"xy": 7, "yz": 2, "xz": 4}), 8, goal="ranking")
    asked = Counter(map(frozenset, zip(table["a"], table["b"], strict=True)))
    assert asked == {frozenset("yz"): 5, frozenset("xz"): 3}
    assert table["why"][0] == "2 votes so far"


def test_of_pairs_never_voted_on_those_of_a_newcomer_come_first():
    table = ba.next_pairs(duels({"xy": 50, "zw": 80, "yz": 50, "xn": 1}), 2, goal="ranking")
    assert all("n" in pair for pair in zip(table["a"], table["b"], strict=True))


def test_for_the_best_every_second_pair_may_be_the_best(two_strong):
    table = ba.next_pairs(two_strong, 40, goal="best")
    contenders = [{a, b} for a, b in zip(table["a"][1::2], table["b"][1::2], strict=True)]
    assert np.mean([pair == {"x", "y"} for pair in contenders]) > 0.9
    assert table["why"][1].startswith("P(best) 0.")


def test_a_chance_of_one_in_a_hundred_is_shown_as_that(two_strong, monkeypatch):
    monkeypatch.setattr(next_pairs, "best_probabilities", lambda strength: np.array([0.0, 0.0, 0.01, 0.99]))
    assert ba.next_pairs(two_strong, 2)["why"][1] in ("P(best) 0.99 and 0.01", "P(best) 0.01 and 0.99")


def test_a_certain_leader_is_asked_for_with_the_next():
    table = ba.next_pairs(duels({"xy": 300, "xz": 300, "yz": 300}, lost=2), 6)
    assert all({a, b} == {"x", "y"} for a, b in zip(table["a"][1::2], table["b"][1::2], strict=True))


def test_an_unknown_goal_is_refused(two_strong):
    with pytest.raises(ba.ModelError, match="goal must be one of best, ranking, not 'order'"):
        ba.next_pairs(two_strong, goal="order")


def test_nothing_is_known_of_the_best_without_a_finite_estimate():
    cells = ba.read_votes(frame([("x", "y", "model_a"), ("y", "z", "model_b"), ("z", "y", "tie")]))
    with pytest.warns(ba.errors.NoMaximumWarning):
        fit = ba.fit(cells, prior="flat")
    with pytest.raises(ba.errors.NotIdentifiedError, match="prior='default'"):
        ba.next_pairs(fit)
    assert len(ba.next_pairs(fit, goal="ranking")) == 20
