"""The Stable Arena: what is stored, and what a round does."""

import threading

import numpy as np
import pandas as pd
import pytest

import bayes_arena as ba
from bayes_arena.arena.records import counted_votes
from bayes_arena.arena.stable_arena import Added, StableArena
from bayes_arena.arena.store import reading
from bayes_arena.errors import ArenaWarning, ModelError, StoreError, VotesError
from tests.helpers import elo_of, elo_sd, real

ROWS = [
    ("x", "y", "model_a", "k"),
    ("x", "y", "model_a", "k"),
    ("y", "z", "tie", "l"),
    ("z", "x", "both_bad", "k"),
]
COLUMNS = ["model_a", "model_b", "winner", "judge"]


NEWCOMER = [("model-1", "model-2", "model_a", "newcomer")] * 30
NEWCOMER += [("model-1", "model-2", "model_b", "newcomer")] * 20


def frame(rows):
    return pd.DataFrame(rows, columns=COLUMNS)


def numbered(rows, start=0):
    return frame(rows).assign(vote=[f"v{start + n}" for n in range(len(rows))])


@pytest.fixture
def arena(tmp_path):
    return StableArena.create(tmp_path / "arena.db")


@pytest.fixture(scope="module")
def simulated():
    """Twelve annotators with enough votes, of whom two vote in reverse."""
    arena = ba.simulate(competitors=5, annotators=12, votes=1200, reversed=2, seed=4)
    few = frame(NEWCOMER)
    return arena, pd.concat([arena.votes, few], ignore_index=True)


@pytest.fixture
def full(arena, simulated):
    arena.add(simulated[1])
    return arena


def test_stored_votes_are_those_of_reading_the_file(full, simulated):
    votes = ba.read_votes(simulated[1])
    with reading(full.path) as connection:
        stored = counted_votes(connection, votes.annotators)
    assert stored.competitors == votes.competitors
    assert stored.annotators == votes.annotators
    for name in ("i", "j", "annotator", "counts"):
        np.testing.assert_array_equal(getattr(stored, name), getattr(votes, name))


def test_the_same_file_or_a_longer_one_adds_what_is_new(arena):
    assert arena.add(frame(ROWS[:2])) == Added(2, 0)
    with pytest.warns(ArenaWarning, match="2 of 4 votes equal stored votes"):
        assert arena.add(frame(ROWS)) == Added(2, 2)
    assert arena.add(frame(ROWS)) == Added(0, 4)


def test_votes_with_ids_are_added_once_and_equal_ones_count_again(arena):
    assert arena.add(numbered(ROWS), id="vote") == Added(4, 0)
    assert arena.add(numbered(ROWS), id="vote") == Added(0, 4)
    assert arena.add(numbered(ROWS[:1], start=4), id="vote") == Added(1, 0)
    table = arena.annotators().set_index("annotator")
    assert table["votes"].to_dict() == {"k": 4, "l": 1}


@pytest.mark.parametrize(
    ("votes", "options", "message"),
    [
        (
            numbered(ROWS[2:3]),
            {"id": "vote"},
            "ids of 1 vote are those of different stored votes: 'v0'",
        ),
        (frame(ROWS), {}, "stored votes have ids, and the new ones have none"),
        (frame(ROWS).drop(columns="judge"), {}, "judges annotators"),
        (frame(ROWS).assign(w=0.5), {"weight": "w"}, "fractional weights"),
        (frame(ROWS[1:3]).assign(vote="v9"), {"id": "vote"}, "share the id 'v9'"),
    ],
)
def test_votes_that_cannot_be_added_change_nothing(arena, votes, options, message):
    arena.add(numbered(ROWS), id="vote")
    before = arena.annotators()
    with pytest.raises(VotesError, match=message):
        arena.add(votes, **options)
    assert arena.annotators().equals(before)


def test_a_round_is_algorithm_3(full, simulated):
    arena, votes = simulated
    first = full.round()
    expected = ba.fit(votes[votes["judge"] != "newcomer"], model="am-elo", prior="flat")
    np.testing.assert_allclose(first.fit.strength, expected.strength, atol=1e-10)
    assert first.waiting == ("newcomer",) and first.left_out == ()
    assert set(first.excluded) == set(arena.anomalous)
    low = first.theta[np.isin(first.fit.votes.annotators, first.excluded)]
    assert (low < 0).all()
    assert first.theta.sum() == pytest.approx(1)
    second = full.round()
    assert second.left_out == tuple(sorted(arena.anomalous))
    assert second.excluded == ()
    assert second.fit.votes.n_annotators == 10


def test_delta_and_epsilon_are_kept_by_the_file(tmp_path, simulated):
    path = tmp_path / "arena.db"
    StableArena.create(path, delta=49, epsilon=0.04).add(simulated[1])
    arena = StableArena.open(path)
    assert (arena.delta, arena.epsilon) == (49, 0.04)
    round = arena.round()
    assert round.waiting == () and "newcomer" in round.fit.votes.annotators
    theta = dict(zip(round.fit.votes.annotators, round.theta, strict=True))
    assert set(round.excluded) == {k for k, value in theta.items() if value <= 0.04}


