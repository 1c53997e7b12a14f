"""Leaderboard, strengths, annotators and the Elo scale."""

import math
from dataclasses import replace

import numpy as np
import pytest
from helpers import answered_votes

import bayes_arena as ba
from bayes_arena.inference import curves
from bayes_arena.inference.crowd import Crowd
from bayes_arena.inference.estimand import on_new_slices
from bayes_arena.inference.projection import project
from bayes_arena.likelihood.derivatives import gradient_and_hessian
from bayes_arena.likelihood.outcomes.likelihood import Likelihood
from bayes_arena.likelihood.point import Point
from bayes_arena.likelihood.presets import PRESETS, in_dimensions
from bayes_arena.likelihood.problem import Problem
from bayes_arena.likelihood.specification import Model
from bayes_arena.ratings.leaderboard import ranks

COLUMNS = ["rank", "competitor", "elo", "lower", "upper", "rank_lower", "rank_upper", "votes", "wins", "losses", "ties"]


@pytest.fixture(scope="module")
def am_elo(arena_cells):
    return ba.fit(arena_cells, model="am-elo", prior="flat")


@pytest.fixture(scope="module")
def m_elo(arena_cells):
    return ba.fit(arena_cells, model="m-elo", prior="flat")


def test_leaderboard_columns_and_order(am_elo):
    board = ba.leaderboard(am_elo)
    assert board.columns.tolist() == COLUMNS
    assert board["elo"].is_monotonic_decreasing
    assert board["rank"].tolist() == [1, 2, 3, 4, 5, 6]
    assert board["elo"].mean() == pytest.approx(1000)
    assert (board["lower"] < board["elo"]).all() and (board["elo"] < board["upper"]).all()
    assert (board["rank_lower"] <= board["rank"]).all() and (board["rank"] <= board["rank_upper"]).all()
    assert (board["wins"] + board["losses"] + board["ties"] == board["votes"]).all()
    assert board["votes"].sum() == 2 * 600


def test_a_lead_of_scale_points_means_odds_of_base(m_elo):
    board = ba.leaderboard(m_elo, elo=ba.EloScale(init=0, scale=100, base=2)).set_index("competitor")["elo"]
    logits = ba.strengths(m_elo).set_index("competitor")["strength"]
    assert (board / logits).to_numpy() == pytest.approx(100 / math.log(2))


def test_an_anchor_moves_everything_by_the_same_amount(am_elo):
    plain = ba.leaderboard(am_elo)
    name = plain["competitor"][2]
    anchored = ba.leaderboard(am_elo, elo=ba.EloScale(anchor=(name, 1114.0)))
    assert anchored["elo"][2] == pytest.approx(1114, abs=1e-9)
    shift = 1114 - plain["elo"][2]
    for column in ("elo", "lower", "upper"):
        np.testing.assert_allclose(anchored[column], plain[column] + shift)
    assert anchored["rank_upper"].tolist() == plain["rank_upper"].tolist()
    with pytest.raises(ba.ModelError, match="Did you mean 'model-1'"):
        ba.leaderboard(am_elo, elo=ba.EloScale(anchor=("modl-1", 1114)))


@pytest.mark.parametrize("bad", [{"scale": 0}, {"base": 1}, {"scale": float("nan")}])
def test_impossible_scales(bad):
    with pytest.raises(ba.ModelError):
        ba.EloScale(**bad)


@pytest.mark.parametrize("level", [0, 1, 1.5, -0.1])
def test_levels_lie_between_0_and_1(m_elo, level):
    for interval in ("laplace", "profile"):
        with pytest.raises(ba.ModelError, match="between 0 and 1"):
            ba.leaderboard(m_elo, level=level, interval=interval)


def test_wider_levels_contain_narrower_ones(am_elo):
    narrow, wide = ba.leaderboard(am_elo, level=0.5), ba.leaderboard(am_elo, level=0.99)
    assert (wide["lower"] < narrow["lower"]).all() and (wide["upper"] > narrow["upper"]).all()


