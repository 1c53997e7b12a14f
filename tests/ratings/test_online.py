"""Votes in order, and Elo that walks through them."""

import duckdb
import numpy as np
import polars as pl
import pytest
from helpers import frame
from hypothesis import given
from strategies import votes

import bayes_arena as ba
from bayes_arena.ratings.online import shuffled_ratings
from bayes_arena.votes.sequence import one_by_one

ROWS = [
    ("x", "y", "model_a", "k2"),
    ("y", "x", "model_a", "k1"),
    ("z", "x", "tie", "k2"),
    ("x", "y", "tie (bothbad)", "k1"),
    ("z", "y", "model_b", "k2"),
]


@pytest.fixture(scope="module")
def in_order(arena):
    return ba.read_sequence(arena.votes)


def by_hand(rows, k=4.0):
    """Algorithm 1, written out in points."""
    rating = {name: 1000.0 for row in rows for name in row[:2]}
    for a, b, winner, *_ in rows:
        w = {"model_a": 1.0, "model_b": 0.0}.get(winner, 0.5)
        expected = 1 / (1 + 10 ** ((rating[b] - rating[a]) / 400))
        rating[a], rating[b] = rating[a] + k * (w - expected), rating[b] - k * (w - expected)
    return rating


def test_votes_stay_in_order():
    sequence = ba.read_sequence(frame(ROWS))
    assert sequence.competitors == ("x", "y", "z")
    assert sequence.annotators == ("k1", "k2")
    assert sequence.a.tolist() == [0, 1, 2, 0, 2]
    assert sequence.b.tolist() == [1, 0, 0, 1, 1]
    assert sequence.annotator.tolist() == [1, 0, 1, 0, 1]
    assert sequence.score.tolist() == [1.0, 1.0, 0.5, 0.5, 0.0]
    assert sequence.votes_by_annotator().tolist() == [2, 3]
    assert repr(sequence) == "VoteSequence(5 votes, 3 competitors, 2 annotators)"


def test_engines_and_files_give_the_same_sequence(arena, tmp_path):
    arena.votes.write_csv(tmp_path / "1.csv")
    arena.votes.head(7).write_csv(tmp_path / "2.csv")
    both = pl.concat([arena.votes, arena.votes.head(7)])
    table = both.to_arrow()
    first = ba.read_sequence(both)
    for source in (both.lazy(), both.to_pandas(), table, duckdb.from_arrow(table), tmp_path / "*.csv"):
        again = ba.read_sequence(source)
        assert again.competitors == first.competitors
        for name in ("a", "b", "annotator", "score"):
            np.testing.assert_array_equal(getattr(again, name), getattr(first, name))


def test_roles_and_labels_are_those_of_read_votes():
    rows = pl.DataFrame({"left_one": ["p", "q"], "right_one": ["q", "r"], "won": ["draw", "r"]})
    sequence = ba.read_sequence(rows, a="left_one", b="right_one", winner="won", outcomes={"draw": "tie"})
    assert sequence.score.tolist() == [0.5, 0.0]
    assert sequence.n_annotators == 0
    one_hot = pl.DataFrame({"model_a": ["p"], "model_b": ["q"], "winner_model_a": [0], "winner_model_b": [1]})
    assert ba.read_sequence(one_hot.with_columns(winner_tie=0)).score.tolist() == [0.0]


def test_blank_rows_are_no_votes_and_invalid_ones_are_named(tmp_path):
    path = tmp_path / "votes.csv"
    path.write_text("model_a,model_b,winner,note\nx,y,model_a,\n,,,\ny,z,tie,\n,,,\n")
    assert ba.read_sequence(path).score.tolist() == [1.0, 0.5]
    path.write_text("model_a,model_b,winner,note\nx,y,model_a,\n,,,\nx,y,?,\nx,y,?,\nx,,tie,\n")
    with pytest.raises(ba.errors.InvalidVotesError, match=r"3 of 4 votes are invalid") as error:
        ba.read_sequence(path)
    assert [line.split(":")[0].strip() for line in str(error.value).splitlines()[2:5]] == ["row 2", "row 3", "row 4"]
    with pytest.warns(ba.errors.DroppedVotesWarning, match="Left out 3 of 4 votes") as caught:
        assert ba.read_sequence(path, on_invalid="drop").n_votes == 1
    assert caught[0].filename == __file__
    with pytest.raises(ba.errors.NoVotesError):
        ba.read_sequence(frame(ROWS).head(0))


