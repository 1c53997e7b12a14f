"""Whose votes a board is about: everybody's, capped, or the middle; and win rates of the same voters."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from camped import REGIMES, camped
from scipy.special import logit

import bayes_arena as ba
from bayes_arena.inference.crowd import Crowd, kept
from bayes_arena.likelihood.outcomes.davidson import LIKELIHOOD

PER_LOGIT = 400 / np.log(10)


def expected(arena) -> tuple[np.ndarray, np.ndarray]:
    """Return every annotator's true expected score on every pair, (m, M), and their shares in the average."""
    i, j = np.triu_indices(arena.cells.n_competitors, k=1)
    z = np.zeros((2, len(i), arena.cells.n_annotators))
    z[0], z[1] = (arena.strength[:, i] - arena.strength[:, j]).T, arena.log_tie
    return LIKELIHOOD.expected_score(z)[0], Crowd().shares(arena.cells.votes_by_annotator())


def fit(arena):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ba.AverageWarning)
        return ba.fit(arena.cells, robust=False)


@pytest.fixture(scope="module")
def tied():
    """One of 61 accounts casts 27 % of the votes, and always ties."""
    rng = np.random.default_rng(4)
    ranking = rng.normal(size=12)
    strength = rng.normal(1, 0.3, (61, 1)) * (ranking - ranking.mean())
    tie = rng.normal(0, 0.4, 61)
    strength[0], tie[0] = 0.0, 30.0
    k = np.where(rng.random(4000) < 0.27, 0, rng.integers(1, 61, 4000))
    return camped(rng, strength, np.zeros(61, dtype=int), k, tie=tie)


class TestCap:
    @pytest.mark.parametrize("size", [3, 20, 21, 300])
    def test_no_account_is_above_it(self, size):
        cast = np.ceil(10 * np.random.default_rng(size).pareto(0.7, size)) + 1
        share = Crowd().shares(cast)
        assert share.sum() == pytest.approx(1)
        assert share.max() <= max(0.05, 2 / size) + 1e-12
        assert (np.diff(share[np.argsort(cast)]) >= -1e-12).all()

    def test_votes_count_the_same_where_it_does_not_bind(self):
        cast = np.arange(100.0, 200.0)
        np.testing.assert_array_equal(Crowd().shares(cast), cast / cast.sum())

    def test_a_crowd_has_a_cap_of_its_own(self):
        cast = np.full(40, 10.0)
        cast[0] = 400.0
        sure, half = ((part,) * 30 + (0.0,) * 10 for part in (1.0, 0.5))
        assert Crowd(sure).shares(cast).max() == pytest.approx(2 / 30)
        np.testing.assert_allclose(Crowd(half).shares(cast), Crowd(sure).shares(cast))

    @pytest.mark.slow
    def test_it_says_whom_it_binds(self, tied):
        with pytest.warns(ba.AverageWarning, match=r"person-0000 \(cast 2\d % of the votes, counts 5 %\)"):
            found = ba.fit(tied.cells, robust=False)
        every_vote = found.of("everybody", cap=1.0)
        assert np.ptp(ba.leaderboard(every_vote)["elo"]) < np.ptp(ba.leaderboard(found)["elo"])
        assert not every_vote.warnings and ba.leaderboard(every_vote).attrs["cap"] == "1 of the votes"
        with pytest.raises(ba.ModelError, match="at most 1, not 5"):
            found.of("everybody", cap=5)


