"""A posterior, approximated by a Gaussian."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bayes_arena.arrays import Floats
from bayes_arena.model.arrow import Covariance
from bayes_arena.model.design import Block, Design


@dataclass(frozen=True)
class Posterior:
    """A Gaussian approximation to a posterior, and how it was found.

    The spreads of the design's blocks are the estimated ones.

    Attributes
    ----------
    design : Design
    mean : ndarray, shape (parameters,)
    covariance : Covariance
    loss : float
        Negative log-posterior at the mode, or free energy of the nearest Gaussian, in nats.
    n_iterations : int
    converged : bool
    is_mode : bool
        Whether the mean is the mode: then it says nothing of what is open about the
        annotators.
    mirror_gap : float, optional
        By how much the loss of the reversed ranking is larger, where both were tried.
    """

    design: Design
    mean: Floats
    covariance: Covariance
    loss: float
    n_iterations: int
    converged: bool
    is_mode: bool = False
    mirror_gap: float | None = None

    def mean_of(self, name: str) -> Floats:
        """Return the means of an effect's parameters, (size,)."""
        return self.mean[self.design.indices(self.design.block(name))]

    def common(self, name: str) -> float:
        """Return the mean of an effect that all votes share; 0 where there is none."""
        return float(self.mean_of(name)[0]) if self.design.has(name) else 0.0

    def of_annotator(self, name: str, k: int) -> float:
        """Return the mean of such an effect for annotator k, with his or her deviation."""
        by_annotator = f"{name}_by_annotator"
        has_own = self.design.has(by_annotator)
        own = float(self.mean_of(by_annotator)[k]) if has_own else 0.0
        return self.common(name) + own

    def sd_of(self, name: str) -> Floats:
        """Return the standard deviations of an effect's parameters, (size,)."""
        indices = self.design.indices(self.design.block(name))
        return np.sqrt(np.maximum(self.covariance.variances()[indices], 0.0))

    def level_covariances(self, a: Block, b: Block) -> Floats:
        """Return the covariance of two effects at each of their levels, (levels,).

        That of local parameters is given the shared ones.
        """
        if a.is_local:
            (q,) = np.unique(self.design.layout.n_local)  # of annotators
            blocks = self.covariance.conditional.reshape(-1, q, q)
            return blocks[:, a.columns.start, b.columns.start]
        V = self.covariance.shared
        return V[self.design.indices(a), self.design.indices(b)]

    @property
    def spreads(self) -> dict[str, float]:
        """Return the estimated spreads, by effect."""
        estimated = [block for block in self.design.blocks if block.is_estimated]
        return {block.effect.name: block.sd for block in estimated}


def start_from(design: Design, simpler: Posterior) -> Floats:
    """Return where to start: at a simpler model's means, and 0 for further effects."""
    x = np.zeros(design.layout.size)
    for block in simpler.design.blocks:
        name = block.effect.name
        x[design.indices(design.block(name))] = simpler.mean_of(name)
    return x
