"""What the programs share: parameters with their priors, and the outcomes.

An effect with parameters x ~ Normal(0, s) and an unknown spread s samples badly in x where
the votes say little (s and x shrink together), and badly in x / s where they say much.
If the votes have the information I on x, given s its posterior standard deviation is
1 / sqrt(I + 1 / s^2).  In units of that, x has standard deviation 1 whatever s is:

    x = z s / w,    z ~ Normal(0, w),    w = sqrt(1 + I s^2).

This is x itself (centred) for large I s^2, and x / s (non-centred) for small I s^2
(Papaspiliopoulos, Roberts & Skoeld, 2007, Statistical Science 22).
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
from bayes_arena.model.priors import Prior as Prior, Spread, resolve_prior

OUTCOMES = ("model_a", "model_b", "tie", "model_a_clearly", "model_b_clearly")
type Information = Mapping[str, float] | None
type AnyPrior = str | Prior | Spread | float


def zero_sum(
    name: str,
    prior: AnyPrior,
    dim: str | None,
    information: Information = None,
    mean: float = 0.0,
) -> Any:
    """Return parameters with a normal prior whose deviations from a mean sum to zero.

    Parameters
    ----------
    name : str
        Of the effect; an estimated spread is called ``{name}_sd``.
    prior : str, Prior, Spread or float
        A prior of the package, which has the effect's spread; or the spread itself.
    dim : str
        Dimension of the parameters.
    information : mapping of str to float, optional
        By effect, what the votes say on each parameter: one over the variance that the
        likelihood alone would leave.  It sets the coordinates that are sampled (see
        above), not the model.  Without it, or for a known spread, they are centred.
    mean : float

    Returns
    -------
    TensorVariable
        Of shape (size of ``dim``,).
    """
    return pooled(zero_sum_normal, name, prior, dim, information, mean)


def normal(
    name: str,
    prior: AnyPrior,
    dim: str | None = None,
    information: Information = None,
    unit: float = 1.0,
) -> Any:
    """Return one parameter, or one for each label of a dimension, with a normal prior.

    Parameters
    ----------
    name, prior, dim, information
        As for :func:`zero_sum`.
    unit : float
        What a known spread of the prior is divided by: a feature's root mean square.

    Returns
    -------
    TensorVariable
    """
    spread = spread_of(name, prior)
    if not spread.is_estimated and unit != 1.0:
        spread = Spread(spread.sd / unit)
    return pooled(independent_normal, name, spread, dim, information, 0.0)


def shared(
    name: str, prior: AnyPrior, drift: Any, information: Information = None
) -> Any:
    """Return a parameter that all votes share, beside deviations by annotator or slice.

    The votes determine its sum with the average deviation, whereas the parameter alone
    also depends on annotators who cast few.  So with ``information`` the sum is sampled.

    Parameters
    ----------
    name, prior, information
        As for :func:`zero_sum`.
    drift : TensorVariable
        The average deviation over votes, a scalar.

    Returns
    -------
    TensorVariable
        A scalar.
    """
    sd = spread_variable(name, spread_of(name, prior))
    if information is None or is_flat(sd):
        return independent_normal(name, sd, None)
    average = pm.Normal(f"{name}_raw", drift, sd)
    return pm.Deterministic(name, average - drift)


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


def pooled(
    make: Any,
    name: str,
    prior: AnyPrior,
    dim: str | None,
    information: Information,
    mean: float,
) -> Any:
    """Return parameters in the coordinates that suit the votes' information on them."""
    spread = spread_of(name, prior)
    sd = spread_variable(name, spread)
    known = (information or {}).get(name) if spread.is_estimated else None
    if known is not None:
        raw = informed(make, name, sd, dim, known)
    elif mean:
        raw = make(f"{name}_raw", sd, dim)
    else:
        return make(name, sd, dim)
    return pm.Deterministic(name, mean + raw if mean else raw, dims=dim)


def informed(make: Any, name: str, sd: Any, dim: str | None, known: float) -> Any:
    """Return parameters of mean 0 and spread sd, on which the votes have a known precision.

    Their posterior spread is about sd / w, with w = sqrt(1 + known sd^2).  What is
    sampled is w / sd times the parameters: its posterior spread is about 1 whatever sd.
    """
    make_raw = zero_sum_normal if dim is not None else make
    width = pm.math.sqrt(1 + known * sd**2)
    raw = make_raw(f"{name}_raw", width, dim) * (sd / width)
    if make is independent_normal and dim is not None:
        # The votes know nothing of the mean, beside a parameter that all share.
        size = pm.modelcontext(None).dim_lengths[dim]
        raw = raw + pm.Normal(f"{name}_mean_raw") * sd / pm.math.sqrt(size)
    return raw


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
    if effect in spreads:
        return spreads[effect]
    if effect.startswith("style_"):
        return spreads["style"]
    kind = effect.partition("_by_")[0]  # strength_by_prompt, tie_by_prompt
    return spreads[f"{kind}_by_slice"]


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
