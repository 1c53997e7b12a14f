"""What a saved result survives, and what is not taken for one."""

import errno
import math
import os
import shutil
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from helpers import files_of_at_most, panel

import bayes_arena as ba
from bayes_arena.fits.saved.storage import FORMAT

pytestmark = pytest.mark.slow  # imports ArviZ or PyMC


@pytest.fixture(scope="module")
def fit(arena_cells):
    return ba.fit(arena_cells, prior="flat")


@pytest.fixture(scope="module")
def saved(fit, tmp_path_factory):
    path = tmp_path_factory.mktemp("saved") / "fit.nc"
    ba.save(fit, path)
    return path


@pytest.fixture
def path(saved, tmp_path):
    """A file that a test may spoil."""
    return Path(shutil.copy(saved, tmp_path))


@pytest.mark.slow
@pytest.mark.parametrize("suffix", ["nc", "zarr"])
def test_where_writing_fails_the_old_result_stays(fit, arena_cells, suffix, tmp_path, capfd):
    path = tmp_path / f"fit.{suffix}"
    ba.save(fit, path)
    other = ba.fit(arena_cells, model="m-elo", prior="flat")
    with files_of_at_most(1_000), pytest.raises(ba.errors.OutputError) as error:
        ba.save(other, path)
    assert str(error.value).startswith(f"Cannot write {str(path)!r}: {os.strerror(errno.EFBIG)}.")
    assert capfd.readouterr() == ("", "")
    assert list(tmp_path.iterdir()) == [path]
    assert ba.leaderboard(ba.load(path)).equals(ba.leaderboard(fit))
    ba.save(other, path)
    assert ba.load(path).model.name == "m-elo"
    with pytest.raises(ba.errors.OutputError, match=r"Cannot write .*No such file"):
        ba.save(fit, tmp_path / "absent" / path.name)


@pytest.mark.slow
def test_a_folder_that_is_no_result_is_refused(fit, tmp_path):
    keep, other, file = (tmp_path / f"{name}.zarr" for name in ("keep", "other", "file"))
    keep.mkdir()
    (keep / "notes.txt").write_text("mine")
    xr.Dataset({"x": 1}).to_zarr(other, zarr_format=2)
    file.write_text("mine")
    mixed = tmp_path / "mixed.zarr"
    ba.save(fit, mixed)
    (mixed / "notes.txt").write_text("mine")
    for path in (keep, other, file, mixed):
        with pytest.raises(ba.errors.OutputError, match="exists and is not only a saved result"):
            ba.save(fit, path)
    assert {(keep / "notes.txt").read_text(), (mixed / "notes.txt").read_text(), file.read_text()} == {"mine"}
    assert "x" in xr.open_zarr(other)


def test_a_result_behind_a_link_is_replaced_there(fit, path, tmp_path):
    link = tmp_path / "link.nc"
    link.symlink_to(path)
    before = path.stat().st_ino
    ba.save(fit, link)
    assert link.is_symlink()
    assert path.stat().st_ino != before


def edited(path: Path, edit) -> Path:
    with xr.open_datatree(path, engine="h5netcdf") as opened:
        tree = opened.load()
    edit(tree)
    tree.to_netcdf(path.with_name("edited.nc"), engine="h5netcdf")
    return path.with_name("edited.nc")


def put(group: str, name: str, place: object, value: object):
    return lambda tree: tree[group][name].values.__setitem__(place, value)


def shorten(tree: xr.DataTree) -> None:
    tree["mode"] = tree["mode"].to_dataset().isel(competitor=slice(1, None))


EDITS = {
    "cells/counts has negative counts: -2.0 (row 3)": put("cells", "counts", (3, 0), -2.0),
    "cells/counts has numbers that are not finite: nan (row 0)": put("cells", "counts", (0, 1), np.nan),
    "mode/strength has numbers that are not finite: nan (row 1), inf (row 2)": put(
        "mode", "strength", slice(1, 3), [np.nan, np.inf]
    ),
    "laplace/lower has numbers that are not finite: nan (row 0)": put("laplace", "lower", (0, 0), np.nan),
    "cells/a has indices out of range: 99 (row 0)": put("cells", "a", 0, 99),
    "cells/annotator_of has indices out of range: -1 (row 5)": put("cells", "annotator_of", 5, -1),
    "cells has competitors against themselves: 0 (row 0)": put("cells", "b", 0, 0),
    "cells/competitors has repeated or unsorted names: model-1 (row 0)": put("cells", "competitors", 1, "model-1"),
    "mode/strength has shape (5,), not (6,)": shorten,
}


