"""How likely an outcome is: the negative log-likelihood of rows of votes, with derivatives.

A row has counts (wins of i, wins of j, ties, both-bad) and coordinates: the log-odds eta, where ties have an outcome
of their own the tie coordinate t, and where both-bad has one its coordinate m. Each function below returns, for all
rows at once, the value, the gradient by the coordinates and their Hessian; the sums run over votes, in nats.

half        n votes, score w = wins + ties / 2, P = 1 / (1 + exp(-eta)):
            l = n ln(1 + exp(eta)) - w eta                              (paper, equations 2 and 5)
davidson    P(i) : P(j) : P(tie) : P(bad) = exp(eta/2) : exp(-eta/2) : exp(t) : exp(m),   nu = exp(t)
rao-kupper  P(i) = s(eta - kappa), P(j) = s(-eta - kappa), s the logistic function, kappa = exp(t) > 0:
            P(tie) = (exp(2 kappa) - 1) P(i) P(j)
drop        half without the ties

The expected score of i, a win counting 1 and every tie or both-bad vote 1/2, is (1 + P(i) - P(j)) / 2 in all of them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, log_expit, log_softmax

from bayes_arena.arrays import Floats
from bayes_arena.likelihood.specification import Model


@dataclass(frozen=True, eq=False)
class RowTerms:
    """Negative log-likelihood of every row.

    Attributes
    ----------
    value : ndarray, shape (n_rows,)
    gradient : ndarray, shape (n_coordinates, n_rows)
    hessian : ndarray, shape (n_coordinates, n_coordinates, n_rows)
    """

    value: Floats
    gradient: Floats
    hessian: Floats


RowLikelihood = Callable[[Floats, Floats], RowTerms]
"""Maps counts (4, n_rows) and coordinates (n_coordinates, n_rows) to :class:`RowTerms`."""


def row_likelihood(model: Model) -> RowLikelihood:
    """Return the likelihood of a model's rows."""
    return {"half": half, "drop": half, "davidson": davidson, "rao-kupper": rao_kupper}[model.ties]


def seen_counts(model: Model, counts: Floats) -> Floats:
    """Return counts (4, n_rows) as a model sees them: both-bad merged into ties, outcomes left out set to zero."""
    seen = counts.T.copy()
    if model.both_bad == "tie":
        seen[2] += seen[3]
    if model.both_bad != "outcome":
        seen[3] = 0.0
    if model.ties == "drop":
        seen[2] = 0.0
    return seen


def sees(model: Model) -> NDArray[np.bool_]:
    """Which of the four outcomes a model sees, shape (4,); votes of the others it leaves out."""
    return np.asarray(seen_counts(model, np.eye(4)).any(axis=0))


def half(counts: Floats, coordinates: Floats) -> RowTerms:
    """Ties as half wins: binary logistic likelihood with soft outcomes."""
    n, score = counts.sum(axis=0), counts[0] + 0.5 * counts[2]
    eta = coordinates[0]
    decay = np.exp(-np.abs(eta))
    p = np.where(eta > 0, 1.0, decay) / (1 + decay)
    value = n * (np.maximum(eta, 0.0) + np.log1p(decay)) - score * eta
    return RowTerms(value, (n * p - score)[None], (n * p * (1 - p))[None, None])


def davidson(counts: Floats, coordinates: Floats) -> RowTerms:
    """Ties (and both-bad votes, where there is a third coordinate) as outcomes of a softmax."""
    eta, rest = coordinates[0], coordinates[1:]
    logits = np.concatenate([[0.5 * eta, -0.5 * eta], rest])
    y = counts[: len(logits)]
    n = y.sum(axis=0)
    top = logits.max(axis=0)
    weights = np.exp(logits - top)
    total = weights.sum(axis=0)
    p = weights / total
    value = n * (top + np.log(total)) - (y * logits).sum(axis=0)
    lead = 0.5 * (p[0] - p[1])  # derivative of the log of the total by eta
    size = len(coordinates)
    gradient, hessian = np.empty((size, *eta.shape)), np.empty((size, size, *eta.shape))
    gradient[0] = n * lead - 0.5 * (y[0] - y[1])
    gradient[1:] = n * p[2:] - y[2:]
    hessian[0, 0] = n * (0.25 * (p[0] + p[1]) - lead**2)
    for s in range(1, size):
        hessian[0, s] = hessian[s, 0] = -n * lead * p[s + 1]
        for t in range(1, size):
            hessian[s, t] = n * p[s + 1] * ((s == t) - p[t + 1])
    return RowTerms(value, gradient, hessian)


