import numpy as np
import pytest

import bayes_arena as ba
from bayes_arena.people.table import (
    davidson_posterior,
    exposure,
    mean_of_clipped_square,
    pair_table,
    score_moments,
    table_at,
    without_pairs,
)
from tests.people.arenas import N, votes_of


@pytest.fixture(scope="module")
def votes():
    return ba.read_votes(votes_of(annotators=12, each=60))


@pytest.fixture(scope="module")
def table(votes):
    return pair_table(votes)


def test_a_row_for_each_annotator_and_competitor_who_met(votes, table):
    assert len(np.unique(table.code)) == len(table.code)
    assert table.votes.sum() == 2 * votes.n_votes
    k, c = 3, 5
    row = table.code == k * N + c
    first = (votes.annotator == k) & (votes.i == c)
    second = (votes.annotator == k) & (votes.j == c)
    wins = votes.counts[first, 0].sum() + votes.counts[second, 1].sum()
    ties = votes.counts[first | second, 2].sum()
    assert table.wins[row] == wins
    assert table.score[row] * table.votes[row] == pytest.approx(wins + ties / 2)


def test_net_scores_are_those_of_the_fit(votes, table):
    # At a mode the residuals of a competitor are those that its prior holds back.
    by_competitor = np.bincount(table.competitor, table.net)
    assert by_competitor.sum() == pytest.approx(0, abs=1e-9)
    assert np.abs(by_competitor).max() < 0.05 * table.votes.sum() / N
    expected = table.score - table.net / table.votes
    here = np.zeros(len(table.code))
    np.testing.assert_allclose(table.expected_at(here), expected, atol=1e-12)


def test_score_moments_by_hand(table):
    mean, variance = score_moments(np.array([0.0, 100.0]), table.outcomes, 0.0)
    np.testing.assert_allclose(mean, [0.5, 1.0])
    np.testing.assert_allclose(variance, [1 / 6, 0.0], atol=1e-12)


def test_some_pairs_keep_their_votes(table):
    mask = table.votes >= 12
    some = table.subset(mask)
    np.testing.assert_array_equal(some.code, table.code[mask])
    np.testing.assert_allclose(some.votes, table.votes[mask])
    shift = np.linspace(-1, 1, len(mask))
    expected = table.expected_at(shift)[mask]
    np.testing.assert_allclose(some.expected_at(shift[mask]), expected)


def test_votes_left_out_of_the_fit_stay_in_the_table(votes, table):
    kept = without_pairs(votes, table.code[:3])
    assert kept.n_votes < votes.n_votes
    assert not np.isin(table.code[:3], pair_table(kept).code).any()
    other = table_at(davidson_posterior(kept), votes)
    np.testing.assert_array_equal(other.code, table.code)
    np.testing.assert_array_equal(other.score, table.score)
    assert np.abs(other.net - table.net).max() > 0.01


@pytest.mark.parametrize("taste", [0.0, 0.5, 0.8])
def test_the_spread_of_tastes_is_found(taste):
    votes = ba.read_votes(votes_of(annotators=40, each=240, taste=taste))
    found = pair_table(votes).taste
    assert found == pytest.approx(max(taste, 0.3), abs=0.15)


def test_a_few_favourites_do_not_change_the_spread_of_tastes():
    before = pair_table(ba.read_votes(votes_of(each=120, taste=0.6))).taste
    after = pair_table(ba.read_votes(votes_of(each=120, taste=0.6, loyal=60))).taste
    assert after == pytest.approx(before, abs=0.1)


def test_the_mean_of_clipped_squares():
    z = np.random.default_rng(0).normal(size=400_000)
    assert mean_of_clipped_square(4.0) == pytest.approx(
        np.minimum(z**2, 4).mean(), abs=0.01
    )
    assert mean_of_clipped_square(400.0) == pytest.approx(1)


def test_exposure_is_one_where_pairs_are_given_at_random(votes):
    assert exposure(votes) == pytest.approx(1, abs=0.3)
    seen = np.zeros((12, N))
    cast = votes.counts.sum(axis=1)
    np.add.at(seen, (votes.annotator, votes.i), cast)
    np.add.at(seen, (votes.annotator, votes.j), cast)
    expected = np.outer(seen.sum(axis=1), seen.sum(axis=0)) / seen.sum()
    chi_square = ((seen - expected) ** 2 / expected).sum()
    assert exposure(votes) == pytest.approx(chi_square / (11 * (N - 1)))


def test_exposure_is_large_where_annotators_saw_others():
    frame = votes_of(annotators=12, each=200)
    number = frame["judge"].str[-2:].astype(int)
    is_top = (frame["model_a"] < "model 06") & (frame["model_b"] < "model 06")
    assert exposure(ba.read_votes(frame[is_top | (number < 6)])) > 2
