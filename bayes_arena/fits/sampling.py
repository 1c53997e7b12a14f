"""The posterior by NUTS.

nutpie samples a compiled density (:mod:`bayes_arena.inference.density`), whose code is cached on disk; other samplers
use the PyMC program of the same model and prior. There are four chains, whatever the machine. Sampling needs a proper
prior: a flat one leaves the strength of an unbeaten competitor, or the discrimination of an annotator who never errs,
unbounded.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from contextlib import redirect_stdout
from time import perf_counter
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from bayes_arena.arrays import Floats
from bayes_arena.errors import ModelError, compiler_folder, listing, require_choice
from bayes_arena.extras import require
from bayes_arena.fits.draws import Draws, draws_of_spreads
from bayes_arena.fits.images import in_line
from bayes_arena.likelihood.objective import Objective
from bayes_arena.likelihood.priors import Prior
from bayes_arena.likelihood.problem import Problem, number_labels

if TYPE_CHECKING:
    from xarray import DataTree

CHAINS = 4
FEWEST = 4
"""Fewest draws per chain for which r-hat exists."""
Sampler = Literal["nutpie", "pymc", "numpyro", "blackjax"]


def require_samplable(target: Objective, sampler: str, draws: int, tune: int) -> None:
    """Refuse what cannot be sampled, before anything is fitted or compiled.

    Raises
    ------
    ModelError
        If a spread of the prior is infinite, the sampler is unknown, or there are too few draws.
    MissingPackageError
        If the sampler is not installed, or PyMC where it needs it.
    """
    if draws < FEWEST or tune < 0:
        raise ModelError(f"draws must be at least {FEWEST} and tune at least 0, not {draws} and {tune}.")
    require_choice("sampler", sampler, get_args(Sampler))
    require(f"Draws by {sampler}", *dict.fromkeys((sampler,) if sampler == "nutpie" else ("pymc", sampler)))
    if not target.is_proper:
        everyone = (*target.own, *target.slices)
        spreads = {"strength": target.strength_sd} | {effect.spread: effect.sd for effect in everyone}
        endless = [name for name, sd in spreads.items() if np.isinf(sd)]
        raise ModelError(
            f"Sampling needs a proper prior, but here the spread of {listing(endless)} is infinite. Use "
            "prior='default', or method='map' for the mode."
        )


def sample(
    problem: Problem,
    known: Mapping[str, float] | None,
    *,
    draws: int,
    tune: int,
    sampler: Sampler,
    seed: int,
) -> DataTree:
    """Sample the posterior.

    Parameters
    ----------
    problem : Problem
        With a proper prior.
    known : mapping of str to float, or None
        The :func:`~bayes_arena.inference.marginal.spreads.information` of the votes, with which the spreads are sampled
        too; None where the prior fixes them.
    draws, tune : int
        Draws to keep, and to tune with, in each of four chains.
    sampler : {"nutpie", "pymc", "numpyro", "blackjax"}
        nutpie, or the ``nuts_sampler`` of ``pymc.sample``.
    seed : int
        The same seed starts the same chains, at the same points. nutpie's sums may differ in their last bits from run
        to run, though, and then chains part.

    Returns
    -------
    xarray.DataTree
        Groups ``posterior``, with the variables of the PyMC program, and ``sample_stats``; ``pymc.sample`` adds more.
        Directions are the same image throughout (:mod:`bayes_arena.fits.images`).

    Raises
    ------
    CompilerError
        If PyTensor, which samplers other than nutpie need, cannot write to its folder.
    """
    if sampler == "nutpie":
        return in_line(_walk(problem, known, draws=draws, tune=tune, seed=seed), problem.objective)
    with compiler_folder():
        import pymc as pm

        from bayes_arena.models.grid import compose

        # PyMC writes its progress to stdout, which is for results
        with compose(problem, known), redirect_stdout(sys.stderr):
            tree: DataTree = pm.sample(
                draws,
                tune=tune,
                chains=CHAINS,
                cores=min(CHAINS, max((os.cpu_count() or 1) // 2, 1)),  # as PyMC does, but at least 1
                random_seed=seed,
                nuts_sampler=sampler,
                progressbar=sys.stderr.isatty(),
            )
    return in_line(tree, problem.objective)


def _walk(problem: Problem, known: Mapping[str, float] | None, *, draws: int, tune: int, seed: int) -> DataTree:
    """Sample the compiled density with nutpie, which needs no PyMC; variables are named as in the program."""
    from bayes_arena.inference.density.coordinates import Coordinates  # these need numba, which samplers bring
    from bayes_arena.inference.density.log_density import log_density

    at = Coordinates.of(problem, known)
    density = log_density(at)

    import nutpie  # seconds to import
    import xarray as xr
    from nutpie.compiled_pyfunc import from_pyfunc

    def somewhere(seed: int) -> Floats:
        return at.start + np.random.default_rng(seed).uniform(-1.0, 1.0, at.size)

    model = from_pyfunc(
        at.size,
        make_logp_fn=lambda: density,
        make_expand_fn=lambda *_: lambda x: {"point": x},
        make_initial_point_fn=somewhere,
        expanded_dtypes=[np.dtype(np.float64)],
        expanded_shapes=[(at.size,)],
        expanded_names=["point"],
    )
    started = perf_counter()
    options: Any = {"draws": draws, "tune": tune, "chains": CHAINS, "seed": seed, "progress_bar": sys.stderr.isatty()}
    running = nutpie.sample(model, **options, save_warmup=False, blocking=False)
    try:
        raw = running.wait()
    except BaseException:
        running.cancel()
        raise
    seconds = perf_counter() - started
    points = raw["posterior"]["point"].to_numpy()

    def variable(name: str, values: Floats) -> tuple[list[str], Floats]:
        dims = ["chain", "draw", *([at.dims[name]] if values.ndim > 1 else [])]
        return dims, values.reshape(CHAINS, draws, *values.shape[1:])

    cells = problem.cells
    coords = {"chain": range(CHAINS), "draw": range(draws), "competitor": list(cells.competitors)}
    coords |= ({"annotator": list(cells.annotators)} if problem.objective.own else {}) | number_labels(problem)
    posterior = xr.Dataset(
        {name: variable(name, values) for name, values in at.named(points.reshape(-1, at.size)).items()},
        coords=coords,
        attrs={
            "sampling_time": seconds,
            "tuning_steps": tune,
            "inference_library": "nutpie",
            "inference_library_version": nutpie.__version__,
        },
    )
    return xr.DataTree.from_dict({"posterior": posterior, "sample_stats": raw["sample_stats"].to_dataset()})


def draws_of(tree: DataTree, problem: Problem) -> Draws:
    """Read the draws of a sampled posterior, one chain after the other."""
    posterior, target = tree["posterior"], problem.objective

    def values(name: str) -> Floats:
        array = np.asarray(posterior[name].values, dtype=np.float64)
        return array.reshape(-1, *array.shape[2:])

    strength = values("strength")
    size = len(strength)
    shared: dict[str, Any] = {effect.name: values(effect.common_label) for effect in target.common}
    own = np.zeros((size, target.n_annotators, len(target.own)))
    for column, effect in enumerate(target.own):
        own[:, :, column] = values(effect.label)
        if effect.name in shared:
            own[:, :, column] -= shared[effect.name][:, None]
    common = np.column_stack(list(shared.values())) if shared else np.zeros((size, 0))
    if not target.slices:
        return Draws.of(problem, strength, common, own)
    slices = np.column_stack([values(effect.label) for effect in target.slices])
    return Draws.of(problem, strength, common, own, slices, draws_of_spreads(tree, target))


def mean_spreads(tree: DataTree, problem: Problem) -> Prior:
    """Return the prior with the posterior means of those spreads that were sampled."""
    spreads = draws_of_spreads(tree, problem.objective)
    return problem.prior.with_spreads({name: float(drawn.mean()) for name, drawn in spreads.items()})
