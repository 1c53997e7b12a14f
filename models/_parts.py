"""Parts the models share: zero-sum parameters, the votes as data, and the outcomes.

The outcome of a row of votes is one observed vector of counts (wins of i, wins of j, ties, both-bad, wins by grade),
through a ``pm.CustomDist``. ``pm.Bernoulli`` would turn the half wins of a tie into losses, and ``pm.Potential`` would
give no pointwise values. The likelihoods are those of :mod:`bayes_arena.likelihood.outcomes`, without constants in the
counts.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pymc as pm
import pytensor.tensor as pt
from pymc.distributions.transforms import ZeroSumTransform

from bayes_arena.likelihood.objective import Objective
from bayes_arena.likelihood.outcomes.likelihood import Likelihood
from bayes_arena.likelihood.predictor import Effect
from bayes_arena.likelihood.problem import Problem, number_labels
from bayes_arena.votes.outcomes import outcome_names

SIDES = {"model_a": "win", "model_b": "loss"}
"""What a win of the first and of the second is to i."""


def coordinates(problem: Problem) -> dict[str, Any]:
    """Return the labels of the named dimensions."""
    cells = problem.cells
    outcomes = [SIDES.get(name[:7], name[:7]) + name[7:] for name in outcome_names(problem.model.grades)]
    coords: dict[str, Any] = {"competitor": list(cells.competitors), "outcome": outcomes}
    if cells.n_annotators:
        coords["annotator"] = list(cells.annotators)
    return coords | number_labels(problem)


Vector = Callable[[str, Any, str], Any]
"""Makes a vector from a name, a spread and a dimension."""


def normal(name: str, sigma: Any, dim: str) -> Any:
    """Return a vector of iid normal numbers."""
    return pm.Normal(name, sigma=sigma, dims=dim)


def zero_sum(name: str, sigma: Any, dim: str) -> Any:
    """Return a zero-sum vector with iid normal deviations, or a flat one where sigma is infinite."""
    if isinstance(sigma, float) and math.isinf(sigma):
        return pm.Flat(name, dims=dim, transform=ZeroSumTransform([0]))
    return pm.ZeroSumNormal(name, sigma=sigma, dims=dim)


def pooled(make: Vector, name: str, sd: Any, information: float, dim: str) -> Any:
    """Return a vector of normal numbers of unknown spread, in coordinates that suit NUTS.

    Given the spread, a number has the precision I from the votes and 1 / sd^2 from the prior, so its posterior standard
    deviation is 1 / sqrt(I + 1 / sd^2). In units of that, it is 1 whatever the spread: centred where the votes say much
    (I sd^2 >> 1), non-centred where they say little, with a smooth transition.
    """
    scale = pt.sqrt(1 + information * sd**2)
    return make(f"{name}_unit", scale, dim) * (sd / scale)


def common_beside(own: Any, effect: Effect, weights: Any) -> Any:
    """Return a scalar that annotators share, given their own deviations.

    What is sampled is its sum with the mean deviation over votes. The votes determine this sum, whereas the mean over
    annotators depends on those who cast few.
    """
    drift = pt.dot(weights, own)
    level = pm.Normal(f"{effect.name}_level", effect.mean + drift, effect.sd)
    return pm.Deterministic(effect.common_label, level - drift)


def common(effect: Effect) -> Any:
    """Return a scalar that annotators share."""
    label = effect.common_label
    return pm.Flat(label) if math.isinf(effect.sd) else pm.Normal(label, effect.mean, effect.sd)


def observe(target: Objective, parameters: list[Any], factors: list[Any], style: list[Any], slices: list[Any]) -> Any:
    """Observe the counts of all rows.

    Parameters
    ----------
    target : Objective
        Whose rows, and whose likelihood.
    parameters : list of TensorVariable
        r (n,); theta, b and t of every annotator (M,); m (1,); coordinates of further grades, by annotator.
    factors : list of TensorVariable
        Theta and the loadings of every annotator (M,), by dimension.
    style : list of TensorVariable
        Slopes of the features of the tally, scalars or one for every annotator.
    slices : list of TensorVariable
        Numbers of the slices, by effect.
    """
    likelihood, tally = target.likelihood, target.tally
    columns = zip("ijk", (tally.i, tally.j, tally.k), strict=True)
    rows = [pm.Data(label, column, dims="row") for label, column in columns]
    features = [pm.Data(f"feature_{row}", values, dims="row") for row, values in enumerate(tally.features)]
    pulled, tied = pt.zeros(1), pt.zeros(1)
    for slope, feature in zip(style, features, strict=True):
        pulled = pulled + (slope[tally.k] if slope.ndim else slope) * feature
    numbering, r = target.numbering, parameters[0]
    lead, sharper = r[rows[0]] - r[rows[1]], pt.zeros(1)
    for effect, numbers, at, part in (
        zip(target.slices, slices, numbering.places(tally), numbering.parts, strict=True) if numbering else ()
    ):
        of_rows = [numbers[pm.Data(f"{effect.name}_{side}", one - part.start)] for side, one in enumerate(at)]
        if effect.basis == "difference":
            pulled = pulled + factors[effect.dimension][tally.k] * (of_rows[0] - of_rows[1])
            lead = lead if effect.dimension else lead + of_rows[0] - of_rows[1]
        elif effect.basis == "lead":
            sharper = sharper + of_rows[0]
        else:
            tied = tied + sum(of_rows)
    pulled = pulled + sharper * lead

    def logp(counts: Any, *given: Any) -> Any:
        return likelihood.graph(counts, _coordinates(likelihood, *given))

    def dist(*given: Any) -> Any:
        *_, row_votes, _size = given
        return _draw(likelihood, _coordinates(likelihood, *given), row_votes)

    return pm.CustomDist(
        "votes",
        *parameters[:5],
        *rows,
        pulled,
        tied,
        *parameters[5:],
        pm.Data("row_votes", target.counts.sum(axis=0), dims="row"),
        logp=logp,
        dist=dist,
        signature=f"(n),(m),(m),(m),(s),(r),(r),(r),(f),(g),{'(m),' * (likelihood.grades - 1)}(r)->(r,o)",
        observed=target.counts.T,
        dims=("row", "outcome"),
    )


def _coordinates(likelihood: Likelihood, *given: Any) -> list[Any]:
    """Return the coordinates of every row, including what features and slices add."""
    r, theta, b, t, m, i, j, k, pulled, tied, *others = given
    eta = theta[k] * (r[i] - r[j]) + b[k] + pulled
    grades = [of_annotators[k] for of_annotators in others[: likelihood.grades - 1]]
    return [*[eta, t[k] + tied, m[0] + 0 * eta][: likelihood.emphasis], *grades]


def _draw(likelihood: Likelihood, z: list[Any], votes: Any) -> Any:
    """Draw counts; the soft likelihood of half wins has no ties and draws wins and losses."""
    one_vote = np.eye(likelihood.size)
    p = pt.stack([pt.exp(likelihood.graph(one_vote[[outcome]], z)) for outcome in likelihood.outcomes], axis=-1)
    counts = pm.Multinomial.dist(n=pt.cast(pt.round(votes), "int64"), p=p / p.sum(axis=-1, keepdims=True))
    place = {outcome: counts[..., at : at + 1] for at, outcome in enumerate(likelihood.outcomes)}
    every = [place.get(outcome, pt.zeros_like(counts[..., :1])) for outcome in range(likelihood.size)]
    return pt.cast(pt.concatenate(every, axis=-1), "float64")
