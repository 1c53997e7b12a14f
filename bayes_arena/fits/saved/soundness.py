"""Whether what a file holds makes sense: shapes, indices and numbers that cannot be are named."""

from __future__ import annotations

from typing import Any

import numpy as np

from bayes_arena.errors import OutputError, listing
from bayes_arena.votes.cells import Cells

POINT = {
    "strength": ("competitor",),
    "common": ("common",),
    "own": ("own_annotator", "own"),
    "slices": ("number_of_slices",),
}
LAYOUT = {
    "cells": {
        "competitors": ("competitor",),
        "annotators": ("annotator",),
        "a": ("cell",),
        "b": ("cell",),
        "annotator_of": ("cell",),
        "counts": ("cell", "outcome"),
        "features": ("feature", "cell"),
        "slices": ("slice", "cell"),
    },
    "mode": POINT,
    "mirror": POINT,
    "laplace": {
        "schur": ("head", "head_too"),
        "lower": ("head", "head_too"),
        "border_q": ("head", "own_annotator", "own"),
        "inverse_tail": ("own_annotator", "own", "own_too"),
        "held": ("own",),
        "entry": ("row", "entry_of_row"),
        "curve": ("row", "coordinate", "coordinate_too"),
        "slope": ("row",),
        "precision": ("number",),
        "strengths": ("competitor", "competitor_too"),
        "shifts": ("competitor", "shift"),
    },
    "draws": {
        "strength": ("sample", "competitor"),
        "elo_strength": ("sample", "competitor"),
        "common": ("sample", "common"),
        "own": ("sample", "own_annotator", "own"),
        "slices": ("sample", "number_of_slices"),
    },
}
"""Groups of arrays and their dimensions."""


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
