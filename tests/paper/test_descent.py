"""Gradient descents: derivatives, and where they end."""

import numpy as np
import pytest

import bayes_arena as ba
from bayes_arena.errors import FitError, ModelError
from bayes_arena.fits.result import mean_loss
from bayes_arena.paper import consistency, descend
from bayes_arena.paper.descent import C, likelihood_of, random_start


@pytest.fixture(scope="module")
def votes():
    arena = ba.simulate(competitors=5, annotators=6, votes=1500, reversed=1, seed=1)
    return ba.read_votes(arena.votes)


@pytest.mark.parametrize(
    ("model", "normalised"), [("m-elo", False), ("am-elo", True), ("am-elo", False)]
)
def test_the_gradient_is_that_of_finite_differences(votes, model, normalised):
    likelihood = likelihood_of(votes, model, normalised)
    x = random_start(likelihood, seed=3) * (100 if model == "m-elo" else 1)
    gradient = likelihood.loss_and_gradient(x)[1]
    h = 1e-5
    for k in range(len(x)):
        step = h * (np.arange(len(x)) == k)
        above = likelihood.loss_and_gradient(x + step)[0]
        below = likelihood.loss_and_gradient(x - step)[0]
        expected = (above - below) / (2 * h)
        assert gradient[k] == pytest.approx(expected, rel=1e-5, abs=1e-5)


def test_the_loss_is_that_of_the_fit(votes):
    for model in ("m-elo", "am-elo"):
        fit = ba.fit(votes, model=model, prior="flat")
        theta = fit.discrimination / votes.n_annotators
        x = fit.strength / C
        if model == "am-elo":
            x = np.concatenate([fit.strength * votes.n_annotators, theta])
        loss, gradient = likelihood_of(votes, model, True).loss_and_gradient(x)
        assert loss == pytest.approx(mean_loss(fit) * votes.n_votes, rel=1e-10)
        assert np.abs(gradient).max() < 1e-4 * votes.n_votes


@pytest.mark.slow
def test_descents_end_at_the_maximum_or_its_mirror_image(votes):
    fit = ba.fit(votes, model="am-elo", prior="flat")
    run = descend(votes, epochs=1500, seed=0)
    assert run.loss[-1] == pytest.approx(mean_loss(fit), abs=1e-4)
    assert run.theta.sum() == pytest.approx(1)
    theta = fit.discrimination / votes.n_annotators
    np.testing.assert_allclose(run.theta, theta, atol=0.01)
    free = [descend(votes, normalised=False, epochs=400, seed=s) for s in range(5)]
    ends = [round(consistency(each.scores[-1], fit.strength), 1) for each in free]
    assert set(ends) == {0, 1}


def test_what_a_descent_returns(votes):
    run = descend(votes, "m-elo", epochs=3)
    assert run.loss.shape == (4,) and run.scores.shape == (4, 5)
    assert run.theta.shape == (0,)
    assert (np.diff(run.loss) < 0).all()
    again = descend(votes, "m-elo", epochs=3)
    np.testing.assert_array_equal(run.scores, again.scores)


def test_impossible_requests(votes, monkeypatch):
    with pytest.raises(ModelError, match="m-elo, am-elo"):
        descend(votes, "davidson")
    with pytest.raises(ModelError, match="needs annotators"):
        descend(votes.collapse())
    monkeypatch.setattr("bayes_arena.paper.descent.LEARNING_RATE", 1e200)
    with np.errstate(all="ignore"), pytest.raises(FitError, match="diverged"):
        descend(votes, normalised=False)
