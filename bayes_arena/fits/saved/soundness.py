"""Whether the contents of a file make sense; impossible shapes, indices and numbers are named."""

from __future__ import annotations

from typing import Any

import numpy as np

from bayes_arena.errors import OutputError, listing
from bayes_arena.promotion.promotions import Promoters, Promotions
from bayes_arena.votes.cells import Cells

POINT = {
    "strength": ("competitor",),
    "common": ("common",),
    "own": ("own_annotator", "own"),
    "slices": ("number_of_slices",),
}
LAYOUT: dict[str, dict[str, tuple[str, ...]]] = {
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
        "lower": ("head", "head_too"),
        "inverse": ("entry_of_inverse",),
        "across": ("entry_across",),
        "entry": ("entry_of_row", "row"),
        "curve": ("coordinate", "coordinate_too", "row"),
        "slope": ("row",),
        "products": ("direction", "of_product", "row"),
        "precision": ("number",),
        "between": ("step",),
        "strengths": ("competitor",),
        "shifts": ("competitor", "shift"),
    },
    "promotions": {name: ("competitor",) for name in ("alike", "weighted", "difference", "is_far", "is_open", "apart")},
    "promoters": {name: ("promoter",) for name in Promoters.__annotations__},
    "cast": {"counts": ("cell", "outcome"), "board": ("competitor",)},
    "known": {
        "strength": ("competitor",),
        "by_head": ("competitor", "number_of_head"),
        "by_mean": ("competitor", "competitor_too"),
        "own": ("competitor", "own_annotator", "own"),
        "covariance": ("competitor", "competitor_too"),
        "discrimination_sd": ("annotator_with_theta",),
    },
    "change": {
        "by_competitor": ("competitor",),
        "since": ("competitor",),
        "size": ("competitor",),
        "names": ("tested_period",),
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
    """Return an array if its shape matches the others and its numbers are finite."""
    variable, dims = tree[group][name], LAYOUT[group][name]
    expected = tuple(sizes.setdefault(dim.removesuffix("_too"), variable.sizes[dim]) for dim in dims)
    if variable.shape != expected:
        raise OutputError(f"{group}/{name} has shape {variable.shape}, not {expected}")
    values = np.ascontiguousarray(variable.to_numpy())
    if values.dtype.kind == "f":
        _require(np.isfinite(values), values, f"{group}/{name} has numbers that are not finite")
    return values


def require_sound(cells: Cells) -> None:
    """Refuse votes read back that are invalid."""
    for name, index, size in (
        ("a", cells.a, cells.n_competitors),
        ("b", cells.b, cells.n_competitors),
        ("annotator_of", cells.annotator, max(cells.n_annotators, 1)),
    ):
        _require((index >= 0) & (index < size), index, f"cells/{name} has indices out of range")
    _require(cells.a != cells.b, cells.a, "cells has competitors against themselves")
    _require(cells.counts >= 0, cells.counts, "cells/counts has negative counts")
    for name, names in (("competitors", cells.competitors), ("annotators", cells.annotators)):
        later = np.array(names[1:], dtype=object)
        _require(later > np.array(names[:-1], dtype=object), later, f"cells/{name} has repeated or unsorted names")


def require_sound_promotions(found: Promotions, cells: Cells) -> None:
    """Refuse what was found about competitors or annotators that do not exist."""
    who = found.promoters
    for name, index, size in (
        ("annotator", who.annotator, cells.n_annotators),
        ("competitor", who.competitor, cells.n_competitors),
    ):
        _require((index >= 0) & (index < size), index, f"promoters/{name} has indices out of range")
    if found.cast is not None:
        less = found.cast.counts >= cells.counts
        _require(less, cells.counts, "cells/counts has more votes than were cast")


def _require(sound: Any, values: Any, problem: str) -> None:
    places = [tuple(place) for place in np.argwhere(~sound)]
    if places:
        raise OutputError(f"{problem}: {listing(f'{values[place]} (row {place[0]})' for place in places)}")
