"""``method="nuts"``: the PyMC program of a model, sampled by nutpie.

The chains start at the Gaussian's means, so that all take its direction.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import replace
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np

from bayes_arena import progress
from bayes_arena.arrays import Floats
from bayes_arena.errors import MissingPackageError, ModelError, require_whole, warn
from bayes_arena.fits.chains import LEAST_DRAWS, faults
from bayes_arena.fits.marginals import CHAINS, Marginals, parameter_index
from bayes_arena.fits.result import Fit
from bayes_arena.inference.posterior import Posterior
from bayes_arena.model.priors import Prior
from bayes_arena.model.spec import PRESETS, resolve_model
from bayes_arena.said import Use

if TYPE_CHECKING:
    import pymc as pm
    from xarray import DataTree

TARGET_ACCEPT = 0.8
TARGET_WITH_SLICES = 0.9  # levels with few votes make a funnel, in which .8 diverges
SECONDS_A_ROW = 5e-7  # of a draw: 15 gradients of 33 to 38 ns a row on three data sets
LONG = 10.0  # seconds from which sampling is announced
STATISTICS = ("diverging", "energy", "n_steps", "step_size")


def with_samples(fit: Fit, *, draws: int, tune: int) -> Fit:
    """Sample the posterior of a fit.

    Parameters
    ----------
    fit : Fit
        With the Gaussian approximation.
    draws, tune : int
        Draws to keep, and to tune with, in each of four chains.

    Returns
    -------
    Fit
        With ``samples`` by effect, and of each estimated spread, ``{effect}_sd``, all
        (chains, draws, size); and a warning where chains disagree, diverge or stand
        still.

    Raises
    ------
    ModelError
        If the prior is flat, or there are too few draws.
    MissingPackageError
        If PyMC or nutpie is not installed.
    """
    require_samplable(fit.prior, draws, tune)
    tree = sample(fit, draws=draws, tune=tune)
    # nutpie also keeps the coordinates that were sampled.
    samples = effects_in(tree["posterior"].to_dataset()[sampled_names(fit)])
    stats = {
        name: np.asarray(tree["sample_stats"][name].values)
        for name in STATISTICS
        if name in tree["sample_stats"]
    }
    notes = faults(samples, stats)
    for note in notes:
        warn(note)
    marginals = Marginals(fit.posterior, samples, stats)
    return replace(fit, marginals=marginals, warnings=(*fit.warnings, *notes))


def require_samplable(prior: Prior, draws: int, tune: int) -> None:
    """Refuse what cannot be sampled, before anything is compiled."""
    require_whole(LEAST_DRAWS, draws=draws)
    require_whole(0, tune=tune)
    if prior.is_flat:
        raise ModelError(
            "Sampling needs a proper prior: under a flat one the strength of who always "
            "won is unbounded.",
            Use(prior="default"),
            Use(method="map"),
        )
    missing = [name for name in ("pymc", "nutpie") if find_spec(name) is None]
    if missing:
        raise MissingPackageError(
            f"Sampling needs {' and '.join(missing)}. Install with: "
            "pip install 'bayes-arena[posterior]'"
        )


def sample(fit: Fit, *, draws: int, tune: int) -> DataTree:
    """Return what nutpie samples from the program of a fit."""
    with progress.shown("Compiling the PyMC program; some ten seconds"):
        import nutpie

        program, known = build_program(fit)
        compiled = nutpie.compile_pymc_model(
            program,
            var_names=sampled_names(fit),
            initial_points=dict(starting_point(fit.posterior, known, program)),
        )
    announce(len(fit.posterior.design.votes), draws + tune)
    running = nutpie.sample(
        compiled,
        draws=draws,
        tune=tune,
        chains=CHAINS,
        seed=fit.seed,
        target_accept=TARGET_WITH_SLICES if fit.model.strength_by else TARGET_ACCEPT,
        save_warmup=False,
        progress_bar=sys.stderr.isatty(),
        blocking=False,
    )
    try:
        return running.wait()
    except BaseException:  # also Ctrl-C: the chains would go on in their threads
        running.cancel()
        raise


def build_program(fit: Fit) -> tuple[pm.Model, Mapping[str, float]]:
    """Return the program of a fit's model, and what it takes the votes to say.

    It is a preset's own program, or that for any model.
    """
    from bayes_arena.models import any_model

    rows = any_model.data_of(fit.votes, fit.model)
    name = fit.model.name
    if name in PRESETS and resolve_model(name, fit.votes)[0] == fit.model:
        module = import_module(f"bayes_arena.models.{name.replace('-', '_')}")
        return module.build(rows, fit.prior), rows.information
    return any_model.program(rows, fit.model, fit.prior), rows.information


def sampled_names(fit: Fit) -> list[str]:
    """Return the names of the effects, and of the spreads that are estimated."""
    names = [block.effect.name for block in fit.posterior.design.blocks]
    return names + [f"{name}_sd" for name in fit.posterior.spreads]


def starting_point(
    posterior: Posterior, known: Mapping[str, float], program: pm.Model
) -> Mapping[Any, Any]:
    """Return the Gaussian's means in the coordinates of the program (models/parts.py)."""
    start: dict[str, Any] = {}
    for name, sd in posterior.spreads.items():
        start[f"{name}_sd"] = sd
        dim = posterior.design.block(name).effect.dimension
        width = np.sqrt(1 + known.get(str(dim), 0.0) * sd**2)
        mean = posterior.mean[parameter_index(posterior, name)]
        start[f"{name}_raw"] = (mean - mean.mean()) * width / sd
    return {name: value for name, value in start.items() if name in program.named_vars}


def announce(n_rows: int, n_draws: int) -> None:
    """Say how long sampling will take, if it is long."""
    seconds = SECONDS_A_ROW * n_rows * n_draws * CHAINS
    if seconds > LONG:
        print(
            f"Sampling {CHAINS} x {n_draws:,} draws, given {n_rows:,} rows of votes: some "
            f"{seconds:.0f} seconds of one processor.",
            file=sys.stderr,
        )


def effects_in(posterior: Any) -> dict[str, Floats]:
    """Return samples by effect, (chains, draws, size); theta as deviation from 1."""
    samples = {}
    for name, variable in posterior.data_vars.items():
        values = np.asarray(variable.values, float)
        samples[str(name)] = values.reshape(*values.shape[:2], -1)
    if "discrimination" in samples:
        samples["discrimination"] = samples["discrimination"] - 1
    return samples