def test_profile_and_laplace_agree_on_many_votes(m_elo):
    laplace, profile = ba.leaderboard(m_elo), ba.leaderboard(m_elo, interval="profile")
    np.testing.assert_allclose(profile[["lower", "upper"]], laplace[["lower", "upper"]], atol=3)
    assert not np.allclose(profile["upper"], laplace["upper"], atol=1e-3)


def test_profile_needs_a_fixed_discrimination(am_elo):
    with pytest.raises(ba.ModelError, match="only strengths"):
        ba.leaderboard(am_elo, interval="profile")
    with pytest.raises(ba.ModelError, match="Unknown interval"):
        ba.leaderboard(am_elo, interval="wald")


@pytest.mark.parametrize("others", [[("x", "y", "model_a"), ("x", "y", "model_b")], []], ids=["some", "flat"])
def test_an_infinite_profile_end_raises(others):
    from helpers import frame

    rows = [("best", "x", "model_a")] * (9 if others else 3) + others
    with pytest.warns(ba.errors.NoMaximumWarning):
        fit = ba.fit(ba.read_votes(frame(rows)), model="bradley-terry", prior="flat")
    with pytest.raises(ba.errors.ConvergenceError, match="may lie at infinity"):
        ba.leaderboard(fit, interval="profile")


def test_reference_and_mean_give_the_same_differences(m_elo):
    mean, reference = ba.strengths(m_elo), ba.strengths(m_elo, reference="model-3")
    np.testing.assert_allclose(np.diff(mean["strength"]), np.diff(reference["strength"]), atol=1e-12)
    assert mean["strength"].sum() == pytest.approx(0, abs=1e-12)
    assert reference["sd"][2] == 0
    with pytest.raises(ba.ModelError, match="reference"):
        ba.strengths(m_elo, reference="nobody")


def test_covariance_is_the_inverse_fisher_information(am_elo):
    """Against a dense pseudo-inverse on the plane sum r = 0, sum theta = M, by finite differences of the gradient."""
    x = np.concatenate([am_elo.strength, am_elo.discrimination])

    def gradient(y):
        point = gradient_and_hessian(am_elo.target, Point(y[:6], np.zeros(0), y[6:, None]))[0]
        return np.concatenate([point.strength, point.own[:, 0]])

    steps = 1e-6 * np.eye(11)
    hessian = np.array([(gradient(x + s) - gradient(x - s)) / 2e-6 for s in steps])
    normals = np.zeros((2, 11))
    normals[0, :6], normals[1, 6:] = 1, 1
    basis = np.linalg.svd(normals)[2][2:].T
    covariance = basis @ np.linalg.inv(basis.T @ hessian @ basis) @ basis.T
    np.testing.assert_allclose(am_elo.laplace.strength_covariance(), covariance[:6, :6], rtol=1e-5, atol=1e-9)
    np.testing.assert_allclose(am_elo.discrimination_sd**2, np.diag(covariance)[6:], rtol=1e-5)


def test_projection_of_a_common_discrimination_is_the_strength_itself(arena_cells):
    fit = ba.fit(arena_cells, model="am-elo", prior=ba.Prior(discrimination=1e-3, hyper=None))
    projected = project(fit.target, fit.point, arena_cells.votes_by_annotator()).strength
    np.testing.assert_allclose(projected, fit.strength, atol=1e-4)


PROJECTED = [
    Model("am", "annotator"),
    Model("davidson", ties="davidson", both_bad="outcome", position="common"),
    Model("am-davidson", "annotator", "davidson", "annotator", "tie", "annotator"),
    Model("am-rao-kupper", "annotator", "rao-kupper", "annotator"),
    Model("sides alone", ties="davidson", position="annotator"),
]


