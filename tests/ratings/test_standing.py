"""Draws, and the questions that are answered from them."""

from dataclasses import replace

import numpy as np
import pytest
from helpers import frame, panel
from scipy.special import expit

import bayes_arena as ba
from bayes_arena.fits.draws import Draws
from bayes_arena.fits.posterior_draws import draw_without_annotators
from bayes_arena.inference.projected_draws import project_draws

MODELS = ["bradley-terry", "am-elo", "am-davidson"]


@pytest.fixture(scope="module", params=MODELS)
def fit(request, arena_cells):
    return ba.fit(arena_cells, model=request.param)


@pytest.mark.slow
def test_draws_agree_with_the_tables(fit):
    draws = ba.draw(fit, size=20_000, seed=1)
    np.testing.assert_allclose(draws.strength.sum(axis=1), 0, atol=1e-9)
    np.testing.assert_allclose(draws.elo_strength.sum(axis=1), 0, atol=1e-9)
    board = ba.leaderboard(fit).set_index("competitor").loc[list(fit.cells.competitors)]
    elo = 1000 + 400 / np.log(10) * draws.elo_strength
    np.testing.assert_allclose(elo.mean(axis=0), board["elo"], atol=0.05 * (board["upper"] - board["lower"]).max())
    lower, upper = np.quantile(elo, [0.025, 0.975], axis=0)
    np.testing.assert_allclose(upper - lower, board["upper"] - board["lower"], rtol=0.04)
    if fit.target.free_discrimination:
        np.testing.assert_allclose(draws.own[:, :, 0].mean(axis=1), 1, atol=1e-9)
        np.testing.assert_allclose(draws.own[:, :, 0].std(axis=0), fit.discrimination_sd, rtol=0.05)


def test_the_seed_decides_the_draws(fit):
    np.testing.assert_array_equal(ba.draw(fit, size=5, seed=3).own, ba.draw(fit, size=5, seed=3).own)
    assert not np.array_equal(ba.draw(fit, size=5, seed=3).strength, ba.draw(fit, size=5, seed=4).strength)


def test_rank_probabilities(fit):
    table = ba.rank_probabilities(fit, top=2)
    assert table.columns.tolist() == ["competitor", "p_best", "p_top", "expected_rank"]
    assert table["p_best"].sum() == pytest.approx(1)
    assert table["p_top"].sum() == pytest.approx(2)
    assert table["expected_rank"].sum() == pytest.approx(21)
    assert table["competitor"][0] == ba.leaderboard(fit)["competitor"][0]
    with pytest.raises(ba.ModelError, match="top must lie between"):
        ba.rank_probabilities(fit, top=7)


@pytest.mark.parametrize("annotator", ["average", "new"])
def test_win_probabilities_mirror_and_follow_the_strengths(fit, annotator):
    matrix = ba.win_probability(fit, annotator=annotator)
    np.testing.assert_allclose(matrix + matrix.T, 1, atol=1e-12)
    order = np.argsort(-fit.strength)
    assert (np.diff(matrix.to_numpy()[order][:, order], axis=1) > 0).all()


def test_an_average_annotator_of_bradley_terry_is_the_logistic_curve(arena_cells):
    fit = ba.fit(arena_cells, model="bradley-terry")
    plugged = 1 / (1 + np.exp(-(fit.strength[:, None] - fit.strength)))
    np.testing.assert_allclose(ba.win_probability(fit), plugged, atol=0.02)


def test_head_to_head_says_which_is_plugged_in_and_which_averaged():
    """A published example: A beats B 8:4 and C beats A 5:3, so B beats C with .5 / (.5 + 5/3) = .23, plugged in."""
    from helpers import frame

    rows = [("A", "B", "A")] * 8 + [("A", "B", "B")] * 4 + [("C", "A", "C")] * 5 + [("C", "A", "A")] * 3
    fit = ba.fit(ba.read_votes(frame(rows)), model="bradley-terry", prior="flat")
    table = ba.head_to_head(fit, [("B", "C"), ("C", "B")])
    assert table.columns.tolist() == ["competitor", "opponent", "plug_in", "lower", "upper", "mean"]
    one, other = table.to_dict("records")
    assert one["plug_in"] == pytest.approx(3 / 13)
    assert one["mean"] == ba.win_probability(fit).loc["B", "C"] == pytest.approx(0.265, abs=0.005)
    gap, sd = np.log(0.3), np.sqrt(1 / 8 + 1 / 4 + 1 / 5 + 1 / 3)
    for name, z in (("lower", -1.96), ("upper", 1.96)):
        assert one[name] == pytest.approx(1 / (1 + np.exp(-gap - z * sd)), abs=0.02)
    for mirrored, name in {"plug_in": "plug_in", "lower": "upper", "upper": "lower", "mean": "mean"}.items():
        assert other[mirrored] == pytest.approx(1 - one[name])


