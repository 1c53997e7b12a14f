"""Fits as ArviZ reads them, and back.

A tree has the draws by effect, under the names of the PyMC programs; and for every single
vote its log-likelihood, what it might have been, and what it was.  The variable is
``outcome``, the dimension ``vote``, and outcomes are numbered 0 (the first wins), 1 (the
second), 2 (tie), 3 and 4 (clear wins of either, where they are modelled).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bayes_arena.arrays import Array, Floats
from bayes_arena.errors import (
    MissingPackageError,
    ModelError,
    OutputError,
    require_seed,
    require_whole,
    warn,
)
from bayes_arena.fits.marginals import CHAINS, by_effect, chained, vectors_of
from bayes_arena.fits.nuts import effects_in
from bayes_arena.fits.options import OWN
from bayes_arena.fits.pointwise import (
    SingleVotes,
    log_densities,
    replicated,
    single_votes,
)
from bayes_arena.fits.result import Fit, require_fit
from bayes_arena.model.effects import Effect
from bayes_arena.said import NOWHERE, Note, Use
from bayes_arena.version import __version__

if TYPE_CHECKING:
    from xarray import Dataset, DataTree

MOST_BYTES = 1e9  # of log_likelihood; a larger one is left out
PRIOR_DRAWS = 500


def to_datatree(fit: Fit, size: int = 1000, seed: int = 0) -> DataTree:
    """Return a fit as an ArviZ ``DataTree``.

    Parameters
    ----------
    fit : Fit
        Under a proper prior.
    size : int
        Draws from a Gaussian, in four chains; samples of NUTS are as they are.
    seed : int
        For draws from a Gaussian, from the prior, and of votes.

    Returns
    -------
    xarray.DataTree
        Groups ``posterior`` and ``prior``: ``strength`` (competitor), ``discrimination``
        (annotator) and the other effects of the model, in logits; ``log_likelihood``,
        ``posterior_predictive`` and ``prior_predictive``: ``outcome`` (vote);
        ``observed_data``: the same as observed; ``constant_data``: codes of ``model_a``,
        ``model_b`` and ``judge``; and for NUTS ``sample_stats``, and spreads, as
        ``strength_sd``.  Draws of your own have no prior here: your program has it.

    Raises
    ------
    ModelError
        If the prior is flat, or the size too small.
    MissingPackageError
        If ArviZ is not installed.

    Warns
    -----
    ArenaWarning
        If the groups with a value for each vote are left out: they would take more than
        a gigabyte, or votes have fractional weights.
    """
    require_arviz()
    require_fit(fit)
    if fit.prior.is_flat:
        raise ModelError(
            "Under a flat prior there is no posterior to draw from.",
            Use(prior="default"),
        )
    require_seed(seed)
    require_whole(4 * CHAINS, size=size)
    import xarray as xr

    samples = fit.marginals.chains(size, seed)
    vectors = vectors_of(fit.posterior, samples)
    groups = {"posterior": parameter_dataset(fit, samples)}
    prior_vectors = None
    if fit.method != OWN:
        prior_vectors, spreads = draw_prior(fit, PRIOR_DRAWS, seed)
        # Of spreads the posterior has draws only where they were sampled.
        sampled = {name: x for name, x in spreads.items() if name in samples}
        of_prior = {**by_effect(fit.posterior, prior_vectors), **sampled}
        groups["prior"] = parameter_dataset(fit, chained(of_prior, 1))
    if fit.marginals.statistics:
        groups["sample_stats"] = chained_dataset(fit.marginals.statistics)
    single = single_votes(fit)
    if has_room(single, len(vectors)):
        chains = samples["strength"].shape[0]
        groups |= vote_groups(single, vectors, prior_vectors, chains, seed)
    tree = xr.DataTree.from_dict(groups)
    tree.attrs = attributes(fit)
    return tree


def require_arviz() -> None:
    """Raise an error if ArviZ is missing."""
    if find_spec("arviz") is None:
        raise MissingPackageError(
            "A DataTree needs ArviZ. Install with: pip install 'bayes-arena[posterior]'"
        )


def draw_prior(fit: Fit, size: int, seed: int) -> tuple[Floats, Mapping[str, Floats]]:
    """Return draws from the prior.

    Returns
    -------
    vectors : ndarray, shape (size, parameters)
    spreads : mapping of str to ndarray, shape (size, 1)
        Of each spread that is estimated, ``{effect}_sd``.
    """
    # With other random numbers than the draws from the posterior, which begin with seed.
    rng = np.random.default_rng([seed, 1])
    design = fit.posterior.design
    vectors = np.zeros((size, design.layout.size))
    spreads = {}
    for block in design.blocks:
        spread = block.effect.spread
        sd = np.full((size, 1), block.sd)
        if spread.is_estimated:
            # The prior of a spread is scale times the root of a chi-square number.
            sd = spread.scale * np.sqrt(rng.chisquare(spread.degrees, (size, 1)))
            spreads[f"{block.effect.name}_sd"] = sd
        indices = design.indices(block)
        x = sd * rng.normal(size=(size, len(indices)))
        if block.effect.zero_sum:
            # Given that the sum is zero, iid normal numbers are those less their mean.
            x -= x.mean(axis=1, keepdims=True)
        vectors[:, indices] = x
    return vectors, spreads


def parameter_dataset(fit: Fit, samples: Mapping[str, Floats]) -> Dataset:
    """Return draws by name, with dimensions and labels; theta with its mean, 1."""
    effects = {block.effect.name: block.effect for block in fit.posterior.design.blocks}
    variables: dict[str, Any] = {}
    coords: dict[str, Any] = {}
    for name, values in samples.items():
        dim = effects[name].dimension if name in effects else None
        if dim is None:
            variables[name] = (("chain", "draw"), values[:, :, 0])
            continue
        mean = 1.0 if name == "discrimination" else 0.0
        variables[name] = (("chain", "draw", dim), mean + values)
        coords[dim] = labels(fit, effects[name])
    return dataset(variables, coords)


def labels(fit: Fit, effect: Effect) -> list[str]:
    """Return the names of an effect's parameters, in the order of its samples."""
    design = fit.posterior.design
    votes = design.votes
    if effect.by == "annotator":
        return list(votes.annotators)
    if effect.by is None:
        return list(votes.competitors)
    levels = votes.levels[effect.by]
    if not effect.per_competitor:
        return list(levels)
    level, competitor = np.divmod(design.block(effect.name).keys, votes.n_competitors)
    pairs = zip(competitor, level, strict=True)
    return [f"{votes.competitors[c]} | {levels[g]}" for c, g in pairs]


