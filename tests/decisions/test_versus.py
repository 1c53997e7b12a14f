"""One competitor against another."""

from dataclasses import replace

import numpy as np
import pytest
from helpers import RIGGERS, frame

import bayes_arena as ba
from bayes_arena.decisions import versus
from bayes_arena.inference.estimand import Estimand


def duels(won: dict[str, int], lost: int = 0) -> ba.Fit:
    """Fit votes on pairs such as ``"xy"``: so many wins of the first, each with some losses."""
    rows = [(a, b, winner) for (a, b), n in won.items() for winner in ["model_a"] * n + ["model_b"] * lost]
    return ba.fit(ba.read_votes(frame(rows)))


@pytest.fixture(scope="module")
def close() -> ba.Fit:
    return duels({"xy": 24, "xz": 60, "yz": 60}, lost=20)


def test_it_agrees_with_the_tables(close):
    found = ba.versus(close, "x", "y", level=0.8)
    table = ba.head_to_head(close, [("x", "y")])
    assert found.expected_score == pytest.approx(table["mean"][0])
    elo = ba.leaderboard(close).set_index("competitor")["elo"]
    assert found.elo_gap == pytest.approx(elo["x"] - elo["y"], abs=1.5)
    assert found.lower < found.elo_gap < found.upper
    assert (found.votes, found.wins, found.losses, found.ties) == (44, 24, 20, 0)


def test_wins_of_every_grade_are_wins():
    rows = [("x", "y", label) for label in ["A>>B"] * 5 + ["A>B"] * 3 + ["B>A"] * 2 + ["A=B"] * 2 + ["B>>A"]]
    found = ba.versus(ba.fit(ba.read_votes(frame(rows))), "x", "y")
    assert (found.votes, found.wins, found.losses, found.ties) == (13, 8, 3, 2)


def test_pairs_in_parts_are_those_of_all_together(close, monkeypatch):
    together = ba.pairs(close)
    monkeypatch.setattr(versus, "AT_ONCE", 2)
    assert len(together) == 3 and ba.pairs(close).equals(together)


def test_either_order_is_the_same_answer(close):
    one, other = ba.versus(close, "x", "y"), ba.versus(close, "y", "x")
    assert str(one) == str(other)
    assert one.p_better == pytest.approx(1 - other.p_better)
    assert one.turned_round.elo_gap == pytest.approx(other.elo_gap)


def test_of_two_who_are_level_neither_is_ahead():
    level = str(ba.versus(duels({"xy": 20}, lost=20), "x", "y"))
    assert "It is 0 Elo points ahead" in level and "expected to take 50 %" in level


def test_a_settled_pair_needs_no_more_votes(close):
    found = ba.versus(close, "x", "z")
    assert found.settled and found.votes_to_go == 0
    assert str(found).startswith("x is better than z (probability ")
    assert "would settle" not in str(found)


def test_a_pair_that_lacks_next_to_nothing_needs_one_vote_more(close):
    level = np.nextafter(ba.versus(close, "x", "y").p_better, 1)
    found = ba.versus(close, "x", "y", level=level)
    assert not found.settled and found.votes_to_go == 1


def test_so_many_more_votes_of_the_same_kind_settle_it(close):
    found = ba.versus(close, "x", "y")
    assert not found.settled and str(found).startswith("The votes do not settle whether x is better than y")
    share = found.expected_score
    won, lost = (round(part * found.votes_to_go) for part in (share, 1 - share))
    more = [("x", "y", "model_a")] * won + [("x", "y", "model_b")] * lost
    before = [(a, b, w) for a, b, n in [("x", "y", 24), ("x", "z", 60), ("y", "z", 60)]
              for w in ["model_a"] * n + ["model_b"] * 20]  # fmt: skip
    now = ba.versus(ba.fit(ba.read_votes(frame(before + more))), "x", "y")
    assert now.p_better == pytest.approx(0.95, abs=0.02)


def test_a_share_that_is_turned_round_leaves_gaps_those_of_the_board(close):
    """187 of 4,000 draws would leave one draw without its opposite, and gaps by chance, which follows the names."""
    board, open_ = ba.leaderboard(close).set_index("competitor")["elo"], replace(close, mirror_probability=187 / 4000)
    for a, b in (("x", "y"), ("x", "z"), ("y", "z")):
        gap = ba.versus(open_, a, b).elo_gap / (board[a] - board[b])
        assert gap == pytest.approx(1 - 2 * 188 / 4000, abs=1e-9)


def test_where_it_cannot_be_estimated_no_number_is_given(close):
    turned = ba.versus(replace(close, mirror_probability=0.3), "x", "z")
    assert turned.votes_to_go is None and not turned.settled
    assert turned.expected_score < ba.versus(close, "x", "z").expected_score
    on_new_prompts = ba.versus(replace(close, estimand=Estimand()), "x", "y")
    assert on_new_prompts.votes_to_go is None and "would settle" not in str(on_new_prompts)
    assert ba.versus(replace(close, estimand=Estimand()), "x", "z").votes_to_go == 0


@pytest.mark.slow
def test_votes_that_do_not_count_settle_nothing(discounted, rigged):
    found, alike, honest = (
        ba.versus(fit, "model-005", "model-003")
        for fit in (discounted, ba.fit(rigged, robust=False), ba.fit(rigged, drop=RIGGERS))
    )
    assert alike.p_better < found.p_better and abs(found.p_better - honest.p_better) < 0.1


def test_what_cannot_be_compared_is_refused(close):
    with pytest.raises(ba.ModelError, match="there is no 'w'"):
        ba.versus(close, "x", "w")
    with pytest.raises(ba.ModelError, match="two different competitors"):
        ba.versus(close, "x", "x")
    with pytest.raises(ba.ModelError, match="between 0 and 1"):
        ba.versus(close, "x", "y", level=95)


def test_nothing_is_settled_between_groups_that_no_vote_connects():
    with pytest.warns(ba.errors.IdentificationWarning):
        fit = duels({"ab": 40, "xy": 40})
    found = ba.versus(fit, "a", "y", level=0.6)
    assert found.p_better > 0.6 and not found.settled and found.votes_to_go is None
    assert "No votes compare the two, not even through others; the prior alone relates them." in str(found)
    assert ba.verdict(fit, level=0.999).votes_to_rank == np.inf
