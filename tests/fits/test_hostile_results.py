"""Saved results from strangers: nothing in them runs, leads elsewhere, or is longer than the file."""

import json
import os
import pickle
import shutil
from pathlib import Path
from types import SimpleNamespace

import h5py
import numpy as np
import pytest

import bayes_arena as ba

pytestmark = pytest.mark.slow  # imports ArviZ
HUGE = 500_000_000


@pytest.fixture(scope="module")
def saved(arena_cells, tmp_path_factory):
    folder, fit = tmp_path_factory.mktemp("saved"), ba.fit(arena_cells, model="m-elo", prior="flat")
    for suffix in ("nc", "zarr"):
        ba.save(fit, folder / f"fit.{suffix}")
    return folder


@pytest.fixture
def folder(saved, tmp_path) -> Path:
    """A folder of Zarr that a test may spoil."""
    return Path(shutil.copytree(saved / "fit.zarr", tmp_path / "fit.zarr"))


@pytest.fixture
def file(saved, tmp_path) -> Path:
    """A file of HDF5 that a test may spoil."""
    return Path(shutil.copy(saved / "fit.nc", tmp_path))


class Payload:
    """Runs when it is unpickled."""

    def __init__(self, trace: Path) -> None:
        self.trace = trace

    def __reduce__(self):
        return os.mkdir, (self.trace,)


PICKLE = {"id": "pickle", "protocol": 5}
TEXT = {"id": "vlen-utf8"}
CODED = [
    {"filters": [PICKLE]},
    {"filters": [TEXT, PICKLE]},
    {"compressor": PICKLE},
    {"filters": None},
    {"dtype": "<i8", "filters": None, "compressor": PICKLE},
    {"dtype": "<i8", "filters": None, "compressor": {"id": "zlib", "level": 9}},
    {"dtype": "<i8", "filters": [{"id": "delta", "dtype": "<i8"}]},
    {"dtype": "<M8[s]", "filters": None},
    {"dtype": [["x", "|O"]], "filters": None},
]


@pytest.mark.parametrize("coded", CODED, ids=str)
def test_nothing_is_decoded(folder, coded, tmp_path):
    array, trace = folder / "cells" / "competitors", tmp_path / "trace"
    (array / ".zarray").write_text(json.dumps(json.loads((array / ".zarray").read_text()) | coded))
    (array / "0").write_bytes(pickle.dumps(Payload(trace)))
    with pytest.raises(ba.errors.OutputError, match=r"cells/competitors would have to be decoded|damaged"):
        ba.load(folder)
    assert not trace.exists()


SHAPED = {
    "more than there is": ({"shape": [HUGE], "chunks": [HUGE]}, "is incomplete"),
    "parts that are not there": ({"shape": [HUGE]}, "is in parts"),
    "a negative length": ({"shape": [-1]}, "has an impossible shape"),
    "a length that is no number": ({"shape": [True]}, "has an impossible shape"),
    "another version": ({"zarr_format": 3}, "is in parts"),
    "half of it": ({"shape": [1], "chunks": [1]}, "is incomplete"),
}


@pytest.mark.parametrize("how", SHAPED)
@pytest.mark.parametrize("array", ["a", "competitors"])
def test_arrays_are_as_long_as_their_files(folder, array, how):
    about, problem = SHAPED[how]
    path = folder / "cells" / array / ".zarray"
    path.write_text(json.dumps(json.loads(path.read_text()) | about))
    with pytest.raises(ba.errors.OutputError, match=f"cells/{array} {problem}"):
        ba.load(folder)


def test_an_array_without_its_file_is_refused(folder):
    (folder / "cells" / "a" / "0").unlink()
    with pytest.raises(ba.errors.OutputError, match="cells/a is incomplete"):
        ba.load(folder)


def put_link(folder: Path) -> None:
    chunk = folder / "cells" / "a" / "0"
    chunk.rename(folder.parent / "elsewhere")
    chunk.symlink_to(folder.parent / "elsewhere")


def put_linked_group(folder: Path) -> None:
    (folder / "cells").rename(folder.parent / "elsewhere")
    (folder / "cells").symlink_to(folder.parent / "elsewhere")


def put_pipe(folder: Path) -> None:
    (folder / "cells" / "a" / "0").unlink()
    os.mkfifo(folder / "cells" / "a" / "0")


def put_pipe_for_metadata(folder: Path) -> None:
    (folder / "cells" / "a" / ".zarray").unlink()
    os.mkfifo(folder / "cells" / "a" / ".zarray")


def put_groups_in_groups(folder: Path) -> None:
    shutil.copytree(folder / "mode", folder / "cells" / "a" / "more")


def put_third_version(folder: Path) -> None:
    about = {"zarr_format": 3, "node_type": "array", "codecs": [{"name": "numcodecs.pickle"}]}
    (folder / "cells" / "a" / "zarr.json").write_text(json.dumps(about))


def put_deep_json(folder: Path) -> None:
    (folder / "cells" / "a" / ".zarray").write_text("[" * 100_000)


