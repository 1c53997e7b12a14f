"""A program of one's own, as in docs/how-to/own-model.md, sampled and read back."""

import numpy as np
import pytest

import bayes_arena as ba
from tests.models.arenas import small


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::UserWarning:pymc")
def test_a_program_of_ones_own_comes_back_to_a_board():
    import arviz as az
    import pymc as pm

    from bayes_arena.models import data, observe

    votes = small()
    rows = data(votes, annotators=False, per_vote=True)
    with pm.Model(coords=rows.coords):
        r = pm.StudentT("raw", nu=4, sigma=1, dims="competitor")
        r = pm.Deterministic("strength", r - r.mean(), dims="competitor")
        eta = (r[rows.first] - r[rows.second])[rows.pair]
        observe([eta / 2, -eta / 2, pm.Normal("tie", 0, 1)], rows.folded)
        tree = pm.sample(300, tune=300, chains=4, random_seed=1, progressbar=False)
        pm.compute_log_likelihood(tree, progressbar=False)
    fit = ba.from_posterior(tree, votes)
    gaussian = ba.fit(votes, model=fit.model)
    assert fit.model == ba.Model(ties="davidson")
    np.testing.assert_allclose(fit.strength, gaussian.strength, atol=0.1)
    assert fit.marginals.statistics["diverging"].shape == (4, 300)
    assert az.loo(tree).elpd == pytest.approx(ba.leave_one_out(gaussian).total, abs=2)
    assert np.isfinite(fit.marginals.board.value).all()
