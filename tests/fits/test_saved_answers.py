"""Fits with answers on disk, as a DataTree, and in what reads their draws."""

import shutil
from dataclasses import replace
from pathlib import Path

import h5py
import numpy as np
import polars as pl
import pytest
from helpers import answered_votes
from pandas.testing import assert_frame_equal

import bayes_arena as ba
from bayes_arena.likelihood.problem import number_labels

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::bayes_arena.DependentVotesWarning")]
MODEL = ba.Model(
    "both",
    "annotator",
    "davidson",
    "annotator",
    strength_by=("prompt",),
    ties_by=("prompt", "competitor"),
    discrimination_by=("prompt",),
)


@pytest.fixture(scope="module")
def cells() -> ba.Cells:
    cells = ba.read_votes(answered_votes(prompts=12, votes=600)[0], prompt="prompt")
    return replace(cells, programs=cells.annotators[1:3])


@pytest.fixture(scope="module", params=["marginal", "map"])
def fit(cells, request) -> ba.Fit:
    prior = ba.Prior(by={"strength_by_prompt": 0.8}, hyper=ba.Prior().hyper.with_spreads({"strength_by_prompt": 1.1}))
    return ba.fit(cells, model=MODEL, method=request.param, prior=prior)


@pytest.mark.parametrize("suffix", [".nc", ".zarr"])
def test_saved_and_loaded(fit, tmp_path, suffix):
    path = tmp_path / f"fit{suffix}"
    ba.save(fit, path)
    loaded = ba.load(path)
    assert (loaded.model, loaded.prior, loaded.spreads) == (fit.model, fit.prior, fit.spreads)
    assert (loaded.point.slices == fit.point.slices).all()
    assert loaded.cells.slice_names == fit.cells.slice_names
    assert loaded.cells.programs == fit.cells.programs
    assert ba.leaderboard(loaded).equals(ba.leaderboard(fit))
    assert_frame_equal(ba.annotators(loaded), ba.annotators(fit), rtol=1e-9)  # its Hessian is factorised again
    np.testing.assert_array_equal(ba.draw(loaded, size=20).slices, ba.draw(fit, size=20).slices)
    assert loaded.laplace.log_determinant == fit.laplace.log_determinant
    if suffix == ".nc":  # what would be as large as votes times draws is left to to_datatree
        with h5py.File(path) as file:
            assert not {"log_likelihood", "posterior_predictive", "prior"} & set(file)


@pytest.fixture(scope="module")
def saved(cells, tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("saved") / "fit.nc"
    ba.save(ba.fit(cells, model=MODEL, robust=False), path)
    return path


@pytest.mark.parametrize("changed", ["mode/slices", "laplace/curve", "laplace/entry", "cells/slices"])
def test_a_change_of_slices_is_noticed(saved, tmp_path, changed):
    shutil.copy(saved, tmp_path / "fit.nc")
    with h5py.File(tmp_path / "fit.nc", "r+") as file:
        values = file[changed][...]
        file[changed][...] = values[..., ::-1] if changed == "cells/slices" else values * 1.5
    with pytest.raises(ba.errors.OutputError, match=r"checksum differs|damaged"):
        ba.load(tmp_path / "fit.nc")


def test_the_tree_names_the_numbers_of_slices(fit):
    tree = ba.to_datatree(fit)
    labels = number_labels(fit.mode.problem)
    posterior = tree["posterior"]
    assert posterior["strength_by_prompt"].dims == ("chain", "draw", "prompt_of_competitor")
    assert list(posterior["prompt_of_competitor"].to_numpy()) == labels["prompt_of_competitor"]
    assert list(posterior["ties_by_competitor"]["competitor_of_ties"].to_numpy()) == list(fit.cells.competitors)
    assert {"strength_by_prompt", "ties_by_prompt", "ties_by_competitor"} <= set(tree["prior"].data_vars)
    assert tree["log_likelihood"]["outcome"].shape[-1] == fit.cells.n_votes
    if fit.method == "map":
        prior = tree["log_prior"]["strength_by_prompt"].to_numpy().ravel()
        numbers = posterior["strength_by_prompt"].to_numpy().reshape(len(prior), -1)
        np.testing.assert_allclose(prior, -0.5 * (numbers / 0.8) ** 2 @ np.ones(numbers.shape[1]))


def test_checks_and_comparisons_read_answers(cells, fit):
    plain = ba.fit(cells, model=MODEL.without_slices(), method=fit.method)
    left_out = ba.leave_one_out(fit), ba.leave_one_out(plain)
    table = ba.compare({"answers": fit, "plain": plain})
    assert table["name"].tolist() == ["answers", "plain"]
    assert left_out[0].elpd.sum() > left_out[1].elpd.sum()
    assert ba.predictive_check(fit) is not None
    assert ba.prior_check(cells, model=MODEL) is not None


def test_annotators_are_judged_on_new_prompts(cells, fit):
    """Net agreement is that of votes imagined on new prompts."""
    table = ba.annotators(fit).set_index("annotator")
    assert table["net_agreement"].between(0.1, 0.6).all()
    assert not (table["verdict"] == "anomalous").any()


def test_a_contrary_annotator_is_found_beside_answers():
    votes, _ = answered_votes(seed=9)
    turned = pl.col("winner").replace({"model_a": "model_b", "model_b": "model_a"})
    votes = votes.with_columns(winner=pl.when(pl.col("judge") == "j00").then(turned).otherwise("winner"))
    fit = ba.fit(ba.read_votes(votes, prompt="prompt"))
    assert fit.model.strength_by == ("prompt",)
    table = ba.annotators(fit).set_index("annotator")
    assert list(table.index[table["verdict"] == "anomalous"]) == ["j00"]


def test_a_saved_fit_knows_its_board(fit, tmp_path, monkeypatch):
    """No question on it projects the board anew, or asks the middle of the votes again."""
    ba.save(fit, tmp_path / "fit.nc")
    loaded = ba.load(tmp_path / "fit.nc")

    def again(*_: object, **__: object) -> None:
        raise AssertionError

    for place in ("fits.result.project", "inference.averages.project", "fits.result.change"):
        monkeypatch.setattr(f"bayes_arena.{place}", again)
    assert ba.verdict(loaded) == ba.verdict(fit)
    assert loaded.warnings == fit.warnings
    for table in (ba.leaderboard, ba.next_pairs, ba.pairs, ba.rank_probabilities):
        assert table(loaded).equals(table(fit)), table
