"""Ties as half wins: the paper's soft likelihood.

With n votes, the score w = wins + ties / 2 and P = 1 / (1 + exp(-eta)),

    l = n ln(1 + exp(eta)) - w eta                                                    (paper, equations 2 and 5)

A tie has no probability of its own, and ln P(tie) is minus infinity: this is Davidson's model with nu = 1 without its
normaliser, a likelihood only of wins and losses.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy

from bayes_arena.arrays import Floats
from bayes_arena.likelihood.outcomes.likelihood import Likelihood, RowTerms
from bayes_arena.votes.outcomes import LOSS, OUTCOMES, TIE, WIN


def rows(counts: Floats, z: Floats) -> RowTerms:
    """Compute the binary logistic likelihood with soft outcomes."""
    half = 0.5 * counts[TIE]
    won, lost = counts[WIN] + half, counts[LOSS] + half
    eta = z[0]
    decay = np.exp(-np.abs(eta))
    total = 1 + decay
    p, q = np.where(eta > 0, 1.0, decay) / total, np.where(eta > 0, decay, 1.0) / total
    value = won * np.maximum(-eta, 0.0) + lost * np.maximum(eta, 0.0) + (won + lost) * np.log1p(decay)
    return RowTerms(value, (lost * p - won * q)[None], ((won + lost) * p * q)[None, None])


def graph(counts: Any, z: list[Any]) -> Any:
    """Return the same in PyTensor."""
    import pytensor.tensor as pt

    score = counts[:, WIN] + 0.5 * counts[:, TIE]
    return score * z[0] - counts.sum(axis=1) * pt.softplus(z[0])


def log_probabilities(z: Floats) -> Floats:
    """Return those of a win and a loss."""
    log_p = np.full((len(OUTCOMES), *z.shape[1:]), -np.inf)
    log_p[WIN], log_p[LOSS] = scipy.special.log_expit(z[0]), scipy.special.log_expit(-z[0])
    return log_p


def expected_score(z: Floats) -> tuple[Floats, Floats]:
    """Return P and P (1 - P)."""
    score = scipy.special.expit(z[0])
    return score, (score * (1 - score))[None]


def net_score(z: Floats) -> Floats:
    """Return tanh(eta / 2)."""
    return np.asarray(np.tanh(0.5 * z[0]))


LIKELIHOOD = Likelihood(
    name="half",
    outcomes=(WIN, LOSS),
    rows=rows,
    graph=graph,
    half_wins=True,
    loop="half",
    closed_log_probabilities=log_probabilities,
    closed_expected_score=expected_score,
    closed_net_score=net_score,
)