@np.errstate(over="ignore", divide="ignore", invalid="ignore")
def rao_kupper(counts: Floats, coordinates: Floats) -> RowTerms:
    """Ties as the outcome when the lead is within a threshold kappa = exp(t); not finite where t is absurd."""
    eta, t = coordinates
    kappa = np.exp(t)
    ties = counts[2]
    above, below = counts[0] + ties, counts[1] + ties
    p, q = expit(eta - kappa), expit(-eta - kappa)
    decay = np.exp(-2 * kappa)
    remainder = np.maximum(-np.expm1(-2 * kappa), 1e-150)  # 1 - exp(-2 kappa), whose square is divided by
    value = -above * log_expit(eta - kappa) - below * log_expit(-eta - kappa)
    value -= ties * (2 * kappa + np.log(remainder))
    by_kappa = above * (1 - p) + below * (1 - q) - 2 * ties / remainder
    curve_p, curve_q = above * p * (1 - p), below * q * (1 - q)
    by_kappa_twice = curve_p + curve_q + 4 * ties * decay / remainder**2
    gradient = np.array([below * (1 - q) - above * (1 - p), kappa * by_kappa])
    mixed = kappa * (curve_q - curve_p)
    hessian = np.array([[curve_p + curve_q, mixed], [mixed, kappa * (kappa * by_kappa_twice + by_kappa)]])
    return RowTerms(value, gradient, hessian)


def expected_score(model: Model, coordinates: Floats) -> tuple[Floats, Floats]:
    """Return the expected score of i and its derivatives by the coordinates.

    Parameters
    ----------
    model : Model
    coordinates : ndarray, shape (n_coordinates, ...)
        Eta and, where the model has them, t and m.

    Returns
    -------
    score : ndarray, shape (...)
    slope : ndarray, shape (n_coordinates, ...)
    """
    eta = coordinates[0]
    slope = np.empty_like(coordinates)
    if model.ties == "davidson":
        logits = np.concatenate([[0.5 * eta, -0.5 * eta], coordinates[1:]])
        weights = np.exp(logits - logits.max(axis=0))
        p = weights / weights.sum(axis=0)
        lead = p[0] - p[1]
        slope[0] = 0.25 * (p[0] + p[1] - lead**2)
        slope[1:] = -0.5 * lead * p[2:]
        return 0.5 * (1 + lead), slope
    if model.ties == "rao-kupper":
        kappa = np.exp(coordinates[1])
        win, loss = expit(eta - kappa), expit(-eta - kappa)
        slope[0] = 0.5 * (win * (1 - win) + loss * (1 - loss))
        slope[1] = 0.5 * kappa * (loss * (1 - loss) - win * (1 - win))
        return 0.5 * (1 + win - loss), slope
    score = expit(eta)
    slope[0] = score * (1 - score)
    return score, slope


def net_score(model: Model, coordinates: Floats) -> Floats:
    """Return P(i) - P(j), twice the expected score less one, for coordinates (n_coordinates, ...)."""
    eta = coordinates[0]
    if model.ties == "davidson":
        decay = np.exp(-np.abs(eta))
        with np.errstate(over="ignore"):  # ties beyond all measure leave nothing
            rest = np.exp(coordinates[1:] - 0.5 * np.abs(eta)).sum(axis=0)
        return np.asarray(np.sign(eta) * (1 - decay) / (1 + decay + rest))
    if model.ties == "rao-kupper":
        kappa = np.exp(coordinates[1])
        return np.asarray(expit(eta - kappa) - expit(-eta - kappa))
    return np.asarray(np.tanh(0.5 * eta))


def log_probabilities(model: Model, coordinates: Floats) -> Floats:
    """Return the log-probabilities of the four outcomes of a vote.

    Parameters
    ----------
    model : Model
    coordinates : ndarray, shape (n_coordinates, ...)
        Eta and, where the model has them, t and m.

    Returns
    -------
    ndarray, shape (4, ...)
        Of a win of i, a win of j, a tie and a both-bad vote; minus infinity for an outcome that the model does not
        have: it counts a tie as half a win, or leaves it out.
    """
    eta = coordinates[0]
    log_p = np.full((4, *eta.shape), -np.inf)
    if model.ties == "davidson":
        logits = np.concatenate([[0.5 * eta, -0.5 * eta], coordinates[1:]])
        log_p[: len(logits)] = log_softmax(logits, axis=0)
    elif model.ties == "rao-kupper":
        kappa = np.exp(coordinates[1])
        log_p[0], log_p[1] = log_expit(eta - kappa), log_expit(-eta - kappa)
        log_p[2] = 2 * kappa + np.log(-np.expm1(-2 * kappa)) + log_p[0] + log_p[1]
    else:
        log_p[0], log_p[1] = log_expit(eta), log_expit(-eta)
    return log_p
