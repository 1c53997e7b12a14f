"""Estimates as a statistician reads them, against figures published for R's BradleyTerry2 and against algebra.

The baseball season is table 10.10 of Agresti, "Categorical Data Analysis" (2002): 1987, American League East, home
teams in rows. Fitted with BradleyTerry2: deviance 44.053 on 36 degrees of freedom, AIC 140.52; with the home advantage
0.302 (0.131), deviance 38.643 on 35, AIC 137.11.
"""

import math

import numpy as np
import polars as pl
import pytest
from helpers import frame
from scipy.stats import norm, t

import bayes_arena as ba
from bayes_arena.ratings import estimates

TEAMS = ["Milwaukee", "Detroit", "Toronto", "New York", "Boston", "Cleveland", "Baltimore"]
HOME_WINS = """
-   4-3 4-2 4-3 6-1 4-2 6-0
3-3 -   4-2 4-3 6-0 6-1 4-3
2-5 4-3 -   2-4 4-3 4-2 6-0
3-3 5-1 2-5 -   4-3 4-2 6-1
5-1 2-5 3-3 4-2 -   5-2 6-0
2-5 3-3 3-4 4-3 4-2 -   2-4
2-5 1-5 1-6 2-4 1-6 3-4 -
"""
GAMES = [
    (home, away, side, int(count))
    for home, line in zip(TEAMS, HOME_WINS.split("\n")[1:-1], strict=True)
    for away, result in zip(TEAMS, line.split(), strict=True)
    if result != "-"
    for side, count in zip(("model_a", "model_b"), result.split("-"), strict=True)
]
SEASON = pl.DataFrame(GAMES, schema=["model_a", "model_b", "winner", "games"], orient="row")
ORDER = ba.Model("order effect", position="common")
PAIR = [("x", "y", "x")] * 9 + [("x", "y", "y")] * 3


@pytest.fixture(scope="module")
def season() -> ba.Cells:
    return ba.read_votes(SEASON, weight="games")


@pytest.fixture(scope="module")
def plain(season) -> ba.Fit:
    return ba.fit(season, model="bradley-terry", prior="flat")


@pytest.fixture(scope="module")
def at_home(season) -> ba.Fit:
    return ba.fit(season, model=ORDER, prior="flat")


def test_a_season_as_fitted_by_r(plain):
    table = ba.strengths(plain, reference="Baltimore").set_index("competitor")
    estimates = {"Boston": 1.1077, "Cleveland": 0.6839, "Detroit": 1.4364, "Milwaukee": 1.5814, "New York": 1.2476}
    for team, value in estimates.items():
        assert table["strength"][team] == pytest.approx(value, abs=5e-5)
    assert table["sd"]["Boston"] == pytest.approx(0.3339, abs=5e-5)
    assert (round(plain.deviance, 3), plain.degrees_of_freedom, round(plain.aic, 2)) == (44.053, 36, 140.52)


def test_the_order_effect_as_fitted_by_r(at_home, plain):
    table = ba.effects(at_home)
    assert table.columns.tolist() == ["effect", "estimate", "sd", "z", "p", "lower", "upper"]
    (row,) = table.to_dict("records")
    assert row["effect"] == "position"
    assert row["estimate"] == pytest.approx(0.302, abs=5e-4)
    assert row["sd"] == pytest.approx(0.131, abs=5e-4)
    assert row["z"] == pytest.approx(row["estimate"] / row["sd"])
    assert row["p"] == pytest.approx(2 * norm.sf(row["z"]))
    assert row["lower"] == pytest.approx(row["estimate"] - norm.ppf(0.975) * row["sd"])
    assert (round(at_home.deviance, 3), round(at_home.aic, 2)) == (38.643, 137.11)
    assert at_home.degrees_of_freedom == 35
    assert 2 * (at_home.log_likelihood - plain.log_likelihood) == pytest.approx(plain.deviance - at_home.deviance)