def test_head_to_head_holds_every_pair_in_its_interval(fit):
    table = ba.head_to_head(fit, level=0.9)
    assert len(table) == 15
    assert (table["lower"] < table["plug_in"]).all() and (table["plug_in"] < table["upper"]).all()
    assert (abs(table["mean"] - 0.5) < abs(table["plug_in"] - 0.5) + 0.005).all()
    wide = ba.head_to_head(fit, level=0.99)
    assert (wide["lower"] < table["lower"]).all() and (wide["upper"] > table["upper"]).all()
    with pytest.raises(ba.ModelError, match="no 'nobody'"):
        ba.head_to_head(fit, [("model-1", "nobody")])


def test_head_to_head_of_davidson_counts_a_tie_as_half():
    """6 wins, 2 losses, 4 ties: the score is 8 of 12."""
    from helpers import frame

    rows = [("x", "y", "x")] * 6 + [("x", "y", "y")] * 2 + [("x", "y", "tie")] * 4
    fit = ba.fit(ba.read_votes(frame(rows)), model=ba.Model("davidson", ties="davidson"), prior="flat")
    assert ba.head_to_head(fit)["plug_in"][0] == pytest.approx(8 / 12)


@pytest.mark.slow
def test_a_sampled_fit_plugs_in_its_posterior_mean(sampled_davidson):
    table = ba.head_to_head(sampled_davidson, annotator="average")
    strength, common = (x.mean(axis=0) for x in (sampled_davidson.samples.strength, sampled_davidson.samples.common))
    eta, nu = strength[0] - strength[1], np.exp(common[0])
    p = np.exp([eta / 2, -eta / 2]) / (np.exp(eta / 2) + np.exp(-eta / 2) + nu)
    assert table["plug_in"][0] == pytest.approx((1 + p[0] - p[1]) / 2)


def test_pairs_never_compared_have_no_score_under_a_flat_prior():
    from helpers import frame

    rows = [(a, b, w) for a, b in ("xy", "pq") for w in ("model_a", "model_b")]
    with pytest.warns(ba.errors.IdentificationWarning):
        fit = ba.fit(ba.read_votes(frame(rows)), prior="flat")
    for question in (ba.win_probability, ba.head_to_head):
        with pytest.raises(ba.errors.NotIdentifiedError, match="p and x"):
            question(fit)
    assert len(ba.head_to_head(fit, [("x", "y")])) == 1


@pytest.mark.slow
def test_a_new_annotator_is_less_sure_than_the_average_one(arena_cells):
    fit = ba.fit(arena_cells, model="am-davidson")
    average, new = (ba.win_probability(fit, annotator=one) for one in ("average", "new"))
    assert (np.abs(new - 0.5).to_numpy() <= np.abs(average - 0.5).to_numpy() + 1e-12).all()


def test_a_flat_prior_knows_no_new_annotator(arena_cells):
    fit = ba.fit(arena_cells, model="am-elo", prior="flat")
    with pytest.raises(ba.ModelError, match="population"):
        ba.win_probability(fit, annotator="new")
    with pytest.raises(ba.ModelError, match="average, new"):
        ba.win_probability(fit, annotator="median")


def test_unsettled_pairs_are_those_with_overlapping_posteriors(fit):
    pairs = ba.pairs(fit, level=0.95)
    assert pairs["p_better"].between(0.5, 1).all() and pairs["p_better"].is_monotonic_increasing
    assert (pairs["settled"] == (pairs["p_better"] >= 0.95)).all()
    names = ba.leaderboard(fit)["competitor"].tolist()
    settled = pairs.set_index(["competitor", "opponent"])["settled"]
    assert settled[names[0], names[-1]]
    z = _z_of_the_difference(fit, names[0], names[1])
    assert settled[names[0], names[1]] == (z >= 1.645)


def _z_of_the_difference(fit, first: str, second: str) -> float:
    draws = ba.draw(fit, size=20_000, seed=2).elo_strength
    i, j = (fit.cells.competitors.index(name) for name in (first, second))
    difference = draws[:, i] - draws[:, j]
    return float(difference.mean() / difference.std())


def test_even_pairs_are_listed_once():
    fit = ba.fit(ba.read_votes(frame([("x", "y", "x"), ("x", "y", "y")])))
    assert len(ba.pairs(fit)) == 1


@pytest.mark.parametrize("sd", [0.5, 2.0])
def test_somebody_new_is_drawn_from_the_population_of_the_prior(arena_cells, sd):
    """The mean of 1 / (1 + exp(-theta d)) over theta ~ Normal(1, sd), by quadrature, at strengths that are known."""
    fit = ba.fit(arena_cells, model="am-elo", prior=ba.Prior(discrimination=sd, hyper=None))
    theta, weight = np.polynomial.hermite_e.hermegauss(60)
    strength = np.linspace(2, -2, 6)
    lead = strength[:, None] - strength
    expected = expit((1 + sd * theta) * lead[:, :, None]) @ weight / weight.sum()
    many = np.tile(strength, (20_000, 1))
    draws = Draws(many, many, np.zeros((20_000, 0)), np.zeros((20_000, 5, 1)))
    np.testing.assert_allclose(ba.win_probability(fit, annotator="new", draws=draws), expected, atol=0.01)
    np.testing.assert_allclose(ba.win_probability(fit, annotator="average", draws=draws), expit(lead), atol=1e-12)


