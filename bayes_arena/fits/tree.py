"""A fit as ArviZ reads it: one ``DataTree`` with the draws, the votes and what the model predicts of each.

Groups: ``posterior``, ``prior``, ``log_prior``; for every single vote that the model sees ``log_likelihood``,
``posterior_predictive`` and ``prior_predictive`` (variable ``outcome``, dimension ``vote``), ``observed_data`` (what
was voted, an index into :data:`OUTCOMES`) and ``constant_data`` (who was compared, by whom); and, where sampled,
``sample_stats``. Draws from a Gaussian approximation are independent; they are laid out as four chains, so that every
ArviZ function finds what it expects.

``log_prior`` is what ``az.psense_summary`` raises to a power: the top-level priors, since only they are a choice. Where
the spreads were sampled, they are the priors of the spreads and of parameters that annotators share; where the prior
fixes the spreads, those of all parameters. The distribution of strengths given an unknown spread is part of the model;
scaling it too would look like a conflict between prior and votes (Kallioinen et al., 2024, "Detecting and diagnosing
prior and likelihood sensitivity with power-scaling", Statistics and Computing 34). Estimated spreads (``"marginal"``)
have no draws, so the tree has no ``log_prior``; for draws from elsewhere (:func:`~bayes_arena.from_posterior`) it has
no group of the prior, which the package does not know.
"""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from bayes_arena.arrays import Floats, Ints
from bayes_arena.errors import ModelError
from bayes_arena.extras import require
from bayes_arena.fits.arguments import held
from bayes_arena.fits.draws import Draws
from bayes_arena.fits.pointwise import pointwise
from bayes_arena.fits.posterior_draws import draw, require_proper
from bayes_arena.fits.prior_draws import draw_prior
from bayes_arena.fits.result import Fit
from bayes_arena.fits.sampling import CHAINS
from bayes_arena.likelihood.numbering import label_of
from bayes_arena.likelihood.objective import Objective
from bayes_arena.likelihood.priors import Prior, Spreads, degrees, spread_label
from bayes_arena.likelihood.problem import number_labels
from bayes_arena.version import __version__
from bayes_arena.votes.cells import single_votes

if TYPE_CHECKING:
    from xarray import DataTree

DRAWS = 1000
"""Draws from a Gaussian approximation."""
PRIOR_DRAWS = 500
LARGEST = 5e7
"""Most draws times votes for which a value of each is kept."""


@held
def to_datatree(fit: Fit, *, votes: bool = True, seed: int = 0) -> DataTree:
    """Return a fit as an ArviZ ``DataTree``.

    Parameters
    ----------
    fit : Fit
        A fitted model with a proper prior.
    votes : bool
        Include the groups that have a value for every vote and draw.
    seed : int
        For draws from a Gaussian approximation, from the prior and of predicted votes.

    Returns
    -------
    xarray.DataTree
        With the groups listed in the module. Parameters: ``strength`` and ``elo_strength`` (competitor) in logits,
        ``discrimination``, ``log_tie_propensity``, ``position`` (annotator, or scalar where common), ``log_both_bad``
        and, where sampled, the spreads. Attributes record model, prior, method, seed and versions. The tree covers the
        votes as they count (``fit.cells``); the attribute ``warnings`` has what a reader should know.

    Raises
    ------
    ModelError
        If a spread of the prior is infinite, or votes are included that are too many or weighted by fractions.
    MissingPackageError
        If ArviZ is not installed.
    """
    require("DataTrees", "arviz")
    require_proper(fit, "A DataTree")
    return laid_out(fit, votes=votes, prior=fit.method != "posterior", seed=seed)