def test_swapped_sides_turn_the_order_effect_and_nothing_else(at_home):
    turned = SEASON.rename({"model_a": "model_b", "model_b": "model_a"}).with_columns(
        winner=pl.col("winner").replace({"model_a": "model_b", "model_b": "model_a"})
    )
    swapped = ba.fit(ba.read_votes(turned, weight="games"), model=ORDER, prior="flat")
    numbers = ["difference", "sd", "z", "p", "lower", "upper"]
    np.testing.assert_allclose(ba.contrasts(swapped)[numbers], ba.contrasts(at_home)[numbers], atol=1e-8)
    assert ba.effects(swapped)["estimate"][0] == pytest.approx(-ba.effects(at_home)["estimate"][0], abs=1e-8)
    for name in ("log_likelihood", "deviance", "degrees_of_freedom", "aic"):
        assert getattr(swapped, name) == pytest.approx(getattr(at_home, name), abs=1e-8)


def test_two_competitors_by_hand():
    """9 wins to 3: log-odds ln 3 with variance 1/9 + 1/3, all of one binomial."""
    fit = ba.fit(ba.read_votes(frame(PAIR)), model="bradley-terry", prior="flat")
    (row,) = ba.contrasts(fit).to_dict("records")
    z = math.log(3) / math.sqrt(1 / 9 + 1 / 3)
    assert (row["competitor"], row["opponent"]) == ("x", "y")
    assert row["difference"] == pytest.approx(math.log(3))
    assert row["sd"] == pytest.approx(math.sqrt(1 / 9 + 1 / 3))
    assert (row["z"], row["p"]) == pytest.approx((z, math.erfc(z / math.sqrt(2))))
    assert fit.log_likelihood == pytest.approx(math.log(220 * 0.75**9 * 0.25**3))
    assert (fit.deviance, fit.degrees_of_freedom) == (pytest.approx(0, abs=1e-9), 0)
    assert fit.aic == pytest.approx(2 - 2 * fit.log_likelihood)


def test_graded_verdicts_by_hand():
    """Two competitors, five outcomes of which four are free, three parameters."""
    counts = {"A>>B": 8, "A>B": 5, "A=B": 4, "B>A": 2, "B>>A": 1}
    cells = ba.read_votes(frame([("x", "y", grade) for grade, count in counts.items() for _ in range(count)]))
    fit = ba.fit(cells, model=ba.Model("graded", ties="davidson", grades=2), prior="flat")
    saturated = sum(count * math.log(count / 20) for count in counts.values())
    assert fit.deviance == pytest.approx(2 * (fit.loss + saturated))
    assert (fit.n_parameters, fit.degrees_of_freedom) == (3, 1)
    folded = ba.fit(cells, model="bradley-terry", prior="flat")
    assert folded.deviance == pytest.approx(0, abs=1e-9)


def test_contrasts_are_strengths_against_the_other(plain):
    against = ba.strengths(plain, reference="Detroit", interval="profile").set_index("competitor")
    pairs = [(team, "Detroit") for team in against.index if team != "Detroit"]
    table = ba.contrasts(plain, pairs, interval="profile").set_index("competitor")
    for name in ("sd", "z", "p", "lower", "upper"):
        np.testing.assert_allclose(table[name], against[name].drop("Detroit"), rtol=1e-9)
    np.testing.assert_allclose(table["difference"], against["strength"].drop("Detroit"), rtol=1e-9)
    turned = ba.contrasts(plain, [pair[::-1] for pair in pairs])
    np.testing.assert_allclose(turned["difference"], -table["difference"])
    np.testing.assert_allclose(turned["p"], table["p"])
    assert len(ba.contrasts(plain)) == 21


def test_half_wins_and_davidson_by_hand():
    """Two competitors, 6 wins, 2 losses, 4 ties: score 8 of 12, and the shares themselves."""
    rows = [("x", "y", "x")] * 6 + [("x", "y", "y")] * 2 + [("x", "y", "tie")] * 4
    cells = ba.read_votes(frame(rows))
    orders = math.log(math.factorial(12) / (math.factorial(6) * 2 * math.factorial(4)))
    half = ba.fit(cells, model="bradley-terry", prior="flat")
    assert half.log_likelihood == pytest.approx(orders + 8 * math.log(8 / 12) + 4 * math.log(4 / 12))
    davidson = ba.fit(cells, model=ba.Model("davidson", ties="davidson"), prior="flat")
    shares = 6 * math.log(6 / 12) + 2 * math.log(2 / 12) + 4 * math.log(4 / 12)
    assert davidson.log_likelihood == pytest.approx(orders + shares)
    for fit in (half, davidson):
        assert fit.deviance == pytest.approx(0, abs=1e-9)
        assert fit.degrees_of_freedom == 0
    assert ba.effects(davidson)["estimate"][0] == pytest.approx(math.log(4 / math.sqrt(12)))
    dropped = ba.fit(cells, model=ba.Model("drop", ties="drop"), prior="flat")
    assert dropped.log_likelihood == pytest.approx(math.log(28) + 6 * math.log(6 / 8) + 2 * math.log(2 / 8))