def test_scores_near_certainty_keep_their_elo():
    """One annotator who prefers each to the next 999 times in 1,000: am-ELO is Bradley-Terry, 1,200 points apiece."""
    rows = [("x", "y", "x", "k"), ("y", "z", "y", "k")] * 999 + [("x", "y", "y", "k"), ("y", "z", "z", "k")]
    fit = ba.fit(ba.read_votes(frame(rows)), model="am-elo", prior="flat")
    step = 400 * np.log10(999)
    np.testing.assert_allclose(ba.leaderboard(fit)["elo"], [1000 + step, 1000, 1000 - step], rtol=1e-6)
    nothing, one = np.zeros((1, 0)), np.ones((1, 1, 1))
    drawn = project_draws(fit.target, fit.strength[None], nothing, one, np.ones(1))
    np.testing.assert_allclose(drawn[0], fit.strength, rtol=1e-4, atol=1e-9)


def test_a_pair_is_settled_beyond_the_level_asked_for(arena_cells):
    """In 93 draws of a hundred model-1 is ahead of model-2; the others are never in question."""
    fit = ba.fit(arena_cells, model="bradley-terry")
    strength = np.tile([6.0, 5.0, 4.0, 3.0, 2.0, 1.0], (100, 1))
    strength[:7, :2] = [5.0, 6.0]
    draws = Draws(strength, strength, np.zeros((100, 0)), np.zeros((100, 0, 0)))
    first = [ba.pairs(replace(fit, samples=draws), level=level).iloc[0] for level in (0.95, 0.92)]
    assert [(one["competitor"], one["opponent"], one["p_better"]) for one in first] == [
        ("model-1", "model-2", 0.93)
    ] * 2
    assert [bool(one["settled"]) for one in first] == [False, True]


def test_somebody_new_calls_ties_as_the_population_does(arena_cells):
    """The mean of 1/2 + sinh(d/2) / (2 cosh(d/2) + exp(u)) over u ~ Normal(0, 2), by quadrature."""
    model = ba.Model("ties alone", ties="davidson", tie_propensity="annotator")
    fit = ba.fit(arena_cells, model=model, prior=ba.Prior(tie_spread=2.0, hyper=None))
    u, weight = np.polynomial.hermite_e.hermegauss(60)
    strength = np.linspace(2, -2, 6)
    half = (strength[:, None] - strength)[:, :, None] / 2
    expected = 0.5 + (np.sinh(half) / (2 * np.cosh(half) + np.exp(2 * u))) @ weight / weight.sum()
    many = np.tile(strength, (20_000, 1))
    draws = Draws(many, many, np.zeros((20_000, 1)), np.zeros((20_000, 5, 1)))
    np.testing.assert_allclose(ba.win_probability(fit, annotator="new", draws=draws), expected, atol=0.01)
    average = ba.win_probability(fit, annotator="average", draws=draws)
    assert np.abs(average - expected).to_numpy().max() > 0.03


@pytest.mark.parametrize("given", [{"size": 0}, {"seed": -1}])
def test_no_draws_and_negative_seeds_are_refused(fit, arena_cells, given):
    with pytest.raises(ba.ModelError, match="a seed that is not negative"):
        ba.draw(fit, **given)
    with pytest.raises(ba.ModelError, match="a seed that is not negative"):
        ba.prior_check(arena_cells, **given)


def test_draws_that_tie_exactly_settle_nothing():
    """Three equals whose annotators vote alike: clustered intervals have no width, and every draw is a tie."""
    fit = ba.fit(panel({"x": (3, 3), "y": (3, 3)}), model="bradley-terry", prior="flat")
    table = ba.rank_probabilities(fit, top=2, interval="clustered")
    np.testing.assert_allclose(table["p_best"], 1 / 3)
    np.testing.assert_allclose(table["p_top"], 2 / 3)
    board = ba.leaderboard(fit, interval="clustered")
    assert board[["rank_lower", "rank_upper"]].to_numpy().tolist() == [[1, 3]] * 3


def test_draws_without_annotators_are_as_many_as_asked_for(arena_cells):
    fit = ba.fit(arena_cells, model="davidson", robust=False)
    drawn, usual = draw_without_annotators(fit, size=7), draw_without_annotators(fit)
    assert drawn.strength.shape == (7, 6) and usual.strength.shape == (4000, 6) and not drawn.own.size
