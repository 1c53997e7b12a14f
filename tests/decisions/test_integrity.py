"""Whose votes each competitor's place rests on: counted by hand on a small arena; real votes."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from conftest import real_votes
from numpy.testing import assert_allclose

import bayes_arena as ba
from bayes_arena.decisions.integrity import integrity_columns, promoter_columns

pytestmark = pytest.mark.filterwarnings("ignore::bayes_arena.ArenaWarning")
TARGET = "model-003"
MAY_LACK = "contested", "plain_votes", "soft_votes"


@pytest.mark.slow
def test_accounts_and_votes_are_counted_as_cast(arena, arena_cells):
    table = ba.integrity(ba.fit(arena_cells, method="map")).set_index("competitor")
    board = ba.leaderboard(ba.fit(arena_cells, method="map", robust=False)).set_index("competitor").loc[table.index]
    for name in ("rank", "elo", "votes"):
        assert (table[name] == board[name]).all() and (table.get(f"{name}_alike", table[name]) == board[name]).all()
    for name, row in table.iterrows():
        on = arena.votes.filter((pl.col("model_a") == name) | (pl.col("model_b") == name))["judge"].value_counts()
        assert row["accounts"] == len(on) and row["largest_share"] == pytest.approx(
            on["count"].max() / on["count"].sum()
        )
        assert row["largest_account"] in on.filter(pl.col("count") == pl.col("count").max())["judge"].to_list()
    assert not table.drop(columns=list(MAY_LACK)).isna().to_numpy().any()


@pytest.mark.slow
def test_what_a_place_costs_is_beside_it(discounted):
    table, price = (one(discounted).set_index("competitor") for one in (ba.integrity, ba.price))
    for kind in ("plain_votes", "soft_votes"):
        assert_allclose(table.loc[price.index, kind], price[kind])
        assert np.isnan(table.loc[table["rank"] == 1, kind]).all()


def test_a_second_place_is_shown_on_the_scale_of_the_board(discounted):
    apart = np.where(np.arange(6) == 2, 1.5, 0.0)
    contested = replace(discounted, promotions=replace(discounted.promotions, apart=apart))
    table = ba.integrity(contested).set_index("competitor")
    assert table["contested"].notna().sum() == 1
    slope = np.diff(discounted.board[[0, 3]])[0] / np.diff(discounted.strength[[0, 3]])[0]
    second = table["elo"][TARGET] + 400 / np.log(10) * slope * 1.5
    assert table["contested"][TARGET] == pytest.approx(second, abs=5)


def test_what_does_not_count_comes_first_and_adds_up(discounted):
    table = ba.integrity(discounted)
    assert table["competitor"][0] == TARGET and table["discounted"].is_monotonic_decreasing
    assert table["discounted"].sum() == pytest.approx(2 * discounted.votes_discounted)  # of either side
    assert table["discounted"][0] == pytest.approx(discounted.votes_discounted)  # all of them are on it
    assert (table["votes"] >= table["discounted"]).all() and table["votes"].sum() == 2 * discounted.cast.n_votes
    board = ba.leaderboard(discounted).set_index("competitor").loc[table["competitor"]]
    for name in ("rank", "elo", "votes"):
        assert_allclose(table[name], board[name], err_msg=name)
    assert table["gain"][0] > 5 and (table["gain"][1:] < 5).all() and table["named"].tolist() == [4, 0, 0, 0, 0, 0]


def test_an_anchor_holds_in_both_columns(discounted):
    table = ba.integrity(discounted, elo=ba.EloScale(anchor=("model-001", 1500.0))).set_index("competitor")
    assert_allclose(table.loc["model-001", ["elo", "elo_alike"]].tolist(), 1500.0)
    with pytest.raises(ba.ModelError, match="anchor"):
        ba.integrity(discounted, elo=ba.EloScale(anchor=("nobody", 1500.0)))


def test_the_columns_of_the_command_are_those_of_the_tables(discounted):
    for table, columns in ((ba.integrity, integrity_columns), (ba.promoters, promoter_columns)):
        frame, plain = table(discounted), columns(discounted)
        assert frame.columns.tolist() == list(plain)
        assert all((frame[name].to_numpy() == np.array(plain[name])).all() for name in plain if name not in MAY_LACK)


@pytest.mark.slow
def test_a_fit_that_did_not_look_is_refused_with_a_remedy(arena_cells):
    for table in (ba.integrity, ba.promoters):
        with pytest.raises(ba.ModelError, match=r"robust=True \(--robust on\)"):
            table(ba.fit(arena_cells, robust=False))


@pytest.mark.slow
def test_all_votes_of_llmfao_and_mt_bench_count(llmfao):
    for cells in (llmfao, ba.read_votes(real_votes("mt_bench_human.csv"), prompt=False)):
        fit, plain = (ba.fit(cells, robust=robust) for robust in (True, False))
        assert fit.votes_discounted == 0 and set(ba.promoters(fit)["annotator"]) <= {"worker_15"}
        assert (fit.board == plain.board).all() and fit.warnings == plain.warnings
