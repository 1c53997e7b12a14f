"""Davidson's ties: an outcome of its own, likeliest between equals.

    P(i) : P(j) : P(tie) = exp(eta / 2) : exp(-eta / 2) : nu,      nu = exp(t),

and where both-bad votes are an outcome, too, P(bad) is to these as exp(m). Where wins have grades g = 1, ..., G,

    P(i by g) : P(j by g) = exp(g eta / 2 + a_g) : exp(-g eta / 2 + a_g),      a_g = (g - 1) x + c_g,   a_1 = c_2 = 0,

beside these: adjacent categories, in which the log-odds of neighbouring grades are linear in eta with one slope, and
G = 1 is Davidson's model. The emphasis x says how readily a win is called a clear one, whoever wins; c_3, ..., c_G are
the further coordinates.

Source: Davidson (1970), "On extending the Bradley-Terry model to accommodate ties in paired comparison experiments",
JASA 65; Agresti (1992), "Analysis of ordinal paired comparison data", Applied Statistics 41.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import scipy

from bayes_arena.arrays import Floats
from bayes_arena.likelihood.outcomes.likelihood import ETA, Likelihood, RowTerms, T
from bayes_arena.votes.outcomes import BOTH_BAD, LOSS, OUTCOMES, TIE, WIN, n_outcomes

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


def adjacent(grades: int, *, both_bad: bool = False) -> Likelihood:
    """Return the likelihood with grades, whose logits are linear in the coordinates."""
    slopes = _slopes(grades, both_bad)
    size, width = slopes.shape
    seen = [*range(TIE + 1 + both_bad), *range(len(OUTCOMES), n_outcomes(grades))]
    sign = 0.5 * np.sign(slopes[:, ETA])
    one, other = np.triu_indices(size, 1)
    apart = slopes[one] - slopes[other]
    squared = (apart[:, :, None] * apart[:, None, :]).reshape(len(apart), -1)

    def shares(z: Floats) -> Floats:
        return np.asarray(scipy.special.softmax(np.tensordot(slopes, z, 1), axis=0))

    def rows(counts: Floats, z: Floats) -> RowTerms:
        """Sum over pairs of outcomes, so that nothing is subtracted from a total."""
        y, logits = counts[seen], slopes @ z
        n, log_p = y.sum(axis=0), scipy.special.log_softmax(logits, axis=0)
        p = np.exp(log_p)
        gradient = apart.T @ (y[other] * p[one] - y[one] * p[other])
        hessian = squared.T @ (n * p[one] * p[other])
        return RowTerms(-np.einsum("or,or->r", y, log_p), gradient, hessian.reshape(width, width, -1))

    def graph(counts: Any, z: list[Any]) -> Any:
        """Return the same in PyTensor."""
        import pytensor.tensor as pt

        logits = pt.stack([sum(a * x for a, x in zip(row, z, strict=False) if a) for row in slopes], axis=1)
        y: Any = counts[:, seen]
        total: Any = pt.logsumexp(logits, axis=1)  # type: ignore[attr-defined, no-untyped-call]
        return (y * logits).sum(axis=1) - y.sum(axis=1) * total

    def log_probabilities(z: Floats) -> Floats:
        log_p = np.full((n_outcomes(grades), *z.shape[1:]), -np.inf)
        log_p[seen] = scipy.special.log_softmax(np.tensordot(slopes, z, 1), axis=0)
        return log_p

    def expected_score(z: Floats) -> tuple[Floats, Floats]:
        p = shares(z)
        scored = np.tensordot(sign, p, 1)
        slope = np.tensordot((sign[:, None] * slopes).T, p, 1) - scored * np.tensordot(slopes.T, p, 1)
        return np.asarray(0.5 + scored), np.asarray(slope)

    def net_score(z: Floats) -> Floats:
        return np.asarray(2 * np.tensordot(sign, shares(z), 1))

    return Likelihood(
        name="davidson",
        outcomes=tuple(seen),
        rows=rows,
        graph=graph,
        tie_prior=LIKELIHOOD.tie_prior,
        closed_log_probabilities=log_probabilities,
        closed_expected_score=expected_score,
        closed_net_score=net_score,
    )


def _slopes(grades: int, both_bad: bool) -> Floats:
    """Return the derivatives of the outcomes' logits by the coordinates, shape (n_outcomes, n_coordinates)."""
    emphasis = T + 1 + both_bad
    slopes = np.zeros((TIE + 1 + both_bad + 2 * (grades - 1), emphasis + grades - 1))
    slopes[[WIN, LOSS], ETA] = 0.5, -0.5
    slopes[[*range(TIE, TIE + 1 + both_bad)], [*range(T, emphasis)]] = 1.0
    for grade in range(2, grades + 1):
        both = TIE + both_bad + 2 * grade + np.array([-3, -2])
        slopes[both, ETA] = 0.5 * grade, -0.5 * grade
        slopes[both, emphasis] = grade - 1.0
        if grade > 2:
            slopes[both, emphasis + grade - 2] = 1.0
    return slopes


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
    with_grades=partial(adjacent, both_bad=True),
)
LIKELIHOOD = replace(
    _FOUR,
    outcomes=(WIN, LOSS, TIE),
    graph=_graph(3),
    loop="davidson",
    with_both_bad=_FOUR,
    with_grades=adjacent,
)
