"""Whether the contents of a file make sense; impossible shapes, indices and numbers are named."""

from __future__ import annotations

from typing import Any

import numpy as np

from bayes_arena.algebra.border import Border
from bayes_arena.errors import OutputError, listing
from bayes_arena.trust.judgement import Judgement
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
        "schur": ("head", "head_too"),
        "lower": ("head", "head_too"),
        "border_start": ("border_edge",),
        "border_column": ("border_entry",),
        "border_value": ("border_entry", "own"),
        "inverse_tail": ("own_annotator", "own", "own_too"),
        "held": ("own",),
        "entry": ("row", "entry_of_row"),
        "curve": ("row", "coordinate", "coordinate_too"),
        "slope": ("row",),
        "products": ("row", "direction", "of_product"),
        "precision": ("number",),
        "strengths": ("competitor", "competitor_too"),
        "shifts": ("competitor", "shift"),
    },
    "trust": {
        "campaign": ("annotator_cast",),
        "membership": ("annotator_cast",),
    },
    "cast": {
        "competitors": ("competitor",),
        "annotators": ("annotator_cast",),
        "a": ("cell_cast",),
        "b": ("cell_cast",),
        "annotator_of": ("cell_cast",),
        "counts": ("cell_cast", "outcome"),
        "features": ("feature", "cell_cast"),
        "slices": ("slice", "cell_cast"),
    },
    "kinds": {
        "probability": ("kind", "annotator_cast"),
        "competitor": ("annotator_cast",),
        "hates": ("annotator_cast",),
        "numbers": ("annotator_cast", "number_of_annotator"),
        "covariance": ("annotator_cast", "number_of_annotator", "number_of_annotator_too"),
        "strength": ("competitor",),
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


def require_sound(cells: Cells, group: str = "cells") -> None:
    """Refuse votes read back that are invalid."""
    for name, index, size in (
        ("a", cells.a, cells.n_competitors),
        ("b", cells.b, cells.n_competitors),
        ("annotator_of", cells.annotator, max(cells.n_annotators, 1)),
    ):
        _require((index >= 0) & (index < size), index, f"{group}/{name} has indices out of range")
    _require(cells.a != cells.b, cells.a, f"{group} has competitors against themselves")
    _require(cells.counts >= 0, cells.counts, f"{group}/counts has negative counts")
    for name, names in (("competitors", cells.competitors), ("annotators", cells.annotators)):
        later = np.array(names[1:], dtype=object)
        _require(later > np.array(names[:-1], dtype=object), later, f"{group}/{name} has repeated or unsorted names")


def require_sound_border(border: Border) -> None:
    """Refuse a border with entries or indices that do not exist."""
    start, column = border.start, border.column
    ordered = (start >= 0) & (start <= len(column)) & (np.diff(start, prepend=0) >= 0)
    _require(ordered, start, "laplace/border_start has entries out of range")
    _require((column >= 0) & (column < border.size), column, "laplace/border_column has indices out of range")


def require_sound_judgement(trust: Judgement) -> None:
    """Refuse a judgement with competitors, campaigns or probabilities that cannot exist."""
    n, kinds = trust.cells.n_competitors, trust.kinds
    known = (trust.campaign >= -1) & (trust.campaign < len(trust.campaigns))
    _require(known, trust.campaign, "trust/campaign has campaigns that do not exist")
    probable = (trust.membership >= 0) & (trust.membership <= 1)
    _require(probable, trust.membership, "trust/membership has numbers that are not probabilities")
    if kinds is not None:
        probable = (kinds.probability >= 0) & (kinds.probability <= 1)
        _require(probable, kinds.probability, "kinds/probability has numbers that are not probabilities")
        known = (kinds.competitor >= 0) & (kinds.competitor < n)
        _require(known, kinds.competitor, "kinds/competitor has indices out of range")
    aims = np.array([*(one.competitor for one in trust.campaigns), *(one.competitor for one in trust.drips)], dtype=int)
    _require((aims >= 0) & (aims < n), aims, "campaigns or drips have indices out of range")


def _require(sound: Any, values: Any, problem: str) -> None:
    places = [tuple(place) for place in np.argwhere(~sound)]
    if places:
        raise OutputError(f"{problem}: {listing(f'{values[place]} (row {place[0]})' for place in places)}")