@pytest.mark.parametrize("model", PROJECTED, ids=lambda model: model.name)
def test_projection_predicts_the_average_vote(four_outcomes, model):
    """Simulated from the fitted model itself, side by side for both orders, vote by vote."""
    fit = ba.fit(four_outcomes, model=model)
    votes = four_outcomes.votes_by_annotator()
    projected = project(fit.target, fit.point, votes).strength
    i, j = np.triu_indices(6, 1)
    average = np.zeros(len(i))
    weights = Crowd().shares(votes) if fit.target.n_annotators else [1.0]
    common = dict(zip((term.name for term in fit.target.common), fit.point.common, strict=True))
    for k, weight in enumerate(weights):
        own = dict(zip((term.name for term in fit.target.own), fit.point.own[k] if fit.target.own else (), strict=True))
        eta = own.get("discrimination", 1.0) * (fit.strength[i] - fit.strength[j])
        if model.ties == "half":
            average += weight / (1 + np.exp(-eta))
            continue
        t = common["tie_propensity"] + own.get("tie_propensity", 0.0)
        if model.ties == "davidson":
            rest = np.exp(t) + (np.exp(common["both_bad"]) if "both_bad" in common else 0.0)
            average += weight * (np.exp(eta / 2) + rest / 2) / (np.exp(eta / 2) + np.exp(-eta / 2) + rest)
        else:
            win, loss = 1 / (1 + np.exp(np.exp(t) - eta)), 1 / (1 + np.exp(np.exp(t) + eta))
            average += weight * (win + (1 - win - loss) / 2)
    error = average - 1 / (1 + np.exp(projected[j] - projected[i]))
    totals = [error[i == c].sum() - error[j == c].sum() for c in range(6)]
    np.testing.assert_allclose(totals, 0, atol=1e-9)
    assert np.abs(error).max() < 0.06