BESIDES = [
    (put_link, "'0' was not written by save"),
    (put_linked_group, "'cells' was not written by save"),
    (put_pipe, "'0' was not written by save"),
    (put_pipe_for_metadata, "'.zarray' was not written by save"),
    (put_groups_in_groups, "cells/a is not an array"),
    (put_third_version, "'zarr.json' was not written by save"),
    (put_deep_json, "damaged"),
]


@pytest.mark.parametrize(("put", "problem"), BESIDES, ids=lambda one: getattr(one, "__name__", ""))
def test_a_folder_has_nothing_besides(folder, put, problem):
    put(folder)
    with pytest.raises(ba.errors.OutputError, match=problem):
        ba.load(folder)


def put_loop(file: h5py.File) -> None:
    file["cells/more"] = file["cells"]


def put_soft_link(file: h5py.File) -> None:
    file["cells/more"] = h5py.SoftLink("/cells/a")


def put_external_link(file: h5py.File) -> None:
    file["cells/more"] = h5py.ExternalLink("other.nc", "/cells/a")


def put_external_storage(file: h5py.File) -> None:
    del file["cells/a"]
    file["cells"].create_dataset("a", (8,), "i8", external=[(os.devnull, 0, 64)])


def put_virtual_array(file: h5py.File) -> None:
    layout = h5py.VirtualLayout((8,), "i8")
    layout[:] = h5py.VirtualSource("other.nc", "/cells/a", (8,))
    file["cells"].create_virtual_dataset("more", layout)


def put_length_without_values(file: h5py.File) -> None:
    file["cells"].create_dataset("more", (HUGE,), "f8")


def put_compressed(file: h5py.File) -> None:
    file["cells"].create_dataset("more", data=np.zeros(10**6), compression="gzip")


def put_part(file: h5py.File) -> None:
    file["cells"].create_dataset("more", (HUGE,), "f8", chunks=(1000,))[0] = 1


def put_array_at_the_top(file: h5py.File) -> None:
    file["more"] = [1.0]


def put_kind(file: h5py.File) -> None:
    file["cells"].create_dataset("more", data=np.zeros(3, [("x", "f8")]))


def put_lists(file: h5py.File) -> None:
    file["cells"].create_dataset("more", (3,), h5py.vlen_dtype("f8"))


def put_long_text(file: h5py.File) -> None:
    names = file["cells"].create_dataset("more", (1000,), h5py.string_dtype())
    names[:] = "x"
    names[0] = "x" * 10**6
    file.flush()
    place, raw = names.id.get_offset(), Path(file.filename)
    file.close()
    with raw.open("r+b") as changed:  # all of them are the first one
        changed.seek(place)
        first = changed.read(16)
        changed.seek(place)
        changed.write(first * 1000)


def put_texts_in_an_attribute(file: h5py.File) -> None:
    file.attrs["more"] = ["x"] * 100


def put_attribute_of_another_kind(file: h5py.File) -> None:
    file["cells"].attrs.create("more", np.zeros(2, [("x", "f8"), ("y", "f8")]))


BUILT = {
    put_loop: "cells/more is not an array",
    put_soft_link: "more is a link to somewhere else",
    put_external_link: "more is a link to somewhere else",
    put_external_storage: "cells/a is in parts, or in another file",
    put_virtual_array: "cells/more is in parts, or in another file",
    put_length_without_values: "cells/more is incomplete",
    put_compressed: "cells/more is in parts, or in another file",
    put_part: "cells/more is in parts, or in another file",
    put_array_at_the_top: "more is not a group",
    put_kind: "cells/more is neither numbers nor text",
    put_lists: "cells/more is neither numbers nor text",
    put_long_text: "cells/more is longer than the file",
    put_texts_in_an_attribute: "/ has an attribute of an unexpected type",
    put_attribute_of_another_kind: "/cells has an attribute of an unexpected type",
}


@pytest.mark.parametrize("put", BUILT, ids=lambda put: put.__name__)
def test_a_file_has_nothing_but_arrays_as_they_are(file, put):
    with h5py.File(file, "r+") as opened:
        put(opened)
    with pytest.raises(ba.errors.OutputError, match=BUILT[put]):
        ba.load(file)


def test_what_is_longer_than_memory_is_not_read(file, folder, monkeypatch):
    monkeypatch.setattr("psutil.virtual_memory", lambda: SimpleNamespace(total=2**30))
    for long in (file, folder / "cells" / "a" / "0"):
        os.truncate(long, 2**40)  # which takes no room on the disk
    for path in (file, folder):
        with pytest.raises(ba.errors.OutputError, match="it takes 1,024 GiB, but this machine has 1"):
            ba.load(path)


@pytest.mark.parametrize("name", ["fit.nc", "fit.zarr"])
def test_what_is_no_file_is_not_opened(tmp_path, name):
    os.mkfifo(tmp_path / name)
    with pytest.raises(ba.errors.OutputError, match="No saved result at"):
        ba.load(tmp_path / name)
