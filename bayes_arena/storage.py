"""Results on disk: netCDF (``.nc``) or Zarr (``.zarr``), never pickle.

A file has the groups of :func:`~bayes_arena.to_datatree` without those of single votes, so that ArviZ reads it, and
more from which the result is put together again: ``cells``, ``mode``, ``laplace`` and, where sampled, ``draws``.
"""

from __future__ import annotations

import json
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np

from bayes_arena.arrow import Factor
from bayes_arena.cells import Cells
from bayes_arena.errors import OutputError
from bayes_arena.laplace import Laplace
from bayes_arena.likelihood import Point, objective
from bayes_arena.priors import Prior, Spreads
from bayes_arena.result import Draws, Fit
from bayes_arena.specification import Model
from bayes_arena.tree import attributes, to_datatree

FORMAT = 1
"""Version of the layout of a file."""
SUFFIXES = (".nc", ".zarr")


def save(fit: Fit, path: str | Path) -> None:
    """Save a fit.

    Parameters
    ----------
    fit : Fit
        A fitted model.
    path : str or Path
        A file ``*.nc`` (netCDF) or a folder ``*.zarr``; one that is there is replaced.

    Raises
    ------
    OutputError
        If the name ends in neither.
    """
    import xarray as xr

    path = _known(path)
    cells, factor = fit.cells, fit.laplace.factor
    groups = {
        "cells": {
            "a": ("cell", cells.a),
            "b": ("cell", cells.b),
            "annotator_of": ("cell", cells.annotator),
            "counts": (("cell", "outcome"), cells.counts),
            "competitors": ("competitor", _text(cells.competitors)),
            "annotators": ("annotator", _text(cells.annotators)),
        },
        "mode": {
            "strength": ("competitor", fit.point.strength),
            "common": ("common", fit.point.common),
            "own": (("own_annotator", "own"), fit.point.own),
        },
        "laplace": {
            "schur": (("head", "head_too"), factor.schur),
            "lower": (("head", "head_too"), factor.lower),
            "border_q": (("head", "own_annotator", "own"), factor.border_q),
            "inverse_tail": (("own_annotator", "own", "own_too"), factor.inverse_tail),
            "held": ("own", factor.held.astype(np.int8)),
            "shifts": (("competitor", "shift"), fit.laplace.shifts),
        },
    }
    if fit.samples is not None:
        groups["draws"] = {
            "strength": (("sample", "competitor"), fit.samples.strength),
            "elo_strength": (("sample", "competitor"), fit.samples.elo_strength),
            "common": (("sample", "common"), fit.samples.common),
            "own": (("sample", "own_annotator", "own"), fit.samples.own),
        }
    tree = xr.DataTree() if fit.prior.is_flat else to_datatree(fit, votes=False)
    if fit.tree is not None:
        tree["sampler"] = fit.tree["posterior"].to_dataset()
    for name, variables in groups.items():
        tree[name] = xr.Dataset(variables)
    tree.attrs = attributes(fit, 0) | {
        "bayes_arena_format": FORMAT,
        "seed": -1 if fit.seed is None else fit.seed,
        "dropped": json.dumps(dict(cells.dropped)),
        "sided": int(cells.sided),
        "warnings": json.dumps(fit.warnings),
        "at_infinity": json.dumps(fit.at_infinity),
        "mirror_probability": json.dumps(fit.mirror_probability),
        "gradient": fit.gradient,
        "iterations": fit.iterations,
        "singular": int(fit.laplace.singular),
        "log_determinant": fit.laplace.log_determinant,
    }
    if path.suffix == ".nc":
        tree.to_netcdf(path, engine="h5netcdf")
    else:
        tree.to_zarr(path, mode="w", zarr_format=2)


def load(path: str | Path) -> Fit:
    """Load a fit that :func:`save` wrote.

    Parameters
    ----------
    path : str or Path
        File ``*.nc`` or folder ``*.zarr``.

    Returns
    -------
    Fit

    Raises
    ------
    OutputError
        If it is no file of this package, or of a later layout.
    """
    import xarray as xr

    path = _known(path)
    with xr.open_datatree(path, engine="h5netcdf" if path.suffix == ".nc" else "zarr") as opened:
        tree = opened.load()
    if tree.attrs.get("bayes_arena_format") != FORMAT:
        raise OutputError(f"{path.name} was not written by save() of this version of bayes_arena.")

    def array(group: str, name: str) -> Any:
        return np.ascontiguousarray(tree[group][name].to_numpy())

    attrs = tree.attrs
    cells = Cells(
        competitors=tuple(map(str, array("cells", "competitors"))),
        annotators=tuple(map(str, array("cells", "annotators"))),
        a=array("cells", "a"),
        b=array("cells", "b"),
        annotator=array("cells", "annotator_of"),
        counts=array("cells", "counts"),
        dropped=json.loads(attrs["dropped"]),
        sided=bool(attrs.get("sided", True)),
    )
    model, spreads = Model(**json.loads(attrs["model"])), _prior(attrs["spreads"])
    factor = Factor(
        schur=array("laplace", "schur"),
        lower=array("laplace", "lower"),
        border_q=array("laplace", "border_q"),
        inverse_tail=array("laplace", "inverse_tail"),
        held=array("laplace", "held").astype(bool),
    )
    return Fit(
        cells=cells,
        model=model,
        prior=_prior(attrs["prior"]),
        spreads=spreads,
        method=attrs["method"],
        evidence=attrs["evidence"] or None,
        target=objective(cells, model, spreads),
        point=Point(*(array("mode", field.name) for field in fields(Point))),
        laplace=Laplace(factor, array("laplace", "shifts"), bool(attrs["singular"]), float(attrs["log_determinant"])),
        gradient=float(attrs["gradient"]),
        iterations=int(attrs["iterations"]),
        warnings=tuple(json.loads(attrs["warnings"])),
        at_infinity=tuple(json.loads(attrs["at_infinity"])),
        mirror_probability=json.loads(attrs["mirror_probability"]),
        seed=None if attrs["seed"] < 0 else int(attrs["seed"]),
        samples=Draws(*(array("draws", field.name) for field in fields(Draws))) if "draws" in tree else None,
        tree=_sampler_tree(tree) if "sampler" in tree else None,
    )


def _sampler_tree(tree: Any) -> Any:
    """Return what the sampler had returned: its posterior and statistics."""
    import xarray as xr

    groups = {"posterior": tree["sampler"].to_dataset(), "sample_stats": tree["sample_stats"].to_dataset()}
    return xr.DataTree.from_dict(groups)


def _prior(text: str) -> Prior:
    numbers = json.loads(text)
    hyper = numbers.pop("hyper")
    return Prior(**numbers, hyper=Spreads(**hyper) if hyper else None)


def _text(names: tuple[str, ...]) -> Any:
    return np.array(names, dtype=np.dtypes.StringDType()).astype(object) if names else np.zeros(0, dtype="U1")


def _known(path: str | Path) -> Path:
    path = Path(path)
    if path.suffix not in SUFFIXES:
        raise OutputError(f"Results are kept in files named *.nc (netCDF) or *.zarr, not {path.name!r}.")
    return path
