"""Online Elo: Algorithm 1 of the paper, in one order and over many."""

import numpy as np
import pandas as pd
import pytest

import bayes_arena as ba
from bayes_arena.boards.online import online
from tests.helpers import real

ROWS = [
    ("x", "y", "model_a", "k2"),
    ("y", "x", "model_a", "k1"),
    ("z", "x", "tie", "k2"),
    ("x", "y", "tie (bothbad)", "k1"),
    ("z", "y", "model_b", "k2"),
]
COLUMNS = ["model_a", "model_b", "winner", "judge"]


def sequence(rows, **options):
    return ba.read_sequence(pd.DataFrame(rows, columns=COLUMNS), **options)


@pytest.fixture(scope="module")
def arena():
    return ba.simulate(competitors=6, annotators=8, votes=600, seed=3).votes


@pytest.fixture(scope="module")
def in_order(arena):
    return ba.read_sequence(arena)


def by_hand(rows, k=4.0):
    """Algorithm 1, written out in points."""
    rating = {name: 1000.0 for row in rows for name in row[:2]}
    for a, b, winner, _ in rows:
        score = {"model_a": 1.0, "model_b": 0.0}.get(winner, 0.5)
        expected = 1 / (1 + 10 ** ((rating[b] - rating[a]) / 400))
        rating[a] += k * (score - expected)
        rating[b] -= k * (score - expected)
    return rating


def by_name(table, column="elo"):
    return dict(zip(table["competitor"], table[column], strict=True))


def test_algorithm_1_by_hand():
    table = ba.online_elo(sequence(ROWS))
    assert list(table.columns) == ["rank", "competitor", "elo", "votes"]
    assert by_name(table) == pytest.approx(by_hand(ROWS), abs=1e-10)
    assert by_name(table, "votes") == {"x": 4, "y": 4, "z": 2}
    assert table["rank"].tolist() == [1, 2, 3]


FUNCTIONS = (
    ba.online_elo,
    ba.reversed_elo,
    ba.shuffled_elo,
    ba.bootstrapped_elo,
    ba.elo_by_annotator,
)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_files_frames_and_records_are_read_in_order(function, tmp_path):
    frame = pd.DataFrame(ROWS, columns=COLUMNS)
    frame.to_csv(tmp_path / "votes.csv", index=False)
    expected = function(sequence(ROWS))
    sources = (tmp_path / "votes.csv", frame, frame.to_dict("records"))
    for source in sources:
        pd.testing.assert_frame_equal(function(source), expected)
    renamed = frame.rename(columns={"winner": "best of two"})
    table = function(renamed, winner="best of two")
    pd.testing.assert_frame_equal(table, expected)
    with pytest.raises(ba.ArenaError, match="read already"):
        function(sequence(ROWS), winner="winner")


@pytest.mark.parametrize("function", FUNCTIONS)
def test_counts_have_no_order(function, tmp_path):
    votes = ba.read_votes(pd.DataFrame(ROWS, columns=COLUMNS))
    votes.save(tmp_path / "votes.npz")
    for source in (votes, tmp_path / "votes.npz"):
        with pytest.raises(ba.errors.VotesError, match=r"no order.*read_sequence"):
            function(source)


def test_one_vote_moves_half_of_k():
    assert ba.online_elo(sequence(ROWS[:1]))["elo"].tolist() == [1002, 998]
    tie = ba.online_elo(sequence([("x", "y", "tie", "k")]))
    assert tie["rank"].tolist() == [1, 1]


def test_k_and_the_scale_are_those_of_the_formula():
    table = ba.online_elo(sequence(ROWS), k=32)
    assert by_name(table) == pytest.approx(by_hand(ROWS, 32), abs=1e-10)
    scale = ba.EloScale(init=0, scale=200)
    half = ba.online_elo(sequence(ROWS), k=16, elo=scale)
    np.testing.assert_allclose(2 * half["elo"] + 1000, table["elo"])
    anchored = ba.online_elo(sequence(ROWS), k=32, elo=ba.EloScale(anchor=("x", 1200)))
    shift = 1200 - by_name(table)["x"]
    np.testing.assert_allclose(anchored["elo"], table["elo"] + shift)


def test_a_huge_k_does_not_overflow():
    table = ba.online_elo(sequence(ROWS), k=1e6)
    assert np.isfinite(table["elo"]).all()


def test_reversed_is_the_same_votes_backwards(arena, in_order):
    table = ba.reversed_elo(in_order)
    backward = ba.online_elo(ba.read_sequence(arena[::-1])).set_index("competitor")
    backward = backward.loc[table["competitor"]]
    np.testing.assert_array_equal(table["elo_reversed"], backward["elo"])
    np.testing.assert_array_equal(table["rank_reversed"], backward["rank"])
    assert np.abs(table["elo"] - table["elo_reversed"]).max() > 1