class TestMiddle:
    def test_a_fifth_at_either_end_is_left_out(self):
        values, weights = np.array([[5.0, 1.0, 2.0, 3.0, 4.0]]), np.full((1, 5), 0.2)
        np.testing.assert_allclose(kept(values, weights), [[0, 0, 1 / 3, 1 / 3, 1 / 3]], atol=1e-12)

    def test_of_those_who_expect_the_same_all_count_alike(self):
        values = np.array([[5.0, 1.0, 1.0, 3.0, 1.0 + 1e-12]])
        np.testing.assert_allclose(kept(values, np.full((1, 5), 0.2)), [[0, 2 / 9, 2 / 9, 1 / 3, 2 / 9]], atol=1e-12)

    @pytest.mark.slow
    def test_a_sure_minority_hardly_moves_it(self):
        arena = REGIMES["consistent minority"](np.random.default_rng(3))
        with pytest.warns(ba.AverageWarning, match=r"disagrees with everybody's average .* \(rank \d+, in the middle"):
            found = ba.fit(arena.cells, robust=False)
        score, share = expected(arena)
        of_all, middle = (ba.leaderboard(found.of(whose)) for whose in ("everybody", "the middle"))
        assert of_all.equals(ba.leaderboard(found))
        assert middle.attrs["crowd"] == "the middle of the votes"
        true = np.zeros((2, 20))
        i, j = np.triu_indices(20, k=1)
        for row, weights in enumerate((share + np.zeros_like(score), kept(score, share + np.zeros_like(score)))):
            won = (weights * score).sum(axis=1) - 0.5
            np.add.at(true[row], i, won)
            np.add.at(true[row], j, -won)
        for table, mine, other in ((of_all, *true), (middle, *true[::-1])):
            elo = table.set_index("competitor").loc[list(found.cells.competitors), "elo"]
            assert np.corrcoef(elo, mine)[0, 1] > np.corrcoef(elo, other)[0, 1]

    def test_it_is_what_all_say_who_agree(self, arena_cells):
        found = ba.fit(arena_cells, model="bradley-terry")
        assert ba.leaderboard(found.of("the middle"))["elo"].equals(ba.leaderboard(found)["elo"])

    @pytest.mark.slow
    def test_annotators_without_parameters_agree(self):
        votes = [("x", "y", "x", "de"), ("y", "z", "z", "en"), ("z", "x", "z", "en")]
        table = pl.DataFrame(votes, schema=["model_a", "model_b", "winner", "language"], orient="row")
        model = ba.Model("by language", strength_by=("language",))
        found = ba.fit(ba.read_votes(table, slices=["language"]), model=model)
        elo = ba.leaderboard(found.of("the middle"))["elo"]
        np.testing.assert_allclose(elo, ba.leaderboard(found)["elo"], atol=0.01)

    @pytest.mark.slow
    def test_draws_follow(self, tied):
        found = fit(tied).of("the middle")
        table = ba.leaderboard(found).set_index("competitor").loc[list(found.cells.competitors)]
        draws = ba.draw(found).elo_strength
        np.testing.assert_allclose(1000 + PER_LOGIT * draws.mean(axis=0), table["elo"], atol=3)
        sampled = replace(found, samples=ba.draw(found, size=400)).of("the middle")
        np.testing.assert_allclose(
            ba.leaderboard(sampled).set_index("competitor").loc[table.index, "elo"], table["elo"], atol=8
        )


class TestWinRates:
    @pytest.mark.slow
    def test_they_are_the_average_vote(self, tied):
        found = fit(tied)
        score, share = expected(tied)
        average, one = score @ share, ba.head_to_head(found, annotator="average")["plug_in"]
        table = ba.head_to_head(found)
        slope, of_one = (np.polyfit(logit(average), logit(rate), 1)[0] for rate in (table["plug_in"], one))
        assert abs(slope - 1) < 0.15 and of_one > slope + 0.05
        assert (
            table["lower"].le(average).mul(table["upper"].ge(average)).mean() > 0.75
        )  # one draw of errors that all pairs share
        assert (table["mean"] - table["plug_in"]).abs().max() < 0.02
        first = table.iloc[0]
        assert ba.win_probability(found).loc[first["competitor"], first["opponent"]] == first["mean"]
        assert ba.versus(found, first["competitor"], first["opponent"]).expected_score == pytest.approx(first["mean"])

    @pytest.mark.slow
    def test_draws_give_the_same(self, tied):
        found = fit(tied)
        table, drawn = ba.head_to_head(found), ba.head_to_head(found, draws=ba.draw(found, size=1000))
        for column in ("lower", "upper", "mean"):
            np.testing.assert_allclose(drawn[column], table[column], atol=0.02)

    @pytest.mark.slow
    def test_one_annotator_by_name(self, tied):
        one = ba.head_to_head(fit(tied).of("person-0000"))
        np.testing.assert_allclose(one["mean"], 0.5, atol=0.03)
        with pytest.raises(ba.ModelError, match="average"):
            ba.head_to_head(fit(tied), annotator="median")


def test_win_rates_of_the_middle_and_their_reverse_sum_to_one(arena_cells):
    first, second = arena_cells.competitors[:2]
    table = ba.head_to_head(ba.fit(arena_cells, method="map").of("the middle"), [(first, second), (second, first)])
    assert table["plug_in"].sum() == pytest.approx(1)