@pytest.mark.slow
@pytest.mark.parametrize("problem", EDITS)
def test_numbers_that_cannot_be_are_named(path, problem):
    with pytest.raises(ba.errors.OutputError) as error:
        ba.load(edited(path, EDITS[problem]))
    assert problem in str(error.value)


@pytest.mark.slow
def test_other_edits_are_noticed(path):
    for edit, problem in [
        (put("cells", "counts", (0, 0), 5.0), "checksum"),
        (put("cells", "competitors", 5, "zebra"), "checksum"),
        (lambda tree: tree.attrs.update(open_questions='["all is well"]'), "checksum"),
        (lambda tree: tree.attrs.update(sided=0), "checksum"),
        (lambda tree: tree.attrs.update(model="{"), "damaged: Expecting property name"),
        (lambda tree: tree.attrs.update(prior="[]"), "damaged"),
        (lambda tree: tree.attrs.pop("method"), "damaged: 'method'"),
        (lambda tree: tree["mode"].__delitem__("own"), "damaged: .*own"),
        (lambda tree: tree.__delitem__("laplace"), "damaged: .*laplace"),
        *((lambda tree, n=n: tree.attrs.update(bayes_arena_format=n), "not written by save") for n in (0, 1, 2, 3)),
        (lambda tree: tree.attrs.update(bayes_arena_format=FORMAT + 1), "not written by save"),
    ]:
        with pytest.raises(ba.errors.OutputError, match=problem):
            ba.load(edited(path, edit))


@pytest.mark.parametrize("suffix", ["nc", "zarr"])
def test_features_of_votes_come_back(arena_cells, suffix, tmp_path):
    length = np.arange(len(arena_cells.a), dtype=float)
    cells = arena_cells.take(slice(None), features={"length": length, "a/b, in Zürich": -length})
    ba.save(ba.fit(cells, model="m-elo", prior="flat"), tmp_path / f"fit.{suffix}")
    again = ba.load(tmp_path / f"fit.{suffix}").cells
    assert {name: values.tolist() for name, values in again.features.items()} == {
        name: values.tolist() for name, values in cells.features.items()
    }
    if suffix == "nc":
        path = edited(tmp_path / "fit.nc", put("cells", "features", (1, 2), 0.5))
        with pytest.raises(ba.errors.OutputError, match="checksum"):
            ba.load(path)


@pytest.mark.filterwarnings("ignore:The direction of the ranking")
def test_the_mode_comes_back_with_the_reversed_one_beside_it(tmp_path):
    camps = {"for-1": (8, 1), "for-2": (8, 1), "for-3": (8, 1), "against-1": (1, 8), "against-2": (1, 8)}
    fit = ba.fit(panel(camps), model="am-elo", method="map")
    ba.save(fit, tmp_path / "fit.nc")
    again = ba.load(tmp_path / "fit.nc")
    assert (again.model, again.prior, again.spreads, again.warnings) == (
        fit.model,
        fit.prior,
        fit.spreads,
        fit.warnings,
    )
    assert again.mode.gradient == fit.mode.gradient
    np.testing.assert_array_equal(again.mode.mirror.strength, fit.mode.mirror.strength)


@pytest.mark.slow
def test_files_that_are_absent_cut_off_or_incomplete(fit, path, tmp_path):
    with pytest.raises(ba.errors.OutputError, match="No saved result at"):
        ba.load(tmp_path / "absent.nc")
    content = path.read_bytes()
    for end in (0, 100, len(content) // 2, len(content) - 1):
        path.write_bytes(content[:end])
        with pytest.raises(ba.errors.OutputError, match="damaged"):
            ba.load(path)
    folder = tmp_path / "fit.zarr"
    for lost in ("cells/annotator_of/0", "mode/strength/0", "laplace", ".zattrs"):
        ba.save(fit, folder)
        gone = folder / lost
        shutil.rmtree(gone) if gone.is_dir() else gone.unlink()
        if lost in ("laplace", ".zattrs"):
            (folder / ".zmetadata").unlink()  # a copy of what describes the folder
        with pytest.raises(ba.errors.OutputError, match="Cannot read"):
            ba.load(folder)
        shutil.rmtree(folder)


def test_a_prior_flat_in_part_has_no_posterior_and_is_saved_without(arena_cells, tmp_path):
    fit = ba.fit(arena_cells, model="bradley-terry", prior=ba.Prior(strength=math.inf, hyper=None))
    ba.save(fit, tmp_path / "fit.nc")
    np.testing.assert_array_equal(ba.load(tmp_path / "fit.nc").strength, fit.strength)
    assert fit.aic == ba.fit(arena_cells, model="bradley-terry", prior="flat").aic
    with pytest.raises(ba.ModelError, match="a flat prior lacks"):
        ba.to_datatree(fit)
