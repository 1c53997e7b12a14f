"""Weights that are not counts, graded verdicts, and scores."""

import json

import numpy as np
import polars as pl
import pytest
from helpers import frame, run
from numpy.testing import assert_allclose

import bayes_arena as ba


def weighted(weights: list[float]) -> pl.DataFrame:
    rows = [("x", "y", "x"), ("x", "y", "y"), ("y", "z", "tie"), ("x", "y", "x")]
    return frame(rows[: len(weights)]).with_columns(w=pl.Series(weights))


def test_importance_weights_sum_to_the_effective_number_of_votes():
    weights = np.array([1.0, 2.0, 3.0, 10.0])
    cells = ba.read_votes(weighted(weights.tolist()), weight="w", weights="importance")
    effective = weights.sum() ** 2 / (weights**2).sum()
    assert cells.n_votes == pytest.approx(effective, rel=1e-14)
    assert cells.design_effect == pytest.approx(4 / effective, rel=1e-14)
    assert repr(cells).startswith("Cells(4 votes worth 2.2, 3 competitors")
    frequent = ba.read_votes(weighted(weights.tolist()), weight="w")
    assert_allclose(cells.counts / cells.n_votes, frequent.counts / frequent.n_votes)


@pytest.mark.parametrize("unit", [1e-3, 4096.0])
def test_importance_has_no_unit(unit):
    one, other = (
        ba.read_votes(weighted([scale * w for w in (1.0, 2.0, 3.0)]), weight="w", weights="importance")
        for scale in (1.0, unit)
    )
    assert_allclose(other.counts, one.counts, rtol=1e-12)


def test_equal_importance_is_one_vote_each():
    cells = ba.read_votes(weighted([7.0, 7.0, 7.0]), weight="w", weights="importance")
    assert (cells.n_votes, cells.design_effect) == (3, 1)
    assert repr(cells).startswith("Cells(3 votes, ")


def test_flat_estimates_stay_and_intervals_widen(arena):
    rng = np.random.default_rng(0)
    table = arena.votes.with_columns(w=pl.Series(rng.lognormal(size=arena.votes.height)))
    one, other = (
        ba.fit(ba.read_votes(table, weight="w", weights=kind), model="bradley-terry", prior="flat", method="map")
        for kind in ("frequency", "importance")
    )
    assert_allclose(other.strength, one.strength, atol=1e-9)
    ratio = ba.strengths(other)["sd"] / ba.strengths(one)["sd"]
    assert_allclose(ratio, np.sqrt(one.cells.n_votes / other.cells.n_votes), rtol=1e-9)


@pytest.mark.slow
def test_a_saved_fit_knows_what_votes_are_worth(tmp_path):
    fit = ba.fit(ba.read_votes(weighted([1.0, 2.0, 3.0, 10.0]), weight="w", weights="importance"), method="map")
    ba.save(fit, tmp_path / "fit.nc")
    assert "4 votes worth 2.2" in repr(fit)
    assert repr(ba.load(tmp_path / "fit.nc")) == repr(fit)


def test_the_command_says_what_weighted_votes_are_worth(tmp_path):
    weighted([1.0, 2.0, 3.0, 10.0]).write_csv(tmp_path / "v.csv")
    done = run("check", tmp_path / "v.csv", "--weight", "w", "--weights", "importance", "--format", "json")
    answer = json.loads(done.stdout)
    assert answer["n_votes"] == pytest.approx(256 / 114, abs=1e-3)
    assert answer["design_effect"] == pytest.approx(4 * 114 / 256, abs=1e-3)
    assert "4 votes worth 2.2: design effect 1.78" in done.stdout


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"weights": "importance"}, "Name it: weight="),
        ({"weight": "w", "weights": "survey"}, "weights must be 'frequency' or 'importance', not 'survey'"),
    ],
)
def test_importance_without_weights_is_refused(options, message):
    with pytest.raises(ba.VotesError, match=message):
        ba.read_votes(weighted([1.0, 2.0]), **options)


def test_counts_of_wins_are_no_importance():
    table = pl.DataFrame({"player1": ["x"], "player2": ["y"], "win1": [3], "win2": [1], "w": [2.0]})
    with pytest.raises(ba.VotesError, match="Counts of wins are frequencies"):
        ba.read_votes(table, weight="w", weights="importance")


def test_graded_verdicts_are_votes():
    verdicts = ["A>>B", "[[A>B]]", "A=B", "b > a", "[[ B >> A ]]", "A<B", "B<<A", "B=A"]
    votes = frame([("x", "y", verdict) for verdict in verdicts])
    assert_allclose(ba.read_votes(votes).counts, [[1, 2, 2, 0, 2, 1]])
    folded = ba.read_votes(votes, grades="fold")
    assert (folded.counts.tolist(), folded.grades) == ([[3, 3, 2, 0]], 1)


def test_another_verdict_is_unknown_and_can_be_mapped():
    votes = frame([("x", "y", "A>=B"), ("x", "y", "A>B")])
    with pytest.raises(ba.errors.InvalidVotesError, match=r"unknown winner \['A>=B'\]"):
        ba.read_votes(votes)
    assert_allclose(ba.read_votes(votes, outcomes={"A >= B": "model_a"}).counts, [[2, 0, 0, 0]])


def test_a_score_is_a_part_of_a_win():
    table = pl.DataFrame({"model_a": ["x", "y", "x"], "model_b": ["y", "x", "z"], "s": [0.75, 1.0, 0.5]})
    cells = ba.read_votes(table, score="s")
    assert cells.sided
    assert_allclose(cells.counts, [[0.75, 0.25, 0, 0], [0.5, 0.5, 0, 0], [1, 0, 0, 0]])
    assert cells.n_votes == 3
    table = table.with_columns(w=pl.Series([1.0, 2.0, 3.0]))
    halves = ba.read_votes(table, score="s", weight="w", weights="importance")
    assert halves.n_votes == pytest.approx(36 / 14)


def test_the_mean_score_is_the_probability_of_a_win():
    rng = np.random.default_rng(1)
    scores = rng.beta(3, 1, size=400)
    table = pl.DataFrame({"model_a": ["x"] * 400, "model_b": ["y"] * 400, "s": scores})
    fit = ba.fit(ba.read_votes(table, score="s"), model="bradley-terry", prior="flat")
    assert 1 / (1 + np.exp(np.diff(fit.strength)[0])) == pytest.approx(scores.mean(), abs=1e-9)


def test_bad_scores_are_quoted():
    table = pl.DataFrame({"model_a": ["x"] * 4, "model_b": ["y"] * 4, "s": ["0.5", "1.5", None, "high"]})
    with pytest.raises(
        ba.errors.InvalidVotesError, match=r"(?s)s='1.5'.*bad score × 3: scores are numbers from 0 to 1"
    ):
        ba.read_votes(table, score="s")
    with pytest.raises(ba.errors.ColumnError, match="a winner or a score"):
        ba.read_votes(table, score="s", winner="s")


def test_the_file_of_an_arena_refuses_both(tmp_path):
    with ba.StableArena.create(tmp_path / "a.duckdb") as arena:
        for options in ({"score": "s"}, {"weight": "w", "weights": "importance"}):
            with pytest.raises(ba.errors.ColumnError, match="stores votes with one outcome each"):
                arena.add(frame([("x", "y", "x")]), **options)
