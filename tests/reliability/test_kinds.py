"""Kinds of annotators: evidence against quadrature, shares of simulated crowds, what draws become."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest
from crowds import Crowd, honest_arena
from dissenters import REGIMES, draw
from numpy.testing import assert_allclose
from scipy.integrate import quad
from scipy.stats import multivariate_normal, norm

import bayes_arena as ba
from bayes_arena.fits.posterior_draws import draw_in_parts
from bayes_arena.likelihood.predictor import THETA
from bayes_arena.reliability.kinds import GUESSES, REGULAR, REVERSED, STEP, STEPS, Told, _Crowd, _spread, kinds


def crowd(annotators=100, each=60, seed=0, **which):
    who = Crowd(annotators=annotators, **which)
    return honest_arena(who, competitors=20, votes=annotators * each, strength_sd=1.0, seed=seed)


def mean_probability(fit, found, kind, names):
    return found.probability[kind, np.isin(fit.cells.annotators, names)].mean()


@pytest.mark.parametrize("center, sd", [(1.0, 0.5), (-1.0, 0.5), (0.7, 0.2)])
def test_evidence_and_posterior_are_the_integrals(center, sd):
    """Of sixty votes in two leads, of which some are lost."""
    votes = np.array([[25, 5, 1.0], [18, 12, 0.4]])

    def log_likelihood(theta):
        return sum(
            -won * np.log1p(np.exp(-theta * lead)) - lost * np.log1p(np.exp(theta * lead)) for won, lost, lead in votes
        )

    def moment(power):
        return quad(lambda x: x**power * np.exp(log_likelihood(x)) * norm.pdf(x, center, sd), -6, 8)[0]

    mode, width = 1.7, 0.45
    theta = mode + STEP * width * STEPS
    told = Told(theta[:, None], (log_likelihood(theta) + np.log(STEP * width))[:, None], np.zeros(1))
    evidence, mean, variance = (one[0] for one in told.under(center, sd))
    assert evidence == pytest.approx(np.log(moment(0)), abs=0.02)
    assert mean == pytest.approx(moment(1) / moment(0), abs=0.01)
    assert variance == pytest.approx(moment(2) / moment(0) - (moment(1) / moment(0)) ** 2, rel=0.05)


@pytest.mark.slow
@pytest.mark.parametrize("guessers, adversaries", [(0.0, 0.0), (0.2, 0.0), (0.0, 0.15), (0.15, 0.25)])
def test_shares_of_the_kinds_are_found(guessers, adversaries):
    arena = crowd(200, 100, discrimination_sd=0.3, guessers=guessers, adversaries=adversaries, seed=3)
    fit = ba.fit(arena.cells, method="marginal", robust=False)
    found = kinds(fit)
    assert_allclose(found.share, [1 - guessers - adversaries, guessers, adversaries], atol=0.05)
    assert found.sd / found.mean == pytest.approx(0.3, abs=0.1)
    if guessers:
        assert mean_probability(fit, found, GUESSES, arena.guessers) > 0.7
    if adversaries:
        assert mean_probability(fit, found, REVERSED, arena.adversaries) > 0.9


@pytest.mark.slow
def test_few_votes_do_not_make_guessers_of_honest_annotators():
    """Ten votes each: whoever got many wrong had bad luck."""
    found = kinds(ba.fit(crowd(400, 10, seed=2).cells, robust=False))
    assert found.share[REGULAR] > 0.85
    assert (found.probability[REGULAR] > 0.5).mean() > 0.98


@pytest.mark.slow
def test_draws_of_guessers_have_theta_near_zero_and_others_that_of_their_kind():
    arena = crowd(40, 300, discrimination_sd=0.2, guessers=0.2, seed=1)
    fit = ba.fit(arena.cells, robust=False)
    found = kinds(fit)
    _, _, parts = draw_in_parts(fit, size=400)
    (part, own), *_ = list(parts)
    ((_, moved),) = found.redrawn([(part, own)])
    near = np.abs(moved[..., THETA]) < 0.2 * found.mean
    clear = found.probability[GUESSES, part] > 0.9
    assert clear.any() and near[:, clear].mean() > 0.85
    sure = found.probability[REGULAR, part] > 0.999
    expected = found.theta[REGULAR, part][sure]
    assert_allclose(moved[:, sure, THETA].mean(axis=0), expected, atol=0.1)


def test_no_mixture_without_theta(arena_cells):
    assert kinds(ba.fit(arena_cells, model="m-elo", robust=False)) is None


def test_a_single_annotator_is_regular():
    arena = ba.simulate(competitors=5, annotators=1, votes=300, seed=1)
    fit = ba.fit(ba.read_votes(arena.votes), model="am-elo", robust=False)
    assert kinds(fit).probability[REGULAR, 0] > 0.99
    assert ba.annotators(fit)["verdict"].tolist() == ["reliable"]


@pytest.mark.slow
def test_a_flat_prior_has_kinds_too():
    arena = crowd(40, 100, discrimination_sd=0.2, guessers=0.2, adversaries=0.2, seed=5)
    fit = ba.fit(arena.cells, model="am-elo", prior="flat", robust=False)
    table = ba.annotators(fit).set_index("annotator")
    assert (table.loc[list(arena.adversaries), "kind"] == "reversed").mean() > 0.8
    assert table.loc[list(arena.guessers), "anomaly_probability"].mean() > 0.5
    assert np.isfinite(table["anomaly_probability"]).all()


@pytest.mark.slow
def test_sampled_fits_go_the_same_way():
    arena = crowd(60, 60, guessers=0.2, adversaries=0.1, seed=4)
    fit = ba.fit(arena.cells, robust=False)
    sampled = replace(fit, samples=ba.draw(fit, size=1000, seed=8))
    left, right = (ba.annotators(one).set_index("annotator").sort_index() for one in (fit, sampled))
    assert_allclose(left["anomaly_probability"], right["anomaly_probability"], atol=0.12)
    assert_allclose(left["net_agreement"], right["net_agreement"], atol=0.05)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_dissenters_are_not_anomalous(seed):
    """Eight of forty vote consistently, by a ranking of their own."""
    arena = draw(REGIMES["consistent minority"], seed)
    fit = ba.fit(arena.cells, robust=False)
    table = ba.annotators(fit).set_index("annotator").sort_index()
    assert fit.model.dimensions
    assert (table["verdict"].iloc[:8] == "reliable").all()
    assert table["consistency"].iloc[:8].min() > table["consistency"].median()


@pytest.mark.slow
def test_names_and_sides_do_not_matter():
    arena = crowd(30, 60, guessers=0.2, adversaries=0.1, seed=6)
    cells = arena.cells
    turned = replace(cells, a=cells.b, b=cells.a, counts=cells.counts[:, [1, 0, 2, 3]])
    order = np.lexsort([turned.annotator, turned.b, turned.a])
    turned = turned.take(order)
    mine, other = (kinds(ba.fit(one, method="map", robust=False)) for one in (cells, turned))
    assert_allclose(mine.share, other.share, atol=1e-4)
    assert_allclose(mine.probability, other.probability, atol=1e-3)


@pytest.mark.slow
def test_a_crowd_of_a_hundred_thousand():
    rng = np.random.default_rng(0)
    size, each = 100_000, 5
    a = rng.integers(0, 8, size * each)
    b = (a + rng.integers(1, 8, size * each)) % 8
    better = rng.random(size * each) < 1 / (1 + np.exp(-(b - a) / 2))
    names = [f"m{place}" for place in range(8)]
    votes = pl.DataFrame(
        {
            "model_a": np.array(names)[a],
            "model_b": np.array(names)[b],
            "winner": np.where(better, "model_a", "model_b"),
            "judge": [f"j{place // each:06}" for place in range(size * each)],
        }
    )
    fit = ba.fit(ba.read_votes(votes), model="am-elo", robust=False)
    found = kinds(fit)
    assert found.probability.shape == (3, size)
    assert_allclose(found.probability.sum(axis=0), 1)
    assert found.share[REGULAR] > 0.8


@pytest.mark.slow
def test_a_sampled_spread_is_its_root_mean_square(arena_cells):
    fit = ba.fit(arena_cells, model="am-davidson", robust=False)
    (one,) = (effect for effect in fit.target.own if effect.name == "discrimination")
    sampled = SimpleNamespace(target=fit.target, sampled_spreads={one.spread: np.array([1.0, 7.0])})
    assert _spread(sampled) == pytest.approx(5 / one.unit)


def test_loadings_are_as_likely_as_together_with_theta():
    mean, spread, noise = np.array([1.0, 0.6]), np.array([[0.2, 0.05], [0.05, 0.3]]), 0.4
    crowd = _Crowd(np.ones(1), mean[None], 0.5, spread)
    theta, loading = np.array([0.2, 1.7]), np.array([-0.3, 1.1])
    found = crowd.log_ratio(theta, loading[:, None], np.full((2, 1, 1), noise))
    around = spread + 0.5**2 * np.outer(mean, mean)
    joint = multivariate_normal(mean, around + np.diag([0, noise])).logpdf(np.column_stack([theta, loading]))
    alone = norm(1.0, np.sqrt(around[0, 0])).logpdf(theta) + norm(0, np.sqrt(noise + 1)).logpdf(loading)
    assert_allclose(found, joint - alone)
