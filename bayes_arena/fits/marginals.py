"""What a posterior says of each effect, be it a Gaussian or samples.

Whoever needs a mean, a standard deviation or draws asks here, and not whether a fit was
sampled.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from bayes_arena.arrays import Array, Floats
from bayes_arena.errors import require_seed, require_whole
from bayes_arena.inference.estimate import Estimate
from bayes_arena.inference.posterior import Posterior
from bayes_arena.inference.predictive import Prediction, row_probabilities
from bayes_arena.inference.scale import board_of
from bayes_arena.threads import threads_for
from bayes_arena.votes.votes import Votes

MOST_BOARD_DRAWS = 1_000  # samples that are put on the common scale
CHAINS = 4  # on every machine, so that results do not depend on it


@dataclass(frozen=True, eq=False)
class Marginals:
    """What a posterior says of each effect.

    Attributes
    ----------
    posterior : Posterior
        The Gaussian; or that from which sampling began.
    samples : mapping of str to ndarray, optional
        By effect, and of each spread that was sampled, ``{effect}_sd``: (chains, draws,
        size).
    statistics : mapping of str to ndarray
        What the sampler said of each draw, (chains, draws).
    """

    posterior: Posterior
    samples: Mapping[str, Floats] | None = None
    statistics: Mapping[str, Array] = field(default_factory=dict)

    @cached_property
    def mean(self) -> Floats:
        """Means of all parameters, (parameters,)."""
        if self.samples is None:
            return self.posterior.mean
        return vectors_of(self.posterior, self.samples).mean(axis=0)

    def mean_of(self, name: str) -> Floats:
        """Return the means of an effect's parameters, (size,)."""
        return self.mean[parameter_index(self.posterior, name)]

    def sd_of(self, name: str) -> Floats:
        """Return the standard deviations of an effect's parameters, (size,)."""
        if self.samples is None:
            return self.posterior.sd_of(name)
        return self.samples[name].std(axis=(0, 1))

    def covariance_of(self, name: str) -> Floats:
        """Return the covariance of an effect's shared parameters, (size, size)."""
        if self.samples is None:
            index = parameter_index(self.posterior, name)
            return self.posterior.covariance.shared[np.ix_(index, index)]
        samples = self.samples[name]
        return np.cov(samples.reshape(-1, samples.shape[-1]), rowvar=False, ddof=0)

    def draws(self, size: int, seed: int) -> Floats:
        """Return draws of all parameters, (size, parameters); of samples with replacement.

        Raises
        ------
        ModelError
            If the size is not positive, or the seed negative.
        """
        require_seed(seed)
        require_whole(1, size=size)
        if self.samples is None:
            covariance = self.posterior.covariance
            with threads_for(covariance.layout.width):
                deviations = covariance.draws(size, seed)
            return self.posterior.mean + deviations.T
        vectors = vectors_of(self.posterior, self.samples)
        return vectors[np.random.default_rng(seed).integers(len(vectors), size=size)]

    def vectors(self, size: int, seed: int) -> Floats:
        """Return all samples, or draws from the Gaussian, (draws, parameters)."""
        if self.samples is None:
            return self.draws(size, seed)
        return vectors_of(self.posterior, self.samples)

    def chains(self, size: int, seed: int) -> Mapping[str, Floats]:
        """Return the same by effect, in chains: (chains, draws, size)."""
        if self.samples is None:
            vectors = self.draws(size - size % CHAINS, seed)
            return chained(by_effect(self.posterior, vectors), CHAINS)
        return self.samples

    def predict(self, votes: Votes, *, with_ties: bool | None = None) -> Prediction:
        """Predict a vote in each row, averaged over the posterior."""
        vectors = None
        if self.samples is not None:
            vectors = vectors_of(self.posterior, self.samples)
        with threads_for(self.posterior.design.votes.n_competitors):
            return row_probabilities(
                self.posterior, votes, vectors=vectors, with_ties=with_ties
            )

    def efficiency(self) -> float:
        """Return the effective share of the draws, the mean over parameters."""
        if self.samples is None:
            return 1.0
        from arviz_stats.base.array import array_stats

        arrays: Any = array_stats
        shares = []
        for samples in self.samples.values():
            ess = arrays.ess(samples, chain_axis=0, draw_axis=1, method="mean")
            shares.append(np.ravel(ess) / samples[:, :, 0].size)
        return float(np.concatenate(shares).mean())

    def estimate(self, gaussian: Estimate) -> Estimate:
        """Return numbers of the Gaussian as the posterior has them."""
        if self.samples is None:
            return gaussian
        vectors = vectors_of(self.posterior, self.samples)
        samples = gaussian.at(vectors[:: max(len(vectors) // MOST_BOARD_DRAWS, 1)])
        return replace(
            gaussian,
            value=samples.mean(axis=0),
            covariance=np.atleast_2d(np.cov(samples, rowvar=False)),
            samples=samples,
        )

    @cached_property
    def spreads(self) -> dict[str, float]:
        """Estimated spreads, by effect; of samples the means of those that were sampled."""
        if self.samples is None:
            return self.posterior.spreads
        spreads = {}
        for block in self.posterior.design.blocks:
            name = block.effect.name
            if f"{name}_sd" in self.samples:
                spreads[name] = float(self.samples[f"{name}_sd"].mean())
        return spreads

    @cached_property
    def board(self) -> Estimate:
        """Strengths on the common scale, in logits, of competitors with an estimate."""
        with threads_for(self.posterior.design.votes.n_competitors):
            return self.estimate(board_of(self.posterior))


def vectors_of(posterior: Posterior, samples: Mapping[str, Floats]) -> Floats:
    """Return samples as vectors of all parameters, (samples, parameters)."""
    design = posterior.design
    chains, draws = samples["strength"].shape[:2]
    vectors = np.zeros((chains * draws, design.layout.size))
    for block in design.blocks:
        name = block.effect.name
        index = parameter_index(posterior, name)
        vectors[:, index] = samples[name].reshape(chains * draws, -1)
    return vectors


def by_effect(posterior: Posterior, vectors: Floats) -> dict[str, Floats]:
    """Return vectors of all parameters by effect, (draws, size) each."""
    names = [block.effect.name for block in posterior.design.blocks]
    return {name: vectors[:, parameter_index(posterior, name)] for name in names}


def chained(draws: Mapping[str, Floats], chains: int) -> dict[str, Floats]:
    """Return draws by effect in chains of equal length, (chains, draws, size)."""
    return {name: x.reshape(chains, -1, x.shape[-1]) for name, x in draws.items()}


def parameter_index(posterior: Posterior, name: str) -> Array:
    """Return the indices of an effect's parameters, in the order of its samples."""
    return posterior.design.indices(posterior.design.block(name))
