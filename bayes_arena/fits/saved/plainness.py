"""Whether a file is built as ``save`` builds it: nothing in it runs, links elsewhere, or is longer than the file.

Every array is stored in one piece, without filters or codecs. So reading never takes more than the file holds, and no
code that a file names is looked up. All this is checked before the libraries that read arrays open the file, and also
for what ``load`` does not read.
"""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bayes_arena.errors import OutputError
from bayes_arena.memory import gib, shortage

if TYPE_CHECKING:
    import h5py

TEXT = np.dtype([("length", "<u4"), ("address", "<u8"), ("index", "<u4")])
"""Text in an array of HDF5: its length and where it is."""
DTYPE = re.compile(r"[<>|][biufU]\d{1,9}")
"""Types of Zarr arrays other than variable-length text: booleans, numbers, and fixed-length text."""
BARE = b"This is a netCDF dimension but not a netCDF variable"
"""Name of a dimension without values."""
FEW = 32
"""Most variable-length values in an attribute: as many as an array can have dimensions."""
ANY_LENGTH = [{"id": "vlen-utf8"}]
"""Variable-length text, the only filter allowed."""


def require_plain_file(path: Path) -> None:
    """Refuse an HDF5 file with links elsewhere, arrays that are not stored plainly, or groups in groups.

    Raises
    ------
    OutputError
        If there is one, or the arrays and attributes together are longer than the file or than the memory there is.
    """
    import h5py

    left = _size(path.stat().st_size)
    with h5py.File(path, "r") as file:
        if file.userblock_size or file.id.get_create_plist().get_sizes() != (8, 8):
            raise OutputError("it is not laid out as save() does it")
        for name, item in _linked(file):
            if not isinstance(item, h5py.Group):
                raise OutputError(f"{name} is not a group")
            left -= _attributes_of(item, left)
            for array_name, array in _linked(item):
                if not isinstance(array, h5py.Dataset):
                    raise OutputError(f"{name}/{array_name} is not an array")
                left -= _attributes_of(array, left) + _length_of(array, path)
                _require_room(left, f"{name}/{array_name}")
        _attributes_of(file, left)


def require_plain_folder(path: Path) -> None:
    """Refuse a Zarr folder with links, other files, or arrays that are incomplete or have to be decoded.

    Raises
    ------
    OutputError
        If there is one, or the files together are longer than the memory there is.
    """
    _size(sum(entry.lstat().st_size for entry in path.rglob("*")))
    for group in _entries(path, r"\.z(group|attrs|metadata)"):
        for array in _entries(group, r"\.z(group|attrs)"):
            name = f"{group.name}/{array.name}"
            if list(_entries(array, r"\.z(array|attrs)|0(\.0)*")):
                raise OutputError(f"{name} is not an array")
            about = json.loads((array / ".zarray").read_text())
            shape, dtype = about["shape"], about["dtype"]
            if not all(type(n) is int and n >= 0 for n in shape):
                raise OutputError(f"{name} has an impossible shape")
            text = dtype == "|O" and about["filters"] == ANY_LENGTH
            if not (text or (DTYPE.fullmatch(dtype) and about["filters"] is None)) or about["compressor"] is not None:
                raise OutputError(f"{name} would have to be decoded, but save() writes plain numbers and text")
            if (about["zarr_format"], about["dimension_separator"]) != (2, ".") or about["chunks"] != [
                max(n, 1) for n in shape
            ]:
                raise OutputError(f"{name} is in parts")
            n, chunk = math.prod(shape), array / (".".join("0" for _ in shape) or "0")
            if n and (not chunk.exists() or not _is_whole(chunk, n, None if text else np.dtype(dtype).itemsize)):
                raise OutputError(f"{name} is incomplete")


def _is_whole(chunk: Path, n: int, itemsize: int | None) -> bool:
    """Return whether a file holds a whole array or, for text, at least announces as many texts as the array has."""
    size = chunk.stat().st_size
    if itemsize is not None:
        return size == n * itemsize
    with chunk.open("rb") as file:
        return size >= 4 + 4 * n and int.from_bytes(file.read(4), "little") == n


def _entries(folder: Path, files: str) -> Iterator[Path]:
    """Yield the folders in a folder; refuse files whose names do not match a pattern, links and pipes."""
    with os.scandir(folder) as entries:
        found = list(entries)
    for entry in found:
        if entry.is_dir(follow_symlinks=False):
            yield Path(entry.path)
        elif not (entry.is_file(follow_symlinks=False) and re.fullmatch(files, entry.name)):
            raise OutputError(f"{entry.name!r} was not written by save()")


def _linked(group: h5py.Group) -> Iterator[tuple[str, Any]]:
    """Yield the items of a group with their names; refuse links elsewhere."""
    import h5py

    for name in group:
        if group.id.links.get_info(name.encode()).type != h5py.h5l.TYPE_HARD:
            raise OutputError(f"{name} is a link to somewhere else")
        yield name, group[name]


def _length_of(array: h5py.Dataset, path: Path) -> int:
    """Return how many bytes reading an array takes; refuse one that is not stored plainly in the file."""
    import h5py

    about, text = array.id.get_create_plist(), h5py.check_string_dtype(array.dtype)
    if not (array.dtype.kind in "biuf" or (text and text.length is None)):
        raise OutputError(f"{array.name} is neither numbers nor text")
    if array.size == 0:
        return 0
    if about.get_layout() not in (h5py.h5d.COMPACT, h5py.h5d.CONTIGUOUS) or about.get_external_count():
        raise OutputError(f"{array.name} is in parts, or in another file")
    size: int = array.id.get_storage_size()
    if array.size is None or size != array.size * (TEXT.itemsize if text else array.dtype.itemsize):
        if size == 0 and array.attrs.get("NAME", b"").startswith(BARE):
            return 0  # a dimension without values, which is not read
        raise OutputError(f"{array.name} is incomplete")
    if not text:
        return size
    if (offset := array.id.get_offset()) is None:
        raise OutputError(f"{array.name} is not laid out as save() does it")
    return size + int(np.fromfile(path, TEXT, array.size, offset=offset)["length"].sum(dtype=np.int64))


def _attributes_of(item: Any, left: int) -> int:
    """Return how many bytes the attributes take, read one by one."""
    import h5py

    taken = 0
    for name in item.attrs:
        attribute = h5py.h5a.open(item.id, name.encode())
        taken += attribute.get_storage_size()
        _require_room(left - taken, f"an attribute of {item.name}")
        linked = attribute.dtype.kind == "V" and h5py.check_ref_dtype(attribute.dtype[0]) and attribute.dtype[1] == "u4"
        few = attribute.dtype.kind == "O" and math.prod(attribute.shape or ()) <= FEW
        if not (linked or attribute.dtype.kind in "biufS" or few):
            raise OutputError(f"{item.name} has an attribute of an unexpected type")
        if attribute.dtype.kind == "O":
            value = item.attrs[name]
            taken += sum(map(len, [value] if isinstance(value, str | bytes) else value.flat))
            _require_room(left - taken, f"an attribute of {item.name}")
    return taken


def _require_room(left: int, name: str) -> None:
    if left < 0:
        raise OutputError(f"{name} is longer than the file")


def _size(size: int) -> int:
    """Return the size of a file; refuse one larger than there is memory."""
    if short := shortage(size):
        raise OutputError(f"it takes {gib(size)}, but {short}")
    return size