def laid_out(fit: Fit, *, votes: bool, prior: bool, seed: int = 0) -> DataTree:
    """Return the tree; without groups of the ``prior``, whose draws may take longer than the fit."""
    import arviz as az
    import xarray as xr

    draws, spreads = draw(fit, size=DRAWS, seed=seed), fit.sampled_spreads
    chains = CHAINS if fit.tree is None else fit.tree["posterior"].sizes["chain"]
    coords: dict[str, Any] = {"competitor": list(fit.cells.competitors), "annotator": list(fit.cells.annotators)}

    by_annotator = {effect.label: ["annotator"] for effect in fit.target.own}
    by_slice = {effect.label: [label_of(effect)] for effect in fit.target.slices}
    coords |= number_labels(fit.mode.problem)
    parameters = {"strength": ["competitor"], "elo_strength": ["competitor"]} | by_annotator | by_slice

    def dataset(variables: dict[str, Any], chains: int, dims: Any) -> Any:
        """Lay draws out as chains; ``dims`` has the dimensions beyond chain and draw."""
        laid = {name: x.reshape(chains, len(x) // chains, *x.shape[1:]) for name, x in variables.items()}
        used: Any = {name: dims[name] for name, x in laid.items() if x.ndim > 2}
        return az.dict_to_dataset(laid, coords=coords, dims=used)

    groups = {"posterior": dataset(_named(fit.target, draws, spreads), chains, parameters)}
    imagined = None
    if prior:
        imagined, widths = draw_prior(replace(fit.mode.problem, prior=fit.prior), size=PRIOR_DRAWS, seed=seed)
        groups["prior"] = dataset(_named(fit.target, imagined, widths), 1, parameters)
    if fit.method in ("map", "nuts"):
        groups["log_prior"] = dataset(_log_prior(fit.target, fit.prior, draws, spreads), chains, {})
    if fit.tree is not None and "sample_stats" in fit.tree:
        groups["sample_stats"] = fit.tree["sample_stats"].to_dataset()
    if votes:
        _require_room(fit, len(draws.strength))
        cell, outcome = single_votes(fit.cells)
        seen = fit.model.sees(fit.cells.counts.shape[1])[outcome]
        cell, outcome = cell[seen], outcome[seen]
        coords["vote"], dims = np.arange(len(cell)), {"outcome": ["vote"]}
        values, times = pointwise(fit, draws)
        groups["log_likelihood"] = dataset({"outcome": np.repeat(values, times.astype(int), axis=1)}, chains, dims)
        groups["posterior_predictive"] = dataset(
            {"outcome": _predicted_votes(fit, draws, cell, [seed, 2])}, chains, dims
        )
        if imagined is not None:
            groups["prior_predictive"] = dataset({"outcome": _predicted_votes(fit, imagined, cell, [seed, 3])}, 1, dims)
        who = {"a": fit.cells.a[cell], "b": fit.cells.b[cell], "k": fit.cells.annotator[cell]}
        for group, data in (("observed_data", {"outcome": outcome}), ("constant_data", who)):
            alike: Any = {name: ["vote"] for name in data}
            groups[group] = az.dict_to_dataset(data, coords=coords, dims=alike, sample_dims=[])
    tree = xr.DataTree.from_dict(groups)
    tree.attrs = attributes(fit, seed)
    return tree


def attributes(fit: Fit, seed: int) -> dict[str, Any]:
    """Return what was fitted and with which versions, as text and numbers that netCDF accepts."""
    import arviz

    sampled: dict[str, Any] = (
        {} if fit.tree is None else {str(key): str(value) for key, value in fit.tree["posterior"].attrs.items()}
    )
    return sampled | {
        "model": json.dumps(asdict(fit.model)),
        "prior": json.dumps(asdict(fit.prior)),
        "spreads": json.dumps(asdict(fit.spreads)),
        "method": fit.method,
        "evidence": fit.evidence or "",
        "seed": seed if fit.seed is None else fit.seed,
        "warnings": json.dumps(fit.warnings),
        "bayes_arena_version": __version__,
        "arviz_version": arviz.__version__,
        "numpy_version": np.__version__,
    }


def _require_room(fit: Fit, size: int) -> None:
    if size * fit.cells.n_votes > LARGEST:
        raise ModelError(
            f"{size:,} draws of {fit.cells.n_votes:,.0f} votes are more than {LARGEST:g} values. Use "
            "to_datatree(fit, votes=False); leave_one_out and compare need no value for every vote."
        )


def _named(target: Objective, draws: Draws, spreads: dict[str, Floats]) -> dict[str, Floats]:
    """Return draws by their names in the tree, draws along the first axis."""
    named = {"strength": draws.strength, "elo_strength": draws.elo_strength}
    shared = {effect.name: draws.common[:, column] for column, effect in enumerate(target.common)}
    for column, effect in enumerate(target.own):
        common = shared.pop(effect.name)[:, None] if effect.name in shared else 0.0
        named[effect.label] = draws.own[:, :, column] + common
    named |= {effect.label: shared[effect.name] for effect in target.common if effect.name in shared}
    by_slice = zip(target.slices, target.numbers_by_slice(draws.slices), strict=True)
    named |= {effect.label: numbers for effect, numbers in by_slice}
    return named | {spread_label(name): values for name, values in spreads.items()}


def _log_prior(target: Objective, prior: Prior, draws: Draws, spreads: dict[str, Floats]) -> dict[str, Floats]:
    """Return the log density of the top-level priors, up to constants."""
    common = {
        effect.common_label: -0.5 * ((draws.common[:, column] - effect.mean) / effect.sd) ** 2
        for column, effect in enumerate(target.common)
    }
    if spreads:
        hyper = cast(Spreads, prior.hyper)
        scales = {name: hyper.spread(name) for name in spreads}
        return common | {
            spread_label(name): (degrees(name) - 1) * np.log(values) - 0.5 * (values / scales[name]) ** 2
            for name, values in spreads.items()
        }
    own = {
        effect.name: -0.5 * np.sum(((draws.own[:, :, column] - effect.mean) / effect.sd) ** 2, axis=1)
        for column, effect in enumerate(target.own)
    }
    own |= {
        effect.name: -0.5 * np.sum((numbers / effect.sd) ** 2, axis=1)
        for effect, numbers in zip(
            target.slices, target.numbers_by_slice(target.steps_between(draws.slices)), strict=True
        )
    }
    return common | own | {"strength": -0.5 * np.sum((draws.strength / target.strength_sd) ** 2, axis=1)}


def _predicted_votes(fit: Fit, draws: Draws, cell: Ints, seed: list[int]) -> np.ndarray:
    """Draw the outcome of every vote under every draw, shape (n_draws, n_votes)."""
    rng = np.random.default_rng(seed)
    target = fit.target_by_cell
    outcome = np.empty((len(draws.strength), len(cell)), dtype=np.int8)
    for index, point in enumerate(draws.points()):
        p = np.exp(target.likelihood.log_probabilities(target.coordinates(point)))
        outcome[index] = (rng.random(len(cell)) > np.cumsum(p, axis=0)[:-1, cell]).sum(axis=0)
    return outcome
