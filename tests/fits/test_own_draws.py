"""A program of one's own, as in docs/how-to/own-model.md, sampled and read back."""

import numpy as np
import pytest

import bayes_arena as ba
from bayes_arena.errors import ArenaWarning
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
        r = pm.StudentT("strength_raw", nu=4, sigma=1, dims="competitor")
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


@pytest.fixture(scope="module")
def tree():
    return ba.to_datatree(ba.fit(small()), size=2000)


@pytest.mark.slow
def test_good_draws_of_ones_own_are_read_without_a_word(tree):
    assert ba.from_posterior(tree, small()).warnings == ()


@pytest.mark.slow
def test_a_chain_that_stands_still_is_a_warning_of_the_fit_and_of_its_board(tree):
    stuck = tree.copy(deep=True)
    for variable in stuck["posterior"].data_vars.values():
        variable[dict(chain=1)] = variable.isel(chain=1, draw=0)
    with pytest.warns(ArenaWarning) as warned:
        fit = ba.from_posterior(stuck, small())
    said = [warning.message.note.kind for warning in warned]
    assert said == ["sampling", "sampling"]
    assert str(fit.warnings[0]).startswith("Chains that stand still: 1")
    assert ba.rate(fit).warnings[:2] == fit.warnings


@pytest.mark.slow
def test_variables_that_nothing_reads_are_named(tree):
    own = tree.copy(deep=True)
    own["posterior"] = own["posterior"].to_dataset().rename(tie="log_tie")
    with pytest.warns(
        ArenaWarning, match="nothing reads 'log_tie'. Did you mean 'tie'"
    ):
        fit = ba.from_posterior(own, small())
    assert fit.model.ties == "half"
    assert fit.warnings == ()
