"""Every likelihood through everything that is made from a fit: the contract that a new one is held to."""

import warnings
from typing import get_args

import numpy as np
import pytest
from helpers import every_likelihood
from numpy.testing import assert_allclose

import bayes_arena as ba
from bayes_arena.likelihood.derivatives import gradient_and_hessian
from bayes_arena.likelihood.specification import Ties
from bayes_arena.validation.prediction import predict_cells
from bayes_arena.votes.outcomes import TIE, WIN


def of_annotators(ties: str, both_bad: str = "tie", grades: int = 1) -> ba.Model:
    """The largest model with a likelihood."""
    tie_propensity = "annotator" if ba.Model(ties, ties=ties).has_tie_outcome else "common"
    name = f"{ties}, {both_bad}, {grades}"
    return ba.Model(name, "annotator", ties, tie_propensity, both_bad, "annotator", grades=grades)


MODELS = [
    *map(of_annotators, get_args(Ties)),
    *(of_annotators(one.name, "outcome") for one in every_likelihood() if one.with_both_bad),
    of_annotators("davidson", grades=3),
    of_annotators("davidson", "outcome", grades=2),
    of_annotators("rao-kupper", grades=3),
]


@pytest.fixture(scope="module", params=MODELS, ids=lambda model: model.name)
def model(request):
    return request.param


@pytest.fixture(scope="module")
def votes(model, request):
    return request.getfixturevalue("graded" if model.grades > 1 else "four_outcomes")


@pytest.fixture(scope="module")
def fit(model, votes):
    return ba.fit(votes, model=model, method="map")


def test_the_mode_is_one(fit):
    gradient, _ = gradient_and_hessian(fit.target, fit.point)
    held = gradient.own - gradient.own.mean(axis=0)
    assert max(np.abs(gradient.common).max(initial=0), np.abs(held).max()) < 1e-3
    assert np.abs(gradient.strength - gradient.strength.mean()).max() < 1e-3


@pytest.mark.slow
def test_the_spreads_are_estimated(fit, model, votes):
    marginal = ba.fit(votes, model=model, method="marginal")
    assert marginal.spreads != fit.spreads
    assert np.corrcoef(marginal.strength, fit.strength)[0, 1] > 0.98


def test_tables(fit, arena):
    board = ba.leaderboard(fit).set_index("competitor").loc[list(arena.competitors)]
    assert np.corrcoef(board["elo"], arena.strength)[0, 1] > 0.95
    assert (board["lower"] < board["elo"]).all() and (board["elo"] < board["upper"]).all()
    who = ba.annotators(fit)
    assert who["net_agreement"].between(-1, 1).all()
    matrix = ba.win_probability(fit).to_numpy()
    assert_allclose(matrix + matrix.T, 1)
    means = ba.head_to_head(fit)
    assert means["mean"].between(means["lower"], means["upper"]).all()


def test_the_elo_scale_is_that_of_every_other_model(fit, votes):
    """Not the likelihood's own: the projection brings them together."""
    reference = ba.leaderboard(ba.fit(votes, model="m-elo")).set_index("competitor")["elo"]
    board = ba.leaderboard(fit.of("everybody", cap=1.0)).set_index(
        "competitor"
    )  # every vote counts the same there, too
    assert_allclose(board["elo"].loc[reference.index], reference, atol=60)


def test_probabilities_of_votes(fit, model, votes):
    if model.likelihood.drops_ties:
        with pytest.raises(ba.ModelError, match="leaves out ties"):
            predict_cells(fit, votes)
        return
    found = predict_cells(fit, votes)
    p = np.exp(found.log_p)
    assert_allclose(p.sum(axis=0), 1, atol=1e-12)
    if not model.likelihood.half_wins:
        assert_allclose(found.score, p[WIN] + 0.5 * p[TIE], atol=1e-12)


@pytest.mark.slow
def test_every_vote_left_out_in_turn(fit, model, votes):
    with warnings.catch_warnings(action="ignore"):
        loo = ba.leave_one_out(fit)
    assert loo.votes.sum() == model.seen_counts(votes.counts).sum()
    assert (loo.elpd < 0).all()


def test_votes_cast_again(fit, model):
    counts = ba.replicate(fit, draws=200, seed=1)
    assert (counts.sum(axis=2) == fit.target.counts.sum(axis=0)).all()
    seen = [outcome for outcome in range(model.likelihood.size) if outcome in model.likelihood.outcomes]
    assert set(np.flatnonzero(counts.sum(axis=(0, 1)))) == set(seen)
    if model.has_tie_outcome:
        again, cast = counts.sum(axis=1).mean(axis=0), fit.target.counts.sum(axis=1)
        assert_allclose(again / again.sum(), cast / cast.sum(), atol=0.03)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "sampler"),
    [
        *((model, "nutpie") for model in MODELS if model.likelihood.loop in (None, "both-bad")),
        (ba.Model("glenn-david", ties="glenn-david"), "pymc"),
    ],
    ids=str,
)
def test_the_program_samples_the_same_posterior(model, sampler, request):
    """By PyMC, too, for one likelihood without a compiled loop, in a small model: a plain graph compiles for long."""
    votes = request.getfixturevalue("graded" if model.grades > 1 else "four_outcomes")
    prior = ba.Prior(hyper=None)
    options = {"method": "nuts", "draws": 150, "tune": 200, "sampler": sampler, "seed": 1}
    mode = ba.fit(votes, model=model, prior=prior)
    with warnings.catch_warnings(action="ignore"):
        sampled = ba.fit(votes, model=model, prior=prior, **options)
    sd = sampled.samples.strength.std(axis=0)
    assert (np.abs(sampled.samples.strength.mean(axis=0) - mode.strength) < 0.5 * sd).all()
    tree = ba.to_datatree(sampled)
    assert set(np.unique(tree["posterior_predictive"]["outcome"])) <= set(model.likelihood.outcomes)