def test_shuffles_summarise_elo_in_random_orders(arena, in_order):
    table = ba.shuffled_elo(in_order, shuffles=12, seed=5).set_index("competitor")
    rng = np.random.default_rng(5)
    runs = []
    for _ in range(12):
        order = rng.permutation(len(arena))
        run = ba.online_elo(ba.read_sequence(arena.iloc[order]))
        runs.append(run.set_index("competitor")["elo"].loc[table.index])
    np.testing.assert_allclose(table["mean"], np.mean(runs, axis=0), rtol=1e-12)
    np.testing.assert_allclose(table["sd"], np.std(runs, axis=0, ddof=1), rtol=1e-9)
    np.testing.assert_allclose(table["min"], np.min(runs, axis=0), rtol=1e-12)
    np.testing.assert_allclose(table["max"], np.max(runs, axis=0), rtol=1e-12)


def test_votes_walked_in_several_parts_give_the_same(in_order, monkeypatch):
    whole = online(in_order).shuffled(7, 1)
    monkeypatch.setattr("bayes_arena.boards.online.ORDERED_VOTES", 1300)
    monkeypatch.setattr("bayes_arena.boards.online.BLOCK", 7)
    np.testing.assert_array_equal(online(in_order).shuffled(7, 1), whole)


def test_points_are_only_passed_on(in_order):
    means = online(in_order).shuffled(3, 1).mean(axis=1)
    np.testing.assert_allclose(means, 1000, rtol=1e-12)


@pytest.mark.parametrize("function", [ba.shuffled_elo, ba.bootstrapped_elo])
def test_a_seed_decides(in_order, function):
    size = {"shuffles" if function is ba.shuffled_elo else "resamples": 5}
    first = function(in_order, seed=1, **size)
    assert function(in_order, seed=1, **size).equals(first)
    assert not function(in_order, seed=2, **size).equals(first)


def test_the_bootstrap_adds_the_spread_of_the_votes(in_order):
    shuffled = ba.shuffled_elo(in_order, shuffles=200).set_index("competitor")
    resampled = ba.bootstrapped_elo(in_order, resamples=200).set_index("competitor")
    narrow = ba.bootstrapped_elo(in_order, resamples=200, level=0.5)
    narrow = narrow.set_index("competitor").loc[resampled.index]
    assert (resampled["sd"] > shuffled["sd"].loc[resampled.index]).all()
    assert (resampled["lower"] < narrow["lower"]).all()
    assert (narrow["lower"] < resampled["median"]).all()
    assert (narrow["upper"] < resampled["upper"]).all()


def test_the_bootstrap_of_two_resamples():
    table = ba.bootstrapped_elo(sequence(ROWS), resamples=2, level=1 - 1e-9, seed=2)
    width = table["upper"] - table["lower"]
    np.testing.assert_allclose(table["sd"], width / np.sqrt(2), rtol=1e-6)
    np.testing.assert_allclose(table["median"], table["lower"] + width / 2, rtol=1e-9)


def test_elo_of_an_annotator_sees_nobody_elses_votes():
    table = ba.elo_by_annotator(sequence(ROWS))
    for judge, part in table.groupby("annotator"):
        expected = by_hand([row for row in ROWS if row[3] == judge])
        assert by_name(part) == pytest.approx(expected, abs=1e-10)
    assert table["annotator"].tolist() == ["k1"] * 2 + ["k2"] * 3
    assert table["votes"].sum() == 2 * len(ROWS)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda v: ba.online_elo(v, k=0), "positive number"),
        (lambda v: ba.online_elo(v, k=float("nan")), "positive number"),
        (lambda v: ba.online_elo(v, elo=ba.EloScale(anchor=("nobody", 0))), "nobody"),
        (lambda v: ba.shuffled_elo(v, shuffles=1), "two runs"),
        (lambda v: ba.bootstrapped_elo(v, seed=-1), "seed"),
        (lambda v: ba.bootstrapped_elo(v, level=1.0), "level"),
        (
            lambda v: ba.elo_by_annotator(v, elo=ba.EloScale(anchor=("z", 0))),
            "'k1' has no vote",
        ),
    ],
)
def test_impossible_requests(call, message):
    with pytest.raises(ba.errors.ModelError, match=message):
        call(sequence(ROWS))


def test_annotators_must_be_known():
    with pytest.raises(ba.errors.ModelError, match="do not say who voted"):
        ba.elo_by_annotator(sequence(ROWS, annotator=False))
    lacking = [*ROWS, ("x", "z", "model_a", "")]
    assert set(ba.elo_by_annotator(sequence(lacking))["annotator"]) == set(
        ba.elo_by_annotator(sequence(ROWS))["annotator"]
    )


def test_real_votes_move_with_their_order():
    table = ba.reversed_elo(ba.read_sequence(real("llmfao.csv")))
    assert (table["rank"] != table["rank_reversed"]).sum() > 20
    assert np.abs(table["elo"] - table["elo_reversed"]).max() > 10


@pytest.mark.parametrize(
    "function",
    [ba.online_elo, ba.reversed_elo, ba.shuffled_elo, ba.bootstrapped_elo],
)
def test_votes_in_order_are_read_and_counts_refused(function):
    frame = ba.example_arena().votes.head(40)
    pd.testing.assert_frame_equal(function(frame), function(ba.read_sequence(frame)))
    with pytest.raises(ba.errors.VotesError, match="counts, which have no order"):
        function(ba.read_votes(frame))
