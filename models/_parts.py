"""Parts the models share: zero-sum parameters, the votes as data, and the outcomes.

The outcome of a row of votes is one observed vector of counts (wins of i, wins of j, ties, both-bad), through a
``pm.CustomDist``. ``pm.Bernoulli`` would turn the half wins of a tie into losses, and ``pm.Potential`` would give no
pointwise values. The likelihoods are those of :mod:`bayes_arena.likelihood.outcomes`, constants in the counts left out.
"""

from __future__ import annotations

import math
from typing import Any

import pymc as pm
import pytensor.tensor as pt
from pymc.distributions.transforms import ZeroSumTransform

from bayes_arena.likelihood.objective import Objective, Term
from bayes_arena.likelihood.specification import Model
from bayes_arena.models import fused
from bayes_arena.votes.cells import Cells


def coordinates(cells: Cells) -> dict[str, Any]:
    """Labels of the named dimensions."""
    coords: dict[str, Any] = {"competitor": list(cells.competitors), "outcome": ["win", "loss", "tie", "both_bad"]}
    if cells.n_annotators:
        coords["annotator"] = list(cells.annotators)
    return coords


def zero_sum(name: str, sigma: Any, dim: str) -> Any:
    """Return a zero-sum vector with iid normal deviations, or a flat one where sigma is infinite."""
    if isinstance(sigma, float) and math.isinf(sigma):
        return pm.Flat(name, dims=dim, transform=ZeroSumTransform([0]))
    return pm.ZeroSumNormal(name, sigma=sigma, dims=dim)


def pooled(name: str, sd: Any, information: float, dim: str) -> Any:
    """Return a zero-sum vector with iid normal deviations of unknown spread, in coordinates that suit NUTS.

    Given the spread, what the votes say with precision I and the prior with 1 / sd^2 is known to within
    1 / sqrt(I + 1 / sd^2). In units of that, the posterior's width is 1 whatever the spread: centred where the votes
    say much (I sd^2 >> 1), non-centred where they say little, and smoothly in between.
    """
    scale = pt.sqrt(1 + information * sd**2)
    return zero_sum(f"{name}_unit", scale, dim) * (sd / scale)


def common_beside(own: Any, term: Term, weights: Any) -> Any:
    """Return a scalar that annotators share, given the deviations that are their own.

    Sampled is its sum with the mean deviation of a vote. That the votes determine, whereas the mean over annotators
    moves with those who cast few.
    """
    drift = pt.dot(weights, own)
    level = pm.Normal(f"{term.name}_level", term.mean + drift, term.sd)
    return pm.Deterministic(f"{term.name}_common", level - drift)


def common(term: Term) -> Any:
    """Return a scalar that annotators share."""
    name = f"{term.name}_common"
    return pm.Flat(name) if math.isinf(term.sd) else pm.Normal(name, term.mean, term.sd)


def observe(target: Objective, model: Model, parameters: list[Any]) -> Any:
    """Observe the counts of all rows given r (n,); theta, b and t of every annotator (M,); m (1,)."""
    name = "half" if model.ties == "drop" else "both-bad" if model.both_bad == "outcome" else model.ties
    columns = zip("ijk", (target.tally.i, target.tally.j, target.tally.k), strict=True)
    rows = [pm.Data(label, column, dims="row") for label, column in columns]
    return pm.CustomDist(
        "votes",
        *parameters,
        *rows,
        pm.Data("row_votes", target.counts.sum(axis=0), dims="row"),
        logp=lambda counts, *given: fused.log_likelihood(name, GRAPHS[name], list(given[:5]), [*given[5:8], counts]),
        dist=lambda *given: _draw(name, fused.coordinates(*given[:8]), given[8]),
        signature="(n),(m),(m),(m),(s),(r),(r),(r),(r)->(r,o)",
        observed=target.counts.T,
        dims=("row", "outcome"),
    )


def _half(counts: Any, z: list[Any]) -> Any:
    score = counts[:, 0] + 0.5 * counts[:, 2]
    return score * z[0] - counts.sum(axis=1) * pt.softplus(z[0])


def _davidson(counts: Any, z: list[Any]) -> Any:
    return _softmax(counts[:, :3], [0.5 * z[0], -0.5 * z[0], z[1]])


def _both_bad(counts: Any, z: list[Any]) -> Any:
    return _softmax(counts, [0.5 * z[0], -0.5 * z[0], *z[1:]])


def _softmax(counts: Any, logits: list[Any]) -> Any:
    stacked = pt.stack(logits, axis=1)
    total = pt.logsumexp(stacked, axis=1)  # type: ignore[attr-defined]
    return (counts * stacked).sum(axis=1) - counts.sum(axis=1) * total


def _rao_kupper(counts: Any, z: list[Any]) -> Any:
    eta, kappa = z[0], pt.exp(z[1])
    wins, losses, ties = counts[:, 0], counts[:, 1], counts[:, 2]
    log_win, log_loss = -pt.softplus(kappa - eta), -pt.softplus(kappa + eta)
    log_tie_factor = 2 * kappa + pt.log1p(-pt.exp(-2 * kappa))
    return (wins + ties) * log_win + (losses + ties) * log_loss + ties * log_tie_factor


def _draw(name: str, z: list[Any], votes: Any) -> Any:
    """Draw counts; the soft likelihood of half wins knows no tie and draws wins and losses."""
    if name in ("davidson", "both-bad"):
        logits = [0.5 * z[0], -0.5 * z[0], *(z[1:] if name == "both-bad" else z[1:2])]
        p = pt.special.softmax(pt.stack(logits, axis=-1), axis=-1)
    elif name == "rao-kupper":
        kappa = pt.exp(z[1])
        win, loss = pt.sigmoid(z[0] - kappa), pt.sigmoid(-z[0] - kappa)
        p = pt.stack([win, loss, 1 - win - loss], axis=-1)
    else:
        win = pt.sigmoid(z[0])
        p = pt.stack([win, 1 - win], axis=-1)
    counts = pm.Multinomial.dist(n=pt.cast(pt.round(votes), "int64"), p=p)
    missing = pt.zeros_like(counts[..., :1])
    return pt.cast(pt.concatenate([counts] + [missing] * (4 - (p.type.shape[-1] or 0)), axis=-1), "float64")


GRAPHS = {"half": _half, "davidson": _davidson, "both-bad": _both_bad, "rao-kupper": _rao_kupper}
"""Log-likelihood of the rows given counts and coordinates, by the name of the loop that does the same."""
