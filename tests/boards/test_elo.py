"""The Elo scale."""

import numpy as np
import pytest

import bayes_arena as ba
from tests.boards.arenas import SEED, fitted


def test_the_seeds_numbers():
    """Wang (2025), "How to estimate Elo scores": mean 1500, scores to a tenth."""
    fit = ba.fit(SEED, model="bradley-terry", prior="flat")
    board = ba.leaderboard(fit, elo=ba.EloScale(init=1500), min_votes=0)
    assert board["competitor"].tolist() == ["C", "A", "B"]
    np.testing.assert_allclose(board["elo"], [1599.3, 1510.6, 1390.1], atol=0.06)
    np.testing.assert_allclose(board["lower"], [1472.2, 1434.1, 1275.7], atol=0.06)
    np.testing.assert_allclose(board["upper"], [1726.4, 1587.0, 1504.6], atol=0.06)


def test_400_points_are_odds_of_ten():
    assert ba.EloScale().points_per_logit * np.log(10) == pytest.approx(400)
    assert ba.EloScale(scale=1, base=np.e).points_per_logit == pytest.approx(1)


def test_an_anchor_shifts_all_alike():
    fit = fitted()
    board = ba.leaderboard(fit).set_index("competitor")
    anchored = ba.leaderboard(fit, elo=ba.EloScale(anchor=("m03", 1200)))
    anchored = anchored.set_index("competitor")
    assert anchored.loc["m03", "elo"] == pytest.approx(1200)
    for bound in ("elo", "lower", "upper"):
        shift = anchored[bound] - board[bound]
        np.testing.assert_allclose(shift, shift.iloc[0], atol=1e-9)


def test_what_is_no_scale_is_refused():
    for wrong in ({"scale": 0}, {"base": 1}, {"init": np.inf}):
        with pytest.raises(ba.errors.ModelError, match="Elo scale"):
            ba.EloScale(**wrong)
    for call in (ba.leaderboard, ba.rate):
        with pytest.raises(ba.errors.ModelError, match=r"such as EloScale\(init=1000"):
            call(fitted(), elo=1000)
    with pytest.raises(ba.errors.ModelError, match=r"'m3'.*Did you mean"):
        ba.leaderboard(fitted(), elo=ba.EloScale(anchor=("m3", 1200)))


def test_an_anchor_needs_an_estimate():
    votes = {
        "model_a": ["a", "b", "a"],
        "model_b": ["b", "a", "c"],
        "winner": ["model_a", "model_a", "model_a"],
    }
    with pytest.warns(ba.errors.ArenaWarning, match="No finite estimate for 'c'"):
        fit = ba.fit(votes, model="bradley-terry", prior="flat")
    with pytest.raises(ba.errors.NotIdentifiedError, match="'c' has no finite"):
        ba.leaderboard(fit, elo=ba.EloScale(anchor=("c", 1000)))
