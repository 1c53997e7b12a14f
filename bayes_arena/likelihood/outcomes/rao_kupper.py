"""Rao and Kupper's ties: neither leads by more than a threshold kappa = exp(t).

With s the logistic function,

    P(i) = s(eta - kappa),      P(j) = s(-eta - kappa),      P(tie) = (exp(2 kappa) - 1) P(i) P(j).

Source: Rao & Kupper (1967), "Ties in paired-comparison experiments: a generalization of the Bradley-Terry model",
JASA 62.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import expit, log_expit

from bayes_arena.arrays import Floats
from bayes_arena.likelihood.outcomes.likelihood import ETA, Likelihood, RowTerms, T
from bayes_arena.votes.outcomes import LOSS, OUTCOMES, TIE, WIN


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
    slope = np.empty_like(z)
    slope[ETA] = 0.5 * (win * (1 - win) + loss * (1 - loss))
    slope[T] = 0.5 * kappa * (loss * (1 - loss) - win * (1 - win))
    return 0.5 * (1 + win - loss), slope


def net_score(z: Floats) -> Floats:
    """Return P(i) - P(j)."""
    kappa = np.exp(z[T])
    return np.asarray(expit(z[ETA] - kappa) - expit(-z[ETA] - kappa))


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
)