def test_who_waits_counts_once_there_are_enough_votes(full, simulated):
    full.round()
    votes = simulated[1]
    more = votes[votes["judge"] == "newcomer"].iloc[:1]
    with pytest.warns(ArenaWarning, match="equal stored"):
        full.add(pd.concat([votes, more]))
    assert full.round().waiting == ()


def test_who_is_readmitted_is_judged_again(full, simulated):
    name = full.round().excluded[0]
    full.readmit(name)
    table = full.annotators().set_index("annotator")
    assert table["status"].value_counts().to_dict() == {
        "active": 11,
        "waiting": 1,
        "excluded": 1,
    }
    second = full.round()
    assert name in second.excluded
    decisions = full.history("decisions")
    assert decisions["decision"].tolist() == ["excluded"] * 2 + [
        "readmitted",
        "excluded",
    ]
    with pytest.raises(ModelError, match="'nobody' is excluded"):
        full.readmit("nobody")


def test_what_is_published(full, simulated):
    with pytest.raises(StoreError, match="No round was held"):
        full.publish()
    round = full.round()
    board = full.publish(level=0.5)
    columns = ["rank", "competitor", "elo", "lower", "upper", "votes"]
    assert list(board.columns) == columns
    assert board["rank"].tolist() == [1, 2, 3, 4, 5]
    assert board["elo"].is_monotonic_decreasing
    elo = dict(zip(round.fit.votes.competitors, elo_of(round.fit), strict=True))
    assert dict(zip(board["competitor"], board["elo"], strict=True)) == elo
    half = (board["upper"] - board["lower"]) / 2
    sd = dict(zip(round.fit.votes.competitors, elo_sd(round.fit), strict=True))
    np.testing.assert_allclose(half, 0.6744898 * board["competitor"].map(sd))


def test_history_has_all_rounds_and_the_shares_of_annotators(full):
    full.round()
    full.round()
    assert full.history()["round"].tolist() == [1] * 5 + [2] * 5
    theta = full.history("annotators")
    np.testing.assert_allclose(theta.groupby("round")["theta"].sum(), 1)
    assert theta["excluded"].tolist() == (theta["theta"] <= 0).tolist()
    rounds = full.history("rounds")
    assert rounds["annotators"].tolist() == [12, 10]
    assert rounds["left_out"].tolist() == [0, 2]
    with pytest.raises(ModelError, match="competitors, annotators"):
        full.history("everything")


def test_an_arena_without_enough_votes_says_so(arena):
    arena.add(frame(ROWS))
    with pytest.raises(VotesError, match="more than 50 votes"):
        arena.round()
    with pytest.raises(ModelError, match=r"delta=.* must be a finite number"):
        StableArena.create(arena.path.with_name("b.db"), delta=float("nan"))


def test_a_round_of_one_among_others_is_refused(arena):
    names = {"model_a": "oak", "model_b": "elm", "winner": "model_a"}
    votes = pd.DataFrame(
        [names | {"judge": "many" if n else "few", "n": n} for n in range(60)]
    )
    arena.add(votes, id="n")
    with pytest.raises(VotesError, match="Only 'many' has more than 50 votes"):
        arena.round()


def test_of_two_rounds_at_once_one_is_refused(full, monkeypatch):
    import bayes_arena.arena.stable_arena as module

    fit = module.fit

    def fit_while_another_process_publishes(*arguments, **options):
        monkeypatch.setattr(module, "fit", fit)
        full.round()
        return fit(*arguments, **options)

    monkeypatch.setattr(module, "fit", fit_while_another_process_publishes)
    with pytest.raises(StoreError, match="published round 1 first"):
        full.round()
    assert full.history("rounds")["round"].tolist() == [1]


@pytest.mark.slow
def test_threads_read_whole_states_while_one_writes(arena):
    lengths, failures, stop = set(), [], threading.Event()

    def read():
        while not stop.is_set():
            try:
                lengths.add(int(arena.annotators()["votes"].sum()))
            except Exception as error:
                failures.append(error)

    threads = [threading.Thread(target=read) for _ in range(3)]
    for thread in threads:
        thread.start()
    for start in range(0, 16, 4):
        arena.add(numbered(ROWS, start), id="vote")
    stop.set()
    for thread in threads:
        thread.join()
    assert not failures and lengths <= set(range(0, 17, 4))


def test_the_papers_four_on_real_votes(arena):
    arena.add(real("llmfao.csv"))
    round = arena.round()
    assert round.excluded == ("worker_15", "worker_70", "worker_20", "worker_11")
    assert len(round.waiting) == 87
