"""Parts the models share: zero-sum parameters, the votes as data, and the soft outcome.

A tie counts as half a win for each side, so a row of n votes with score w (wins plus half the ties) has

    log p = w eta - n ln(1 + exp(eta)),

which ``pm.Bernoulli`` cannot say (it would turn ties into losses) and ``pm.Potential`` says without pointwise
values. A ``pm.CustomDist`` gives both the likelihood and its value for every row. The soft likelihood is not
normalised over {0, 1/2, 1}: it ranks models that share it, and its predictive draws wins and losses, never ties.
"""

from __future__ import annotations

import math
from typing import Any

import pymc as pm
import pytensor.tensor as pt
from pymc.distributions.transforms import ZeroSumTransform

from bayes_arena.cells import Cells, Tally


def coordinates(cells: Cells) -> dict[str, Any]:
    """Labels of the named dimensions."""
    coords: dict[str, Any] = {"competitor": list(cells.competitors)}
    if cells.n_annotators:
        coords["annotator"] = list(cells.annotators)
    return coords


def zero_sum(name: str, sigma: float, dim: str) -> Any:
    """Return a zero-sum vector with iid normal deviations, or a flat one where sigma is infinite."""
    if math.isinf(sigma):
        return pm.Flat(name, dims=dim, transform=ZeroSumTransform([0]))
    return pm.ZeroSumNormal(name, sigma=sigma, dims=dim)


def lead(tally: Tally, strength: Any) -> Any:
    """Return r_i - r_j for every row of the tally, its indices held as data."""
    i = pm.Data("i", tally.i, dims="row")
    j = pm.Data("j", tally.j, dims="row")
    return strength[i] - strength[j]


def soft_outcome(tally: Tally, eta: Any) -> Any:
    """Observe the scores of all rows given their log-odds."""
    votes = pm.Data("votes", tally.n, dims="row")
    return pm.CustomDist("score", eta, votes, logp=_logp, dist=_dist, observed=tally.score, dims="row")


def _logp(score: Any, eta: Any, votes: Any) -> Any:
    return score * eta - votes * pt.softplus(eta)


def _dist(eta: Any, votes: Any, size: Any) -> Any:
    wins = pm.Binomial.dist(n=pt.cast(pt.round(votes), "int64"), logit_p=eta, size=size)
    return pt.cast(wins, "float64")