def has_room(single: SingleVotes, draws: int) -> bool:
    """Whether there can be a value for each vote and draw; warn where not."""
    if single.votes.has_fractions:
        text = "Votes have fractional weights: the tree has no values of single votes."
        warn(Note("single_values", text))
        return False
    size = 8.0 * draws * len(single.row)
    if size > MOST_BYTES:
        text = (
            f"{draws:,} draws of {len(single.row):,} votes would take {size / 1e9:.1f} GB: "
            "the tree has no log_likelihood and no predicted votes. leave_one_out and "
            "compare do not need them."
        )
        warn(Note("single_values", text))
        return False
    return True


def vote_groups(
    single: SingleVotes,
    vectors: Floats,
    prior_vectors: Floats | None,
    chains: int,
    seed: int,
) -> dict[str, Dataset]:
    """Return the groups that have a value for each vote; without a prior, not its votes."""
    votes = single.votes
    row = single.row
    coords = {"vote": np.arange(len(row))}

    def by_vote(values: Array, chains: int) -> Dataset:
        chained = values.reshape(chains, len(values) // chains, -1)
        return dataset({"outcome": (("chain", "draw", "vote"), chained)}, coords)

    codes = {"model_a": votes.i, "model_b": votes.j, "judge": votes.annotator}
    constant = {name: (("vote",), code[row]) for name, code in codes.items()}
    predicted = replicated(single, vectors, seed)
    groups = {
        "log_likelihood": by_vote(log_densities(single, vectors), chains),
        "posterior_predictive": by_vote(predicted, chains),
        "observed_data": dataset({"outcome": (("vote",), single.outcome)}, coords),
        "constant_data": dataset(constant, coords),
    }
    if prior_vectors is not None:
        # Votes under the prior have random numbers of their own.
        prior_predicted = replicated(single, prior_vectors, seed + 1)
        groups["prior_predictive"] = by_vote(prior_predicted, 1)
    return groups


def chained_dataset(values: Mapping[str, Array]) -> Dataset:
    """Return numbers of each draw, (chains, draws)."""
    return dataset({name: (("chain", "draw"), x) for name, x in values.items()}, {})


def dataset(variables: Mapping[str, Any], coords: Mapping[str, Any]) -> Dataset:
    """Return variables with the coordinates of their chains and draws."""
    import xarray as xr

    sizes: dict[str, int] = {}
    for dims, values in variables.values():
        sizes |= dict(zip(dims, values.shape, strict=True))
    steps = {dim: np.arange(sizes[dim]) for dim in ("chain", "draw") if dim in sizes}
    return xr.Dataset(dict(variables), coords={**steps, **coords})


def attributes(fit: Fit) -> dict[str, Any]:
    """Return what was fitted, as text and numbers that netCDF accepts."""
    prior = {name: asdict(spread) for name, spread in fit.prior.spreads().items()}
    return {
        "plan": fit.plan,
        "model": json.dumps(asdict(fit.model)),
        "prior": json.dumps(None if fit.method == OWN else prior),
        "spreads": json.dumps(fit.spreads),
        "method": fit.method,
        "seed": fit.seed,
        "warnings": json.dumps([note.row(NOWHERE) for note in fit.warnings]),
        "inference_library": "bayes_arena",
        "inference_library_version": __version__,
    }


def samples_as_netcdf(fit: Fit, arrays: Mapping[str, Array]) -> memoryview:
    """Return the samples of a fit, and the arrays that describe it, as netCDF.

    It is made in memory: a disk that is full under HDF5 ends in errors without a cause.
    """
    require_arviz()
    import xarray as xr

    described = {}
    for name, values in arrays.items():
        dims = [f"{name} {axis}" for axis in range(values.ndim)]
        described[name] = (dims, values)
    groups = {
        "posterior": parameter_dataset(fit, fit.samples or {}),
        "sample_stats": chained_dataset(fit.marginals.statistics),
        "fit": xr.Dataset(described),
    }
    tree = xr.DataTree.from_dict(groups)
    tree.attrs = attributes(fit)
    return tree.to_netcdf(engine="h5netcdf")


@dataclass(frozen=True, eq=False)
class SavedSamples:
    """What a file of samples holds: the arrays of a fit, its samples, and their statistics."""

    arrays: dict[str, Array]
    samples: dict[str, Floats]
    statistics: dict[str, Array]


def read_samples(path: str | Path) -> SavedSamples:
    """Read what :func:`samples_as_netcdf` returned."""
    require_arviz()
    import xarray as xr

    try:
        with xr.open_datatree(path, engine="h5netcdf") as tree:
            groups = {name: tree[name].to_dataset().load() for name in tree.children}
        return SavedSamples(
            arrays=arrays_of(groups["fit"]),
            samples=effects_in(groups["posterior"]),
            statistics=arrays_of(groups["sample_stats"]),
        )
    except FileNotFoundError:
        raise OutputError(f"There is no file {str(path)!r}.") from None
    except (OSError, KeyError, ValueError) as error:
        raise OutputError(
            f"{str(path)!r} is damaged, or holds no fit. Sample again, and save."
        ) from error


def arrays_of(dataset: Dataset) -> dict[str, Array]:
    """Return the variables of a dataset as arrays."""
    return {str(name): x.to_numpy() for name, x in dataset.data_vars.items()}
