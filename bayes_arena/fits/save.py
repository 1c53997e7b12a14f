"""Fits in files: one ``.npz`` of arrays, without pickle; samples as ArviZ's netCDF.

A fit is its votes, its model and prior, and the mean and covariance of its posterior.  The
design is built anew.  A file of samples is the tree of ``to_datatree`` with the arrays of
the fit in one more group.
"""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np

from bayes_arena.arrays import Array
from bayes_arena.errors import OutputError, VotesError
from bayes_arena.files import written_beside
from bayes_arena.fits.marginals import Marginals
from bayes_arena.fits.result import Fit, estimable, require_fit, subset_competitors
from bayes_arena.inference.posterior import Posterior
from bayes_arena.model.arrow import Covariance
from bayes_arena.model.build import build_design
from bayes_arena.model.design import Design
from bayes_arena.model.priors import Prior, Spread
from bayes_arena.model.spec import Model
from bayes_arena.said import NOWHERE, Note
from bayes_arena.votes import saved
from bayes_arena.votes.votes import Votes

FORMAT = "bayes_arena fit 3"  # changes whenever former files can no longer be read
OF_VOTES = "votes "  # begins the names of the arrays of the votes
POINT, SAMPLES = ".npz", ".nc"  # endings of the files


def save(fit: Fit, path: str | Path) -> None:
    """Write a fit to a file.

    Parameters
    ----------
    fit : Fit
    path : path
        Ends in ``.npz``; for a fit with samples, as by ``method="nuts"``, in ``.nc``.

    Raises
    ------
    OutputError
        If the ending is another, or the file cannot be written.
    """
    require_fit(fit)
    suffix = POINT if fit.samples is None else SAMPLES
    if Path(path).suffix.lower() != suffix:
        held = "without" if fit.samples is None else "with"
        raise OutputError(
            f"A fit {held} samples is saved as {suffix}, not {str(path)!r}. Choose a name "
            f"that ends in {suffix}."
        )
    arrays = arrays_of_fit(fit)
    with written_beside(path) as draft, draft.open("wb") as file:
        if suffix == POINT:
            np.savez(file, **arrays)  # type: ignore[arg-type]
        else:
            from bayes_arena.fits.tree import samples_as_netcdf

            file.write(samples_as_netcdf(fit, arrays))


def load(path: str | Path) -> Fit:
    """Read a fit that :func:`~bayes_arena.save` wrote.

    Parameters
    ----------
    path : path

    Raises
    ------
    OutputError
        If there is no such file, it is damaged, holds no fit, or another version wrote it.
    """
    suffix = Path(path).suffix.lower()
    if suffix == SAMPLES:
        from bayes_arena.fits.tree import read_samples

        file = read_samples(path)
        fit = fit_of_arrays(file.arrays, path)
        marginals = Marginals(fit.posterior, file.samples, file.statistics)
        return replace(fit, marginals=marginals)
    try:
        arrays = saved.read_arrays(path)
    except VotesError as error:
        raise OutputError(str(error)) from None
    return fit_of_arrays(arrays, path)


def holds_fit(path: str | Path) -> bool:
    """Whether a file is a saved fit, and not saved votes."""
    if Path(path).suffix.lower() == SAMPLES:
        return True
    try:
        with np.load(path, allow_pickle=False) as file:
            return "fit" in file.files
    except (OSError, ValueError):
        return False


def arrays_of_fit(fit: Fit) -> dict[str, Array]:
    """Return a fit as arrays, by name; what is no number is a text in JSON."""
    posterior = fit.posterior
    about = {
        "format": FORMAT,
        "model": asdict(fit.model),
        "prior": asdict(fit.prior),
        "method": fit.method,
        "plan": fit.plan,
        "warnings": [note.row(NOWHERE) for note in fit.warnings],
        "seed": fit.seed,
        "sds": {b.effect.name: b.sd for b in posterior.design.blocks},
        "loss": posterior.loss,
        "n_iterations": posterior.n_iterations,
        "is_mode": posterior.is_mode,
        "mirror_gap": posterior.mirror_gap,
        "log_determinant": posterior.covariance.log_determinant,
    }
    votes = {
        OF_VOTES + name: a for name, a in saved.to_arrays(fit.votes.attributes).items()
    }
    return {
        "fit": np.frombuffer(json.dumps(about).encode(), np.uint8),
        "estimable": estimable(fit),
        "mean": posterior.mean,
        "shared": posterior.covariance.shared,
        "regression": posterior.covariance.regression,
        "conditional": posterior.covariance.conditional,
        **votes,
    }


def fit_of_arrays(arrays: dict[str, Array], path: str | Path) -> Fit:
    """Return the fit that arrays hold."""
    if "about" in arrays and "fit" not in arrays:
        raise OutputError(f"{str(path)!r} holds votes, not a fit: read_votes reads it.")
    try:
        about = json.loads(arrays["fit"].tobytes())
        if about["format"] != FORMAT:
            raise OutputError(
                f"{str(path)!r} was written by another version. Fit the votes again."
            )
        return rebuild(about, arrays, path)
    except (KeyError, TypeError, ValueError, IndexError) as error:
        if isinstance(error, OutputError):
            raise
        raise OutputError(
            f"{str(path)!r} is damaged, or holds no fit. Fit the votes again."
        ) from error


def rebuild(about: dict[str, Any], arrays: dict[str, Array], path: str | Path) -> Fit:
    """Return a fit from its description and its arrays."""
    votes = Votes(**saved.from_arrays(arrays_of_votes(arrays), path))
    model = Model(**about["model"])
    prior = Prior(**{name: Spread(**s) for name, s in about["prior"].items()})
    fitted = subset_competitors(votes, arrays["estimable"].astype(bool))
    design = build_design(fitted, model, prior).with_spreads(about["sds"])
    return Fit(
        votes=votes,
        model=model,
        prior=prior,
        method=about["method"],
        plan=about["plan"],
        marginals=Marginals(posterior_in(about, arrays, design)),
        warnings=tuple(Note(**row) for row in about["warnings"]),
        seed=about["seed"],
    )


def arrays_of_votes(arrays: dict[str, Array]) -> dict[str, Array]:
    """Return the arrays that describe the votes, under the names that votes give them."""
    columns = {}
    for name, values in arrays.items():
        if name.startswith(OF_VOTES):
            columns[name.removeprefix(OF_VOTES)] = values
    return columns


def posterior_in(
    about: dict[str, Any], arrays: dict[str, Array], design: Design
) -> Posterior:
    """Return the posterior that arrays hold, under a design that was built anew."""
    if arrays["mean"].shape != (design.layout.size,):
        raise ValueError("The parameters do not fit the votes.")
    covariance = Covariance(
        layout=design.layout,
        shared=arrays["shared"],
        regression=arrays["regression"],
        conditional=arrays["conditional"],
        log_determinant=about["log_determinant"],
    )
    return Posterior(
        design=design,
        mean=arrays["mean"],
        covariance=covariance,
        loss=about["loss"],
        n_iterations=about["n_iterations"],
        converged=True,  # a fit that did not converge is an error, and not saved
        is_mode=about["is_mode"],
        mirror_gap=about["mirror_gap"],
    )
