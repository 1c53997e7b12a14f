"""Results on disk: netCDF (``.nc``) or Zarr (``.zarr``), never pickle.

A file has the posterior as :func:`~bayes_arena.to_datatree` lays it out, so that ArviZ can read it, and groups from
which the result is reassembled (:mod:`bayes_arena.fits.saved.contents`) with what every question asks of it
(:mod:`bayes_arena.fits.saved.known`). ``load`` checks how a file is built (:mod:`bayes_arena.fits.saved.plainness`) and
what it contains (:mod:`bayes_arena.fits.saved.soundness`).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from bayes_arena.algebra.dense import Dense
from bayes_arena.algebra.factor import Factor
from bayes_arena.algebra.factorising import AnyFactor, factorise
from bayes_arena.algebra.rows import Rows, summed
from bayes_arena.algebra.units import Eliminated
from bayes_arena.errors import OutputError
from bayes_arena.extras import require
from bayes_arena.fits.arguments import held
from bayes_arena.fits.result import Fit
from bayes_arena.fits.saved.contents import PARTS, assemble, attribute, checksum, contents, variable
from bayes_arena.fits.saved.known import Known
from bayes_arena.fits.saved.plainness import require_plain_file, require_plain_folder
from bayes_arena.fits.saved.soundness import LAYOUT, require_sound, require_sound_promotions
from bayes_arena.inference.mode.laplace import Laplace, laplace_at
from bayes_arena.inference.mode.mode import Mode
from bayes_arena.inference.mode.newton import Gauge
from bayes_arena.likelihood.point import Point
from bayes_arena.likelihood.problem import Problem
from bayes_arena.replacing import written_beside
from bayes_arena.threads import one_thread
from bayes_arena.votes.outcomes import grades_of, n_outcomes

FORMAT = 8
"""Version of the layout of a file."""
ENGINES = {".nc": "h5netcdf", ".zarr": "zarr"}
"""What reads and writes a file, by its suffix."""
SAMPLED = {"posterior": "sampler", "sample_stats": "sample_stats"}
"""Groups of what the sampler returned, and their names in the file."""
READ = sorted({*PARTS.values(), *SAMPLED.values()} - {""})
"""Groups that ``load`` reads; the others are for ArviZ."""


@held
def save(fit: Fit, path: str | Path) -> None:
    """Save a fit.

    Parameters
    ----------
    fit : Fit
        A fitted model.
    path : str or Path
        A file ``*.nc`` (netCDF) or a folder ``*.zarr``. An existing one is replaced once the new one is complete.

    Raises
    ------
    OutputError
        If the name ends in neither, the folder exists and is not a saved result, or it cannot be written.
    MissingPackageError
        If ArviZ, or the library that writes such files, is not installed.
    """
    path = _known(path)
    import xarray as xr

    from bayes_arena.fits.tree import attributes, laid_out

    if path.suffix == ".zarr" and path.exists() and not _is_result(path):
        raise OutputError(
            f"{str(path)!r} exists and is not only a saved result. Choose another name, or remove it first."
        )
    tree, known = xr.DataTree(), Known.of(fit)
    if fit.target.is_proper:
        tree = laid_out(fit, votes=False, prior=False)
    if fit.tree is not None:
        tree["sampler"] = fit.tree["posterior"].to_dataset()
    tree.attrs = attributes(fit, 0) | {"bayes_arena_format": FORMAT, "checksum": checksum(fit, known)}
    groups: dict[str, dict[str, Any]] = {}
    for group, name, value in contents(fit, known):
        if name not in LAYOUT.get(group, {}):
            tree.attrs[name] = attribute(value)
        elif not isinstance(value, Mapping) or value:  # without features there is no such variable
            groups.setdefault(group, {})[name] = variable(group, name, value)
    for group, variables in groups.items():
        tree[group] = xr.Dataset(variables)
    files = {"": _netcdf(tree)} if path.suffix == ".nc" else _zarr(tree)
    with written_beside(path) as draft:
        for file, content in files.items():
            (draft / file).parent.mkdir(parents=True, exist_ok=True)
            (draft / file).write_bytes(content)


@held
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
        If there is none, it was not written by :func:`save`, or it is damaged or was changed afterwards.
    MissingPackageError
        If ArviZ, or the library that reads such files, is not installed.
    """
    path = _known(path)
    if not (path.is_file() if path.suffix == ".nc" else path.is_dir()):
        raise OutputError(f"No saved result at {str(path)!r}. Check the path.")
    try:
        return _read(path)
    except OutputError as error:
        raise OutputError(f"Cannot read {str(path)!r}: {error}. Save the fit again.") from error
    except Exception as error:  # a damaged file can raise anything in the libraries that read it
        reason = (str(error) or type(error).__name__).splitlines()[0]
        raise OutputError(f"Cannot read {str(path)!r}, which is damaged: {reason}. Save the fit again.") from error


