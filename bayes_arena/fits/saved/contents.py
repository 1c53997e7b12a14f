"""What a result consists of: the fields of its dataclasses, to the file and back.

Arrays, and names along an axis, are variables of the group that ``PARTS`` gives the dataclass they belong to, with the
dimensions of :data:`~bayes_arena.fits.saved.soundness.LAYOUT`. Everything else is an attribute of the file: text and
numbers as they are, the rest as JSON. What the sampler returned is already a tree, and not handled here.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import MISSING, Field, asdict, fields, is_dataclass
from types import NoneType
from typing import Any, Literal, get_args, get_origin, get_type_hints

import numpy as np

from bayes_arena.algebra.factorising import DenseFactor
from bayes_arena.algebra.sparse_bordered import SparseBorderedFactor
from bayes_arena.algebra.sparse_factor import SparseFactor
from bayes_arena.fits.result import Fit
from bayes_arena.fits.saved.known import Known
from bayes_arena.fits.saved.soundness import LAYOUT, sound_array
from bayes_arena.likelihood.problem import Problem
from bayes_arena.promotion.promotions import Promotions
from bayes_arena.votes.cells import Cells

PARTS = {
    "mode": "",
    "problem": "",
    "cells": "cells",
    "point": "mode",
    "mirror": "mirror",
    "laplace": "laplace",
    "factor": "laplace",
    "eliminated": "laplace",
    "left": "laplace",
    "samples": "draws",
    "promotions": "promotions",
    "promoters": "promoters",
    "cast": "cast",
    "known": "known",
    "change": "change",
}
"""Group of the file by the name of the part; empty for those without arrays of their own."""
NAMES = {
    (Fit, "kept"): "kept_annotators",
    (Fit, "dropped"): "dropped_annotators",
    (Problem, "prior"): "spreads",
    (Cells, "annotator"): "annotator_of",
}
"""Names of fields in the file, where they differ."""
ELSEWHERE = ("tree", "elimination", "units", "shape", "held", "places", "columns", "back", "rho", "rows", "as_cast")
"""Fields for what the sampler returned, and for what follows from the problem."""


def contents(fit: Fit, known: Known | None) -> Iterator[tuple[str, str, Any]]:
    """Yield all that a result consists of, and what it knows: the group, the name there and the value.

    For a factorised Hessian with slices this is the matrix itself, and for a sparse one nothing, since it follows from
    the votes and the mode. If all votes count, they are the same as those that were cast, and come once.
    """
    yield from _contents(fit, "", [])
    if known is not None:
        yield from _contents(known, PARTS["known"], [])


def _contents(whole: Any, group: str, met: list[Any]) -> Iterator[tuple[str, str, Any]]:
    whole = (isinstance(whole, DenseFactor) and whole.rows) or whole
    met.append(whole)
    for field in fields(whole):
        name, value = NAMES.get((type(whole), field.name), field.name), getattr(whole, field.name)
        if name not in (*PARTS, *ELSEWHERE):
            yield group, name, value
        elif isinstance(value, SparseFactor | SparseBorderedFactor):
            continue
        elif name in PARTS and value is not None and not any(value is one for one in met):
            yield from _contents(value, PARTS[name], met)


def assemble(kind: Any, tree: Any, sizes: dict[str, int], group: str = "", /, **known: Any) -> Any:
    """Assemble a dataclass from the groups and attributes of a file.

    Parameters
    ----------
    kind : type
        The dataclass.
    tree : xarray.DataTree
        The file.
    sizes : dict of str to int
        Lengths of the axes met so far; others are added.
    group : str
        Where its arrays are.
    **known
        Fields that need not be read.

    Raises
    ------
    OutputError
        If the shape of an array does not match others, or it has numbers that are not finite.
    KeyError
        If something is missing.
    """
    hints = get_type_hints(kind, localns={"DataTree": object, "Promotions": Promotions})
    values = dict(known)
    for field in fields(kind):
        name = NAMES.get((kind, field.name), field.name)
        hint, optional = _without_none(hints[field.name])
        if field.name in (*known, *ELSEWHERE):
            continue
        if name in PARTS:
            absent = optional and PARTS[name] not in tree
            values[field.name] = None if absent else assemble(hint, tree, sizes, PARTS[name])
        elif name in LAYOUT.get(group, {}):
            if name in tree[group] or not _has_default(field):
                values[field.name] = _read_array(hint, tree, group, name, sizes)
        elif name in tree.attrs or not _has_default(field):
            values[field.name] = _read_attribute(hints[field.name], tree.attrs[name])
    return kind(**values)


def _has_default(field: Field[Any]) -> bool:
    return not (field.default is MISSING and field.default_factory is MISSING)


def variable(group: str, name: str, value: Any) -> Any:
    """Return a value as a variable of a group: an array, names, or arrays by name, whose names label the first axis."""
    import xarray as xr

    dims = LAYOUT[group][name]
    if isinstance(value, Mapping):
        return xr.DataArray(np.array(list(value.values())), {dims[0]: _text(value)}, dims)
    return xr.DataArray(value if isinstance(value, np.ndarray) else _text(value), dims=dims)


def attribute(value: Any) -> Any:
    """Return a value as an attribute of the file: text or a number as it is, the rest as JSON."""
    if isinstance(value, str | int | float) and not isinstance(value, bool):
        return value
    return json.dumps(value, default=_plain)


def _plain(value: Any) -> Any:
    """Convert a value that JSON does not support to one that it does."""
    if isinstance(value, np.generic):
        return value.item()
    return dict(value) if isinstance(value, Mapping) else asdict(value)


def checksum(fit: Fit, known: Known | None) -> str:
    """Return a checksum of all that a file holds of a result, except what the sampler returned."""
    sha = hashlib.sha256()
    for group, name, value in contents(fit, known):
        for key, part in value.items() if isinstance(value, Mapping) else [("", value)]:
            array = isinstance(part, np.ndarray)
            sha.update(json.dumps([group, name, key, None if array else attribute(part)]).encode())
            sha.update(np.ascontiguousarray(part).tobytes() if array else b"")
    return sha.hexdigest()


def _without_none(hint: Any) -> tuple[Any, bool]:
    """Return the type of a field without None, and whether the field may be None."""
    kinds = get_args(hint)
    return (kinds[0], True) if NoneType in kinds else (hint, False)


def _read_attribute(hint: Any, value: Any) -> Any:
    kind, optional = _without_none(hint)
    if not isinstance(value, str):
        return kind(value)
    if kind is str or get_origin(kind) is Literal:
        return None if optional and value == "null" else value
    return _from_json(hint, json.loads(value))


def _from_json(hint: Any, value: Any) -> Any:
    kind, _ = _without_none(hint)
    if value is None:
        return None
    if is_dataclass(kind):
        hints = get_type_hints(kind)
        return kind(**{name: _from_json(hints[name], one) for name, one in value.items()})  # type: ignore[operator]
    if get_origin(kind) is Mapping:
        return {name: _from_json(get_args(kind)[1], one) for name, one in value.items()}
    if get_origin(kind) is tuple:
        each, *rest = get_args(kind)
        kinds = [each] * len(value) if rest == [...] else [each, *rest]
        return tuple(_from_json(one, part) for one, part in zip(kinds, value, strict=True))
    return value


def _read_array(hint: Any, tree: Any, group: str, name: str, sizes: dict[str, int]) -> Any:
    """Convert a variable of a group back to the array, the names, or the arrays by name that it was."""
    values = sound_array(tree, group, name, sizes)
    if get_origin(hint) is tuple:
        return tuple(map(str, values))
    if get_origin(hint) is Mapping:
        return dict(zip(map(str, tree[group][LAYOUT[group][name][0]].to_numpy()), values, strict=True))
    dtype = get_args(get_args(hint)[1])[0]
    return values.astype(dtype, copy=False)


def _text(names: Iterable[str]) -> np.ndarray:
    names = list(names)
    return np.array(names, dtype=np.dtypes.StringDType()).astype(object) if names else np.zeros(0, dtype="U1")
