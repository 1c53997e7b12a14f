"""``from_posterior``: draws of a program of one's own, for every table that reads draws."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Unpack

import numpy as np

from bayes_arena.arrays import Array, Floats
from bayes_arena.errors import ModelError, did_you_mean, listing, warn
from bayes_arena.fits.chains import LEAST_DRAWS, faults
from bayes_arena.fits.fit import fit
from bayes_arena.fits.marginals import Marginals
from bayes_arena.fits.observed_votes import require_same_votes
from bayes_arena.fits.options import OWN
from bayes_arena.fits.result import Fit
from bayes_arena.fits.tree import labels
from bayes_arena.model.constants import NO_MEAN
from bayes_arena.model.effects import Effect
from bayes_arena.model.priors import Prior
from bayes_arena.model.spec import PRESETS, Model, Position, Preset
from bayes_arena.reading.options import ReadOptions
from bayes_arena.reading.read import votes_from
from bayes_arena.said import Note, Use
from bayes_arena.votes.votes import Votes

if TYPE_CHECKING:
    from xarray import DataArray, Dataset, DataTree

NAMES = tuple(Prior().spreads())  # of effects, those of slices and style apart
SUFFIXES = ("", "_sd", "_raw", "_mean_raw", "_sum")  # of variables that programs have


def from_posterior(
    tree: DataTree,
    votes: object,
    model: Preset | Model | None = None,
    **columns: Unpack[ReadOptions],
) -> Fit:
    """Make a fit from the draws of a PyMC program of your own.

    Parameters
    ----------
    tree : xarray.DataTree
        What ``pm.sample`` returns.  Its group ``posterior`` needs ``strength``, with the
        dimension ``competitor``, in logits.  It may have the other effects under the
        names of the programs in :mod:`bayes_arena.models`: ``discrimination``
        (annotator); ``position`` and ``tie``, and ``position_by_annotator`` and
        ``tie_by_annotator`` (annotator), the annotators' deviations from them;
        ``strength_by_{slice}`` (competitor_by_{slice}), ``tie_by_{slice}`` ({slice}) and
        ``style_{feature}``; and their spreads, as ``strength_sd``.  All else is left
        unread.
    votes : Votes, path, dataframe or list of records
        The votes that were sampled on.  They are held against the counts that the tree
        says were observed, if :func:`bayes_arena.models.observe` observed them.
    model : str or Model, optional
        The likelihood of the draws.  By default what the names of the variables say;
        without ``tie``, ties are half wins.
    **columns
        Options of :func:`~bayes_arena.read_votes`, where votes are still to be read.

    Returns
    -------
    Fit
        With your draws as its samples, and ``method="own"``.  Strengths are shifted to
        sum zero, and scaled for theta to have mean 1, which changes no prediction.  Your
        prior is not known: ``fit.prior`` is the default one, ``spreads`` has what you
        drew, :func:`~bayes_arena.to_datatree` leaves out the groups of the prior, and
        :func:`~bayes_arena.prior_check` is an error.

    Raises
    ------
    ModelError
        If there is no ``strength``; draws are too few or not finite, or have other
        dimensions or names than the model and the votes; or other votes were observed.

    Warns
    -----
    ArenaWarning
        If chains disagree, diverge or stand still; or variables are left unread, other than
        spreads and coordinates of effects (``strength_sd``, ``strength_raw``).
    """
    posterior = posterior_of(tree)
    votes = votes_from(votes, **columns)
    gaussian = fit(votes, model=model or inferred_model(posterior, votes))
    require_same_votes(tree, gaussian)
    effects = [block.effect for block in gaussian.posterior.design.blocks]
    samples = {}
    for effect in effects:
        samples[effect.name] = read_effect(posterior, effect, gaussian)
        samples |= read_spread(posterior, effect)
    samples = normalised(samples, effects)
    stats = sample_stats_of(tree)
    notes = [*unread_variables(posterior, effects), *faults(samples, stats, OWN)]
    for note in notes:
        warn(note)
    return replace(
        gaussian,
        method=OWN,
        plan=f"{gaussian.model.name}, draws of your own",
        marginals=Marginals(gaussian.posterior, samples, stats),
        warnings=(*gaussian.warnings, *notes),
    )


def posterior_of(tree: DataTree) -> Dataset:
    """Return the posterior of a tree, which must have strengths."""
    if "posterior" not in getattr(tree, "children", {}):
        raise ModelError(
            "There is no group 'posterior'. Pass the DataTree that pm.sample returns."
        )
    posterior = tree["posterior"].to_dataset()
    if "strength" not in posterior:
        raise ModelError(
            "The posterior needs 'strength', the competitors' strengths in logits; it has "
            f"{listing(posterior.data_vars)}. Name it with pm.Deterministic('strength', "
            "..., dims='competitor')."
        )
    return posterior


def unread_variables(posterior: Dataset, effects: Sequence[Effect]) -> Iterator[Note]:
    """Say which variables no effect has the name of, but for coordinates and spreads."""
    known = {"rating"}  # of m_elo: the strengths in Elo points
    for effect in effects:
        known.update(effect.name + suffix for suffix in SUFFIXES)
    unread = sorted(set(map(str, posterior.data_vars)) - known)
    if unread:
        text = (
            f"The draws are read as {listing(effect.name for effect in effects)}; nothing "
            f"reads {listing(map(repr, unread))}.{did_you_mean(unread[0], NAMES)}"
        )
        yield Note("unread_draws", text)


def sample_stats_of(tree: DataTree) -> dict[str, Array]:
    """Return what the sampler said of each draw, (chains, draws); nothing if it did not."""
    if "sample_stats" not in tree.children:
        return {}
    stats = {}
    for name, variable in tree["sample_stats"].to_dataset().data_vars.items():
        # Not those with a number for each parameter, and no texts.
        if variable.ndim == 2 and variable.dtype.kind in "biuf":
            stats[str(name)] = variable.to_numpy()
    return stats


def inferred_model(posterior: Dataset, votes: Votes) -> Model:
    """Return the model whose effects the posterior has, a preset if there is one."""
    has_own = "position_by_annotator" in posterior
    position: Position = "common" if "position" in posterior else "none"
    has_tie = "tie" in posterior or "tie_by_annotator" in posterior
    model = Model(
        "custom",
        discrimination="annotator" if "discrimination" in posterior else "none",
        ties="davidson" if has_tie else "half",
        tie_propensity="annotator" if "tie_by_annotator" in posterior else "common",
        position="annotator" if has_own else position,
        grades="emphasis" in posterior,
        strength_by=tuple(
            by for by in votes.slices if f"strength_by_{by}" in posterior
        ),
        style=tuple(x for x in votes.features if f"style_{x}" in posterior),
    )
    for preset in PRESETS.values():
        if replace(model, name=preset.name) == preset:
            return preset
    return model


def read_effect(posterior: Dataset, effect: Effect, gaussian: Fit) -> Floats:
    """Return the draws of an effect, (chains, draws, size); theta less 1."""
    name = effect.name
    dim = effect.dimension
    if name not in posterior:
        # The common effect may be left to the annotators' numbers: it is their mean.
        if dim is None and f"{name}_by_annotator" in posterior:
            sizes = posterior["strength"].sizes
            return np.zeros((sizes["chain"], sizes["draw"], 1))
        raise ModelError(
            (
                f"The model {gaussian.model.name!r} has {name!r}, and the posterior does "
                "not. Name the model of your draws with ",
                Use("model"),
                ", or the variable so.",
            )
        )
    variable = posterior[name]
    wanted = ["chain", "draw", *([dim] if dim else [])]
    if sorted(map(str, variable.dims)) != sorted(wanted):
        raise ModelError(
            f"{name!r} has the dimensions {listing(variable.dims)}, not {listing(wanted)}. "
            f"Give the variable dims={dim!r}."
        )
    values = in_order_of_votes(variable.transpose(*wanted), dim, effect, gaussian)
    if values.shape[1] < LEAST_DRAWS:
        raise ModelError(f"A chain has only {values.shape[1]} draws. Sample longer.")
    require_finite_draws(name, values)
    return values - 1 if name == "discrimination" else values


def read_spread(posterior: Dataset, effect: Effect) -> dict[str, Floats]:
    """Return the draws of an effect's spread, (chains, draws, 1), where it has one."""
    name = f"{effect.name}_sd"
    if name not in posterior or set(posterior[name].dims) != {"chain", "draw"}:
        return {}
    values = posterior[name].transpose("chain", "draw").to_numpy().astype(float)
    require_finite_draws(name, values)
    return {name: values[:, :, None]}


