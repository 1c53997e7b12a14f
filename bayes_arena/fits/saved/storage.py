"""Results on disk: netCDF (``.nc``) or Zarr (``.zarr``), never pickle.

A file has the groups of :func:`~bayes_arena.to_datatree` without those of single votes, so that ArviZ reads it, and
more from which the result is put together again (:mod:`bayes_arena.fits.saved.soundness`). ``load`` trusts none of
them.
"""

from __future__ import annotations

import json
from dataclasses import fields
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from bayes_arena.errors import OutputError
from bayes_arena.fits.result import Draws, Fit
from bayes_arena.fits.saved.soundness import FORMAT, LAYOUT, checksum, require_sound, sound_array
from bayes_arena.fits.tree import attributes, to_datatree
from bayes_arena.inference.mode.laplace import Laplace
from bayes_arena.likelihood.arrow import Factor
from bayes_arena.likelihood.objective import Point, objective
from bayes_arena.likelihood.priors import Prior, Spreads
from bayes_arena.likelihood.specification import Model
from bayes_arena.replacing import written_beside
from bayes_arena.votes.cells import OUTCOMES, Cells

SUFFIXES = (".nc", ".zarr")


def save(fit: Fit, path: str | Path) -> None:
    """Save a fit.

    Parameters
    ----------
    fit : Fit
        A fitted model.
    path : str or Path
        A file ``*.nc`` (netCDF) or a folder ``*.zarr``. One that is there is replaced when the new one is whole.

    Raises
    ------
    OutputError
        If the name ends in neither, the folder is there and no saved result, or it cannot be written.
    """
    import xarray as xr

    path = _known(path)
    if path.suffix == ".zarr" and path.exists() and not _is_result(path):
        raise OutputError(
            f"{str(path)!r} is there and no saved result, or not only that. Choose another name, or remove it first."
        )
    cells, factor = fit.cells, fit.laplace.factor
    groups = {
        "cells": {
            "competitors": _text(cells.competitors),
            "annotators": _text(cells.annotators),
            "a": cells.a,
            "b": cells.b,
            "annotator_of": cells.annotator,
            "counts": cells.counts,
        },
        "mode": vars(fit.point),
        "laplace": vars(factor) | {"held": factor.held.astype(np.int8), "shifts": fit.laplace.shifts},
    }
    if fit.samples is not None:
        groups["draws"] = vars(fit.samples)
    tree = xr.DataTree() if fit.prior.is_flat else to_datatree(fit, votes=False)
    if fit.tree is not None:
        tree["sampler"] = fit.tree["posterior"].to_dataset()
    for group, arrays in groups.items():
        tree[group] = xr.Dataset({name: (dims, arrays[name]) for name, dims in LAYOUT[group].items()})
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
    tree.attrs["checksum"] = checksum(tree)
    contents = {"": _netcdf(tree)} if path.suffix == ".nc" else _zarr(tree)
    try:
        with written_beside(path) as draft:
            for file, content in contents.items():
                (draft / file).parent.mkdir(parents=True, exist_ok=True)
                (draft / file).write_bytes(content)
    except OSError as error:
        raise OutputError(f"Cannot write {str(path)!r}: {error.strerror or error}.") from error


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
        If there is none, it was not written by :func:`save`, or it is damaged or was changed since.
    """
    path = _known(path)
    if not path.exists():
        raise OutputError(f"No saved result at {str(path)!r}. Check the path.")
    try:
        return _read(path)
    except OutputError as error:
        raise OutputError(f"Cannot read {str(path)!r}: {error}. Save the fit again.") from error
    except Exception as error:  # whatever a damaged file makes of the libraries that read it
        reason = (str(error) or type(error).__name__).splitlines()[0]
        raise OutputError(f"Cannot read {str(path)!r}, which is damaged: {reason}. Save the fit again.") from error


def _read(path: Path) -> Fit:
    import xarray as xr

    with xr.open_datatree(path, engine="h5netcdf" if path.suffix == ".nc" else "zarr") as opened:
        tree = opened.load()
    if tree.attrs.get("bayes_arena_format") != FORMAT:
        raise OutputError("it was not written by save() of this version of bayes_arena")
    attrs = tree.attrs
    sizes = {"outcome": len(OUTCOMES)}

    def array(group: str, name: str) -> Any:
        return sound_array(tree, group, name, sizes)

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
    require_sound(cells)
    model, spreads = Model(**json.loads(attrs["model"])), _prior(attrs["spreads"])
    target = objective(cells, model, spreads)
    sizes |= {"common": len(target.common), "own_annotator": target.n_annotators, "own": len(target.own)}
    sizes["head"] = sizes["competitor"] + sizes["common"]
    factor = Factor(
        schur=array("laplace", "schur"),
        lower=array("laplace", "lower"),
        border_q=array("laplace", "border_q"),
        inverse_tail=array("laplace", "inverse_tail"),
        held=array("laplace", "held").astype(bool),
    )
    fit = Fit(
        cells=cells,
        model=model,
        prior=_prior(attrs["prior"]),
        spreads=spreads,
        method=attrs["method"],
        evidence=attrs["evidence"] or None,
        target=target,
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
    if "checksum" in attrs and attrs["checksum"] != checksum(tree):  # version 0.1 wrote none
        raise OutputError("it was changed after save() wrote it: the checksum differs")
    return fit


def _netcdf(tree: Any) -> bytes:
    """Return the contents of a file; made in memory, since HDF5 crashes where the disk is full."""
    content = BytesIO()
    tree.to_netcdf(content, engine="h5netcdf")
    return content.getvalue()


def _zarr(tree: Any) -> dict[str, bytes]:
    """Return the contents of the files of a folder; made in memory, since Zarr goes on writing after an error."""
    from zarr.storage import MemoryStore

    files: dict[str, Any] = {}
    tree.to_zarr(MemoryStore(files), zarr_format=2)
    return {name: content.to_bytes() for name, content in files.items()}


def _sampler_tree(tree: Any) -> Any:
    """Return what the sampler had returned: its posterior and statistics."""
    import xarray as xr

    groups = {"posterior": "sampler", "sample_stats": "sample_stats"}
    return xr.DataTree.from_dict({name: tree[group].to_dataset() for name, group in groups.items() if group in tree})


def _prior(text: str) -> Prior:
    numbers = json.loads(text)
    hyper = numbers.pop("hyper")
    return Prior(**numbers, hyper=Spreads(**hyper) if hyper else None)


def _text(names: tuple[str, ...]) -> Any:
    return np.array(names, dtype=np.dtypes.StringDType()).astype(object) if names else np.zeros(0, dtype="U1")


def _is_result(folder: Path) -> bool:
    """Whether a folder holds a saved result and nothing else."""
    try:
        ours = "bayes_arena_format" in json.loads((folder / ".zattrs").read_text())
    except (OSError, ValueError):
        return False
    parts = [entry for entry in folder.iterdir() if not entry.name.startswith(".z")]
    return ours and all((part / ".zgroup").is_file() or (part / ".zarray").is_file() for part in parts)


def _known(path: str | Path) -> Path:
    path = Path(path)
    if path.suffix not in SUFFIXES:
        raise OutputError(f"Results are kept in files named *.nc (netCDF) or *.zarr, not {path.name!r}.")
    return path