def _read(path: Path) -> Fit:
    tree = _opened(path)
    if tree.attrs.get("bayes_arena_format") != FORMAT:
        raise OutputError("it was not written by save() of this version of bayes_arena")
    grades = grades_of(tree["cells"]["counts"].sizes["outcome"])
    sizes = {"outcome": n_outcomes(max(grades, 1))}
    problem = assemble(Problem, tree, sizes)
    require_sound(problem.cells)
    target = problem.objective
    sizes |= {"common": len(target.common), "own_annotator": target.n_annotators, "own": len(target.own)}
    sizes["head"] = sizes["competitor"] + sizes["common"]
    sizes["number_of_slices"] = len(target.start().slices)
    sizes["number_of_head"] = sizes["head"] + sizes["number_of_slices"]
    with one_thread():  # as the fit was made
        mode = assemble(Mode, tree, sizes, problem=problem, laplace=_laplace(tree, sizes, problem))
    fit: Fit = assemble(
        Fit,
        tree,
        sizes,
        mode=mode,
        tree=_sampler_tree(tree) if "sampler" in tree else None,
    )
    if fit.promotions is not None:
        require_sound_promotions(fit.promotions, fit.cells)
    known: Known | None = assemble(Known, tree, sizes, PARTS["known"]) if PARTS["known"] in tree else None
    if tree.attrs["checksum"] != checksum(fit, known):
        raise OutputError("it was changed after save() wrote it: the checksum differs")
    return fit if known is None else known.told(fit)


def _opened(path: Path) -> Any:
    """Return the attributes of a file and the groups that ``load`` reads."""
    import xarray as xr

    source: Any = path
    options: dict[str, Any] = {}
    if path.suffix == ".nc":
        require_plain_file(path)
    else:
        from zarr.storage import LocalStore

        require_plain_folder(path)
        source = LocalStore(path, read_only=True)  # whatever its name looks like
        options = {"zarr_format": 2, "consolidated": False}  # the metadata that was checked, not the copy of it
    with xr.open_datatree(source, engine=ENGINES[path.suffix], decode_times=False, **options) as opened:
        tree = xr.DataTree.from_dict({name: opened[name].to_dataset().load() for name in READ if name in opened})
        tree.attrs = opened.attrs
    return tree


def _laplace(tree: Any, sizes: dict[str, int], problem: Problem) -> Laplace:
    """Read the Gaussian approximation: its factor or, with slices, the matrix, which is factorised again.

    For many competitors it is computed again from the votes.
    """
    factor: AnyFactor
    target, group = problem.objective, PARTS["factor"]
    numbers, shape = target.numbering, (target.numbering.n_head, target.n_annotators, len(target.own))
    if target.slices:
        rows: Rows = assemble(Rows, tree, sizes, group, elimination=numbers.elimination, shape=shape)
        hessian, gauge = summed(rows), Gauge.of_all(problem.shifts, target)
        factor = factorise(hessian, extra=gauge.extra(target.start(), hessian), held=gauge.held)
    elif "lower" in tree[group]:
        units = numbers.units(target.tally)
        sizes |= {"entry_of_inverse": int(units.inverse_start[-1]), "entry_across": int(units.across_start[-1])}
        known: dict[str, Any] = {"units": units, "shape": shape, "held": np.arange(units.n_own)}
        left = {
            "columns": np.zeros((shape[0], 0)),
            "back": np.zeros((shape[0], 0)),
            "places": units.dense,
            "shape": shape,
        }
        eliminated = assemble(Eliminated, tree, sizes, group, **known)
        factor = Factor(eliminated, assemble(Dense, tree, sizes, group, **left))
    else:
        point, infinite = assemble(Point, tree, sizes, PARTS["point"]), json.loads(tree.attrs["at_infinity"])
        factor = laplace_at(target, point, problem.shifts, at_infinity=bool(infinite)).factor
    laplace: Laplace = assemble(Laplace, tree, sizes, PARTS["laplace"], factor=factor)
    return laplace


def _netcdf(tree: Any) -> bytes:
    """Return the contents of a file; made in memory, since HDF5 crashes where the disk is full."""
    content = BytesIO()
    tree.to_netcdf(content, engine="h5netcdf")
    return content.getvalue()


def _zarr(tree: Any) -> dict[str, bytes]:
    """Return the contents of the files of a folder; made in memory, since Zarr goes on writing after an error.

    Every array is one file of its numbers, as ``load`` requires.
    """
    from zarr.storage import MemoryStore

    files: dict[str, Any] = {}
    encoding = {
        group.path: {
            name: {"compressors": None, "chunks": tuple(max(n, 1) for n in array.shape)}
            for name, array in group.to_dataset().variables.items()
        }
        for group in tree.subtree
    }
    tree.to_zarr(MemoryStore(files), zarr_format=2, encoding=encoding, write_empty_chunks=True)
    return {name: content.to_bytes() for name, content in files.items()}


def _sampler_tree(tree: Any) -> Any:
    import xarray as xr

    return xr.DataTree.from_dict({name: tree[group].to_dataset() for name, group in SAMPLED.items() if group in tree})


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
    if path.suffix not in ENGINES:
        raise OutputError(f"Results are saved in files named *.nc (netCDF) or *.zarr, not {path.name!r}.")
    require("Files of fits", "arviz", ENGINES[path.suffix])
    return path