def require_finite_draws(name: str, values: Floats) -> None:
    """Raise an error for draws that are not finite."""
    if not np.isfinite(values).all():
        raise ModelError(f"{name!r} has draws that are not finite. Check the chains.")


def in_order_of_votes(
    variable: DataArray, dim: str | None, effect: Effect, gaussian: Fit
) -> Floats:
    """Return draws in the order of the votes' names, (chains, draws, size)."""
    values = variable.to_numpy().astype(float)
    if dim is None:
        return np.asarray(values[:, :, None])
    known = labels(gaussian, effect)
    names = [str(label) for label in variable[dim].to_numpy()]
    if sorted(names) != sorted(known):
        odd = sorted(set(names) ^ set(known))
        raise ModelError(
            f"The labels of {dim!r} in {effect.name!r} are not those of the votes: "
            f"{listing(odd)}. Pass the votes that were sampled on, and their names as "
            "coords of the program."
        )
    column = {label: number for number, label in enumerate(names)}
    return np.asarray(values[:, :, [column[label] for label in known]])


def normalised(
    samples: Mapping[str, Floats], effects: list[Effect]
) -> dict[str, Floats]:
    """Return draws on the scale of the models: strengths of sum 0, thetas of mean 1.

    What a shift or a factor takes from one effect goes to those beside it, so that every
    vote keeps its probability.
    """
    scaled = with_mean_theta(samples, effects)
    centred = {**scaled, "strength": less_mean(scaled["strength"])}
    return with_means_moved(centred, effects)


