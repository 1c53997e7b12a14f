"""The table that says whether a result can be trusted, and what the prior says before any vote."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
import xarray as xr
from helpers import frame, prompted

import bayes_arena as ba

pytestmark = pytest.mark.slow  # imports ArviZ or PyMC

ROWS = [("a", "b", "model_a"), ("b", "c", "model_a"), ("a", "c", "model_a")]


def verdicts(fit):
    return ba.diagnose(fit).set_index("check")["status"].to_dict()


@pytest.mark.slow
def test_a_sound_fit_passes_every_check(arena_cells):
    table = ba.diagnose(ba.fit(arena_cells))
    assert table.columns.tolist() == ["check", "status", "found", "remedy"]
    assert set(table["status"]) == {"ok"}
    assert set(table["remedy"]) == {""}
    assert "Pareto k, leave-one-vote-out" in table["check"].to_list()


def test_a_fit_with_answers_settles():
    fit = ba.fit(prompted(prompts=30, votes=1500), answers=True)
    assert verdicts(fit)["gradient at the mode"] == "ok"
    stopped = replace(fit, mode=replace(fit.mode, gradient=1.0))
    assert verdicts(stopped)["gradient at the mode"] == "warning"


@pytest.mark.slow
def test_too_short_a_run_is_told_with_the_remedy(sampled_davidson, monkeypatch):
    table = ba.diagnose(sampled_davidson).set_index("check")
    assert table["status"]["bulk effective sample size"] == "warning"
    assert "draws=" in table["remedy"]["bulk effective sample size"]
    assert {"r-hat", "tail effective sample size", "divergences", "energy (BFMI)"} <= set(table.index)
    import arviz as az

    worst = max(float(value.max()) for value in az.rhat(sampled_davidson.tree["posterior"]).data_vars.values())
    assert table["found"]["r-hat"].startswith(f"largest {worst:.3f} (")
    monkeypatch.setattr("bayes_arena.validation.diagnostics.PARETO_K", -9.0)
    remedy = ba.diagnose(sampled_davidson).set_index("check")["remedy"]["Pareto k, leave-one-vote-out"]
    assert "kfold" in remedy
    assert "nuts" not in remedy, "it is sampled already"


def test_separation_is_a_warning_only_without_a_prior():
    cells = ba.read_votes(frame(ROWS))
    with warnings.catch_warnings(action="ignore"):
        flat = ba.fit(cells, prior="flat")
    assert verdicts(flat)["finite estimate (Ford)"] == "warning"
    assert verdicts(flat)["warnings of the fit"] == "warning"
    assert verdicts(ba.fit(cells))["finite estimate (Ford)"] == "ok"


def test_groups_never_compared_are_a_warning(arena):
    apart = frame([("x", "y", "model_a"), ("y", "x", "model_a"), *ROWS])
    with warnings.catch_warnings(action="ignore"):
        assert verdicts(ba.fit(ba.read_votes(apart)))["connected comparisons"] == "warning"


@pytest.mark.slow
def test_prior_check_shows_what_a_prior_implies(arena_cells):
    table = ba.prior_check(arena_cells).set_index("quantity")
    assert table.columns.tolist() == ["q05", "q50", "q95", "observed"]
    assert (table["q05"] <= table["q50"]).all() and (table["q50"] <= table["q95"]).all()
    counts = arena_cells.counts.sum(axis=0)
    assert table["observed"]["share of ties"] == counts[2:].sum() / counts.sum()
    assert table["observed"]["first side's share of decided votes"] == counts[0] / counts[:2].sum()
    narrow = ba.prior_check(arena_cells, prior=ba.Prior(strength=0.1, hyper=None)).set_index("quantity")
    assert narrow["q95"]["best minus worst, Elo"] < 0.5 * table["q50"]["best minus worst, Elo"]
    assert ba.prior_check(arena_cells).equals(ba.prior_check(arena_cells))


def test_a_fixed_prior_has_the_spread_it_says(arena_cells):
    table = ba.prior_check(arena_cells, model="bradley-terry", prior=ba.Prior(strength=1.0, hyper=None), size=4000)
    points = 400 / np.log(10)
    assert table.set_index("quantity")["q50"]["sd of Elo scores"] == pytest.approx(0.93 * points, rel=0.05)


def test_a_flat_prior_implies_nothing(arena_cells):
    with pytest.raises(ba.ModelError, match="flat prior"):
        ba.prior_check(arena_cells, prior="flat")


@pytest.mark.slow
def test_what_a_sampler_did_is_judged_by_the_usual_thresholds(arena_cells):
    """Draws made by hand: sound ones, chains apart or slow, one divergence, energy that hardly moves."""
    fit = ba.fit(arena_cells, model="bradley-terry")
    rng = np.random.default_rng(0)
    sound = rng.normal(size=(4, 1000))
    apart = sound + np.array([[0.0], [0.0], [0.0], [0.35]])
    slow = np.repeat(sound[:, :50], 20, axis=1)
    wandering = np.cumsum(rng.normal(size=(4, 1000)), axis=1)
    once = np.arange(4000).reshape(4, 1000) == 17

    def judged(values, diverging, energy):
        tree = xr.DataTree.from_dict(
            {
                "posterior": xr.Dataset({"x": (("chain", "draw"), values)}),
                "sample_stats": xr.Dataset(
                    {"diverging": (("chain", "draw"), diverging), "energy": (("chain", "draw"), energy)}
                ),
            }
        )
        table = ba.diagnose(replace(fit, method="nuts", samples=ba.draw(fit), tree=tree)).set_index("check")
        return set(table.index[table["status"] == "warning"])

    assert judged(sound, once & False, sound) == set()
    assert judged(apart, once & False, sound) == {"r-hat"}
    assert {f"{part} effective sample size" for part in ("bulk", "tail")} <= judged(slow, once & False, sound)
    assert judged(sound, once, sound) == {"divergences"}
    assert judged(sound, once & False, wandering) == {"energy (BFMI)"}


@pytest.mark.slow
def test_a_gradient_that_does_not_vanish_is_a_warning(arena_cells):
    fit = ba.fit(arena_cells, model="bradley-terry")
    assert verdicts(replace(fit, mode=replace(fit.mode, gradient=1e-4)))["gradient at the mode"] == "warning"
    assert verdicts(fit)["gradient at the mode"] == "ok"
