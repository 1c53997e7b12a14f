"""Many boards at once are the single fits, and one that fails does not end the others."""

import pickle
import warnings

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pytest
from helpers import frame

import bayes_arena as ba
from bayes_arena.fits import many

BY = ["category", "language"]


@pytest.fixture(scope="module")
def votes():
    """Votes in two categories and two languages, but none on Danish code."""
    rng = np.random.default_rng(2)
    a = rng.integers(4, size=900)
    b = (a + rng.integers(1, 4, size=900)) % 4
    names = np.array(["w", "x", "y", "z"])
    table = pl.DataFrame(
        {
            "model_a": names[a],
            "model_b": names[b],
            "winner": np.where(rng.random(900) < 0.3, "tie", np.where(rng.random(900) < 0.6, names[a], names[b])),
            "judge": rng.choice(["ann", "ben", "kim", "lea", "tom", "una"], size=900),
            "category": rng.choice(["code", "text"], size=900),
            "language": rng.choice(["Danish", "English"], size=900),
        }
    )
    return table.filter(~((pl.col("category") == "code") & (pl.col("language") == "Danish")))


@pytest.fixture(scope="module")
def boards(votes):
    return ba.fit_many(votes, BY, model="bradley-terry")


def broken(votes):
    """The same with a category in which nobody met anybody of the other two, and one in which all is tied."""
    apart = frame([(a, b, winner, "ann") for a, b in ("wx", "yz") for winner in (a, b)])
    apart = apart.with_columns(category=pl.lit("apart"), language=pl.lit("English"))
    tied = frame([("w", "x", "tie", "ann")]).with_columns(category=pl.lit("tied"), language=pl.lit("Danish"))
    return pl.concat([votes, apart, tied])


def equal(one, other):
    """Whether fits are the same to the last bit."""
    parts = [(fit.point.head, fit.point.own, fit.laplace.own_covariance()) for fit in (one, other)]
    same = all(np.array_equal(*pair) for pair in zip(*parts, strict=True))
    return same and ba.leaderboard(one).equals(ba.leaderboard(other))


def test_saved_cells_are_split_by_the_slices_that_they_carry(votes, boards, tmp_path):
    cells = ba.read_votes(votes, slices=BY)
    cells.save(tmp_path / "cells.parquet")
    again = ba.fit_many(tmp_path / "cells.parquet", BY, model="bradley-terry")
    assert list(again) == list(boards) and all(equal(again[names], boards[names]) for names in boards)
    with pytest.raises(ba.VotesError, match="with the slices category, language: 'week' cannot be read"):
        ba.fit_many(tmp_path / "cells.parquet", "week")


def test_a_board_of_one_prompt_is_not_told_to_tell_its_answers_apart(votes):
    with warnings.catch_warnings(action="error"):
        boards = ba.fit_many(ba.read_votes(votes, prompt="category"), "prompt", model="davidson")
    assert [fit.model.name for fit in boards.values()] == ["davidson", "davidson"]


def test_every_combination_that_has_votes_is_a_board(boards):
    assert list(boards) == [("code", "English"), ("text", "Danish"), ("text", "English")]
    assert boards.by == ("category", "language") and not boards.failed and ("code", "Danish") not in boards
    assert "3 fitted" in repr(boards)
    with pytest.raises(KeyError, match="no board 'code'"):
        boards["code"]


@pytest.mark.parametrize("model", ["bradley-terry", pytest.param("am-davidson", marks=pytest.mark.slow)])
def test_boards_are_the_single_fits_to_the_last_bit(votes, model):
    with ignored():
        boards = ba.fit_many(votes, BY, model=model)
        for (category, language), board in boards.items():
            alone = votes.filter((pl.col("category") == category) & (pl.col("language") == language))
            assert equal(board, ba.fit(alone, model=model))


