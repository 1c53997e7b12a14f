"""A saved fit keeps which votes count, and so every table that says so."""

from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from crowds import Crowd, honest_arena
from helpers import RIGGERS
from rigging import rig

import bayes_arena as ba
from bayes_arena.validation.prediction import predict_cells

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::bayes_arena.ArenaWarning")]  # imports ArviZ


def campaign() -> ba.Cells:
    arena = honest_arena(Crowd(annotators=40), competitors=12, votes=4000, seed=2)
    return rig(arena.cells, "t-abstain", arena.ranked(8), accounts=8, votes=100, seed=1).cells


def few_votes_each() -> ba.Cells:
    arena = honest_arena(Crowd(annotators=30, visitors=50), competitors=8, votes=2000, seed=1)
    return rig(arena.cells, "t-abstain", arena.ranked(5), accounts=80, votes=4, seed=1).cells


TROUBLE = {"a campaign": campaign, "few votes each": few_votes_each}
FOUND = ("alike", "weighted", "difference", "is_far", "is_open", "apart")


def assert_alike(again: ba.Fit, fit: ba.Fit) -> None:
    """Hold every table of a loaded fit to those of the fit that was saved."""
    assert (again.warnings, again.kept, again.dropped) == (fit.warnings, fit.kept, fit.dropped)
    assert (again.cells.counts == fit.cells.counts).all() and (again.cast.counts == fit.cast.counts).all()
    for table in (ba.leaderboard, ba.integrity, ba.promoters, ba.annotators):
        assert table(again).equals(table(fit)), table
    assert np.array_equal(predict_cells(again, fit.cast).log_p, predict_cells(fit, fit.cast).log_p)
    assert ba.flag(again) == ba.flag(fit) and repr(again.plan) == repr(fit.plan)
    for name in FOUND:
        assert (getattr(again.promotions, name) == getattr(fit.promotions, name)).all(), name


@pytest.fixture(scope="module")
def path(discounted, tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("saved") / "fit.nc"
    ba.save(discounted, path)
    return path


def test_every_table_is_the_same(discounted, path):
    again = ba.load(path)
    assert_alike(again, discounted)
    assert again.cast.n_votes == 1660 > again.cells.n_votes


@pytest.mark.parametrize(("trouble", "suffix"), [("a campaign", "nc"), ("few votes each", "zarr")])
def test_all_that_is_found_comes_back(trouble, suffix, tmp_path):
    fit = ba.fit(TROUBLE[trouble](), method="map")
    assert fit.promotions.is_open.any()
    ba.save(fit, tmp_path / f"fit.{suffix}")
    assert_alike(ba.load(tmp_path / f"fit.{suffix}"), fit)


def test_who_was_kept_and_dropped_comes_back(rigged, tmp_path):
    fit = ba.fit(rigged, method="map", keep=["annotator-00001"], drop=RIGGERS[:1])
    assert fit.kept and fit.dropped
    ba.save(fit, tmp_path / "fit.nc")
    assert_alike(ba.load(tmp_path / "fit.nc"), fit)


def test_a_sampled_fit_comes_back(rigged, tmp_path):
    fit = ba.fit(rigged, method="nuts", draws=60, tune=100, seed=1)
    ba.save(fit, tmp_path / "fit.nc")
    assert_alike(ba.load(tmp_path / "fit.nc"), fit)


def test_votes_come_once_where_all_count_and_nothing_is_found_where_nobody_looked(arena_cells, tmp_path):
    for robust in ("auto", False):
        ba.save(ba.fit(arena_cells, method="map", robust=robust), tmp_path / f"{robust}.nc")
    with xr.open_datatree(tmp_path / "auto.nc") as tree:
        assert {"promotions", "promoters"} <= set(tree.children) and "cast" not in tree
    with xr.open_datatree(tmp_path / "False.nc") as tree:
        assert not {"promotions", "promoters", "cast"} & set(tree.children)
    assert ba.load(tmp_path / "False.nc").promotions is None
    all_count = ba.load(tmp_path / "auto.nc")
    assert all_count.promotions.cast is None and all_count.cast is all_count.cells
    assert len(ba.promoters(all_count)) == 0 and ba.load(tmp_path / "auto.nc").warnings == ()


def put(group: str, name: str, place: object, value: object):
    return lambda tree: tree[group][name].values.__setitem__(place, value)


EDITS = {
    "promoters/annotator has indices out of range: 99 (row 0)": put("promoters", "annotator", 0, 99),
    "promoters/competitor has indices out of range: -1 (row 2)": put("promoters", "competitor", 2, -1),
    "promotions/alike has numbers that are not finite: nan (row 3)": put("promotions", "alike", 3, np.nan),
    "cast/board has numbers that are not finite: inf (row 0)": put("cast", "board", 0, np.inf),
    "cells/counts has more votes than were cast": put("cast", "counts", slice(None), 0.0),
    "it was changed after save() wrote it": put("promoters", "named", slice(None), True),
    "is damaged": lambda tree: tree.__delitem__("promoters"),
}


@pytest.mark.parametrize("problem", EDITS)
def test_damage_is_named(path, problem):
    with xr.open_datatree(path, engine="h5netcdf") as opened:
        tree = opened.load()
    EDITS[problem](tree)
    tree.to_netcdf(path.with_name("edited.nc"), engine="h5netcdf")
    with pytest.raises(ba.errors.OutputError) as error:
        ba.load(path.with_name("edited.nc"))
    assert problem in str(error.value)


def test_a_missing_record_of_the_votes_as_cast_is_noticed(path):
    with xr.open_datatree(path, engine="h5netcdf") as opened:
        tree = opened.load()
    del tree["cast"]
    tree.to_netcdf(path.with_name("edited.nc"), engine="h5netcdf")
    with pytest.raises(ba.errors.OutputError, match="the checksum differs"):
        ba.load(path.with_name("edited.nc"))


def test_a_tree_is_of_the_votes_that_count_and_says_so(discounted):
    tree = ba.to_datatree(discounted, votes=False)
    assert tree["posterior"]["discrimination"].sizes["annotator"] == 34
    assert any(discounted.warnings[0] in str(value).replace('\\"', '"') for value in tree.attrs.values())
    back = ba.from_posterior(tree, discounted.cells, model=discounted.model)
    assert back.promotions is None
    elo, expected = (ba.leaderboard(fit).set_index("competitor")["elo"] for fit in (back, discounted))
    assert np.abs(elo - expected).max() < 5  # points: the mean of 1000 draws, and the mode