@pytest.mark.slow
@given(votes())
def test_a_sequence_holds_the_votes_of_the_cells(table):
    sequence, cells = ba.read_sequence(table), ba.read_votes(table)
    spread = one_by_one(cells)
    key = [
        sorted(zip(one.a.tolist(), one.b.tolist(), one.annotator.tolist(), one.score.tolist(), strict=True))
        for one in (sequence, spread)
    ]
    assert key[0] == key[1]
    assert (spread.competitors, spread.annotators) == (sequence.competitors, sequence.annotators)


def test_the_papers_filter_works_on_sequences_too(arena, in_order):
    kept = ba.keep_annotators(in_order, more_than=120)
    names = pl.Series(kept.annotators)
    again = ba.read_sequence(arena.votes.filter(pl.col("judge").is_in(names.implode())))
    assert 0 < kept.n_annotators < in_order.n_annotators
    assert (kept.competitors, kept.annotators) == (again.competitors, again.annotators)
    for name in ("a", "b", "annotator", "score"):
        np.testing.assert_array_equal(getattr(kept, name), getattr(again, name))


def test_weights_cannot_be_written_out():
    cells = ba.read_votes(frame(ROWS).with_columns(w=0.5), weight="w")
    with pytest.raises(ba.ModelError, match="fractional"):
        one_by_one(cells)


def test_online_elo_by_hand():
    table = ba.online_elo(ba.read_sequence(frame(ROWS)))
    assert list(table.columns) == ["rank", "competitor", "elo", "votes"]
    assert dict(zip(table["competitor"], table["elo"], strict=True)) == pytest.approx(by_hand(ROWS), abs=1e-10)
    assert dict(zip(table["competitor"], table["votes"], strict=True)) == {"x": 4, "y": 4, "z": 2}
    assert table["rank"].tolist() == [1, 2, 3]
    one = ba.online_elo(ba.read_sequence(frame(ROWS[:1])))
    assert one["elo"].tolist() == [1002, 998]  # K / 2 from even odds
    tie = ba.online_elo(ba.read_sequence(frame([("x", "y", "tie")])))
    assert tie["rank"].tolist() == [1, 1]


def test_k_and_the_scale_are_those_of_the_formula():
    sequence = ba.read_sequence(frame(ROWS))
    table = ba.online_elo(sequence, k=32)
    assert dict(zip(table["competitor"], table["elo"], strict=True)) == pytest.approx(by_hand(ROWS, 32), abs=1e-10)
    half = ba.online_elo(sequence, k=16, elo=ba.EloScale(init=0, scale=200))
    np.testing.assert_allclose(2 * half["elo"] + 1000, table["elo"])
    anchored = ba.online_elo(sequence, elo=ba.EloScale(anchor=("x", 1200.0)))
    plain = ba.online_elo(sequence)
    shift = 1200 - plain.loc[plain["competitor"] == "x", "elo"].item()
    np.testing.assert_allclose(anchored["elo"], plain["elo"] + shift)


@pytest.mark.slow
@given(votes())
def test_points_are_only_passed_on(table):
    sequence = ba.read_sequence(table)
    for drawn in shuffled_ratings(sequence, shuffles=3, seed=1):
        assert drawn.mean() == pytest.approx(1000, abs=1e-9)


def test_the_reversed_order_gives_other_scores(in_order, arena):
    table = ba.reversed_elo(in_order)
    backward = ba.online_elo(ba.read_sequence(arena.votes.reverse())).set_index("competitor")
    np.testing.assert_array_equal(table["elo_reversed"], backward.loc[table["competitor"], "elo"])
    np.testing.assert_array_equal(table["rank_reversed"], backward.loc[table["competitor"], "rank"])
    assert np.abs(table["elo"] - table["elo_reversed"]).max() > 1
    table = ba.reversed_elo(ba.read_sequence(frame(ROWS[:1])))
    np.testing.assert_array_equal(table["elo"], table["elo_reversed"])