def test_cells_that_are_read_and_one_slice_by_its_name(votes, boards):
    cells = ba.read_votes(votes, slices=BY)
    again = ba.fit_many(cells, BY, model="bradley-terry")
    assert all(equal(again[names], fit) for names, fit in boards.items())
    assert list(ba.fit_many(cells, "language", model="m-elo")) == [("Danish",), ("English",)]


@pytest.mark.parametrize("backend", ["threading", pytest.param("loky", marks=pytest.mark.slow)])
def test_joblib_has_it_done_elsewhere(votes, boards, backend):
    with joblib.parallel_config(backend, n_jobs=2):
        elsewhere = ba.fit_many(votes, BY, model="bradley-terry")
    assert list(elsewhere) == list(boards)
    assert all(equal(elsewhere[names], fit) for names, fit in boards.items())


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # of the cluster
def test_a_cluster_of_dask_has_it_done(votes, boards):
    distributed = pytest.importorskip("distributed")
    cluster = distributed.Client(processes=False, n_workers=1, threads_per_worker=2, dashboard_address=None)
    with cluster, joblib.parallel_config("dask"):
        elsewhere = ba.fit_many(votes, BY, model="bradley-terry")
    assert all(equal(elsewhere[names], fit) for names, fit in boards.items())


def test_boards_that_take_long_say_how_far_they_are(votes, monkeypatch):
    said = []
    monkeypatch.setattr(many, "PATIENCE", -1.0)
    monkeypatch.setattr(many, "report", lambda *what: said.append(what))
    ba.fit_many(votes, BY, model="m-elo")
    assert ("boards", 2, 3) in said and said[-1] == ("",)


def test_boards_are_kept_as_other_objects_are(boards):
    again = pickle.loads(pickle.dumps(boards))
    assert all(equal(again[names], fit) for names, fit in boards.items())


@pytest.mark.parametrize("model", ["am-davidson", ba.Model("all four", ties="davidson", both_bad="outcome")])
def test_so_are_fits_that_were_asked(model):
    fit = ba.fit(ba.simulate(competitors=4, annotators=3, votes=300, strength_sd=1.5, seed=1).votes, model=model)
    board = ba.leaderboard(fit)
    again = pickle.loads(pickle.dumps(fit))
    assert again.target.likelihood is fit.target.likelihood
    assert ba.leaderboard(again).equals(board) and ba.verdict(again) == ba.verdict(fit)


class TestFailures:
    def test_a_board_that_cannot_be_fitted_does_not_end_the_others(self, votes, boards):
        with pytest.warns(ba.errors.FailedBoardsWarning, match="1 of 5 boards is missing: tied · Danish"), ignored():
            some = ba.fit_many(broken(votes), BY, model=ba.Model("dropped", ties="drop"))
        assert list(some.failed) == [("tied", "Danish")] and isinstance(
            some.failed["tied", "Danish"], ba.errors.NoVotesError
        )
        assert len(some) == 4 and ("tied", "Danish") not in some
        with pytest.raises(KeyError, match="could not be fitted: The model leaves out every vote"):
            some["tied", "Danish"]
        assert list(ba.leaderboards(some).attrs["failed"]) == [("tied", "Danish")]

    def test_where_all_fail_the_error_is_raised_and_says_of_which_board(self, votes):
        with pytest.raises(ba.ModelError, match="Unknown model 'elo'") as caught:
            ba.fit_many(votes, BY, model="elo")
        assert "code · English" in caught.value.__notes__[0]

    def test_warnings_of_a_kind_are_one(self, votes):
        with pytest.warns(ba.errors.IdentificationWarning) as caught:
            several = ba.fit_many(pl.concat([broken(votes), elsewhere(votes)]), BY, model="m-elo")
        (said,) = [str(one.message) for one in caught]
        assert caught[0].filename == __file__, "a warning names the line of whoever called"
        assert said.startswith("2 of 6 boards, the first of them apart · English: ")
        assert several["apart", "English"].warnings[0] in said and not several["text", "English"].warnings

    def test_intervals_that_a_board_does_not_have_are_told(self, votes):
        won = frame([("w", "x", "w")] * 9).with_columns(
            judge=pl.lit("ann"), category=pl.lit("won"), language=pl.lit("")
        )
        with (
            pytest.warns(ba.errors.NoMaximumWarning, match="1 of 3 boards"),
            pytest.warns(ba.errors.LeftOutEffectWarning),
        ):
            flat = ba.fit_many(pl.concat([votes, won]), "category", model="m-elo", prior="flat")
        with pytest.warns(ba.errors.FailedBoardsWarning, match="1 of 3 boards is missing: won") as caught:
            table = ba.leaderboards(flat, interval="sandwich")
        assert {one.filename for one in caught} == {__file__}
        assert list(table.attrs["failed"]) == [("won",)] and set(table["category"]) == {"code", "text"}


