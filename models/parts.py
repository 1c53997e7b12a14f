"""What the programs share: parameters with their priors, and the outcomes.

An effect with parameters x ~ Normal(0, s) and an unknown spread s samples badly in x where
the votes say little: s and x shrink together, into the neck of a funnel, where chains get
stuck.  It samples badly in x / s where they say much.  If the votes have the information I on
x, given s its posterior standard deviation is 1 / sqrt(I + 1 / s^2).  In units of that, x has
standard deviation 1 whatever s is.  So what is sampled is z, with

    x = z s / w,    z ~ Normal(0, w),    w = sqrt(1 + I s^2).

This is x itself (centred) for large I s^2, and x / s (non-centred) for small I s^2
(Papaspiliopoulos, Roberts & Skoeld, 2007, Statistical Science 22).  I may be rough: rows of
votes tell it from their numbers (:class:`~bayes_arena.models.Data`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import pymc as pm
from pymc.distributions.transforms import ZeroSumTransform, log

from bayes_arena.arrays import Floats
from bayes_arena.errors import ModelError
from bayes_arena.model.priors import (
    Prior as Prior,
    Spread as Spread,
    resolve_prior,
)

OUTCOMES = ("model_a", "model_b", "tie", "model_a_clearly", "model_b_clearly")
type Information = Mapping[str, float] | None
type AnyPrior = str | Prior | Spread | float


def zero_sum(
    name: str,
    prior: AnyPrior,
    dim: str,
    information: Information = None,
    mean: float = 0.0,
) -> Any:
    """Return parameters with a normal prior whose deviations from a mean sum to zero.

    Parameters
    ----------
    name : str
        Of the effect; an estimated spread is called ``{name}_sd``, and the coordinates that
        are sampled ``{name}_raw``.
    prior : str, Prior, Spread or float
        A prior of the package, which has the effect's spread; or the spread itself.
    dim : str
        Dimension of the parameters.
    information : mapping of str to float, optional
        By dimension, what the votes say on a parameter: one over the variance that the
        likelihood alone would leave, such as ``Data.information``.  It sets the coordinates
        of parameters of unknown spread (see above), not the model.  By default nothing.
    mean : float

    Returns
    -------
    TensorVariable
        Of shape (size of ``dim``,).
    """
    spread = spread_of(name, prior)
    sd = spread_variable(name, spread)
    if spread.is_estimated:
        width = posterior_width(sd, dim, information)
        deviations = zero_sum_normal(f"{name}_raw", width, dim) * (sd / width)
    elif mean:
        deviations = zero_sum_normal(f"{name}_raw", sd, dim)
    else:
        return zero_sum_normal(name, sd, dim)
    return pm.Deterministic(name, mean + deviations, dims=dim)


def normal(
    name: str,
    prior: AnyPrior,
    dim: str | None = None,
    information: Information = None,
) -> Any:
    """Return one parameter, or one for each label of a dimension, with a normal prior.

    The votes are taken to say nothing of the mean of several, beside a parameter that all
    votes share.

    Parameters
    ----------
    name, prior, dim, information
        As for :func:`zero_sum`.

    Returns
    -------
    TensorVariable
    """
    spread = spread_of(name, prior)
    sd = spread_variable(name, spread)
    if not spread.is_estimated:
        return independent_normal(name, sd, dim)
    if dim is None:
        return pm.Deterministic(name, pm.Normal(f"{name}_raw") * sd)
    width = posterior_width(sd, dim, information)
    deviations = zero_sum_normal(f"{name}_raw", width, dim) * (sd / width)
    size = pm.modelcontext(None).dim_lengths[dim]
    mean = pm.Normal(f"{name}_mean_raw") * sd / pm.math.sqrt(size)
    return pm.Deterministic(name, mean + deviations, dims=dim)


def shared(name: str, prior: AnyPrior, drift: Any) -> Any:
    """Return a parameter that all votes share, beside deviations by annotator or slice.

    The votes determine its sum with the average deviation, whereas the parameter alone
    also depends on annotators who cast few.  So the sum is sampled, ``{name}_sum``.

    Parameters
    ----------
    name, prior
        As for :func:`zero_sum`.
    drift : TensorVariable
        The average deviation over votes, a scalar.

    Returns
    -------
    TensorVariable
        A scalar.
    """
    sd = spread_variable(name, spread_of(name, prior))
    if is_flat(sd):
        return pm.Flat(name)
    total = pm.Normal(f"{name}_sum", drift, sd)
    return pm.Deterministic(name, total - drift)


def observe(logits: Sequence[Any], counts: Floats, name: str = "votes") -> Any:
    """Observe counts of outcomes, given the logits of the outcomes.

    The log-likelihood of a row with n_o votes for outcome o is

        sum_o n_o l_o - n log sum_o exp(l_o),    n = sum_o n_o,

    without the multinomial coefficient.  With two outcomes, and a tie as half a vote for
    each, this is W ln P + (1 - W) ln (1 - P) a vote (Liu et al., 2025, "am-ELO",
    equations 2 and 5), in which a tie has no probability of its own.

    Parameters
    ----------
    logits : sequence of TensorVariable, or of (TensorVariable, ndarray)
        Of each outcome, shape (rows,) or (); or a few values and the index of each row's,
        which saves exponentials.
    counts : ndarray, shape (rows, outcomes)
    name : str

    Returns
    -------
    TensorVariable
        With the dimensions "row" and "outcome".
    """
    n = counts.sum(axis=1)
    # The exponentials are inputs of their own, so that a few values are exponentiated
    # instead of those of all rows.
    on_rows = []
    exponentials = []
    for logit in logits:
        values, index = logit if isinstance(logit, tuple) else (logit, ...)
        on_rows.append(values[index])
        exponentials.append(pm.math.exp(values)[index])
    model: Any = pm.modelcontext(None)
    model.add_coord("outcome", OUTCOMES[: len(logits)])
    return pm.CustomDist(
        name,
        *on_rows,
        *exponentials,
        n,
        logp=log_likelihood,
        dist=draw_counts,
        signature=",".join(["()"] * (2 * len(logits) + 1)) + "->(o)",
        observed=counts,
        class_name="Votes",
        dims=("row", "outcome"),
    )


def log_likelihood(counts: Any, *parameters: Any) -> Any:
    """Return the log-likelihood of the rows, (rows,)."""
    logits, exponentials, n = split(parameters)
    cast = sum(counts[..., o] * logit for o, logit in enumerate(logits))
    return cast - n * pm.math.log(sum(exponentials))


def draw_counts(*parameters: Any) -> Any:
    """Draw counts by outcome, (rows, outcomes)."""
    _, exponentials, n = split(parameters[:-1])  # the last is the size
    total = sum(exponentials)
    # An outcome as likely in all rows becomes one a row.
    p = pm.math.stack([x / total for x in exponentials], axis=-1)
    drawn = pm.Multinomial.dist(n=pm.math.round(n).astype("int64"), p=p)
    return drawn.astype("float64")


def split(parameters: Sequence[Any]) -> tuple[Sequence[Any], Sequence[Any], Any]:
    """Return logits, their exponentials, and the number of votes."""
    *both, n = parameters
    half = len(both) // 2
    return both[:half], both[half:], n


def posterior_width(sd: Any, dim: str, information: Information) -> Any:
    """Return w = sqrt(1 + I s^2): prior over posterior standard deviation."""
    known = (information or {}).get(dim, 0.0)
    return pm.math.sqrt(1 + known * sd**2)


def zero_sum_normal(name: str, sd: Any, dim: str | None) -> Any:
    """Return normal numbers given that their sum is zero; flat where sd is infinite."""
    if is_flat(sd):
        return pm.Flat(name, dims=dim, transform=ZeroSumTransform([0]))
    return pm.ZeroSumNormal(name, sigma=sd, dims=dim)


def independent_normal(name: str, sd: Any, dim: str | None) -> Any:
    """Return normal numbers, or one; flat where sd is infinite."""
    return pm.Flat(name, dims=dim) if is_flat(sd) else pm.Normal(name, 0, sd, dims=dim)


def is_flat(sd: Any) -> bool:
    """Whether a spread is a known and infinite one."""
    return isinstance(sd, float) and math.isinf(sd)


def spread_of(effect: str, prior: AnyPrior) -> Spread:
    """Return the spread that a prior has for an effect."""
    if isinstance(prior, Spread):
        return prior
    if isinstance(prior, (int, float)):
        return Spread(float(prior))
    spreads = resolve_prior(prior).spreads()
    if effect not in spreads:
        raise ModelError(
            f"A prior has no spread of {effect!r}, only of {', '.join(spreads)}. Give a "
            "number in its place, the standard deviation."
        )
    return spreads[effect]


def spread_variable(name: str, spread: Spread) -> Any:
    """Return a spread: its number, or a variable with spread / scale ~ chi(degrees)."""
    if not spread.is_estimated:
        return float(spread.sd)
    if spread.degrees == 1:
        return pm.HalfNormal(f"{name}_sd", spread.scale)
    chi = partial(draw_chi, degrees=spread.degrees)
    return pm.CustomDist(
        f"{name}_sd", spread.scale, dist=chi, transform=log, class_name="Chi"
    )


def draw_chi(scale: Any, size: Any, degrees: int) -> Any:
    """Return scale times the root of a chi-squared variable."""
    return scale * pm.math.sqrt(pm.ChiSquared.dist(np.float64(degrees), size=size))
