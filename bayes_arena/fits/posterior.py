"""Draws of a program that was changed or written by hand, as a :class:`~bayes_arena.Fit`.

Variables are named as in :mod:`bayes_arena.models`, whatever their priors, and are put on the scale of this package
draw by draw: with m the mean of theta over annotators and over slices, if these add to it, and v that of the loadings
on a direction w, they become

    theta_k / m,      m (r - mean r) + v (w - mean w),      v_k - v theta_k / m,

of mean 1, 0 and 0. That leaves every theta_k (r_i - r_j) + v_k (w_i - w_j) unchanged, and so every prediction. Of the
mirror images that directions have, draws are brought to one (:mod:`bayes_arena.fits.images`).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bayes_arena.arrays import Floats
from bayes_arena.errors import IdentificationWarning, ModelError, listing, warn
from bayes_arena.extras import require
from bayes_arena.fits.draws import Draws
from bayes_arena.fits.images import in_line
from bayes_arena.fits.result import Fit
from bayes_arena.fits.sampling import FEWEST
from bayes_arena.inference.estimand import Estimand
from bayes_arena.inference.mode.mode import find_mode, judge_direction
from bayes_arena.likelihood.numbering import label_of
from bayes_arena.likelihood.objective import Objective
from bayes_arena.likelihood.predictor import THETA, Level, effects
from bayes_arena.likelihood.presets import PRESETS
from bayes_arena.likelihood.priors import EMPHASIS, LARGEST, SMALLEST, Prior
from bayes_arena.likelihood.problem import Problem, number_labels
from bayes_arena.likelihood.specification import MOST_DIMENSIONS, Model
from bayes_arena.threads import one_thread
from bayes_arena.votes.cells import Cells
from bayes_arena.votes.names import ANNOTATOR, COMPETITOR, MOST_GRADES, PROGRAM
from bayes_arena.votes.outcomes import wins_losses_ties
from bayes_arena.votes.reading.read_votes import as_cells

if TYPE_CHECKING:
    from xarray import DataArray, Dataset, DataTree

BALANCED = 1e-6
"""Mean of theta, relative to that of |theta|, below which it counts as zero."""
OF_A_DRAW = ("chain", "draw")
LEVELS = {
    "common": "one number",
    "annotator": "one number per annotator",
    "slice": "one number per slice",
    "": "absent",
}
EVERYTHING = Model(
    "everything", "annotator", "davidson", "annotator", "outcome", "annotator", dimensions=MOST_DIMENSIONS
)


def from_posterior(tree: DataTree, votes: object, *, model: str | Model | None = None) -> Fit:
    """Make a fit from draws of your own PyMC model, for every table that reads draws.

    Parameters
    ----------
    tree : xarray.DataTree
        What ``pymc.sample`` returns. Its group ``posterior`` has ``strength`` (chain, draw, competitor) and may have
        ``discrimination`` (chain, draw, annotator), ``log_tie_propensity`` and ``position`` (with the annotator, or
        without if common), ``log_both_bad``, ``style_`` with the name of a feature, ``strength_by_``, ``ties_by_`` and
        ``discrimination_by_`` with that of a slice, and ``direction_1`` (competitor) with ``loading_1`` (annotator),
        and so on, matched by name as :func:`~bayes_arena.models.build` gives them. Only :func:`~bayes_arena.diagnose`
        looks at other variables.
    votes : Cells, path, sequence of paths, or dataframe
        The votes that were sampled on; if some of a fit's do not count, those that do, ``fit.cells``.
    model : str or Model, optional
        The likelihood of the draws. By default it is inferred from the variables, both-bad votes counting as ties; they
        do not tell how ties are counted, unless both-bad votes are an outcome of their own or there are no ties.

    Returns
    -------
    Fit
        With method ``"posterior"``. Tables read its draws. What predicts votes (:func:`~bayes_arena.leave_one_out`,
        :func:`~bayes_arena.predictive_check`) uses the likelihood of ``model``, without any terms of yours that it
        lacks. Its ``prior`` is not yours but normal, as wide as the draws; its mode and Gaussian approximation are
        those under that prior.

    Warns
    -----
    IdentificationWarning
        If the comparisons are disconnected, or the votes do not settle which end of the ranking is up.

    Raises
    ------
    VotesError
        If the votes are not cells and cannot be read.
    ModelError
        If there is no posterior, or no ``strength`` in it; it has too few draws, draws that are not finite, other
        dimensions, or not the names of the votes; the variables are not those of the model; or the model is neither
        given nor clear.
    MissingPackageError
        If xarray is not installed.
    """
    require("Posteriors from elsewhere", "xarray")
    import xarray as xr

    if not isinstance(tree, xr.DataTree) or "posterior" not in tree.children:
        raise ModelError("There is no group 'posterior'. Pass the DataTree that pymc.sample returns.")
    cells, posterior = as_cells(votes), tree["posterior"].to_dataset()
    problem = _problem(posterior, cells, model)
    with one_thread():
        parameters = _parameters(posterior, problem)
        if problem.model.dimensions:
            tree = in_line(tree, problem.objective)
            parameters = _parameters(tree["posterior"].to_dataset(), problem)
        draws = Draws.of(problem, *parameters)
        prior = _spreads(draws, problem.objective)
        wide = "as wide as the draws"
        given = replace(problem, prior=prior).because(strengths=wide, annotators=wide, method="given")
        # near a draw, since in the middle there is a saddle, where nobody disagrees
        start = list(draws.points())[-1] if problem.model.dimensions else None
        mode, mirror_probability = judge_direction(find_mode(given, start=start))
    for text in mode.open_questions:
        warn(text, IdentificationWarning)
    found = Fit(
        mode=mode,
        prior=prior,
        method="posterior",
        evidence=None,
        samples=draws,
        tree=tree,
        mirror_probability=mirror_probability,
        estimand=Estimand() if problem.model.strength_by else None,
    )
    return found if found.estimand is None else found.in_view()


def _problem(posterior: Dataset, cells: Cells, model: str | Model | None) -> Problem:
    """Return the votes with the model of the posterior; the variables must be those of the model named."""
    if "strength" not in posterior:
        raise ModelError(
            f"The posterior has no 'strength', but {listing(posterior.data_vars)}. Name the competitors' strengths, in "
            "logits, 'strength', with pm.Deterministic if they have another name."
        )
    strength_by, ties_by = (*cells.slices, ANNOTATOR, PROGRAM), (*cells.slices, COMPETITOR)
    everything = replace(EVERYTHING, style=tuple(cells.features), strength_by=strength_by, ties_by=ties_by)
    everything = replace(everything, discrimination_by=tuple(cells.slices), grades=cells.grades)
    labels = [effect.label for effect in effects(everything, Prior())]
    found = {label: _level(posterior[label]) for label in labels if label in posterior}
    problem = Problem.of(cells, _inferred(found, cells) if model is None else model, Prior())
    wanted: dict[str, str] = {effect.label: effect.level for effect in effects(problem.model, Prior())}
    for label in labels:
        has, wants = found.get(label, ""), wanted.get(label, "")
        if has != wants:
            raise ModelError(
                f"{label!r} is {LEVELS[has]} in the draws, and {LEVELS[wants]} in the model {problem.model.name!r}. "
                "Name the model of the draws: model=ba.Model('mine', ...)."
            )
    return problem


def _level(variable: DataArray) -> Level:
    """Return whether a parameter is common, per annotator or per slice."""
    own = set(variable.dims) - set(OF_A_DRAW)
    return "annotator" if own == {ANNOTATOR} else "slice" if own else "common"


def _inferred(found: dict[str, Any], cells: Cells) -> Model:
    """Return the model that has the parameters found, if there is only one."""
    tie = found.get("log_tie_propensity")
    if tie and "log_both_bad" not in found:
        raise ModelError(
            "'log_tie_propensity' does not say which likelihood of ties it belongs to. Name the model of the draws: "
            "model='am-davidson', or ba.Model('mine', ties='rao-kupper', ...)."
        )
    if not tie and wins_losses_ties(cells.counts)[2].any():
        raise ModelError(
            "There are ties among the votes, but the draws do not say whether they counted as half wins. Name the "
            "model of the draws: model='am-elo', or ba.Model('mine', ties='drop', ...)."
        )
    slopes = {found.get(f"style_{feature}") for feature in cells.features}
    model = Model(
        "own",
        discrimination="annotator" if "discrimination" in found else "fixed",
        ties="davidson" if tie else "half",
        tie_propensity=tie or "common",
        both_bad="outcome" if "log_both_bad" in found else "tie",
        position=found.get("position", "none"),
        style=tuple(feature for feature in cells.features if f"style_{feature}" in found),
        style_slopes="annotator" if "annotator" in slopes else "common",
        strength_by=tuple(by for by in (*cells.slices, ANNOTATOR, PROGRAM) if f"strength_by_{by}" in found),
        ties_by=tuple(by for by in (*cells.slices, COMPETITOR) if f"ties_by_{by}" in found),
        discrimination_by=tuple(by for by in cells.slices if f"discrimination_by_{by}" in found),
        grades=1 + (EMPHASIS in found) + sum(f"grade_{one}" in found for one in range(3, MOST_GRADES + 1)),
        dimensions=sum(f"direction_{one}" in found for one in range(1, 1 + MOST_DIMENSIONS)),
    )
    return next((preset for preset in PRESETS.values() if replace(preset, name="own") == model), model)


def _parameters(posterior: Dataset, problem: Problem) -> tuple[Floats, Floats, Floats, Floats | None]:
    """Read draws of all parameters, one chain after the other, with sum r = 0, mean theta = 1 and mean loadings 0."""
    cells, target = problem.cells, problem.objective
    strength = _values(posterior["strength"], "competitor", cells.competitors)
    strength = strength - strength.mean(axis=1, keepdims=True)
    size = len(strength)
    common, own = np.zeros((size, len(target.common))), np.zeros((size, target.n_annotators, len(target.own)))
    for column, effect in enumerate(target.own):
        own[:, :, column] = _values(posterior[effect.label], "annotator", cells.annotators)
    slices, labels = np.zeros((size, len(target.start().slices))), number_labels(problem)
    for effect, numbers in zip(target.slices, target.numbers_by_slice(slices), strict=True):
        dim = label_of(effect)
        numbers[:] = _values(posterior[effect.label], dim, tuple(labels[dim]))
    every = [effect.name for effect in target.own]
    for column, effect in enumerate(target.common):
        if effect.name in every:  # their mean, and deviations from it
            place = every.index(effect.name)
            common[:, column] = own[:, :, place].mean(axis=1)
            own[:, :, place] -= common[:, [column]]
        else:
            common[:, column] = _values(posterior[effect.label])
    shift = np.zeros((size, 1))
    for effect, numbers in zip(target.slices, target.numbers_by_slice(slices), strict=True):
        if effect.is_held:
            shift = shift + numbers.mean(axis=1, keepdims=True)
            numbers -= numbers.mean(axis=1, keepdims=True)
    mean = 1 + shift
    if target.free_discrimination:
        own[:, :, THETA] += shift
        mean = own[:, :, THETA].mean(axis=1, keepdims=True)
        if (np.abs(mean) < BALANCED * np.abs(own[:, :, THETA]).mean(axis=1, keepdims=True)).any():
            raise ModelError(
                "In some draws the discriminations sum to zero, so the ranking has no direction. Fix their mean at 1, "
                "or use a prior with a positive mean."
            )
    if not np.allclose(mean, 1):
        strength = strength * mean
        own[:, :, THETA : THETA + target.free_discrimination] /= mean[:, :, None]
        for effect, numbers in zip(target.slices, target.numbers_by_slice(slices), strict=True):
            if not effect.dimension:
                numbers *= {"difference": mean, "lead": 1 / mean}.get(effect.basis, 1.0)
    theta = own[:, :, THETA] if target.free_discrimination else 1.0
    for column, effect in enumerate(target.own):
        if effect.dimension:
            mean, w = (
                own[:, :, column].mean(axis=1, keepdims=True),
                slices[:, target.directions[effect.dimension - 1]],
            )
            strength = strength + mean * (w - w.mean(axis=1, keepdims=True))
            own[:, :, column] -= mean * theta
    return strength, common, own, slices if target.slices else None


def _values(variable: DataArray, dim: str = "", names: tuple[str, ...] = ()) -> Floats:
    """Return the draws of a parameter, shape (n_draws,) or (n_draws, n), in the order of the votes' names."""
    label, dims = variable.name, (*OF_A_DRAW, *([dim] if dim else []))
    if set(variable.dims) != set(dims):
        raise ModelError(
            f"{label!r} has the dimensions {listing(variable.dims)}, not {listing(dims)}. Name them in the model, with "
            f"dims={dim or None!r}."
        )
    if variable.sizes["draw"] < FEWEST:
        raise ModelError(f"The chains have {variable.sizes['draw']} draws each. Sample at least {FEWEST}.")
    values = variable.transpose(*dims).to_numpy().astype(np.float64)
    if dim:
        found = [str(name) for name in variable[dim].to_numpy()]
        if sorted(found) != sorted(names):
            only = {"the votes": set(names) - set(found), "the draws": set(found) - set(names)}
            known = (ANNOTATOR, COMPETITOR)
            coordinates = f"coords={{{dim!r}: cells.{dim}s}}" if dim in known else "as bayes_arena.models.build does"
            counted = " (of a fit that left annotators out: fit.cells)" if dim == ANNOTATOR else ""
            missing = "; ".join(f"only in {where}: {listing(sorted(those))}" for where, those in only.items() if those)
            raise ModelError(
                f"The {dim}s of {label!r} are not those of the votes ({missing or 'some occur twice'}). Pass the votes "
                f"that were sampled on{counted}, and give their names as coordinates of the model, {coordinates}."
            )
        values = values[:, :, [found.index(name) for name in names]]
    broken = [
        f"chain {place[0]} draw {place[1]}" + (f" {names[place[2]]}" if dim else "")
        for place in np.argwhere(~np.isfinite(values))
    ]
    if broken:
        raise ModelError(f"{label!r} has draws that are not finite: {listing(broken)}. Check the chains first.")
    return values.reshape(-1, *values.shape[2:])


def _spreads(draws: Draws, target: Objective) -> Prior:
    """Return normal priors with the average spread of the draws over competitors, annotators and slices."""

    def size(numbers: Floats, free: int) -> float:
        return float(np.clip(np.sqrt(np.square(numbers).sum(axis=1) / max(free, 1)).mean(), SMALLEST, LARGEST))

    def spread(numbers: Floats) -> float:
        return size(numbers - numbers.mean(axis=1, keepdims=True), numbers.shape[1] - 1)

    by_annotator = [(effect, draws.own[:, :, column]) for column, effect in enumerate(target.own)]
    found = {effect.spread: spread(numbers * effect.unit) for effect, numbers in by_annotator if effect.spread}
    for effect, numbers in zip(target.slices, target.numbers_by_slice(draws.slices), strict=True):
        found[effect.spread] = size(numbers, numbers.shape[1])
    prior = replace(Prior(), strength=spread(draws.strength), hyper=None)
    return prior.with_spreads(found)
