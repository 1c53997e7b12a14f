import numpy as np
import pytest

from bayes_arena.checks.observed import observed_columns, pair_sums
from bayes_arena.errors import ModelError
from bayes_arena.fits.fit import fit
from bayes_arena.fits.scores import scores_of
from bayes_arena.simulation import simulate


@pytest.fixture(scope="module")
def arena():
    return simulate(competitors=8, annotators=10, votes=2000, seed=1).votes


@pytest.mark.parametrize("model", ["davidson", "bradley-terry", "am-davidson"])
def test_a_fit_that_is_right_is_within_chance(arena, model):
    groups = observed_columns(fit(arena, model=model))
    assert groups["votes"].sum() == pytest.approx(2000)
    is_outside = (groups["observed"] < groups["lower"]) | (
        groups["observed"] > groups["upper"]
    )
    assert is_outside.sum() <= 2
    assert (groups["predicted"] >= 0.5).all()
    assert (np.diff(groups["predicted"]) > 0).all()


def test_a_fit_that_is_wrong_is_outside(arena):
    shrunk = fit(arena, prior="default")
    shrunk.posterior.mean[:] *= 0.3
    groups = observed_columns(shrunk)
    assert (groups["observed"] > groups["upper"]).sum() > 4


def test_scores_of_a_pair_add_up():
    wins = [("a", "b", "model_a")] * 6 + [("b", "a", "model_a")] * 3
    ties = [("a", "b", "tie")] * 2
    names = ("model_a", "model_b", "winner")
    votes = [dict(zip(names, vote, strict=True)) for vote in wins + ties]
    pairs = pair_sums(fit(votes, model="bradley-terry"))
    assert (pairs.n, pairs.won) == (pytest.approx([11]), pytest.approx([7]))
    expected = pairs.expected[0]
    assert 5.5 < expected < 7.5
    assert pairs.variance[0] == pytest.approx(expected * (1 - expected / 11))


def test_ties_make_scores_vary_less(arena):
    _, scores = scores_of(fit(arena, model="davidson"))
    assert (scores.variance < scores.expected * (1 - scores.expected / scores.n)).all()


def test_a_level_is_a_probability(arena):
    with pytest.raises(ModelError, match="level"):
        observed_columns(fit(arena), level=95)
