"""The model's own strengths, in logits, with tests and profile intervals.

z = r / sd tests whether a strength is that of the reference, or the mean; p is two-sided.
Under a flat prior a profile interval of Bradley-Terry holds the values that lose at most
q^2 / 2 nats of log-likelihood, with q the normal quantile.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Unpack

import numpy as np
from scipy.special import ndtr

from bayes_arena.arrays import Floats
from bayes_arena.boards.uncertainty import half_width
from bayes_arena.errors import (
    ModelError,
    NotIdentifiedError,
    did_you_mean,
    require_choice,
    require_level,
)
from bayes_arena.fits.fit import fitted
from bayes_arena.fits.options import FitOptions
from bayes_arena.fits.result import Fit, estimable, of_all
from bayes_arena.inference.mode import posterior_mode
from bayes_arena.model.design import Design
from bayes_arena.model.objective import value
from bayes_arena.said import Use
from bayes_arena.tables import Columns, dataframe
from bayes_arena.threads import threads_for

if TYPE_CHECKING:
    import pandas as pd

INTERVALS = ("posterior", "profile")
PROFILE_TOLERANCE = 1e-6  # of a bound, in logits
LONGEST_PROFILE = 40.0  # logits from the estimate within which a bound is looked for


def strengths(
    fit: object,
    *,
    reference: str | None = None,
    interval: str = "posterior",
    level: float = 0.95,
    **options: Unpack[FitOptions],
) -> pd.DataFrame:
    """Return the model's own strengths r, in logits.

    Parameters
    ----------
    fit : Fit, or votes
    reference : str, optional
        The competitor whose strength is 0; by default the mean is.
    interval : {"posterior", "profile"}
        "profile": the profile likelihood, for Bradley-Terry under a flat prior.
    level : float
    **options
        Options of :func:`~bayes_arena.fit`, where votes are still to be fitted.

    Returns
    -------
    DataFrame
        competitor, strength, sd, z, p, lower, upper, strongest first.

    Raises
    ------
    ModelError
        If the reference is unknown, or a profile is asked for of another model.
    NotIdentifiedError
        If the reference has no finite estimate.
    """
    result = fitted(fit, **options)
    return dataframe(strength_columns(result, reference, interval, level))


def strength_columns(
    fit: Fit, reference: str | None, interval: str, level: float
) -> Columns:
    """Return the columns of :func:`strengths`."""
    require_level(level)
    require_choice("interval", interval, INTERVALS)
    contrast = reference_contrast(fit, reference)
    strength, sd = contrasted(fit, contrast)
    with np.errstate(divide="ignore", invalid="ignore"):
        z = strength / sd
    q = half_width(level)
    lower, upper = strength - q * sd, strength + q * sd
    if interval == "profile":
        lower, upper = profile_bounds(fit, contrast, strength, q)
    columns = {
        "competitor": np.array(fit.votes.competitors, dtype=object),
        "strength": strength,
        "sd": sd,
        "z": z,
        "p": 2 * ndtr(-np.abs(z)),
        "lower": lower,
        "upper": upper,
    }
    order = np.argsort(-np.nan_to_num(strength, nan=-np.inf), kind="stable")
    return {name: values[order] for name, values in columns.items()}


def reference_contrast(fit: Fit, reference: str | None) -> Floats:
    """Return the contrasts whose strengths are shown, (competitors, competitors)."""
    n = fit.votes.n_competitors
    contrast = np.eye(n)
    if reference is None:
        return contrast
    names = fit.votes.competitors
    if reference not in names:
        raise ModelError(
            f"The reference {reference!r} is no competitor."
            f"{did_you_mean(reference, names)}"
        )
    index = names.index(reference)
    if not estimable(fit)[index]:
        raise NotIdentifiedError(
            f"The reference {reference!r} has no finite estimate. Choose another.",
            Use(prior="default"),
        )
    contrast[:, index] -= 1
    return contrast


def contrasted(fit: Fit, contrast: Floats) -> tuple[Floats, Floats]:
    """Return contrasts of the strengths, and their standard deviations."""
    mask = estimable(fit)
    among = contrast[np.ix_(mask, mask)]
    strength = among @ fit.marginals.mean_of("strength")
    V = fit.marginals.covariance_of("strength")
    variance = np.einsum("ij,jk,ik->i", among, V, among)
    return of_all(fit, strength), of_all(fit, np.sqrt(np.maximum(variance, 0.0)))


def profile_bounds(
    fit: Fit, contrast: Floats, strength: Floats, q: float
) -> tuple[Floats, Floats]:
    """Return the bounds of the profile intervals of Bradley-Terry."""
    mask = estimable(fit)
    if not fit.prior.is_flat or fit.posterior.design.layout.size != mask.sum():
        raise ModelError(
            "Profile intervals are for Bradley-Terry under a flat prior.",
            Use(model="bradley-terry", prior="flat"),
        )
    lower, upper = np.full((2, len(strength)), np.nan)
    for c in np.flatnonzero(mask):
        along = contrast[c, mask]
        if not along.any():
            lower[c] = upper[c] = 0.0
            continue
        with threads_for(len(strength)):
            lower[c] = profile_bound(fit, along, strength[c], -1, q)
            upper[c] = profile_bound(fit, along, strength[c], +1, q)
    return lower, upper


def profile_bound(
    fit: Fit, along: Floats, estimate: float, side: int, q: float
) -> float:
    """Return where the profile likelihood has lost q^2 / 2 nats, by bisection."""
    posterior = fit.posterior
    x = posterior.mean
    near, far = 0.0, 1.0
    while loss_held_at(posterior.design, x, along, estimate + side * far) < q**2 / 2:
        near, far = far, 2 * far
        if far > LONGEST_PROFILE:
            return side * float("inf")
    while far - near > PROFILE_TOLERANCE:
        middle = (near + far) / 2
        lost = loss_held_at(posterior.design, x, along, estimate + side * middle)
        near, far = (middle, far) if lost < q**2 / 2 else (near, middle)
    return float(estimate + side * (near + far) / 2)


def loss_held_at(design: Design, best: Floats, along: Floats, target: float) -> float:
    """Return the nats lost where a contrast of the strengths is held at a target.

    Newton's steps change none of the sums that a layout holds: this is one more.
    """
    layout = design.layout
    held = np.column_stack([layout.shared_sums, along])
    goal = np.append(np.zeros(layout.shared_sums.shape[1]), target)
    # The nearest parameters that meet the goal.
    start = best + np.linalg.lstsq(held.T, goal - held.T @ best, rcond=None)[0]
    holding = replace(design, layout=replace(layout, shared_sums=held))
    return posterior_mode(holding, start).loss - value(design, best)
