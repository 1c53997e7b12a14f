"""The default board of an arena, round by round."""

import numpy as np
import pytest

import bayes_arena as ba
from bayes_arena.arena.stable_arena import StableArena
from bayes_arena.errors import StoreError

HONEST = ba.simulate(annotators=10, votes=2000, discrimination_sd=0.1, seed=3).votes
LIAR = HONEST[:100].assign(
    judge="liar",
    winner=HONEST["winner"][:100].replace({"model_a": "model_b", "model_b": "model_a"}),
)


@pytest.fixture
def arena(tmp_path):
    arena = StableArena.create(tmp_path / "arena.db", delta=0)
    arena.add(HONEST[:1600])
    arena.round()
    return arena


def grown(arena):
    """Add votes, and hold another round."""
    with pytest.warns(ba.errors.ArenaWarning, match="equal stored votes"):
        arena.add(HONEST)
    arena.round()
    return arena.rate()


def test_the_first_board_is_the_default_one_of_the_votes(arena):
    rating = arena.rate()
    board = ba.rate(HONEST[:1600]).leaderboard
    np.testing.assert_allclose(rating.leaderboard["elo"], board["elo"], atol=1e-6)
    assert rating.changes is None
    assert arena.history("boards")["elo"].tolist() == rating.leaderboard["elo"].tolist()


def test_the_next_board_says_what_changed(arena, tmp_path):
    (tmp_path / "last.json").write_text(arena.rate().to_json())
    rating = grown(arena)
    table = ba.rate(HONEST, since=tmp_path / "last.json").leaderboard
    columns = ["elo_change", "change_lower", "change_upper"]
    np.testing.assert_allclose(rating.leaderboard[columns], table[columns], atol=1e-6)
    assert "(400 votes more)" in rating.changes.sentence
    since = arena.history("rounds")["since"]
    assert since.isna()[0] and since[1] == rating.changes.sentence
    kept = arena.history("boards").query("round == 2")
    np.testing.assert_allclose(kept["elo_change"], rating.leaderboard["elo_change"])
    assert set(kept["changed"]) <= {True, False}


def test_a_board_is_compared_with_that_of_another_round(arena):
    first = arena.rate()
    assert arena.rate().changes is None
    assert len(arena.history("boards")) == len(first.leaderboard)
    grown(arena)
    assert "(400 votes more)" in arena.rate().changes.sentence


def test_votes_that_were_excluded_meanwhile_are_not_in_both(tmp_path):
    arena = StableArena.create(tmp_path / "arena.db", delta=0)
    arena.add(HONEST[:1600])
    arena.add(LIAR)
    assert arena.round().excluded == ("liar",)
    arena.rate()
    rating = grown(arena)
    assert rating.left_out == ("liar",)
    assert "(2,000 votes in place of 1,700)" in rating.changes.sentence


def test_an_arena_without_a_round_has_no_board(tmp_path):
    with pytest.raises(StoreError, match="No round was held"):
        StableArena.create(tmp_path / "arena.db").rate()
