"""How annotators see competitors: likelihoods, weights and offsets against their definitions."""

from dataclasses import replace

import numpy as np
import pytest
from crowds import Crowd, honest_arena
from helpers import frame
from scipy.optimize import minimize

import bayes_arena as ba
from bayes_arena.likelihood.presets import PRESETS
from bayes_arena.promotion.views import Views


@pytest.fixture(scope="module")
def fit() -> ba.Fit:
    """A fit with one direction."""
    arena = honest_arena(
        Crowd(annotators=30, camp_sd=0.4, camp_share=0.3), competitors=8, votes=2_000, strength_sd=0.9, seed=5
    )
    model = replace(PRESETS["am-davidson"], dimensions=1)
    return ba.fit(arena.cells, model=model, robust=False)


def views_of(fit: ba.Fit) -> Views:
    return Views.of(fit.mode, fit.model.tally(fit.cells, by_annotator=True))


@pytest.mark.slow
def test_pairs_are_all_annotators_with_all_they_voted_on(fit):
    views = views_of(fit)
    met = {(c, k) for side in (fit.cells.a, fit.cells.b) for c, k in zip(side, fit.cells.annotator, strict=True)}
    assert list(zip(views.competitor, views.annotator, strict=True)) == sorted(met)
    assert views.votes.sum() == 2 * fit.cells.n_votes


def test_the_likelihood_is_that_of_the_votes_on_it(fit):
    views, at, c = views_of(fit), np.array([-1.0, 0.4, 2.0]), 3
    row, slope, constant, _ = views.leads(c)
    eta = slope[:, None] * at + constant[:, None]
    tally = views.target.tally
    expected = np.zeros((views.pairs_of(c).stop - views.pairs_of(c).start, 3))
    first = int(views.start[c])
    for one, lead in zip(row, eta, strict=True):
        pair = views.of_i[one] if tally.i[one] == c else views.of_j[one]
        log_p = views.target.likelihood.log_probabilities(np.array([lead, np.full(3, views.coordinates[1, one])]))
        expected[pair - first] += views.target.counts[:3, one] @ log_p[:3]
    expected = np.exp(expected - expected.max(axis=1, keepdims=True))
    assert views.likelihood(c, at) == pytest.approx(expected, rel=1e-9)
    without_short_cut = replace(
        views, target=replace(views.target, likelihood=replace(views.target.likelihood, loop=None))
    )
    assert without_short_cut.likelihood(c, at) == pytest.approx(expected, rel=1e-9)


def test_offsets_leave_out_the_votes_on_the_competitor_itself(fit):
    views, target, point = views_of(fit), fit.target, fit.point
    (part,), c, k = target.directions, 2, 7
    rows = (target.tally.k == k) & (target.tally.i != c) & (target.tally.j != c)
    others = fit.target_of(target.tally)
    others = replace(others, counts=np.where(rows, others.counts, 0.0))

    def value(numbers):
        own = point.own.copy()
        own[k] = numbers
        return others.value(replace(point, own=own))

    exactly = minimize(value, point.own[k], method="BFGS").x
    theta = np.clip(point.own[k, 0], 0.2, 3.0)
    offset = views.offset[(views.annotator == k) & (views.competitor == c)][0]
    assert offset == pytest.approx(exactly[-1] * point.slices[part][c] / theta, abs=0.15)
    assert np.abs(views.offset).max() > 0.3  # they do differ


def test_without_directions_there_are_no_offsets(fit):
    plain = ba.fit(fit.cells, robust=False, dimensions=0)
    assert not views_of(plain).offset.any()


def test_what_annotators_may_say_depends_on_what_else_they_do():
    names = [f"m{n}" for n in range(8)]
    rows = [(names[n % 8], names[(n + 1 + n // 8) % 8], "model_a", f"k{k}") for k in range(20) for n in range(40)]
    rows = [row for row in rows if row[0] != row[1]]
    rows += [("m0", names[1 + n % 7], "model_a", "only") for n in range(30)]
    rows += [("m0", names[1 + n % 7], "model_a", "both") for n in range(40)]
    rows += [(names[1 + n % 7], names[1 + (n + 1) % 7], "model_a", "both") for n in range(40)]
    cells = ba.read_votes(frame(rows))
    views = views_of(ba.fit(cells, model="bradley-terry"))
    weight = {
        cells.annotators[k]: weight
        for k, c, weight in zip(views.annotator, views.competitor, views.weight, strict=True)
        if c == 0
    }
    assert weight["only"] == 0 and weight["k0"] == 1
    usual = np.median([views.votes[(views.annotator == k) & (views.competitor == 0)][0] for k in range(2, 22)])
    assert 2 / 40 < weight["both"] < (2 + 4 * usual) / 40


@pytest.mark.slow
@pytest.mark.parametrize("seed", [6, 13, 14])
def test_reversed_annotators_are_no_campaign(seed):
    """Who ranks everything the other way round is reversed, and nobody's votes are discounted for it."""
    arena = honest_arena(
        Crowd(annotators=42, adversaries=1 / 7), competitors=20, votes=4_000, strength_sd=0.8, seed=seed
    )
    fit = ba.fit(arena.cells, answers=False)
    assert not fit.promotions.is_open.any()
    assert np.array_equal(fit.cells.counts, arena.cells.counts)
    assert ba.promoters(fit).empty


@pytest.mark.slow
def test_sharp_annotators_of_many_votes_are_no_campaign():
    """With 10,000 votes each it shows where somebody's theta is not their own: on the weakest competitors."""
    votes = ba.simulate(
        competitors=40, annotators=100, votes=1_000_000, tie_spread=0.5, position_spread=0.2, seed=2
    ).votes
    fit = ba.fit(votes)
    assert not fit.promotions.is_open.any()
    assert ba.promoters(fit).empty