@pytest.mark.parametrize("model", PROJECTED[:4], ids=lambda model: model.name)
def test_projection_is_the_same_by_the_general_formula(four_outcomes, model, monkeypatch):
    fit, votes = ba.fit(four_outcomes, model=model, method="map"), four_outcomes.votes_by_annotator()
    expected = project(fit.target, fit.point, votes)
    monkeypatch.setattr(Likelihood, "is_exponential", False)
    found = project(fit.target, fit.point, votes)
    np.testing.assert_allclose(found.strength, expected.strength, atol=1e-12)
    np.testing.assert_allclose(found.by_head, expected.by_head, atol=1e-12)
    np.testing.assert_allclose(found.by_own, expected.by_own, atol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("model", PROJECTED, ids=lambda model: model.name)
def test_projection_jacobian_by_finite_differences(four_outcomes, model):
    fit = ba.fit(four_outcomes, model=model)
    votes = four_outcomes.votes_by_annotator()
    jacobian = project(fit.target, fit.point, votes)
    head, own = fit.point.head, fit.point.own

    def moved(step_head, step_own):
        ends = [
            project(fit.target, fit.point.moved(s * step_head, s * step_own), votes).strength for s in (1e-5, -1e-5)
        ]
        return (ends[0] - ends[1]) / 2e-5

    by_head = np.array([moved(step, 0 * own) for step in np.eye(len(head))]).T
    np.testing.assert_allclose(jacobian.by_head, by_head, atol=1e-6)
    steps = np.eye(own.size).reshape(own.size, *own.shape) if own.size else np.zeros((0, *own.shape))
    by_own = np.array([moved(0 * head, step) for step in steps]).reshape(own.size, 6).T
    np.testing.assert_allclose(jacobian.by_own.reshape(6, -1), by_own, atol=1e-6)


def test_am_elo_is_on_the_scale_of_m_elo(llmfao_50):
    am = ba.leaderboard(ba.fit(llmfao_50, model="am-elo", prior="flat")).set_index("competitor")["elo"]
    m = ba.leaderboard(ba.fit(llmfao_50, model="m-elo", prior="flat")).set_index("competitor")["elo"]
    slope = np.polyfit(m, am[m.index], 1)[0]
    assert 0.85 < slope < 1.1


@pytest.mark.slow
def test_fractional_weights_stay_fractional(arena):
    import polars as pl

    cells = ba.read_votes(arena.votes.with_columns(w=pl.lit(0.5)), weight="w")
    board = ba.leaderboard(ba.fit(cells))
    assert board["votes"].sum() == 600
    whole = ba.leaderboard(ba.fit(ba.read_votes(arena.votes)))
    assert board["votes"].sum() * 2 == whole["votes"].sum()
    assert whole["votes"].dtype.kind == "i"


def test_profile_intervals_of_millions_of_votes(arena):
    import polars as pl

    heavy = arena.votes.with_columns(w=pl.lit(20_000.0))
    fit = ba.fit(ba.read_votes(heavy, weight="w"), model="m-elo", prior="flat")
    laplace, profile = ba.leaderboard(fit), ba.leaderboard(fit, interval="profile")
    np.testing.assert_allclose(profile[["lower", "upper"]], laplace[["lower", "upper"]], atol=1e-2)


def test_equal_competitors_share_a_rank():
    from helpers import frame

    rows = [(a, b, w) for a, b in ("xy", "yz", "zx") for w in ("model_a", "model_b")] + [("x", "w", "model_a")]
    board = ba.leaderboard(ba.fit(ba.read_votes(frame(rows))))
    assert board["rank"].tolist() == [1, 2, 2, 4]
    assert board["competitor"].tolist() == ["x", "y", "z", "w"]


def test_ranks_are_those_of_scipy():
    from scipy.stats import rankdata

    score = np.random.default_rng(0).integers(0, 12, size=40) / 3
    np.testing.assert_array_equal(ranks(score), rankdata(-score, method="min"))


@pytest.mark.slow
def test_a_leaderboard_does_not_depend_on_the_threads_of_blas():
    from threadpoolctl import threadpool_limits

    fit = ba.fit(ba.read_votes(ba.simulate(competitors=60, annotators=10, votes=1500, seed=1).votes), model="am-elo")
    boards = []
    for threads in (1, 2):
        with threadpool_limits(threads):
            boards.append(ba.leaderboard(fit))
    assert boards[0].equals(boards[1])


def test_so_it_is_with_answers_ties_by_competitor_and_a_direction(monkeypatch):
    cells = ba.read_votes(answered_votes()[0], prompt="prompt")
    model = replace(in_dimensions(PRESETS["am-davidson"], 1), strength_by=("prompt",), ties_by=("prompt", "competitor"))
    target, rng = Problem.of(cells, model, "default").objective, np.random.default_rng(3)
    start = target.start()
    point = start.moved(rng.normal(size=len(start.head)), rng.normal(size=start.own.shape), 0.5)
    votes = cells.votes_by_annotator()
    expected = project(target, point, votes)
    for where, name, value in ((Likelihood, "is_exponential", False), (curves, "KEPT", 0)):
        monkeypatch.setattr(where, name, value)
        found = project(target, point, votes)
        np.testing.assert_allclose(found.strength, expected.strength, atol=1e-12)
        np.testing.assert_allclose(found.by_head, expected.by_head, atol=1e-12)
        np.testing.assert_allclose(found.by_own, expected.by_own, atol=1e-12)


@pytest.mark.parametrize("ties", ["davidson", "rao-kupper"])
def test_expected_scores_between_nodes_are_those_of_all_leads_and_annotators(ties, monkeypatch):
    """With answers and 150 annotators who differ in how they tie, of 16 competitors."""
    votes = answered_votes(competitors=16, annotators=150, votes=300)[0]
    model = ba.Model("ties", ties=ties, tie_propensity="annotator", strength_by=("prompt",), ties_by=("prompt",))
    problem, rng = Problem.of(ba.read_votes(votes, prompt="prompt"), model, "default"), np.random.default_rng(3)
    target, cast = problem.objective, problem.cells.votes_by_annotator()
    start = target.start()
    point = start.moved(rng.normal(size=len(start.head)), rng.normal(size=start.own.shape), 0.7)
    view = replace(on_new_slices(target), annotators=rng.uniform(0.1, 0.4, (len(cast), 1, 1)))
    found = project(target, point, cast, view)
    monkeypatch.setattr(curves, "CHEAPER", np.inf)
    monkeypatch.setattr(curves, "NODES", 5000)
    monkeypatch.setattr(curves, "MANY_NODES", 5000)
    expected = project(target, point, cast, view)
    np.testing.assert_allclose(found.strength, expected.strength, atol=1e-11)
    np.testing.assert_allclose(found.by_head, expected.by_head, atol=1e-11)
    np.testing.assert_allclose(found.by_own, expected.by_own, atol=1e-11)
