"""What a saved result is put together from, and whether it makes sense.

Shapes, indices and numbers that cannot be are named; a checksum notices every other change.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

import numpy as np

from bayes_arena.errors import OutputError, listing
from bayes_arena.votes.cells import Cells

FORMAT = 1
"""Version of the layout of a file."""
LAYOUT = {
    "cells": {
        "competitors": ("competitor",),
        "annotators": ("annotator",),
        "a": ("cell",),
        "b": ("cell",),
        "annotator_of": ("cell",),
        "counts": ("cell", "outcome"),
    },
    "mode": {"strength": ("competitor",), "common": ("common",), "own": ("own_annotator", "own")},
    "laplace": {
        "schur": ("head", "head_too"),
        "lower": ("head", "head_too"),
        "border_q": ("head", "own_annotator", "own"),
        "inverse_tail": ("own_annotator", "own", "own_too"),
        "held": ("own",),
        "shifts": ("competitor", "shift"),
    },
    "draws": {
        "strength": ("sample", "competitor"),
        "elo_strength": ("sample", "competitor"),
        "common": ("sample", "common"),
        "own": ("sample", "own_annotator", "own"),
    },
}
"""Groups of arrays and their dimensions."""
SETTINGS = (
    *("model", "prior", "spreads", "method", "evidence", "seed", "dropped", "sided", "warnings"),
    *("at_infinity", "mirror_probability", "gradient", "iterations", "singular", "log_determinant"),
)
"""Attributes from which a result is put together."""


def sound_array(tree: Any, group: str, name: str, sizes: dict[str, int]) -> Any:
    """Return an array if it has the shape that others lead to expect, and finite numbers."""
    variable, dims = tree[group][name], LAYOUT[group][name]
    expected = tuple(sizes.setdefault(dim.removesuffix("_too"), variable.sizes[dim]) for dim in dims)
    if variable.shape != expected:
        raise OutputError(f"{group}/{name} has shape {variable.shape}, not {expected}")
    values = np.ascontiguousarray(variable.to_numpy())
    if values.dtype.kind == "f":
        _require(np.isfinite(values), values, f"{group}/{name} has numbers that are not finite")
    return values


def require_sound(cells: Cells) -> None:
    """Hold votes that were read back to what votes are."""
    for name, index, size in (
        ("a", cells.a, cells.n_competitors),
        ("b", cells.b, cells.n_competitors),
        ("annotator_of", cells.annotator, max(cells.n_annotators, 1)),
    ):
        _require((index >= 0) & (index < size), index, f"cells/{name} has numbers that nobody has")
    _require(cells.a != cells.b, cells.a, "cells has competitors against themselves")
    _require(cells.counts >= 0, cells.counts, "cells/counts has negative counts")
    for name, names in (("competitors", cells.competitors), ("annotators", cells.annotators)):
        later = np.array(names[1:], dtype=object)
        _require(later > np.array(names[:-1], dtype=object), later, f"cells/{name} has names twice or out of order")


def _require(sound: Any, values: Any, problem: str) -> None:
    places = [tuple(place) for place in np.argwhere(~sound)]
    if places:
        raise OutputError(f"{problem}: {listing(f'{values[place]} (row {place[0]})' for place in places)}")


def checksum(tree: Any) -> str:
    """Return a checksum of all that :func:`load` reads of a file, but the sampler's own tree."""
    settings = {name: np.asarray(tree.attrs[name]).item() for name in SETTINGS}
    sha = hashlib.sha256(json.dumps(settings).encode())
    for group in (group for group in LAYOUT if group in tree):
        for name in LAYOUT[group]:
            values = tree[group][name].to_numpy()
            text = values.dtype.kind not in "if"
            sha.update(json.dumps(values.tolist()).encode() if text else np.ascontiguousarray(values).tobytes())
    return sha.hexdigest()
