"""A saved fit keeps whose votes count, and so every table that says so."""

import json
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from crowds import Crowd, honest_arena
from rigging import rig

import bayes_arena as ba
from bayes_arena.validation.prediction import predict

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::bayes_arena.ArenaWarning")]  # imports ArviZ


def campaign() -> ba.Cells:
    arena = honest_arena(Crowd(annotators=40), competitors=12, votes=4000, seed=2)
    return rig(arena.cells, "omni-bt", arena.ranked(8), accounts=8, votes=100, seed=1).cells


def drip() -> ba.Cells:
    arena = honest_arena(Crowd(annotators=30, visitors=50), competitors=8, votes=2000, seed=1)
    return rig(arena.cells, "t-abstain", arena.ranked(5), accounts=60, votes=3, seed=1).cells


def camps() -> ba.Cells:
    return honest_arena(Crowd(annotators=60, camp_sd=1.0), competitors=16, votes=6000, seed=3).cells


TROUBLE = {"a campaign": campaign, "a drip": drip, "camps": camps}


def assert_alike(again: ba.Fit, fit: ba.Fit) -> None:
    """Hold every table of a loaded fit to those of the fit that was saved."""
    assert (again.warnings, again.trust.suspects) == (fit.warnings, fit.trust.suspects)
    assert ba.leaderboard(again).equals(ba.leaderboard(fit))
    assert np.array_equal(predict(again, fit.trust.cells).log_p, predict(fit, fit.trust.cells).log_p)
    assert ba.flag(again) == ba.flag(fit)
    if fit.target.own:
        assert ba.annotators(again).equals(ba.annotators(fit))


@pytest.fixture(scope="module")
def path(guarded, tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("saved") / "fit.nc"
    ba.save(guarded, path)
    return path


def test_every_table_is_the_same(guarded, path):
    again = ba.load(path)
    assert_alike(again, guarded)
    assert again.trust.cells.n_votes == 1120
    assert again.cells.n_votes == again.trust.counted.n_votes == 1000


@pytest.mark.parametrize(("trouble", "suffix"), [("a campaign", "nc"), ("a drip", "zarr"), ("camps", "nc")])
def test_all_that_is_found_comes_back(trouble, suffix, tmp_path):
    fit = ba.fit(TROUBLE[trouble](), method="map")
    ba.save(fit, tmp_path / f"fit.{suffix}")
    again = ba.load(tmp_path / f"fit.{suffix}")
    assert_alike(again, fit)
    assert (again.trust.campaigns, again.trust.drips, again.trust.unjudged) == (
        fit.trust.campaigns,
        fit.trust.drips,
        fit.trust.unjudged,
    )
    found = {"a campaign": fit.trust.campaigns, "a drip": fit.trust.drips, "camps": fit.trust.unjudged}
    assert found[trouble]
    assert (again.trust.cells is again.cells) == (trouble == "camps")


def test_votes_come_once_where_all_count_and_trust_is_absent_where_it_was_not_asked_for(arena_cells, tmp_path):
    for guard in ("auto", False):
        ba.save(ba.fit(arena_cells, method="map", guard=guard), tmp_path / f"{guard}.nc")
    with xr.open_datatree(tmp_path / "auto.nc") as tree:
        assert {"trust", "kinds"} <= set(tree.children) and "cast" not in tree
    with xr.open_datatree(tmp_path / "False.nc") as tree:
        assert not {"trust", "kinds", "cast"} & set(tree.children)
    assert ba.load(tmp_path / "False.nc").trust is None


def put(group: str, name: str, place: object, value: object):
    return lambda tree: tree[group][name].values.__setitem__(place, value)


EDITS = {
    "cast/a has indices out of range: 99 (row 0)": put("cast", "a", 0, 99),
    "trust/campaign has campaigns that do not exist: 4 (row 1)": put("trust", "campaign", 1, 4),
    "kinds/probability has numbers that are not finite: nan (row 3)": put("kinds", "probability", (3, 0), np.nan),
    "kinds/probability has shape (4, 23), not (4, 20)": lambda tree: tree.__delitem__("cast"),
}


@pytest.mark.parametrize("problem", EDITS)
def test_damage_is_named(path, problem):
    with xr.open_datatree(path, engine="h5netcdf") as opened:
        tree = opened.load()
    EDITS[problem](tree)
    tree.to_netcdf(path.with_name("edited.nc"), engine="h5netcdf")
    with pytest.raises(ba.OutputError) as error:
        ba.load(path.with_name("edited.nc"))
    assert problem in str(error.value)


def test_a_tree_is_of_the_votes_that_count_and_says_so(guarded, rigged):
    tree = ba.to_datatree(guarded, votes=False)
    assert tree["posterior"]["discrimination"].sizes["annotator"] == 20
    assert guarded.trust.said[0] in json.loads(tree.attrs["left_out"])
    back = ba.from_posterior(tree, guarded.cells, model=guarded.model)
    assert back.trust is None
    elo, expected = (ba.leaderboard(fit).set_index("competitor")["elo"] for fit in (back, guarded))
    assert np.abs(elo - expected).max() < 5  # points: the mean of 1000 draws, and the mode; with the three it is 30
    with pytest.raises(ba.ModelError, match=r"only in the votes: rigger-00001.* left annotators out: fit\.cells"):
        ba.from_posterior(tree, rigged, model=guarded.model)
