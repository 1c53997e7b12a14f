"""The nearest Gaussian beside exact posteriors, and beside what defines it."""

from dataclasses import replace

import numpy as np
import pytest

import bayes_arena as ba
from bayes_arena.inference.direction import better_direction
from bayes_arena.inference.gaussian import nearest_gaussian
from bayes_arena.inference.spreads import estimated_blocks, expected_squares
from bayes_arena.model.arrow import invert
from bayes_arena.model.build import build_design
from bayes_arena.model.objective import expand, value
from bayes_arena.model.priors import Prior
from bayes_arena.model.spec import PRESETS
from bayes_arena.votes.votes import Votes
from tests.model.arenas import HELD, MODELS, held_sums, random_design


def two_competitors(wins, losses):
    zero = np.zeros(1, np.intp)
    counts = np.array([[wins, losses, 0.0]])
    return Votes(("a", "b"), (), zero, zero + 1, zero, counts, sided=False)


@pytest.mark.parametrize(("wins", "losses"), [(3, 1), (12, 9), (4, 0)])
def test_one_difference_is_integrated_exactly(wins, losses):
    """With r = (d / 2, -d / 2), the prior of d is Normal(0, 2 sd^2)."""
    prior = Prior(strength=1.2)
    design = build_design(
        two_competitors(wins, losses), PRESETS["bradley-terry"], prior
    )
    posterior = nearest_gaussian(design)
    d = np.linspace(-12, 12, 20_001)
    log_p = -wins * np.logaddexp(0, -d) - losses * np.logaddexp(0, d)
    log_p -= d**2 / (4 * 1.2**2)
    weight = np.exp(log_p - log_p.max())
    weight /= weight.sum()
    mean = weight @ d
    sd = np.sqrt(weight @ (d - mean) ** 2)
    difference = 2 * posterior.mean_of("strength")[0]
    assert difference == pytest.approx(mean, abs=0.06 * sd)
    assert 2 * posterior.sd_of("strength")[0] == pytest.approx(sd, rel=0.03)


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
def test_the_averaged_gradient_vanishes_on_the_plane(name):
    posterior = nearest_gaussian(random_design(MODELS[name]))
    assert posterior.converged
    design = posterior.design
    gradient = expand(design, posterior.mean, posterior.covariance).gradient
    sums = held_sums(design.layout)
    along = sums @ np.linalg.lstsq(sums, gradient, rcond=None)[0]
    step = posterior.covariance.solve(gradient - along)
    sd = np.sqrt(posterior.covariance.variances())
    assert np.abs(step / sd).max() < 0.05


@pytest.mark.slow
@pytest.mark.parametrize("name", ["davidson", "am-davidson", "prompts local"])
def test_spreads_satisfy_their_equation(name):
    """The slope of the log-evidence vanishes, or the spread is at its bound."""
    posterior = nearest_gaussian(random_design(MODELS[name]))
    design = posterior.design
    # Spreads belong to the sweeps' covariance, which has no residuals.
    covariance = posterior.covariance
    for _ in range(20):
        hessian = expand(design, posterior.mean, covariance).hessian
        covariance = invert(hessian, design.layout)
    squares = expected_squares(design, posterior.mean, covariance)
    for block, square in zip(estimated_blocks(design), squares, strict=True):
        spread = block.effect.spread
        n_free = len(design.indices(block)) - block.effect.zero_sum
        slope = square - n_free + spread.degrees - (block.sd / spread.scale) ** 2
        assert abs(slope) < 0.02 * n_free + 0.15 or block.sd < 0.011


@pytest.mark.slow
@pytest.mark.parametrize("name", ["davidson", "am-davidson", "am-elo"])
def test_moments_are_those_of_the_posterior(name):
    """Draws from the Gaussian, weighted by the exact posterior at the same spreads."""
    arena = ba.simulate(competitors=5, annotators=4, votes=800, seed=2).votes
    votes = ba.read_votes(arena)
    design = build_design(votes, MODELS[name], HELD)
    posterior = nearest_gaussian(design)
    size = 3_000
    deviation = posterior.covariance.draws(size, seed=0)
    draws = posterior.mean[:, None] + deviation
    log_p = np.array([-value(design, x) for x in draws.T])
    log_q = -0.5 * mahalanobis(posterior.covariance, deviation)
    weight = np.exp(log_p - log_q - (log_p - log_q).max())
    weight /= weight.sum()
    assert 1 / np.sum(weight**2) > size / 4  # effective draws
    mean = draws @ weight
    sd = np.sqrt((draws - mean[:, None]) ** 2 @ weight)
    assert np.abs((posterior.mean - mean) / sd).max() < 0.15
    ratio = np.sqrt(posterior.covariance.variances()) / sd
    np.testing.assert_allclose(ratio, 1, atol=0.1)


def mahalanobis(covariance, deviation):
    """Return the squared lengths of deviations (parameters, draws) on the plane."""
    S = covariance.solve(np.eye(len(deviation)))
    values, vectors = np.linalg.eigh(S)
    inside = values > 1e-10
    return np.sum(
        (vectors[:, inside].T @ deviation) ** 2 / values[inside, None], axis=0
    )


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.3, 0.45])
def test_many_reversed_annotators(share):
    """The direction is right, or it is said to be open."""
    n_wrong = 0
    for seed in range(4):
        arena = ba.simulate(
            competitors=8,
            annotators=20,
            votes=1500,
            reversed=round(20 * share),
            seed=seed,
        )
        design = build_design(
            ba.read_votes(arena.votes), PRESETS["am-davidson"], Prior()
        )
        posterior = better_direction(nearest_gaussian, design)
        follows = posterior.mean_of("strength") @ arena.strength > 0
        is_open = posterior.mirror_gap is not None and posterior.mirror_gap < 4.6
        n_wrong += not (follows or is_open)
    assert n_wrong == 0


def test_a_reversed_arena_is_the_mirror_image():
    votes = ba.read_votes(
        ba.simulate(competitors=5, annotators=6, votes=600, seed=1).votes
    )
    swapped = replace(votes, counts=votes.counts[:, [1, 0, 2]])
    fits = [
        nearest_gaussian(build_design(each, PRESETS["am-davidson"], Prior()))
        for each in (votes, swapped)
    ]
    first, second = (fit.mean_of("strength") for fit in fits)
    np.testing.assert_allclose(first, -second, atol=1e-8)
