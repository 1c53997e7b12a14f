"""Predictions of votes on prompts that the fit has not seen: averaged over what answers might be."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from helpers import answered_votes

import bayes_arena as ba
from bayes_arena.fits.posterior_draws import draw_parameters
from bayes_arena.likelihood.point import Point
from bayes_arena.validation.prediction import predict_cells

pytestmark = pytest.mark.slow

SEEN = pl.col("prompt") < "p030"


@pytest.fixture(scope="module")
def votes() -> pl.DataFrame:
    return answered_votes(prompts=60, votes=4000, answers_sd=2.0, strength_sd=1.5, seed=3)[0]


@pytest.fixture(scope="module")
def fit(votes) -> ba.Fit:
    return ba.fit(ba.read_votes(votes.filter(SEEN), prompt="prompt"))


@pytest.fixture(scope="module")
def new(votes) -> ba.Cells:
    return ba.read_votes(votes.filter(~SEEN), prompt="prompt")


def log_score(log_p: np.ndarray, cells: ba.Cells) -> float:
    return float(np.sum(log_p * cells.counts[:, :3].T) / cells.n_votes)


@pytest.mark.slow
def test_the_average_is_better_than_answers_set_to_zero(fit, new):
    averaged = log_score(predict_cells(fit, new).log_p, new)
    narrow = fit.spreads.with_spreads({"strength_by_prompt": 1e-3, "ties_by_prompt": 1e-3})
    near_zero = replace(fit, mode=replace(fit.mode, problem=replace(fit.mode.problem, prior=narrow)))
    assert averaged > log_score(predict_cells(near_zero, new).log_p, new) + 0.02


@pytest.mark.slow
def test_the_average_is_that_of_many_draws_by_hand(fit, new):
    one = new.take(slice(0, 1))
    found = predict_cells(fit, one, draws=4000)
    rng, size = np.random.default_rng(11), 4000
    r, common, own, _ = draw_parameters(fit, size=size, seed=5)
    names = fit.cells.competitors
    i, j = (names.index(new.competitors[side[0]]) for side in (one.a, one.b))
    k = fit.cells.annotators.index(new.annotators[one.annotator[0]])
    labels = [effect.name for effect in fit.target.own]
    shared = dict(zip((effect.name for effect in fit.target.common), common.T, strict=True))
    theta, tie, side = (own[:, k, labels.index(name)] for name in ("discrimination", "tie_propensity", "position"))
    gap = rng.normal(0, fit.spreads.spread("strength_by_prompt"), (2, size))
    eta = theta * (r[:, i] + gap[0] - r[:, j] - gap[1]) + side + shared["position"]
    t = tie + shared["tie_propensity"] + rng.normal(0, fit.spreads.spread("ties_by_prompt"), size)
    chances = np.exp([eta / 2, -eta / 2, t])
    expected = (chances / chances.sum(axis=0)).mean(axis=1)
    np.testing.assert_allclose(np.exp(found.log_p[:, 0]), expected, atol=0.02)


def test_prompts_that_were_seen_are_told_apart(fit, votes):
    """A vote on a prompt of the fit is predicted by its answers, and better than one on a new prompt."""
    seen = ba.read_votes(votes.filter(SEEN), prompt="prompt")
    elsewhere = seen.take(slice(None), slice_names={"prompt": tuple(f"x{name}" for name in seen.slice_names["prompt"])})
    told, untold = (log_score(predict_cells(fit, cells).log_p, seen) for cells in (seen, elsewhere))
    assert told > untold + 0.1


def test_nothing_is_drawn_where_all_slices_were_seen(fit):
    target, point = fit.target_by_cell, fit.point
    assert not target.has_unseen
    assert not target.unseen(point, np.random.default_rng(0)).any()
    moved = Point(point.strength, point.common, point.own, point.slices + 1.0)
    np.testing.assert_allclose(target.leads_at(moved), target.leads_at(point), atol=1e-12)
