from dataclasses import replace

import numpy as np
import pytest

import bayes_arena as ba
from bayes_arena.inference.gaussian import nearest_gaussian
from bayes_arena.inference.predictive import row_probabilities, rows_of
from bayes_arena.model.build import build_design
from bayes_arena.model.objective import predictors
from bayes_arena.model.priors import Prior
from tests.model.arenas import MODELS, random_votes


def fitted(name):
    model = MODELS[name]
    votes = random_votes(5 if model.grades else 3)
    return nearest_gaussian(build_design(votes, model, Prior())), votes


def softmax(phi, z):
    p = np.exp(phi @ z)
    return p / p.sum(axis=0)


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
def test_rows_have_the_predictors_of_the_design(name):
    """The fitted rows, shuffled and with other codes, are found again by their names."""
    posterior, _ = fitted(name)
    design = posterior.design
    x = posterior.mean
    expected = np.hstack([predictors(chunk, x) for chunk in design.chunks()])
    order = np.random.default_rng(0).permutation(len(design.votes))
    rows = rows_of(design, renamed(design.votes).take(order))
    here = np.hstack([predictors(chunk, x) for chunk in rows.design.chunks()])
    assert not rows.unknown.any()
    np.testing.assert_allclose(here, expected[:, order[rows.order]], atol=1e-12)


def renamed(votes):
    """Return the votes with the codes of competitors and levels in reverse."""
    n, m = len(votes.competitors), len(votes.annotators)
    slices = {by: len(votes.levels[by]) - 1 - votes.slices[by] for by in votes.slices}
    return replace(
        votes,
        competitors=votes.competitors[::-1],
        annotators=votes.annotators[::-1],
        i=n - 1 - votes.i,
        j=n - 1 - votes.j,
        annotator=m - 1 - votes.annotator if m else votes.annotator,
        slices=slices,
        levels={by: names[::-1] for by, names in votes.levels.items()},
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
def test_averages_are_those_over_draws(name):
    posterior, votes = fitted(name)
    prediction = row_probabilities(posterior, votes.take(np.arange(20)))
    np.testing.assert_allclose(prediction.probabilities.sum(axis=1), 1)
    vectors = posterior.mean + posterior.covariance.draws(500, seed=0).T
    sampled = row_probabilities(posterior, votes.take(np.arange(20)), vectors=vectors)
    np.testing.assert_allclose(
        prediction.probabilities, sampled.probabilities, atol=0.04
    )
    np.testing.assert_allclose(prediction.score, sampled.score, atol=0.04)


def test_a_posterior_by_hand():
    """Two competitors, of whom only the lead is open: one integral."""
    posterior, votes = fitted("davidson")
    votes = votes.take(np.array([0]))
    p = row_probabilities(posterior, votes).probabilities[0]
    rows = rows_of(posterior.design, votes)
    (chunk,) = rows.design.chunks()
    jacobian = np.zeros((2, len(posterior.mean)))
    for term in chunk.terms:
        row = {0: 0, 1: 1, -2: 0}[term.predictor]
        jacobian[row, chunk.index(term)] += term.coefficient
    S = posterior.covariance.solve(np.eye(len(posterior.mean)))
    root = np.linalg.cholesky(jacobian @ S @ jacobian.T)
    normal = np.random.default_rng(0).normal(size=(2, 200_000))
    z = (jacobian @ posterior.mean)[:, None] + root @ normal
    expected = softmax(posterior.design.phi, z).mean(axis=1)
    np.testing.assert_allclose(p, expected, atol=0.002)


@pytest.mark.slow
def test_an_unknown_annotator_is_drawn_from_the_prior():
    posterior, votes = fitted("am-davidson")
    votes = replace(votes.take(np.array([0])), annotators=("nobody",) * 8)
    p = row_probabilities(posterior, votes).probabilities[0]
    design = posterior.design
    rng = np.random.default_rng(0)
    size = 100_000
    x = posterior.mean[:, None] + posterior.covariance.draws(size, seed=1)

    def shared(name):
        return x[design.indices(design.block(name))]

    def new(name):
        return design.block(name).sd * rng.normal(size=size)

    r = shared("strength")
    theta = 1 + new("discrimination")
    eta = theta * (r[votes.i[0]] - r[votes.j[0]])
    eta += shared("position")[0] + new("position_by_annotator")
    tau = shared("tie")[0] + new("tie_by_annotator")
    expected = softmax(design.phi, np.array([eta, tau])).mean(axis=1)
    np.testing.assert_allclose(p, expected, atol=0.005)


@pytest.mark.slow
def test_an_unknown_prompt_widens_what_is_expected():
    posterior, votes = fitted("prompts local")
    known = row_probabilities(posterior, votes).score
    new = replace(votes, levels={**votes.levels, "prompt": tuple("ABCDEFGHI")})
    score = row_probabilities(posterior, new).score
    without = replace(votes, slices={}, levels={})
    np.testing.assert_allclose(row_probabilities(posterior, without).score, score)
    assert np.abs(score - 0.5).mean() < np.abs(known - 0.5).mean()


def test_a_mode_is_a_point():
    votes = ba.read_votes(ba.simulate(competitors=4, annotators=3, votes=200).votes)
    fit = ba.fit(votes, prior="flat")
    prediction = row_probabilities(fit.posterior, votes)
    r = fit.strength
    posterior = fit.posterior
    eta = r[votes.i] - r[votes.j] + posterior.mean_of("position")
    tau = np.broadcast_to(posterior.mean_of("tie"), eta.shape)
    expected = softmax(posterior.design.phi, np.array([eta, tau])).T
    np.testing.assert_allclose(prediction.probabilities, expected, atol=1e-12)


def test_unknown_competitors_are_refused():
    posterior, votes = fitted("davidson")
    with pytest.raises(ba.ArenaError, match="no estimate for 'H'"):
        row_probabilities(posterior, replace(votes, competitors=tuple("abcdefgH")))
