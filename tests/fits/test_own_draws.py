"""A program of one's own, as in docs/how-to/own-model.md, sampled and read back."""

import numpy as np
import pytest

import bayes_arena as ba
from bayes_arena.errors import ArenaWarning, ModelError
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
    assert str(fit.warnings[1]).endswith("Sample your program longer.")
    assert ba.rate(fit).warnings[:2] == fit.warnings
    assert ba.leaderboard(fit).attrs["notes"][-2:] == tuple(map(str, fit.warnings))


@pytest.mark.slow
def test_variables_that_nothing_reads_are_named(tree):
    own = tree.copy(deep=True)
    own["posterior"] = own["posterior"].to_dataset().rename(tie="log_tie")
    with pytest.warns(
        ArenaWarning, match="nothing reads 'log_tie'. Did you mean 'tie'"
    ):
        fit = ba.from_posterior(own, small())
    assert fit.model.ties == "half"
    assert [note.kind for note in fit.warnings] == ["unread_draws"]
    assert ba.rate(fit).warnings[0] == fit.warnings[0]


@pytest.mark.slow
def test_spreads_are_those_that_were_drawn(tree):
    assert ba.from_posterior(tree, small()).spreads == {}
    own = tree.copy(deep=True)
    own["posterior"]["strength_sd"] = 0.1 + 0 * own["posterior"]["tie"]
    assert ba.from_posterior(own, small()).spreads == {"strength": pytest.approx(0.1)}


@pytest.mark.slow
def test_the_spread_of_strengths_is_scaled_with_them():
    tree = ba.to_datatree(ba.fit(small(), model="am-davidson"))
    posterior = tree["posterior"]
    for name, spread in {"strength": 2.0, "discrimination": 0.4}.items():
        posterior[f"{name}_sd"] = spread + 0 * posterior["tie"]
    posterior["discrimination"] = 2 * posterior["discrimination"]
    fit = ba.from_posterior(tree, small())
    assert fit.spreads == pytest.approx({"strength": 4.0, "discrimination": 0.2})


@pytest.mark.slow
def test_the_package_has_no_prior_of_draws_of_ones_own(tree):
    fit = ba.from_posterior(tree, small())
    assert {"prior", "prior_predictive"}.isdisjoint(ba.to_datatree(fit).children)
    with pytest.raises(ModelError, match="sample_prior_predictive"):
        ba.prior_check(fit)
    rating = ba.rate(fit)
    assert rating.facts["prior"] is None
    assert rating.header[1].endswith("Draws of your own.")
    assert fit.plan == "davidson, draws of your own"


@pytest.mark.slow
def test_draws_of_ones_own_are_saved_and_loaded(tree, tmp_path):
    fit = ba.from_posterior(tree, small())
    ba.save(fit, tmp_path / "own.nc")
    again = ba.load(tmp_path / "own.nc")
    assert (again.method, again.plan) == (fit.method, fit.plan)
    np.testing.assert_allclose(again.strength, fit.strength)


@pytest.mark.slow
def test_nobody_is_left_out_of_draws_of_ones_own(tree):
    with pytest.raises(ModelError, match="Sample again on the votes without"):
        ba.rate(ba.from_posterior(tree, small()), without="j1")


@pytest.mark.slow
def test_draws_of_other_votes_are_refused(tree):
    with pytest.raises(
        ModelError, match=r"sampled on other votes: on \d+ wins of the first"
    ):
        ba.from_posterior(tree, small(seed=2))


@pytest.mark.slow
@pytest.mark.parametrize("counts", ["folded", "half_wins", "counts"])
def test_observed_counts_are_held_against_the_votes(tree, counts):
    """What a program observes has a row for each kind of vote, and a column an outcome."""
    import xarray as xr

    from bayes_arena.models import data
    from bayes_arena.models.parts import OUTCOMES

    votes = small()
    rows = data(votes, annotators=False)
    observed = getattr(rows, counts)
    labels = list(OUTCOMES[: observed.shape[1]])
    counted = xr.DataArray(observed, {"outcome": labels}, ("row", "outcome"))

    def observing(counted):
        groups = {"posterior": tree["posterior"].to_dataset()}
        groups["observed_data"] = xr.Dataset({"votes": counted})
        return xr.DataTree.from_dict(groups)

    assert ba.from_posterior(observing(counted), votes).warnings == ()
    with pytest.raises(ModelError, match="Pass the votes that were sampled on"):
        ba.from_posterior(observing(2 * counted), votes)