@pytest.mark.slow
def test_shuffles_summarise_runs_in_random_orders(in_order, arena):
    table = ba.shuffled_elo(in_order, shuffles=40, seed=5).set_index("competitor")
    rng = np.random.default_rng(5)
    runs = []
    for _ in range(40):
        rows = arena.votes[rng.permutation(len(arena.votes))]
        runs.append(ba.online_elo(ba.read_sequence(rows)).set_index("competitor")["elo"].loc[table.index])
    runs = np.array(runs)
    np.testing.assert_allclose(table["mean"], runs.mean(axis=0))
    np.testing.assert_allclose(table["sd"], runs.std(axis=0, ddof=1))
    np.testing.assert_allclose(table["min"], runs.min(axis=0))
    np.testing.assert_allclose(table["max"], runs.max(axis=0))
    assert (table["sd"] > 0).all()


def test_the_same_seed_gives_the_same_bits(in_order):
    first, again, other = (ba.shuffled_elo(in_order, shuffles=5, seed=seed) for seed in (1, 1, 2))
    assert first.equals(again)
    assert not first.equals(other)
    first, again, other = (ba.bootstrapped_elo(in_order, resamples=5, seed=seed) for seed in (1, 1, 2))
    assert first.equals(again)
    assert not first.equals(other)


def test_the_bootstrap_adds_the_spread_of_the_votes(in_order):
    shuffled = ba.shuffled_elo(in_order, shuffles=300).set_index("competitor")
    resampled = ba.bootstrapped_elo(in_order, resamples=300).set_index("competitor").loc[shuffled.index]
    assert (resampled["sd"] > shuffled["sd"]).all()
    assert (resampled["lower"] < resampled["median"]).all()
    assert (resampled["median"] < resampled["upper"]).all()
    narrow = ba.bootstrapped_elo(in_order, resamples=300, level=0.5).set_index("competitor").loc[shuffled.index]
    assert (narrow["upper"] - narrow["lower"] < resampled["upper"] - resampled["lower"]).all()


def test_elo_of_each_annotator_sees_nobody_elses_votes():
    table = ba.elo_by_annotator(ba.read_sequence(frame(ROWS)))
    for judge in ("k1", "k2"):
        own = table[table["annotator"] == judge]
        expected = by_hand([row for row in ROWS if row[3] == judge])
        assert dict(zip(own["competitor"], own["elo"], strict=True)) == pytest.approx(expected, abs=1e-10)
    assert table["votes"].sum() == 2 * len(ROWS)
    assert table.loc[table["annotator"] == "k1", "competitor"].tolist() == ["x", "y"]  # z was never shown to k1


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda v: ba.online_elo(v, k=0), "positive number"),
        (lambda v: ba.online_elo(v, k=float("nan")), "positive number"),
        (lambda v: ba.online_elo(v, elo=ba.EloScale(anchor=("nobody", 0.0))), "not a competitor"),
        (lambda v: ba.shuffled_elo(v, shuffles=1), "two runs"),
        (lambda v: ba.bootstrapped_elo(v, seed=-1), "seed of at least 0"),
        (lambda v: ba.bootstrapped_elo(v, level=1.0), "level"),
        (lambda v: ba.elo_by_annotator(v, elo=ba.EloScale(anchor=("z", 0.0))), "'k1' has no vote"),
    ],
)
def test_impossible_requests(call, message):
    with pytest.raises(ba.ModelError, match=message):
        call(ba.read_sequence(frame(ROWS)))


def test_annotators_must_be_known():
    with pytest.raises(ba.ModelError, match="no annotators"):
        ba.elo_by_annotator(ba.read_sequence(frame(ROWS), annotator=False))


def test_real_votes_move_with_their_order(llmfao_path):
    table = ba.reversed_elo(ba.read_sequence(llmfao_path))
    assert (table["rank"] != table["rank_reversed"]).sum() > 20
    assert np.abs(table["elo"] - table["elo_reversed"]).max() > 10


def test_the_spread_of_two_resamples_is_their_distance():
    table = ba.bootstrapped_elo(ba.read_sequence(frame(ROWS)), resamples=2, level=1 - 1e-9, seed=2)
    assert (table["sd"] > 0).all()
    np.testing.assert_allclose(table["sd"], (table["upper"] - table["lower"]) / np.sqrt(2), rtol=1e-6)
    np.testing.assert_allclose(table["median"], (table["upper"] + table["lower"]) / 2, rtol=1e-9)
