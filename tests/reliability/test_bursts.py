"""Bursts in time: planted ones, and honest votes that have none."""

from datetime import datetime, timedelta

import numpy as np
import polars as pl
import pytest

import bayes_arena as ba
from bayes_arena.reliability.bursts import SHORTEST, _Sides


def timed(seed: int, *, accounts: int = 0, each: int = 1, votes: int = 1500) -> pl.DataFrame:
    """Honest votes at random times from 0 to 1, and votes for model-01 from .40 to .43 by further accounts."""
    arena = ba.simulate(votes=votes, competitors=10, annotators=30, seed=seed)
    rng = np.random.default_rng(seed)
    honest = arena.votes.with_columns(tstamp=pl.Series(rng.random(votes)))
    size = accounts * each
    planted = {
        "model_a": ["model-01"] * size,
        "model_b": rng.choice(arena.competitors[1:], size).tolist(),
        "winner": ["model_a"] * size,
        "judge": [f"new-{n // each}" for n in range(size)],
        "tstamp": rng.uniform(0.4, 0.43, size).tolist(),
    }
    return pl.concat([honest, pl.DataFrame(planted, schema=honest.schema)])


@pytest.fixture(scope="module")
def votes() -> pl.DataFrame:
    return timed(1, accounts=60)


@pytest.fixture(scope="module")
def fit(votes) -> ba.Fit:
    return ba.fit(ba.read_votes(votes), model="bradley-terry")


@pytest.fixture(scope="module")
def table(fit, votes):
    return ba.bursts(fit, votes.to_pandas())


@pytest.mark.slow
def test_a_burst_is_named_with_its_window(table, votes):
    (row,) = table.to_dict("records")
    assert row["competitor"] == "model-01" and row["p_value"] < 0.01
    assert 0.37 < row["start"] < row["end"] < 0.46
    here = pl.col("tstamp").is_between(row["start"], row["end"])
    inside = votes.filter(here & ((pl.col("model_a") == "model-01") | (pl.col("model_b") == "model-01")))
    assert row["votes"] == len(inside) and row["accounts"] == inside["judge"].n_unique()
    assert row["largest_share"] == inside["judge"].value_counts()["count"].max() / len(inside)


def test_a_window_holds_at_most_half_of_a_competitors_votes():
    """Both win more than expected, all the time; what is more, in as many votes as may be."""
    competitor = np.repeat([0, 1], [4 * SHORTEST, 2 * SHORTEST])
    size = len(competitor)
    half = np.full(size, 0.5)
    sides = _Sides(competitor, competitor, np.arange(size), np.linspace(0, 1, size), 2 * half, 2 * half, half, half)
    z, first, last = sides.scan(sides.time)
    assert (last - first).tolist() == [2 * SHORTEST, SHORTEST]
    assert z == pytest.approx(np.sqrt(0.5 * (last - first)))


def test_what_is_expected_is_by_the_scores_on_the_board(table, fit, votes):
    row, elo = table.iloc[0], ba.leaderboard(fit).set_index("competitor")["elo"]
    a_first = votes.filter(pl.col("model_a") == "model-01")
    b_first = votes.filter(pl.col("model_b") == "model-01").select("tstamp", opponent="model_a")
    met = pl.concat([a_first.select("tstamp", opponent="model_b"), b_first])
    met = met.filter(pl.col("tstamp").is_between(row["start"], row["end"]))
    p = 1 / (1 + 10 ** ((elo[met["opponent"].to_list()].to_numpy() - elo["model-01"]) / 400))
    assert row["expected"] == pytest.approx(p.sum(), rel=1e-6)
    assert row["z"] == pytest.approx((row["score"] - p.sum()) / np.sqrt((p * (1 - p)).sum()), rel=1e-6)


@pytest.mark.slow
def test_dates_and_cells_say_the_same_as_numbers(table, fit, votes):
    days = [(datetime(2024, 5, 1) + timedelta(days=100 * moment)).isoformat() for moment in votes["tstamp"]]
    dated = votes.with_columns(tstamp=pl.Series(days))
    cells = ba.read_votes(dated.rename({"tstamp": "when"}).sample(fraction=1, shuffle=True, seed=1), slices=["when"])
    for found in (ba.bursts(fit, dated.to_pandas()), ba.bursts(fit, cells, time="when")):
        assert found["competitor"].tolist() == ["model-01"]
        assert found["votes"].tolist() == table["votes"].tolist()
        assert found["start"][0] > datetime(2024, 5, 1) + timedelta(days=36)


@pytest.mark.slow
def test_without_annotators_every_vote_is_its_own_account(fit, votes):
    found = ba.bursts(fit, votes.drop("judge").to_pandas())
    assert found["competitor"].tolist() == ["model-01"] and "accounts" not in found


@pytest.mark.slow
def test_the_session_of_one_account_is_no_burst():
    votes = timed(2, accounts=1, each=60)
    assert not len(ba.bursts(ba.fit(ba.read_votes(votes), model="bradley-terry"), votes))


@pytest.mark.slow
def test_honest_votes_have_bursts_as_seldom_as_asked_for():
    arenas = [timed(seed, votes=800) for seed in range(20)]
    found = [len(ba.bursts(ba.fit(ba.read_votes(votes), model="bradley-terry"), votes)) > 0 for votes in arenas]
    assert sum(found) <= 2


def test_what_is_no_time_is_refused(fit, votes):
    with pytest.raises(ba.VotesError, match="Not a time in 'winner': 'model_a', 'model_b', 'tie'"):
        ba.bursts(fit, votes, time="winner")
    with pytest.raises(ba.VotesError, match=r"Not a time in 'tstamp': 'inf'\. "):
        ba.bursts(fit, votes.with_columns(tstamp=pl.when(pl.int_range(pl.len()) == 3).then(np.inf).otherwise("tstamp")))
    with pytest.raises(ba.errors.ColumnError, match="No column 'when'"):
        ba.bursts(fit, votes, time="when")
    with pytest.raises(ba.ModelError, match="slice 'tstamp'"):
        ba.bursts(fit, ba.read_votes(votes))


def test_votes_of_others_than_the_fit_are_refused(fit, votes):
    with pytest.raises(ba.ModelError, match="no competitor called 'nemo'"):
        ba.bursts(fit, votes.with_columns(model_a=pl.col("model_a").replace("model-02", "nemo")))


def test_few_votes_have_no_bursts(fit):
    few = timed(3, votes=30).head(30)
    assert not len(ba.bursts(fit, few))
