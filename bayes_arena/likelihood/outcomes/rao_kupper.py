"""Rao and Kupper's ties: neither leads by more than a threshold kappa = exp(t).

With s the logistic function,

    P(i) = s(eta - kappa),      P(j) = s(-eta - kappa),      P(tie) = (exp(2 kappa) - 1) P(i) P(j).

Where wins have grades g = 1, ..., G, so have thresholds, the same for both sides: a cumulative model with

    P(i by g or more) = s(eta - kappa_g),   kappa_1 = exp(t),   kappa_g = kappa_{g-1} + w_g,   w_g = exp(-x - c_g),

c_2 = 0. The emphasis x says how readily a win is called a clear one, whoever wins; c_3, ..., c_G are the further
coordinates. A vote between two thresholds, of which the higher is w farther up, has the probability

    s(eta - low) - s(eta - high) = s(eta - low) s(high - eta) (1 - exp(-w)),

so that a row is a sum over thresholds, of the votes just above and just below each, and over widths.

Source: Rao & Kupper (1967), "Ties in paired-comparison experiments: a generalization of the Bradley-Terry model",
JASA 62; Agresti (1992), "Analysis of ordinal paired comparison data", Applied Statistics 41.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, log_expit

from bayes_arena.arrays import Floats
from bayes_arena.likelihood.outcomes.likelihood import ETA, Likelihood, RowTerms, T
from bayes_arena.votes.outcomes import LOSS, OUTCOMES, TIE, WIN, by_result, n_outcomes


@np.errstate(over="ignore", divide="ignore", invalid="ignore")
def rows(counts: Floats, z: Floats) -> RowTerms:
    """Return the terms, not finite where t is absurd."""
    eta, t = z
    kappa = np.exp(t)
    ties = counts[TIE]
    won_or_tied, lost_or_tied = counts[WIN] + ties, counts[LOSS] + ties
    p, q = expit(eta - kappa), expit(-eta - kappa)
    not_p, not_q = expit(kappa - eta), expit(kappa + eta)
    decay = np.exp(-2 * kappa)
    remainder = np.maximum(-np.expm1(-2 * kappa), 1e-150)  # 1 - exp(-2 kappa), whose square is divided by
    value = -won_or_tied * log_expit(eta - kappa) - lost_or_tied * log_expit(-eta - kappa)
    value -= ties * (2 * kappa + np.log(remainder))
    by_kappa = won_or_tied * not_p + lost_or_tied * not_q - 2 * ties / remainder
    curve_p, curve_q = won_or_tied * p * not_p, lost_or_tied * q * not_q
    by_kappa_twice = curve_p + curve_q + 4 * ties * decay / remainder**2
    gradient = np.array([lost_or_tied * not_q - won_or_tied * not_p, kappa * by_kappa])
    mixed = kappa * (curve_q - curve_p)
    hessian = np.array([[curve_p + curve_q, mixed], [mixed, kappa * (kappa * by_kappa_twice + by_kappa)]])
    return RowTerms(value, gradient, hessian)


def graph(counts: Any, z: list[Any]) -> Any:
    """Return the same in PyTensor."""
    import pytensor.tensor as pt

    eta, kappa = z[ETA], pt.exp(z[T])
    wins, losses, ties = counts[:, WIN], counts[:, LOSS], counts[:, TIE]
    log_win, log_loss = -pt.softplus(kappa - eta), -pt.softplus(kappa + eta)
    log_tie_factor = 2 * kappa + pt.log1p(-pt.exp(-2 * kappa))
    return (wins + ties) * log_win + (losses + ties) * log_loss + ties * log_tie_factor


def log_probabilities(z: Floats) -> Floats:
    """Return those of three outcomes."""
    eta, kappa = z[ETA], np.exp(z[T])
    log_p = np.full((len(OUTCOMES), *eta.shape), -np.inf)
    log_p[WIN], log_p[LOSS] = log_expit(eta - kappa), log_expit(-eta - kappa)
    log_p[TIE] = 2 * kappa + np.log(-np.expm1(-2 * kappa)) + log_p[WIN] + log_p[LOSS]
    return log_p


def expected_score(z: Floats) -> tuple[Floats, Floats]:
    """Return (1 + P(i) - P(j)) / 2 and its slopes."""
    eta, kappa = z[ETA], np.exp(z[T])
    win, loss = expit(eta - kappa), expit(-eta - kappa)
    slope = np.zeros_like(z)
    slope[ETA] = 0.5 * (win * (1 - win) + loss * (1 - loss))
    slope[T] = 0.5 * kappa * (loss * (1 - loss) - win * (1 - win))
    return 0.5 * (1 + win - loss), slope


def net_score(z: Floats) -> Floats:
    """Return P(i) - P(j)."""
    kappa = np.exp(z[T])
    return np.asarray(expit(z[ETA] - kappa) - expit(-z[ETA] - kappa))


@cache
def _sides(grades: int) -> NDArray[np.int64]:
    """Return the outcomes of a tie and a win by every grade, weakest first, for i and for j, shape (2, 1 + G)."""
    return np.array([[TIE, *outcomes] for outcomes in by_result(n_outcomes(grades))[:2]])


@cache
def _by_coordinate(grades: int) -> Floats:
    """Return the derivatives of the logarithms of the widths by t, x, c_3, ..., shape (G, G)."""
    slopes = -np.eye(grades)
    slopes[0, 0] = 1.0
    slopes[1:, 1:2] = -1.0
    return slopes


def _widths(z: Floats, grades: int) -> tuple[Floats, Floats]:
    """Return the logarithms of the widths between thresholds, the first being from 0, and the thresholds, (G, ...)."""
    log_width: Floats = np.asarray(np.tensordot(_by_coordinate(grades), z[T:], 1), dtype=np.float64)
    return log_width, np.cumsum(np.exp(log_width), axis=0)


def cumulative(grades: int) -> Likelihood:
    """Return the likelihood with grades."""
    sides, slopes = _sides(grades), _by_coordinate(grades)
    times = np.array([2.0] + [1.0] * (grades - 1))[:, None]  # ties are as wide on either side of 0

    @np.errstate(over="ignore", divide="ignore", invalid="ignore")
    def rows(counts: Floats, z: Floats) -> RowTerms:
        """Return the terms, not finite where a width is absurd."""
        log_width, threshold = _widths(z, grades)
        width = np.exp(log_width)
        margin = np.stack([z[ETA] - threshold, -z[ETA] - threshold])
        above, below = counts[sides[:, 1:]], counts[sides[:, :-1]]
        p, q = expit(margin), expit(-margin)
        pull, curve = below * p - above * q, (above + below) * p * q  # derivatives by the margin
        remainder = np.maximum(-np.expm1(-times * width), 1e-150)
        inside = below.sum(axis=0)
        inside[0] = counts[TIE]  # of both sides, but one interval
        value = -(above * log_expit(margin) + below * log_expit(-margin)).sum(axis=(0, 1))
        value -= (inside * np.log(remainder)).sum(axis=0)
        decay = np.exp(-times * width)
        by_width = -_from_the_top(pull.sum(axis=0)) - inside * times * decay / remainder
        twice = _from_the_top(curve.sum(axis=0))
        size, mixed = np.arange(grades), -_from_the_top(curve[0] - curve[1])
        by_two = twice[np.maximum(size[:, None], size)]
        by_two[size, size] += inside * times**2 * decay / remainder**2
        by_two *= width * width[:, None]
        by_two[size, size] += width * by_width
        gradient, hessian = np.empty_like(z), np.empty((len(z), *z.shape))
        gradient[ETA], gradient[T:] = (pull[0] - pull[1]).sum(axis=0), slopes.T @ (width * by_width)
        hessian[ETA, ETA] = curve.sum(axis=(0, 1))
        hessian[ETA, T:] = hessian[T:, ETA] = slopes.T @ (width * mixed)
        hessian[T:, T:] = np.einsum("ga,ghr,hb->abr", slopes, by_two, slopes, optimize=True)
        return RowTerms(value, gradient, hessian)

    def graph(counts: Any, z: list[Any]) -> Any:
        """Return the same in PyTensor."""
        import pytensor.tensor as pt

        total, threshold = 0.0, 0.0
        for grade, by_log_width in enumerate(slopes):
            width = pt.exp(sum(a * x for a, x in zip(by_log_width, z[T:], strict=False) if a))
            threshold = threshold + width
            inside: Any = counts[:, TIE] if grade == 0 else counts[:, sides[:, grade]].sum(axis=1)
            total = total + inside * pt.log(-pt.expm1(-times[grade, 0] * width))
            for (*_, low), (*_, high), eta in zip(
                sides[:, : grade + 1], sides[:, : grade + 2], (z[ETA], -z[ETA]), strict=True
            ):
                total = total - counts[:, high] * pt.softplus(threshold - eta)
                total = total - counts[:, low] * pt.softplus(eta - threshold)
        return total

    def log_probabilities(z: Floats) -> Floats:
        log_width, threshold = _widths(z, grades)
        log_p = np.full((n_outcomes(grades), *z.shape[1:]), -np.inf)
        inside = np.log(-np.expm1(-np.exp(log_width[1:])))
        for side, eta in zip(sides[:, 1:], (z[ETA], -z[ETA]), strict=True):
            log_p[side] = log_expit(eta - threshold)
            log_p[side[:-1]] += log_expit(threshold[1:] - eta) + inside
        kappa = threshold[0]
        log_p[TIE] = log_expit(kappa - z[ETA]) + log_expit(kappa + z[ETA]) + np.log(-np.expm1(-2 * kappa))
        return log_p

    return Likelihood(
        name="rao-kupper",
        outcomes=(WIN, LOSS, TIE, *range(len(OUTCOMES), n_outcomes(grades))),
        rows=rows,
        graph=graph,
        tie_prior=LIKELIHOOD.tie_prior,
        closed_log_probabilities=log_probabilities,
        closed_expected_score=expected_score,
        closed_net_score=net_score,
    )


def _from_the_top(values: Floats) -> Floats:
    """Return sums over this and all higher thresholds."""
    return np.cumsum(values[::-1], axis=0)[::-1]


LIKELIHOOD = Likelihood(
    name="rao-kupper",
    outcomes=(WIN, LOSS, TIE),
    rows=rows,
    graph=graph,
    tie_prior=(-0.7, 1.0),
    loop="rao-kupper",
    closed_log_probabilities=log_probabilities,
    closed_expected_score=expected_score,
    closed_net_score=net_score,
    with_grades=cumulative,
)
