"""The result of a fit: what every table is made from."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from bayes_arena.cells import Cells, Floats
from bayes_arena.laplace import Laplace
from bayes_arena.priors import Prior
from bayes_arena.specification import Model


@dataclass(frozen=True, eq=False)
class Fit:
    """A fitted model.

    Attributes
    ----------
    cells : Cells
        The votes.
    model : Model
    prior : Prior
    method : str
        ``"map"``.
    strength : ndarray, shape (n_competitors,)
        r in logits, sum zero (in each connected component under a flat prior).
    discrimination : ndarray, shape (n_annotators,)
        theta, mean 1; empty where the model fixes it at 1.
    loss : float
        Negative log-likelihood in nats, without the prior.
    gradient : float
        Largest coordinate of the gradient, per vote.
    iterations : int
        Newton steps.
    warnings : tuple of str
        What a reader of the result has to know.
    laplace : Laplace
        Gaussian approximation at the mode; under a flat prior the inverse Fisher information.
    """

    cells: Cells
    model: Model
    prior: Prior
    method: str
    strength: Floats
    discrimination: Floats
    loss: float
    gradient: float
    iterations: int
    warnings: tuple[str, ...]
    laplace: Laplace

    @property
    def mean_loss(self) -> float:
        """Negative log-likelihood per vote, in nats."""
        return self.loss / self.cells.n_votes

    @property
    def n_parameters(self) -> int:
        """Free parameters: n - 1 strengths, and M - 1 discriminations where the model has them."""
        return self.cells.n_competitors - 1 + max(len(self.discrimination) - 1, 0)

    @cached_property
    def discrimination_sd(self) -> Floats:
        """Standard deviations of theta, shape (n_annotators,)."""
        return np.sqrt(self.laplace.discrimination_variances())