def with_mean_theta(
    samples: Mapping[str, Floats], effects: list[Effect]
) -> dict[str, Floats]:
    """Return draws in which theta has mean 1, and strengths are multiplied by its mean.

    Spreads go with what they are the spreads of.
    """
    if "discrimination" not in samples:
        return dict(samples)
    theta = 1 + samples["discrimination"]
    mean = theta.mean(axis=2, keepdims=True)
    require_direction(theta, mean)
    scaled = {"discrimination": theta / mean - 1}
    factors = {"discrimination_sd": 1 / np.abs(mean)}
    for effect in effects:
        if effect.per_competitor:
            scaled[effect.name] = samples[effect.name] * mean
            factors[f"{effect.name}_sd"] = np.abs(mean)
    for name, factor in factors.items():
        if name in samples:
            scaled[name] = samples[name] * factor
    return {**samples, **scaled}


def with_means_moved(
    samples: Mapping[str, Floats], effects: list[Effect]
) -> dict[str, Floats]:
    """Return draws in which annotators' deviations have mean 0, and the common effect it."""
    moved = {}
    for effect in effects:
        common = effect.name.removesuffix("_by_annotator")
        if common != effect.name and common in samples:
            values = samples[effect.name]
            moved[common] = samples[common] + values.mean(axis=2, keepdims=True)
            moved[effect.name] = less_mean(values)
    return {**samples, **moved}


def less_mean(values: Floats) -> Floats:
    """Return parameters less their mean."""
    return np.asarray(values - values.mean(axis=2, keepdims=True))


def require_direction(theta: Floats, mean: Array) -> None:
    """Refuse draws in which the discriminations sum to zero."""
    if (np.abs(mean) < NO_MEAN * np.abs(theta).mean(axis=2, keepdims=True)).any():
        raise ModelError(
            "In some draws the discriminations sum to zero, so the ranking has no "
            "direction. Hold their mean at 1."
        )
