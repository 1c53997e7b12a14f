"""Davidson's ties: an outcome of its own, likeliest between equals.

    P(i) : P(j) : P(tie) = exp(eta / 2) : exp(-eta / 2) : nu,      nu = exp(t),

and where both-bad votes are an outcome, too, P(bad) is to these as exp(m).

Source: Davidson (1970), "On extending the Bradley-Terry model to accommodate ties in paired comparison experiments",
JASA 65.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import scipy

from bayes_arena.arrays import Floats
from bayes_arena.likelihood.outcomes.likelihood import ETA, Likelihood, RowTerms
from bayes_arena.votes.outcomes import BOTH_BAD, LOSS, OUTCOMES, TIE, WIN

LARGEST = 700.0
"""Log-odds of a tie against a decided vote above which only ties are left."""


def _logits(z: Floats) -> Floats:
    logits = np.empty((len(z) + 1, *z.shape[1:]))
    np.multiply(z[ETA], 0.5, out=logits[WIN])
    np.negative(logits[WIN], out=logits[LOSS])
    logits[TIE:] = z[1:]
    return logits


def rows(counts: Floats, z: Floats) -> RowTerms:
    """Compute the softmax of three or four outcomes, in place: new arrays would take as long as the computation.

    No share is subtracted from 1 and no count from the total: with a billion votes the difference would be rounding.
    """
    logits = _logits(z)
    y = counts[: len(logits)]
    decided, drawn = y[WIN] + y[LOSS], y[TIE:].sum(axis=0)
    n = decided + drawn
    logits -= logits.max(axis=0)
    value = np.einsum("or,or->r", y, logits)
    p = np.exp(logits, out=logits)
    total = p.sum(axis=0)
    p /= total
    np.log(total, out=total)
    total *= n
    value = np.subtract(total, value, out=value)
    won_or_lost, tied = p[WIN] + p[LOSS], p[TIE:].sum(axis=0)
    half_net = 0.5 * (p[WIN] - p[LOSS])  # derivative of the log of the total in eta
    size = len(z)
    gradient, hessian = np.empty(z.shape), np.empty((size, *z.shape))
    gradient[ETA] = y[LOSS] * p[WIN] - y[WIN] * p[LOSS] + drawn * half_net + 0.5 * (y[LOSS] - y[WIN]) * tied
    hessian[ETA, ETA] = n * (p[WIN] * p[LOSS] + 0.25 * tied * won_or_lost)
    for s in range(1, size):
        others = range(TIE, len(p))
        y_others = decided + sum(y[o] for o in others if o != s + 1)
        p_others = won_or_lost + sum(p[o] for o in others if o != s + 1)
        expected = n * p[s + 1]
        gradient[s] = y_others * p[s + 1] - y[s + 1] * p_others
        hessian[ETA, s] = hessian[s, ETA] = -expected * half_net
        for t in range(1, size):
            hessian[s, t] = expected * (p_others if s == t else -p[t + 1])
    return RowTerms(value, gradient, hessian)


def _graph(size: int) -> Any:
    def graph(counts: Any, z: list[Any]) -> Any:
        """Return the same in PyTensor."""
        import pytensor.tensor as pt

        logits = pt.stack([0.5 * z[ETA], -0.5 * z[ETA], *z[1 : size - 1]], axis=1)
        seen = counts[:, :size]
        total: Any = pt.logsumexp(logits, axis=1)  # type: ignore[attr-defined, no-untyped-call]
        return (seen * logits).sum(axis=1) - seen.sum(axis=1) * total

    return graph


def log_probabilities(z: Floats) -> Floats:
    """Return those of three or four outcomes."""
    log_p = np.full((len(OUTCOMES), *z.shape[1:]), -np.inf)
    log_p[: len(z) + 1] = scipy.special.log_softmax(_logits(z), axis=0)
    return log_p


def expected_score(z: Floats) -> tuple[Floats, Floats]:
    """Return (1 + P(i) - P(j)) / 2 and its slopes."""
    half = 0.5 * np.abs(z[ETA])
    decay = np.exp(-2 * half)
    rest = np.exp(np.minimum(z[1:] - half, LARGEST))
    share = 1 / (1 + decay + rest.sum(axis=0))
    net = np.copysign((1 - decay) * share, z[ETA])
    slope = np.empty_like(z)
    slope[ETA] = 0.25 * ((1 + decay) * share - net**2)
    slope[1:] = -0.5 * net * (rest * share)
    return 0.5 * (1 + net), slope


def net_score(z: Floats) -> Floats:
    """Return 2 sinh(eta / 2) / (2 cosh(eta / 2) + nu + ...)."""
    size = np.abs(z[ETA])
    decay = np.exp(-size)
    with np.errstate(over="ignore"):  # infinite where only ties are left
        rest = np.exp(z[1:] - 0.5 * size).sum(axis=0)
    return np.asarray(np.sign(z[ETA]) * (1 - decay) / (1 + decay + rest))


_FOUR = Likelihood(
    name="davidson",
    outcomes=(WIN, LOSS, TIE, BOTH_BAD),
    rows=rows,
    graph=_graph(4),
    tie_prior=(0.0, 1.0),
    loop="both-bad",
    closed_log_probabilities=log_probabilities,
    closed_expected_score=expected_score,
    closed_net_score=net_score,
)
LIKELIHOOD = replace(_FOUR, outcomes=(WIN, LOSS, TIE), graph=_graph(3), loop="davidson", with_both_bad=_FOUR)
