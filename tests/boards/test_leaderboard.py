"""The leaderboard: columns, who has a rank, invariances."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

import bayes_arena as ba
from bayes_arena.errors import ArenaWarning
from tests.boards.arenas import columns, fitted, of_wins
from tests.helpers import elo_of, real

COLUMNS = [
    "rank", "competitor", "elo", "lower", "upper", "rank_lower", "rank_upper",
    "votes", "wins", "losses", "ties", "p_best",
]  # fmt: skip


def test_columns_and_order():
    votes, _ = columns()
    board = ba.leaderboard(ba.fit(votes))
    assert list(board) == COLUMNS
    assert board["rank"].tolist() == [1, 2, 3, 4, 5, 6]
    assert board["elo"].is_monotonic_decreasing
    assert board["elo"].mean() == pytest.approx(1000)
    assert (board["lower"] < board["elo"]).all() and (
        board["elo"] < board["upper"]
    ).all()
    assert (board["rank_lower"] <= board["rank"]).all()
    assert (board["rank"] <= board["rank_upper"]).all()
    assert board["p_best"].sum() == pytest.approx(1)
    total = board[["wins", "losses", "ties"]].sum(axis=1)
    assert (total == board["votes"]).all()
    assert board["votes"].sum() == 2 * len(votes["winner"])


def test_votes_are_fitted_by_davidson():
    votes, _ = columns()
    pd.testing.assert_frame_equal(ba.leaderboard(votes), ba.leaderboard(ba.fit(votes)))


def test_equal_scores_share_a_rank():
    wins = [("a", "b", 9), ("a", "c", 9), ("b", "c", 9)]
    losses = [("b", "a", 9), ("c", "a", 3), ("c", "b", 3)]
    votes = of_wins(wins + losses)
    assert ba.leaderboard(votes)["rank"].tolist() == [1, 1, 3]


def shuffled(votes, seed=5):
    order = np.random.default_rng(seed).permutation(len(votes["winner"]))
    return {name: [values[k] for k in order] for name, values in votes.items()}


def renamed(votes):
    names = sorted({*votes["model_a"], *votes["model_b"]})
    new = {name: f"n{len(names) - c:02}" for c, name in enumerate(names)}
    for side in ("model_a", "model_b"):
        votes = votes | {side: [new[name] for name in votes[side]]}
    return votes


def turned(votes):
    other = {"model_a": "model_b", "model_b": "model_a", "tie": "tie"}
    return votes | {
        "model_a": votes["model_b"],
        "model_b": votes["model_a"],
        "winner": [other[label] for label in votes["winner"]],
    }


@pytest.mark.parametrize("change", [shuffled, renamed, turned])
@pytest.mark.parametrize("prompts", [0, 15])
def test_order_names_and_sides_decide_nothing(change, prompts):
    votes, _ = columns(8, 700, prompts=prompts, prompt_sd=0.5)
    board, other = ba.leaderboard(votes), ba.leaderboard(change(votes))
    numbers = [name for name in COLUMNS if name != "competitor"]
    np.testing.assert_allclose(board[numbers], other[numbers], atol=1e-6)


def newcomers():
    """Return votes on six, on one competitor with nine votes, and on one with one."""
    votes, _ = columns()
    others = [f"m{c:02}" for c in (0, 1, 2, 3, 4, 5, 0, 1, 2)]
    return {
        "model_a": votes["model_a"] + ["nine"] * 9 + ["one"],
        "model_b": votes["model_b"] + others + ["m03"],
        "winner": votes["winner"] + ["model_a"] * 10,
    }


def test_newcomers_of_a_vote_do_not_move_the_scores_of_others():
    """1000 is the mean of those that have a rank, and intervals are of the same gaps."""
    votes = columns(6, 600)[0]
    before = ba.leaderboard(ba.fit(votes, prior=ba.Prior(strength=1.0)))
    new = {"model_a": ["new"], "model_b": ["m03"], "winner": ["model_b"]}
    more = {name: values + new[name] for name, values in votes.items()}
    after = ba.leaderboard(ba.fit(more, prior=ba.Prior(strength=1.0)))
    both = before.merge(after[:-1], on="competitor", suffixes=("", "_after"))
    assert len(both) == 6
    for name in ("elo", "lower", "upper"):
        assert (both[name] - both[f"{name}_after"]).abs().max() < 3


@pytest.mark.filterwarnings("ignore:Scores depend on the prior")
def test_few_votes_have_a_score_and_no_rank():
    fit = ba.fit(newcomers())
    board = ba.leaderboard(fit)
    below = board[-2:]
    assert set(below["competitor"]) == {"nine", "one"}
    unranked = ["rank", "rank_lower", "rank_upper", "p_best"]
    assert below[unranked].isna().all(axis=None)
    assert np.isfinite(below[["elo", "lower", "upper"]]).all(axis=None)
    assert board["elo"][:6].mean() == pytest.approx(1000)
    assert board["rank"][:6].tolist() == [1, 2, 3, 4, 5, 6]
    assert board["rank_upper"].max() == 6
    assert board["p_best"].sum() == pytest.approx(1)
    assert "2 competitors have fewer than 10 votes" in board.attrs["notes"][0]
    assert "nine" not in ba.verdict(fit)
    assert ba.leaderboard(fit, min_votes=9)["competitor"].tolist()[-1] == "one"
    assert ba.leaderboard(fit, min_votes=0)["rank"].notna().all()


def test_where_hardly_anybody_has_ten_votes_all_are_ranked():
    board = ba.leaderboard(of_wins([("a", "b", 3), ("b", "c", 2), ("c", "a", 1)]))
    assert board["rank"].tolist() == [1, 2, 3]
    assert board.attrs["notes"] == (
        "Fewer than two competitors have 10 votes: all are ranked.",
    )


def test_one_win_does_not_put_a_newcomer_first():
    """Two tiers; the newcomer won once, against one of the lower (case c33)."""
    rng = np.random.default_rng(0)
    tiers = [[f"tier{t}_{c}" for c in "abcdef"] for t in range(3)]
    wins = []
    for names in tiers:
        wins += [tuple(rng.permutation(names)[:2]) for _ in range(60)]
    for above, below in pairwise(tiers):
        wins += [(rng.choice(above), rng.choice(below)) for _ in range(12)]
    wins += [("newcomer", "tier2_a")]
    votes = pd.DataFrame(wins, columns=["winner", "loser"])
    with pytest.warns(ArenaWarning, match="depend on the prior"):
        board = ba.leaderboard(ba.fit(votes)).set_index("competitor")
    new = board.loc["newcomer"]
    assert np.isnan(new["rank"])
    assert new["upper"] - new["lower"] > 250
    assert new["elo"] < board["elo"].max()


def test_without_an_estimate_a_row_has_no_numbers():
    votes = of_wins([("a", "b", 9), ("b", "a", 6), ("a", "c", 12)])
    with pytest.warns(ArenaWarning, match="No finite estimate for 'c'"):
        fit = ba.fit(votes, model="bradley-terry", prior="flat")
    board = ba.leaderboard(fit)
    assert board["competitor"].tolist() == ["a", "b", "c"]
    assert board.loc[2, ["rank", "elo", "lower", "upper", "p_best"]].isna().all()
    assert board.loc[2, "votes"] == 12
    two = of_wins([("a", "b", 9), ("b", "a", 6)])
    alone = ba.fit(two, model="bradley-terry", prior="flat")
    np.testing.assert_allclose(board["elo"][:2], ba.leaderboard(alone)["elo"])


def test_many_boards_in_a_table():
    votes, _ = columns(prompts=3)
    fits = ba.fit_many(votes | {"month": votes["prompt"]}, by="month")
    table = ba.leaderboards(fits, level=0.9)
    assert list(table) == ["board", *COLUMNS]
    for name, fit in fits.items():
        part = table[table["board"] == name].drop(columns="board")
        expected = ba.leaderboard(fit, level=0.9)
        numbers = [n for n in COLUMNS if n != "competitor"]
        np.testing.assert_allclose(part[numbers], expected[numbers])
    with pytest.raises(ba.errors.ModelError, match="no fit"):
        ba.leaderboards({})
    for wrong in (pd.DataFrame({"a": [1]}), [1], "votes.csv"):
        with pytest.raises(ba.ArenaError, match=r"not a value of type.*fit_many"):
            ba.leaderboards(wrong)


def test_a_board_is_quick():
    import time

    fit = ba.fit(real("llmfao.csv"))
    ba.leaderboard(fit)
    start = time.process_time()
    board = ba.leaderboard(fit)
    assert time.process_time() - start < 1.0  # about .1, on a machine that is busy
    assert board["competitor"][0] == "GPT 4"
    first = board.iloc[0]
    assert (first["rank_lower"], 8 <= first["rank_upper"] <= 14) == (1, True)


def test_the_boards_scores_are_those_of_the_fit():
    fit = fitted(model="davidson")
    board = ba.leaderboard(fit).set_index("competitor")
    scores = board.loc[list(fit.votes.competitors), "elo"]
    np.testing.assert_allclose(scores, elo_of(fit))


def test_boards_in_one_table_keep_the_notes_of_each():
    """Notes of one board alone begin with its name."""
    votes = pd.DataFrame(columns(5, 400)[0])
    new = pd.DataFrame({"model_a": ["new"], "model_b": ["m00"], "winner": ["model_a"]})
    fits = {"all": ba.fit(votes), "more": ba.fit(pd.concat([votes, new]))}
    table = ba.leaderboards(fits)
    assert table.attrs["notes"] == ("more: new has fewer than 10 votes and no rank.",)
    assert table.attrs["interval"] == "posterior"


def test_boards_are_made_of_fits():
    with pytest.raises(ba.errors.ModelError, match="takes fits by name"):
        ba.leaderboards(pd.DataFrame(columns(4, 50)[0]))
