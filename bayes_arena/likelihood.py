"""The log-likelihood, its gradient and its Hessian.

For annotator k, competitors i < j, n votes and the score w of i (wins plus half the ties), the negative
log-likelihood of a row, with d = r_i - r_j, eta = theta_k d and P = 1 / (1 + exp(-eta)), is

    l = -w ln P - (n - w) ln(1 - P) = n ln(1 + exp(eta)) - w eta          (paper, equations 2, 4 and 5)

    residual  e = dl / d eta = n P - w
    weight    h = d2l / d eta2 = n P (1 - P)

    dl/dr_i  = theta_k e = -dl/dr_j,      dl/dtheta_k = d e               (equations 3 and 6, for the loss)
    d2l/dr2  : Laplacian with weights theta_k^2 h
    d2l/dr_i dtheta_k = theta_k d h + e = -d2l/dr_j dtheta_k
    d2l/dtheta_k^2    = d^2 h

Strengths are in logits, losses in nats summed over votes. A model with theta = 1 has no annotator block (M = 0).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from bayes_arena.arrow import Arrow
from bayes_arena.cells import Cells, Floats, Tally, sum_by
from bayes_arena.priors import Prior
from bayes_arena.specification import Model


@dataclass(frozen=True, eq=False)
class Point:
    """A point in parameter space: strengths (n,) and discriminations (M,), M = 0 where theta is fixed at 1."""

    strength: Floats
    discrimination: Floats

    def moved(self, step: Point, length: float = 1.0) -> Point:
        """Return this point plus ``length`` times a step."""
        return Point(self.strength + length * step.strength, self.discrimination + length * step.discrimination)

    def dot(self, other: Point) -> float:
        """Inner product over all coordinates."""
        return float(self.strength @ other.strength + self.discrimination @ other.discrimination)

    def largest(self) -> float:
        """Largest coordinate in absolute value."""
        return float(max(np.abs(self.strength).max(), np.abs(self.discrimination).max(initial=0.0)))


@dataclass(frozen=True, eq=False)
class Objective:
    """Negative log-posterior of a model: what the optimiser minimises.

    Attributes
    ----------
    tally : Tally
        The votes, per annotator only if the model needs them.
    n_competitors, n_annotators : int
        n, and M (0 where theta is fixed).
    prior : Prior
        Scales of r and theta.
    center : float
        Prior mean of theta.
    """

    tally: Tally
    n_competitors: int
    n_annotators: int
    prior: Prior
    center: float = 1.0

    def linear_predictor(self, point: Point) -> Floats:
        """Eta of every row of the tally, shape (n_rows,)."""
        d = point.strength[self.tally.i] - point.strength[self.tally.j]
        return point.discrimination[self.tally.k] * d if self.n_annotators else d

    def loss(self, point: Point) -> float:
        """Negative log-likelihood in nats, without the prior."""
        eta = self.linear_predictor(point)
        return float(self.tally.n @ np.logaddexp(0.0, eta) - self.tally.score @ eta)

    def value(self, point: Point) -> float:
        """Negative log-posterior up to a constant."""
        return self.loss(point) + 0.5 * (
            float(point.strength @ point.strength) / self.prior.strength**2
            + float(np.sum((point.discrimination - self.center) ** 2)) / self.prior.discrimination**2
        )

    def gradient(self, point: Point) -> Point:
        """Gradient of ``value``."""
        return self.gradient_and_hessian(point)[0]

    def gradient_and_hessian(self, point: Point) -> tuple[Point, Arrow]:
        """Gradient and Hessian of ``value``."""
        i, j, k = self.tally.i, self.tally.j, self.tally.k
        size, tail_size = self.n_competitors, self.n_annotators
        strength_precision = self.prior.strength**-2
        discrimination_precision = self.prior.discrimination**-2
        d = point.strength[i] - point.strength[j]
        theta = point.discrimination[k] if tail_size else 1.0
        p = expit(theta * d)
        e = self.tally.n * p - self.tally.score
        h = self.tally.n * p * (1 - p)

        pull = theta * e
        head_gradient = sum_by(i, pull, size) - sum_by(j, pull, size)
        head_gradient += point.strength * strength_precision
        off_diagonal = sum_by(i * size + j, theta * theta * h, size * size).reshape(size, size)
        head = -(off_diagonal + off_diagonal.T)
        head[np.diag_indices(size)] = strength_precision - head.sum(axis=1)
        if not tail_size:
            nothing = np.zeros(0)
            return Point(head_gradient, nothing), Arrow(head, np.zeros((size, 0)), nothing)

        cross = theta * d * h + e
        border = sum_by(i * tail_size + k, cross, size * tail_size)
        border -= sum_by(j * tail_size + k, cross, size * tail_size)
        tail = sum_by(k, d * d * h, tail_size) + discrimination_precision
        tail_gradient = sum_by(k, d * e, tail_size)
        tail_gradient += (point.discrimination - self.center) * discrimination_precision
        return Point(head_gradient, tail_gradient), Arrow(head, border.reshape(size, tail_size), tail)


def objective(cells: Cells, model: Model, prior: Prior) -> Objective:
    """Return the negative log-posterior of a model given votes."""
    free = model.discrimination == "annotator"
    return Objective(
        tally=cells.tally if free else cells.pair_tally,
        n_competitors=cells.n_competitors,
        n_annotators=cells.n_annotators if free else 0,
        prior=prior,
    )
