"""The Gaussian nearest to a posterior with answers: spreads and strengths of votes whose truth is known."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from helpers import answered_votes

import bayes_arena as ba
from bayes_arena.fits.posterior_draws import draw_parameters
from bayes_arena.inference.marginal.gaussian import spread_uncertainty
from bayes_arena.likelihood.derivatives import gradient_and_hessian
from bayes_arena.likelihood.point import Point

ANSWERS = "strength_by_prompt"
PLAIN = ba.Model("davidson", ties="davidson")
MODEL = replace(PLAIN, name="davidson with answers", strength_by=("prompt",))


def fitted(votes: pl.DataFrame, model: ba.Model = MODEL) -> ba.Fit:
    return ba.fit(ba.read_votes(votes, prompt="prompt"), model=model)


@pytest.fixture(scope="module")
def votes() -> pl.DataFrame:
    return answered_votes()[0]


@pytest.fixture(scope="module")
def fit(votes) -> ba.Fit:
    return fitted(votes)


@pytest.mark.slow
def test_spreads_and_strengths_of_the_truth():
    votes, strength = answered_votes(votes=4000, annotators=12, prompts=60, seed=5)
    own = {"discrimination": "annotator", "tie_propensity": "annotator", "position": "annotator"}
    fit = fitted(votes, replace(MODEL, **own))
    assert fit.evidence == "variational"
    assert fit.spreads.spread(ANSWERS) == pytest.approx(1.2, rel=0.15)
    assert fit.spreads.discrimination < 0.2
    sd = np.sqrt(np.diag(fit.laplace.strength_covariance()))
    assert (np.abs(fit.strength - strength) < 3.5 * sd).all()
    assert (sd > 1.2 / np.sqrt(60) * 0.7).all()  # sixty prompts stand for all others


def test_without_answers_in_the_truth_there_are_none_in_the_fit():
    votes, _ = answered_votes(answers_sd=0.0, votes=2500, seed=2)
    fit, plain = fitted(votes), fitted(votes, PLAIN)
    assert fit.spreads.spread(ANSWERS) < 0.15
    np.testing.assert_allclose(fit.strength, plain.strength, rtol=0.03)


@pytest.mark.slow
def test_prompts_that_mean_nothing_have_a_small_spread(votes, fit):
    mixed = votes.with_columns(prompt=pl.col("prompt").shuffle(seed=1))
    assert fit.spreads.spread(ANSWERS) > 1.0
    assert fitted(mixed).spreads.spread(ANSWERS) < 0.4


def test_order_of_votes_and_sides_change_no_bit(votes, fit):
    turned = (
        pl.when(pl.col("winner") == "model_a")
        .then(pl.lit("model_b"))
        .otherwise(pl.when(pl.col("winner") == "model_b").then(pl.lit("model_a")).otherwise("winner"))
    )
    swapped = votes.with_columns(model_a="model_b", model_b="model_a", winner=turned)
    for other in (votes.sample(fraction=1.0, shuffle=True, seed=3), swapped):
        same = fitted(other)
        assert (same.strength == fit.strength).all()
        assert same.spreads == fit.spreads


def test_names_change_nothing(votes, fit):
    prompts = {f"p{index:03}": f"q{(index * 7) % 30:03}" for index in range(30)}
    names = {f"m{index}": f"n{5 - index}" for index in range(6)}
    renamed = votes.with_columns(
        pl.col("prompt").replace(prompts), pl.col("model_a").replace(names), pl.col("model_b").replace(names)
    )
    other = fitted(renamed)
    np.testing.assert_allclose(other.strength[::-1], fit.strength, atol=1e-7)
    np.testing.assert_allclose(other.spreads.spread(ANSWERS), fit.spreads.spread(ANSWERS), rtol=1e-7)
    covariance = fit.laplace.strength_covariance()
    np.testing.assert_allclose(other.laplace.strength_covariance()[::-1, ::-1], covariance, atol=1e-8)


def test_a_slice_of_ties():
    """A propensity to ties of every prompt: found where it is, and zero for the strengths."""
    votes, _ = answered_votes(answers_sd=0.0, seed=4)
    rng, easy = np.random.default_rng(0), {f"p{index:03}" for index in range(0, 30, 2)}
    tied = np.array([one in easy for one in votes["prompt"]]) & (rng.random(len(votes)) < 0.5)
    votes = votes.with_columns(winner=pl.when(pl.Series(tied)).then(pl.lit("tie")).otherwise("winner"))
    fit = fitted(votes, replace(PLAIN, ties_by=("prompt",)))
    numbers, names = fit.point.slices, fit.cells.slice_names["prompt"]
    assert len(numbers) == len(names)
    assert min(numbers[[name in easy for name in names]]) > max(numbers[[name not in easy for name in names]])


def test_competitors_and_annotators_as_slices():
    """Ties of competitors and taste: also without own numbers of annotators, and without prompts."""
    votes, _ = answered_votes(seed=6)
    fit = fitted(votes, replace(PLAIN, strength_by=("annotator",), ties_by=("competitor",)))
    assert fit.laplace.own_covariance().shape == (8, 0, 0)
    assert 0 < fit.spreads.spread("strength_by_annotator") < 0.4
    assert fit.spreads.spread("ties_by_competitor") < 0.4


@pytest.mark.slow
def test_a_spread_whose_fixed_point_leaps_from_side_to_side():
    """Eight annotators who are alike: gamma of theta is near one, where the fixed point by itself never settles."""
    own = {"discrimination": "annotator", "tie_propensity": "annotator", "position": "annotator"}
    votes, _ = answered_votes(votes=3000, seed=5)
    fit = fitted(votes, replace(MODEL, **own, ties_by=("prompt",)))
    assert 0.01 < fit.spreads.discrimination < 0.15
    assert fit.mode.iterations < 50


@pytest.mark.slow
def test_how_sure_a_spread_is(fit):
    sure = spread_uncertainty(fit.mode, ANSWERS)
    votes, _ = answered_votes(prompts=100_000, votes=400, seed=7)
    unsure = spread_uncertainty(fitted(votes).mode, ANSWERS)
    assert 0.02 < sure < 0.15
    assert unsure > 0.3


@pytest.mark.slow
def test_units_of_a_feature_change_nothing_for_slopes_of_annotators(votes):
    rng = np.random.default_rng(8)
    lengths = {"length_a": rng.gamma(2.0, 1.0, len(votes)), "length_b": rng.gamma(2.0, 1.0, len(votes))}
    found = []
    for unit in (1.0, 1000.0):
        columns = votes.with_columns(**{name: pl.Series(unit * values) for name, values in lengths.items()})
        cells = ba.read_votes(columns, prompt="prompt", features={"length": ["length_a", "length_b"]})
        model = replace(MODEL, style=("length",), style_slopes="annotator")
        fit = ba.fit(cells, model=model)
        sd = fit.target.own[0].sd
        found.append(
            (fit.spreads.spread("style_length_spread"), *fit.strength, *(unit * fit.point.own[:, 0]), unit * sd)
        )
    np.testing.assert_allclose(*found, rtol=1e-4, atol=1e-6)


@pytest.mark.slow
def test_the_gradient_is_zero_on_average_not_at_the_center():
    """With two votes an answer, which is where the mode is far from the mean; strengths count with their sum held."""
    fit = fitted(answered_votes(prompts=150, votes=900, seed=9)[0])
    center, parts = fit.point, draw_parameters(fit, size=150, seed=1)

    def gradient(point: Point) -> np.ndarray:
        found = gradient_and_hessian(fit.target, point)[0]
        return np.concatenate([found.strength - found.strength.mean(), found.common, found.slices])

    total = np.zeros(len(center.head))
    for strength, common, own, slices in zip(*parts, strict=True):
        total += gradient(Point(strength, common, own, slices))
        mirrored = 2 * center.strength - strength, 2 * center.common - common, center.own, 2 * center.slices - slices
        total += gradient(Point(*mirrored))
    assert np.linalg.norm(total / 300) < 0.05 * np.linalg.norm(gradient(center))
