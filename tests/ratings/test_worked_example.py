"""A published Bradley-Terry example, fitted there with R's BradleyTerry2.

A beats B 8:4 and C beats A 5:3. The published table lists every match in both orders, so its errors are those of
twice the votes: 16:8 and 10:6. R interpolates the likelihood profile by a spline, so its profile limits are good to
about 1e-4; the exact ones are found here from the binomial likelihood itself, because the design is a chain.
"""

import math

import numpy as np
import polars as pl
import pytest
from helpers import frame
from scipy.optimize import brentq

import bayes_arena as ba

MATCHES = [("A", "B", "model_a")] * 8 + [("A", "B", "model_b")] * 4
MATCHES += [("C", "A", "model_a")] * 5 + [("C", "A", "model_b")] * 3
OTHER_ORDER = [(b, a, {"model_a": "model_b", "model_b": "model_a"}[w]) for a, b, w in MATCHES]


@pytest.fixture(scope="module")
def doubled() -> ba.Fit:
    return ba.fit(ba.read_votes(frame(MATCHES + OTHER_ORDER)), model="bradley-terry", prior="flat")


@pytest.fixture(scope="module")
def single() -> ba.Fit:
    return ba.fit(ba.read_votes(frame(MATCHES)), model="bradley-terry", prior="flat")


def test_strengths_against_a(doubled):
    table = ba.strengths(doubled, reference="A").set_index("competitor")
    assert table.loc["B", "strength"] == pytest.approx(-0.6931472, abs=5e-8)
    assert table.loc["C", "strength"] == pytest.approx(0.5108256, abs=5e-8)
    assert table.loc["B", "sd"] == pytest.approx(0.4330127, abs=5e-8)
    assert table.loc["C", "sd"] == pytest.approx(0.5163978, abs=5e-8)
    assert table.loc[["B", "C"], "z"].round(3).tolist() == [-1.601, 0.989]
    assert table.loc[["B", "C"], "p"].round(3).tolist() == [0.109, 0.323]
    assert table.loc["A", ["strength", "sd", "lower", "upper"]].tolist() == [0, 0, 0, 0]
    assert table.loc["A", ["z", "p"]].isna().all()


def test_honest_errors_of_the_twenty_votes_are_wider_by_root_two(doubled, single):
    columns = ["strength", "sd"]
    twice = ba.strengths(doubled, reference="A")[columns].to_numpy()
    once = ba.strengths(single, reference="A")[columns].to_numpy()
    np.testing.assert_allclose(once, twice * [1, math.sqrt(2)], atol=1e-9)
    assert once[1, 1] == pytest.approx(0.6123724, abs=5e-8)


def test_deviance_and_aic_of_the_four_grouped_rows(doubled):
    assert round(doubled.aic, 3) == 14.803
    assert (doubled.deviance, doubled.degrees_of_freedom) == (pytest.approx(0, abs=1e-9), 2)
    equal = doubled.target.loss(doubled.target.start())
    assert doubled.deviance + 2 * (equal - doubled.loss) == pytest.approx(3.7291, abs=5e-5)


def test_deviance_and_aic_of_the_matches_once(single):
    """Two rows, fitted exactly: 495 and 56 ways to order the matches."""
    log_likelihood = math.log(495 * (2 / 3) ** 8 * (1 / 3) ** 4) + math.log(56 * (3 / 8) ** 3 * (5 / 8) ** 5)
    assert single.log_likelihood == pytest.approx(log_likelihood)
    assert single.aic == pytest.approx(4 - 2 * log_likelihood)
    assert (single.deviance, single.degrees_of_freedom) == (pytest.approx(0, abs=1e-9), 0)
    table = ba.strengths(single, reference="A").set_index("competitor")
    assert table.loc[["B", "C"], "z"].round(3).tolist() == [-1.132, 0.699]


def test_deviance_and_aic_of_the_table_as_printed(doubled):
    """Nobody is shown first in it, so a pair is one row here and two in R: other constants, equal for every model."""
    table = pl.DataFrame({"player1": [*"BCAA"], "player2": [*"AABC"], "win1": [4, 5, 8, 3], "win2": [8, 3, 4, 5]})
    with pytest.warns(ba.errors.RepeatedVotesWarning, match="dedupe=True"):
        printed = ba.fit(ba.read_votes(table), model="bradley-terry", prior="flat")
    assert (round(printed.aic, 2), printed.degrees_of_freedom) == (10.73, 0)
    assert printed.deviance == pytest.approx(0, abs=1e-9)
    ways = math.log(math.comb(12, 4) ** 2 * math.comb(8, 3) ** 2) - math.log(math.comb(24, 8) * math.comb(16, 6))
    assert doubled.aic - printed.aic == pytest.approx(-2 * ways)
    assert doubled.degrees_of_freedom == printed.degrees_of_freedom + 2
    with pytest.warns(ba.errors.RepeatedVotesWarning, match="Counted once"):
        once = ba.fit(ba.read_votes(table, dedupe=True), model="bradley-terry", prior="flat")
    assert (round(once.aic, 2), once.degrees_of_freedom) == (9.4, 0)


def test_published_profile_limits(doubled):
    table = ba.strengths(doubled, reference="A", interval="profile").set_index("competitor")
    assert table.loc["B", ["lower", "upper"]].tolist() == pytest.approx([-1.5958865, 0.1280845], abs=1e-4)
    assert table.loc["C", ["lower", "upper"]].tolist() == pytest.approx([-0.4797566, 1.5889808], abs=1e-4)


@pytest.mark.parametrize(("fitted", "factor"), [("doubled", 2), ("single", 1)])
@pytest.mark.parametrize(("name", "won", "lost"), [("B", 4, 8), ("C", 5, 3)])
def test_exact_profile_limits(fitted, factor, name, won, lost, request):
    """Along a chain the profile of one step is the binomial likelihood of that pair."""
    won, lost = factor * won, factor * lost

    def excess(t):
        loss = (won + lost) * math.log1p(math.exp(t)) - won * t
        best = -won * math.log(won / (won + lost)) - lost * math.log(lost / (won + lost))
        return 2 * (loss - best) - 3.841458820694124

    mode = math.log(won / lost)
    table = ba.strengths(request.getfixturevalue(fitted), reference="A", interval="profile").set_index("competitor")
    expected = [brentq(excess, mode - 5, mode, xtol=1e-13), brentq(excess, mode, mode + 5, xtol=1e-13)]
    assert table.loc[name, ["lower", "upper"]].tolist() == pytest.approx(expected, abs=1e-9)


def test_mean_centred_elo_on_1500(doubled):
    table = ba.leaderboard(doubled, elo=ba.EloScale(init=1500))
    assert table["competitor"].tolist() == ["C", "A", "B"]
    assert table["elo"].round(1).tolist() == [1599.3, 1510.6, 1390.1]
    assert table["lower"].round(1).tolist() == [1472.2, 1434.1, 1275.7]
    assert table["upper"].round(1).tolist() == [1726.4, 1587.0, 1504.6]
    half = (table["upper"] - table["lower"]) / 2 / 1.959964
    assert half.round(1).tolist() == [64.8, 39.0, 58.4]