def elsewhere(votes):
    return broken(votes).filter(pl.col("category") == "apart").with_columns(language=pl.lit("French"))


def ignored():
    return warnings.catch_warnings(action="ignore", category=ba.errors.IdentificationWarning)


class TestLeaderboards:
    def test_it_is_the_leaderboard_of_every_board_under_each_other(self, boards):
        table = ba.leaderboards(boards, level=0.89)
        assert list(table.columns[:3]) == ["category", "language", "rank"] and len(table) == 12
        for (category, language), own in table.groupby(BY):
            alone = ba.leaderboard(boards[category, language], level=0.89)
            pd.testing.assert_frame_equal(own.drop(columns=BY).reset_index(drop=True), alone)
        assert table.attrs == {"level": 0.89, "interval": "laplace", "failed": {}}

    def test_a_slice_is_not_called_like_a_column(self, votes):
        boards = ba.fit_many(votes.rename({"language": "rank"}), "rank", model="m-elo")
        with pytest.raises(ba.ModelError, match="column 'rank' of its own"):
            ba.leaderboards(boards)

    def test_levels_that_are_impossible_are_told_as_such(self, boards):
        with pytest.raises(ba.ModelError, match="level"):
            ba.leaderboards(boards, level=2)


def weekly(size: int, seed: int = 0) -> pl.DataFrame:
    """Votes by week, in two categories, on four competitors of which one gets stronger."""
    rng = np.random.default_rng(seed)
    a = rng.integers(4, size=size)
    b = (a + rng.integers(1, 4, size=size)) % 4
    day = np.sort(rng.integers(0, 84, size))
    strength = np.stack([day / 28 - 1.5, *np.zeros((3, size))])
    row = np.arange(size)
    won = rng.random(size) < 1 / (1 + np.exp(strength[b, row] - strength[a, row]))
    names = np.array(["w", "x", "y", "z"])
    return pl.DataFrame(
        {
            "model_a": names[a],
            "model_b": names[b],
            "winner": np.where(won, "model_a", "model_b"),
            "category": rng.choice(["code", "text"], size),
            "tstamp": (np.datetime64("2024-01-01") + day).astype(str),
        }
    )


@pytest.mark.slow
def test_strengths_move_on_every_board():
    cells = ba.read_votes(weekly(1200), slices=["category"], period="week")
    boards = ba.fit_many(cells, "category", drift=True)
    for (name,), fit in boards.items():
        assert fit.model.drift and ba.leaderboard(fit)["competitor"][0] == "w"
        alone = ba.fit(ba.split(cells, "category")[name,], drift=True)
        assert equal(fit, alone)
        assert ba.leaderboard(fit, at="2024-01-01")["competitor"].iloc[-1] == "w"


def test_boards_by_week_cannot_move():
    cells = ba.read_votes(weekly(300), period="week")
    with pytest.raises(ba.ModelError, match=r"All votes were cast in one period \(2024-W01\)"):
        ba.fit_many(cells, "time", drift=True)