def test_clustered_errors_are_tested_by_student(arena_cells):
    fit = ba.fit(arena_cells, model="bradley-terry", prior="flat")
    table = ba.strengths(fit, interval="clustered")
    np.testing.assert_allclose(table["p"], 2 * t.sf(np.abs(table["z"]), arena_cells.n_annotators - 1), rtol=1e-9)
    np.testing.assert_allclose(table["z"], table["strength"] / table["sd"])


@pytest.mark.slow
def test_a_sampled_fit_has_them_from_its_draws(sampled_davidson):
    table = ba.effects(sampled_davidson)
    assert table["effect"].tolist() == ["log_tie_propensity", "position"]
    np.testing.assert_allclose(table["estimate"], sampled_davidson.samples.common.mean(axis=0))
    gap = sampled_davidson.samples.strength[:, 0] - sampled_davidson.samples.strength[:, 4]
    names = sampled_davidson.cells.competitors
    (row,) = ba.contrasts(sampled_davidson, [(names[0], names[4])]).to_dict("records")
    assert (row["difference"], row["sd"]) == pytest.approx((gap.mean(), gap.std(ddof=1)))
    assert (row["lower"], row["upper"]) == pytest.approx(tuple(np.quantile(gap, [0.025, 0.975])))


def test_a_prior_leaves_no_degrees_of_freedom_to_count(season):
    fit = ba.fit(season, model="bradley-terry")
    assert fit.log_likelihood < ba.fit(season, model="bradley-terry", prior="flat").log_likelihood
    for name in ("aic", "degrees_of_freedom"):
        with pytest.raises(ba.ModelError, match=r"free parameters.*prior='flat'"):
            getattr(fit, name)


def test_of_many_competitors_pairs_have_to_be_named(plain, monkeypatch):
    monkeypatch.setattr(estimates, "are_many", lambda size: True)
    with pytest.raises(ba.errors.TooLargeError, match=r"All pairs of \d+ competitors are too many\. Name some: pairs="):
        ba.contrasts(plain)
    assert len(ba.contrasts(plain, pairs=[plain.cells.competitors[:2]])) == 1


def test_what_has_no_contrast_or_effect_is_refused(plain):
    with pytest.raises(ba.ModelError, match="7 competitors there is no 'Chicago'"):
        ba.contrasts(plain, [("Boston", "Chicago")])
    with pytest.raises(ba.ModelError, match="two different competitors"):
        ba.contrasts(plain, [("Boston", "Boston")])
    with pytest.raises(ba.ModelError, match="two different competitors"):
        ba.contrasts(plain, [])
    with pytest.raises(ba.ModelError, match=r"only strengths.*position='common'"):
        ba.effects(plain)
    rows = [(a, b, w) for a, b in ("xy", "pq") for w in ("model_a", "model_b")]
    with pytest.warns(ba.errors.IdentificationWarning):
        apart = ba.fit(ba.read_votes(frame(rows)), prior="flat")
    assert len(ba.contrasts(apart, [("x", "y")])) == 1
    with pytest.raises(ba.errors.NotIdentifiedError, match="p and x"):
        ba.contrasts(apart)


def test_taken_in_parts_the_answers_are_the_same(arena_cells, monkeypatch):
    """Memory is bounded by taking some functions, and some pairs, at a time."""
    fit = ba.fit(arena_cells, model="am-elo")
    questions = (ba.contrasts, ba.leaderboard, ba.head_to_head, ba.win_probability)
    whole = [question(fit) for question in questions]
    monkeypatch.setattr("bayes_arena.inference.mode.laplace.AT_ONCE", 30)
    monkeypatch.setattr("bayes_arena.ratings.probabilities.AT_ONCE", 8000)
    for question, table in zip(questions, whole, strict=True):
        numbers = table.select_dtypes("number")
        np.testing.assert_allclose(question(fit)[numbers.columns], numbers, rtol=1e-12)
