"""Directions in which annotators disagree: found where they are, at no cost where they are not."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from scipy.integrate import quad
from scipy.special import expit
from scipy.stats import norm

import bayes_arena as ba
from bayes_arena.inference.marginal import axes
from bayes_arena.inference.marginal.gaussian import nearest_gaussian
from bayes_arena.inference.mode import disagreement
from bayes_arena.inference.projection import project
from bayes_arena.likelihood.covariances import covariances
from bayes_arena.likelihood.predictor import lead
from bayes_arena.likelihood.presets import PRESETS, in_dimensions
from bayes_arena.likelihood.priors import Prior
from bayes_arena.likelihood.problem import Problem
from bayes_arena.likelihood.specification import Model

N, M, VOTES = 12, 40, 4000


def table(strength: np.ndarray, seed: int, votes: int = VOTES) -> pl.DataFrame:
    """Votes of annotators with strengths (M, n) of their own; ties where the noise is between two thresholds."""
    rng, (count, n) = np.random.default_rng(seed), strength.shape
    i = rng.integers(n, size=votes)
    j = (i + rng.integers(1, n, size=votes)) % n
    k = rng.integers(count, size=votes)
    eta = strength[k, i] - strength[k, j]
    win, tie = np.exp(eta / 2), 0.6
    loss = 1 / win
    drawn = rng.random(votes) * (win + tie + loss)
    outcome = np.where(drawn < win, "model_a", np.where(drawn < win + tie, "tie", "model_b"))
    names = {"model_a": [f"c{x:02d}" for x in i], "model_b": [f"c{x:02d}" for x in j]}
    return pl.DataFrame({**names, "winner": outcome, "judge": [f"k{x:02d}" for x in k]})


def with_camps(seed: int, share: float = 0.3) -> tuple[pl.DataFrame, np.ndarray, np.ndarray]:
    """Votes, true strengths of every annotator, and who belongs to the minority."""
    rng = np.random.default_rng([1, seed])
    most, few = rng.normal(size=(2, N))
    minority = np.arange(M) < share * M
    strength = np.where(minority[:, None], few, most)
    return table(strength, seed), strength, minority


def of_one_mind(seed: int) -> pl.DataFrame:
    rng = np.random.default_rng([2, seed])
    return table(rng.normal(1, 0.3, (M, 1)) * rng.normal(size=N), seed)


def fitted(votes: object, **asked: object) -> ba.Fit:
    return ba.fit(ba.read_votes(votes), robust=False, **asked)


@pytest.fixture(scope="module")
def camps():
    return with_camps(0)


@pytest.fixture(scope="module")
def fit(camps):
    return fitted(camps[0])


@pytest.mark.slow
def test_camps_are_one_direction_and_members_lie_apart_on_it(fit, camps):
    assert fit.model.dimensions == 1
    assert fit.model.name == "am-davidson with 1 direction"
    loadings = dict(zip(fit.cells.annotators, fit.mode.point.own[:, -1], strict=True))
    ours, theirs = ([loadings[f"k{k:02d}"] for k in np.flatnonzero(camps[2] == side)] for side in (True, False))
    assert max(ours) < min(theirs) or max(theirs) < min(ours)


@pytest.mark.slow
def test_the_board_is_that_of_the_average_vote(fit, camps):
    votes, strength, _ = camps
    i, j = np.triu_indices(N, k=1)
    share = np.bincount([int(name[1:]) for name in votes["judge"]], minlength=M) / len(votes)
    eta = lead(strength, i, j)
    scores = share @ (0.5 + np.sinh(eta / 2) / (2 * np.cosh(eta / 2) + 0.6))
    rows = [
        {"model_a": f"c{a:02d}", "model_b": f"c{b:02d}", "winner": winner, "weight": weight * 1e6}
        for a, b, score in zip(i, j, scores, strict=True)
        for winner, weight in (("model_a", score), ("model_b", 1 - score))
    ]
    truth = ba.fit(ba.read_votes(pl.DataFrame(rows), weight="weight"), model="bradley-terry", prior="flat")
    true_elo = ba.leaderboard(truth).set_index("competitor")["elo"]
    board = ba.leaderboard(fit).set_index("competitor")
    true_elo = true_elo.loc[board.index]
    inside = (board["lower"] < true_elo) & (true_elo < board["upper"])
    assert inside.mean() > 0.8
    plain = ba.leaderboard(fitted(votes, dimensions=0)).set_index("competitor").loc[board.index]
    assert np.mean((board["elo"] - true_elo) ** 2) < np.mean((plain["elo"] - true_elo) ** 2)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
def test_of_one_mind_nothing_is_found_and_nothing_changes(seed):
    votes = of_one_mind(seed)
    fit, plain = fitted(votes), fitted(votes, dimensions=0)
    assert fit.model == plain.model
    np.testing.assert_array_equal(fit.strength, plain.strength)


@pytest.mark.slow
def test_the_plan_says_how_many_and_why(fit, camps):
    cells = ba.read_votes(camps[0])
    before = {one.what: one for one in ba.choose(cells, robust=False).choices}
    after = {one.what: one for one in fit.plan.choices}
    assert before["directions"].taken == "up to 2, as many as raise the evidence"
    assert after["directions"].taken == "1"
    assert "log evidence +" in after["directions"].why
    assert {one.what: one for one in fitted(camps[0], dimensions=0).plan.choices}["directions"].why == "asked for"
    by_mode = {one.what: one for one in ba.choose(cells, robust=False, method="map").choices}
    assert by_mode["directions"].taken == "none"


@pytest.mark.slow
def test_names_order_and_sides_change_nothing(fit, camps):
    votes = camps[0]
    rng = np.random.default_rng(3)
    new = {name: f"x{place:02d}" for name, place in zip(sorted(set(votes["judge"])), rng.permutation(M), strict=True)}
    other = votes.with_columns(pl.col("judge").replace_strict(new)).sample(fraction=1.0, shuffle=True, seed=1)
    there = fitted(other)
    np.testing.assert_allclose(there.strength, fit.strength, atol=1e-8)
    turned = votes.select(
        model_a="model_b",
        model_b="model_a",
        winner=pl.col("winner").replace({"model_a": "model_b", "model_b": "model_a"}),
        judge="judge",
    )
    np.testing.assert_allclose(fitted(turned).strength, fit.strength, atol=1e-8)


@pytest.mark.slow
def test_directions_that_are_asked_for_are_fitted_by_the_mode_too(camps):
    cells = ba.read_votes(camps[0])
    model = in_dimensions(PRESETS["am-davidson"], 1)
    found = ba.fit(cells, model=model, method="map")
    plain = ba.fit(cells, model="am-davidson", method="map", robust=False)
    there = found.mode.problem.objective
    assert there.value(found.mode.point) < plain.mode.problem.objective.value(plain.mode.point) - 20
    gradient = np.abs(found.mode.gradient)
    assert gradient < 1e-6


@pytest.mark.parametrize("method", ["map", "marginal"])
def test_directions_beside_one_discrimination_for_all(camps, method):
    model = in_dimensions(Model("ties", ties="davidson"), 1)
    found = ba.fit(ba.read_votes(camps[0]), model=model, method=method)
    assert found.mode.point.own.shape == (M, 1)
    loadings = found.mode.point.own[:, 0]
    minority = camps[2][[int(name[1:]) for name in found.cells.annotators]]
    assert abs(np.corrcoef(loadings, minority)[0, 1]) > 0.9


@pytest.mark.parametrize("wrong", [-1, 6, 1.5, "one"])
def test_directions_that_cannot_be(wrong, camps):
    with pytest.raises(ba.ModelError, match="dimensions must be a whole number from 0 to 5"):
        fitted(camps[0], dimensions=wrong)


def test_a_flat_prior_constrains_no_direction(camps):
    with pytest.raises(ba.ModelError, match="flat prior"):
        fitted(camps[0], dimensions=1, prior="flat")


def test_the_free_energy_bounds_the_evidence_from_above():
    """Two competitors at a known spread: one parameter, whose evidence is an integral."""
    rows = [{"model_a": "a", "model_b": "b", "winner": winner} for winner in ["model_a"] * 20 + ["model_b"] * 9]
    problem = Problem.of(pl.DataFrame(rows), "bradley-terry", Prior(known=("strength",)))
    found = nearest_gaussian(problem)

    def density(x: float) -> float:  # r = (x, -x) / sqrt(2), the coordinate in which the plane has unit length
        return float(norm.pdf(x) * expit(2**0.5 * x) ** 20 * expit(-(2**0.5) * x) ** 9)

    exact = -np.log(quad(density, -8, 8, epsabs=0, epsrel=1e-10)[0])
    hyper = found.free_energy - exact
    freedom = 3  # of the hyperprior of the spread of strengths, a density of its logarithm at ln 1
    scale = problem.prior.hyper.strength
    at_one = np.log(2) * (1 - freedom / 2) - freedom * np.log(scale) - 0.5 / scale**2 - np.log(np.sqrt(np.pi) / 2)
    assert hyper == pytest.approx(-at_one, abs=0.01)
    assert hyper > -at_one


def test_the_axes_are_where_the_priors_want_them(fit):
    """At the end a step to the axes changes nothing."""
    mode = fit.mode
    target = mode.problem.objective
    around = covariances(target, mode.laplace.factor)
    there, point, _ = axes.on_axes(target, mode.point, mode.laplace.factor, around)
    np.testing.assert_allclose(there.spread_values, target.spread_values, rtol=0.01)
    np.testing.assert_allclose(point.own[:, -1], mode.point.own[:, -1], rtol=0.01)


@pytest.mark.slow
@pytest.mark.parametrize("mix", [[[1.3]], [[1.1, 0.3], [-0.2, 0.8]]], ids=["one direction", "two"])
def test_a_step_to_the_axes_changes_no_vote(camps, mix):
    cells, q = ba.read_votes(camps[0]), len(mix)
    mode = nearest_gaussian(Problem.of(cells, in_dimensions(PRESETS["am-davidson"], q), "default"))
    target, n = mode.problem.objective, N
    mixed = mode.point.slices.copy()
    mixed[-q * n :] = (np.array(mix) @ mixed[-q * n :].reshape(q, n)).ravel()
    start = replace(mode.point, slices=mixed)
    around = covariances(target, mode.laplace.factor)
    _, point, moved = axes.on_axes(target, start, mode.laplace.factor, around)
    np.testing.assert_allclose(target.coordinates(point), target.coordinates(start), atol=1e-10)
    assert np.abs(point.slices - start.slices).max() > 0.01
    before, after = (
        one.rows(slice(None), target.leads_at(at), target.factors(at), target.tally.features)
        for one, at in ((around, start), (moved, point))
    )
    # variances of products beyond the first order are of each direction by itself
    np.testing.assert_allclose(after.root[0][0], before.root[0][0], rtol=1e-8 if q == 1 else 0.02)


@pytest.mark.slow
def test_how_annotators_agree_with_the_ranking_follows_their_directions(fit, camps):
    """Net agreement is near that of their true strengths, nearer than theta alone would be."""
    _, strength, _ = camps
    table = ba.annotators(fit)
    competitors = [int(name[1:]) for name in fit.cells.competitors]
    i, j = np.triu_indices(N, k=1)
    ahead = np.sign(lead(fit.strength, i, j))
    eta = lead(strength[:, competitors], i, j)
    truth = (ahead * np.sinh(eta / 2) / (np.cosh(eta / 2) + 0.3)).mean(axis=1)
    found = table.set_index("annotator")["net_agreement"].loc[[f"k{k:02d}" for k in range(M)]].to_numpy()
    assert np.corrcoef(found, truth)[0, 1] > 0.9
    assert np.sqrt(np.mean((found - truth) ** 2)) < 0.12


@pytest.mark.slow
def test_noise_alone_starts_no_search(camps):
    for votes, differ in ((camps[0], True), (of_one_mind(0), False)):
        mode = fitted(votes, dimensions=0).mode
        assert (disagreement.start_along(mode.problem, mode.point, beyond_noise=True) is not None) == differ
        assert disagreement.start_along(mode.problem, mode.point) is not None


def test_the_gradient_of_the_projection_by_positions_and_loadings(fit):
    """By finite differences."""
    target, point = fit.mode.problem.objective, fit.mode.point
    votes = fit.cells.votes_by_annotator()
    found = project(target, point, votes)
    step, part = 1e-5, target.directions[0]
    for place in (part.start, part.start + 3):
        moves = np.zeros(len(point.slices))
        moves[place] = step
        up, down = (project(target, replace(point, slices=point.slices + s * moves), votes) for s in (1, -1))
        column = place - len(point.slices)
        np.testing.assert_allclose(found.by_head[:, column], (up.strength - down.strength) / (2 * step), atol=1e-7)
    own = point.own.copy()
    own[5, -1] += step
    up = project(target, replace(point, own=own), votes).strength
    own[5, -1] -= 2 * step
    down = project(target, replace(point, own=own), votes).strength
    np.testing.assert_allclose(np.asarray(found.own)[:, 5, -1], (up - down) / (2 * step), atol=1e-7)
