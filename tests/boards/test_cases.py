"""Small inputs that were answered wrongly once, and what is right."""

from collections import Counter

import numpy as np
import pytest

import bayes_arena as ba
from bayes_arena.boards import bootstrap
from bayes_arena.errors import ArenaWarning, NotIdentifiedError
from tests.boards.arenas import columns, of_wins

# First, second, and the votes for each: oak is ahead, ash is last.
THREE = [
    ("ash", "elm", 1, 4), ("elm", "ash", 5, 2), ("ash", "oak", 2, 3),
    ("oak", "ash", 6, 3), ("elm", "oak", 1, 4), ("oak", "elm", 3, 2),
]  # fmt: skip
# Oak and elm beat each other, and both beat ash.
WINLESS = [("oak", "elm", 1), ("elm", "oak", 2), ("oak", "ash", 1), ("elm", "ash", 1)]
LEAGUES = 3
SIZE = 6  # of a league


def league(seed):
    """Return votes within leagues, a few between neighbours, and a newcomer's only one."""
    rng = np.random.default_rng(seed)
    names = [[f"tier{t}_{c}" for c in "abcdef"] for t in range(LEAGUES)]
    wins = []
    for tier in names:
        wins += [tuple(rng.permutation(tier)[:2]) for _ in range(60)]
    for above, below in ((0, 1), (1, 2)):
        for _ in range(12):
            pair = rng.choice(names[above]), rng.choice(names[below])
            wins.append(pair if rng.random() < 0.9 else pair[::-1])
    wins.append(("newcomer", "tier2_a"))
    return of_wins([(*pair, count) for pair, count in Counter(wins).items()])


@pytest.mark.filterwarnings("ignore::bayes_arena.errors.ArenaWarning")
@pytest.mark.parametrize("seed", range(2))
def test_a_newcomer_with_one_win_stands_in_the_middle(seed):
    fit = ba.fit(league(seed))
    board = ba.leaderboard(fit)
    row = board.set_index("competitor").loc["newcomer"]
    ranked = board[board["rank"].notna()]
    assert np.isnan(row["rank"]) and np.isnan(row["p_best"])
    assert ranked["elo"].min() < row["elo"] < ranked["elo"].max()
    assert row["upper"] - row["lower"] > (ranked["upper"] - ranked["lower"]).max()
    assert "newcomer" not in ba.verdict(fit)


def test_the_verdict_is_that_of_the_board():
    """Ash was last on the board and named the best by the verdict."""
    rows = [
        {"model_a": first, "model_b": second, "winner": label}
        for first, second, won, lost in THREE
        for label in ["model_a"] * won + ["model_b"] * lost
    ]
    fit = ba.fit(rows)
    board = ba.leaderboard(fit).set_index("competitor")
    assert board.index.tolist() == ["oak", "elm", "ash"]
    assert board.loc["ash", "rank_lower"] > 1
    sentence = ba.verdict(fit)
    assert "oak" in sentence and "ash" not in sentence


def test_who_never_won_has_no_numbers_and_the_others_keep_theirs():
    """With ash's two losses left out, elm beat oak in two of three: log 2 ahead."""
    with pytest.warns(ArenaWarning, match="No finite estimate for 'ash'"):
        fit = ba.fit(of_wins(WINLESS), model="bradley-terry", prior="flat")
    board = ba.leaderboard(fit).set_index("competitor")
    points = ba.EloScale().points_per_logit * np.log(2) / 2
    np.testing.assert_allclose(board["elo"][:2], [1000 + points, 1000 - points])
    assert board.loc["ash", ["rank", "elo", "lower", "upper", "p_best"]].isna().all()
    assert board.loc["ash", "losses"] == 2
    table = ba.strengths(fit).set_index("competitor")
    assert table.loc["ash"].isna().all()
    matrix = ba.win_probability(fit)
    assert matrix.loc["elm", "oak"] == pytest.approx(2 / 3)
    assert matrix["ash"].isna().all() and matrix.loc["ash"].isna().all()
    assert ba.rank_probabilities(fit).index.tolist() == ["elm", "oak"]
    assert "ash" not in ba.verdict(fit)
    assert "ash" not in set(ba.next_pairs(fit)[["first", "second"]].to_numpy().ravel())


def test_who_never_won_is_no_reference():
    with pytest.warns(ArenaWarning, match="No finite estimate"):
        fit = ba.fit(of_wins(WINLESS), model="bradley-terry", prior="flat")
    with pytest.raises(NotIdentifiedError, match="'ash' has no finite estimate"):
        ba.strengths(fit, reference="ash")
    table = ba.strengths(fit, reference="oak").set_index("competitor")
    assert table.loc["elm", "strength"] == pytest.approx(np.log(2))


@pytest.mark.slow
@pytest.mark.parametrize(
    "interval", ["posterior", "clustered", "sandwich", "bootstrap"]
)
def test_every_interval_holds_votes_without_their_ties(interval, monkeypatch):
    monkeypatch.setattr(bootstrap, "RESAMPLES", 20)
    votes, _ = columns(5, 240, prompts=12, tie=0.8)
    model = ba.Model("without ties", ties="drop")
    cluster = "prompt" if interval in ("clustered", "bootstrap") else None
    board = ba.leaderboard(
        ba.fit(votes, model=model), interval=interval, cluster=cluster
    )
    decided = [k for k, label in enumerate(votes["winner"]) if label != "tie"]
    rest = {name: [values[k] for k in decided] for name, values in votes.items()}
    other = ba.leaderboard(
        ba.fit(rest, model="bradley-terry"), interval=interval, cluster=cluster
    )
    bounds = ["elo", "lower", "upper"]
    np.testing.assert_allclose(board[bounds], other[bounds], atol=0.01)
