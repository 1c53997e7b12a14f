"""The result of a fit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.special import gammaln, xlogy

from bayes_arena.arrays import Array, Floats
from bayes_arena.errors import ModelError, plural
from bayes_arena.inference.posterior import Posterior
from bayes_arena.inference.scale import Board, board_of, board_strengths
from bayes_arena.model.objective import value
from bayes_arena.model.priors import Prior
from bayes_arena.model.spec import Model, visible_votes
from bayes_arena.said import Call, Note, Use
from bayes_arena.threads import threads_for
from bayes_arena.votes.votes import Votes

MOST_BOARD_DRAWS = 1_000  # samples that are put on the common scale


@dataclass(frozen=True, eq=False)
class Fit:
    """A model fitted to votes.

    Attributes
    ----------
    votes : Votes
    model : Model
        With the terms that the votes can tell.
    prior : Prior
    method : {"gaussian", "map", "nuts"}
    plan : str
        What was fitted, in a line.
    posterior : Posterior
        The Gaussian approximation; for "nuts" that from which sampling began.
    estimable : ndarray of bool, shape (competitors,)
        Which competitors have a finite estimate; all, unless the prior is flat.
    warnings : tuple of Note
        What makes it doubtful.
    seed : int
    samples : mapping of str to ndarray, optional
        For "nuts", by effect: draws of its parameters, (chains, draws, size).
    sample_stats : mapping of str to ndarray, optional
        For "nuts": "diverging" and others, (chains, draws).
    converged
    strength
    strength_sd
    discrimination
    discrimination_sd
    spreads
    n_parameters
    log_likelihood
    deviance
    aic
    """

    votes: Votes
    model: Model
    prior: Prior
    method: str
    plan: str
    posterior: Posterior
    estimable: Array
    warnings: tuple[Note, ...] = ()
    seed: int = 0
    samples: Mapping[str, Floats] | None = None
    sample_stats: Mapping[str, Array] | None = None

    def __repr__(self) -> str:
        """Return what was fitted, in a line."""
        return (
            f"Fit of {self.plan}: {plural(self.votes.n_votes, 'vote')} on "
            f"{plural(self.votes.n_competitors, 'competitor')}"
        )

    @property
    def converged(self) -> bool:
        """Whether the search for the mode or the Gaussian ended."""
        return self.posterior.converged

    @cached_property
    def fitted_votes(self) -> Votes:
        """The votes on competitors that have a finite estimate."""
        return subset_competitors(self.votes, self.estimable)

    @cached_property
    def strength(self) -> Floats:
        """Strengths r in logits, sum zero, (competitors,); nan without an estimate."""
        if self.samples is not None:
            return self.samples["strength"].mean(axis=(0, 1))
        return self.of_all(self.posterior.mean_of("strength"))

    @cached_property
    def strength_sd(self) -> Floats:
        """Standard deviations of the strengths, (competitors,)."""
        if self.samples is not None:
            return self.samples["strength"].std(axis=(0, 1))
        return self.of_all(self.posterior.sd_of("strength"))

    @cached_property
    def discrimination(self) -> Floats:
        """Theta of the annotators, mean 1, (annotators,)."""
        if self.model.discrimination == "none":
            return np.ones(self.votes.n_annotators)
        if self.samples is not None:
            return 1 + self.samples["discrimination"].mean(axis=(0, 1))
        return 1 + self.posterior.mean_of("discrimination")

    @cached_property
    def discrimination_sd(self) -> Floats:
        """Standard deviations of theta, (annotators,)."""
        if self.model.discrimination == "none":
            return np.zeros(self.votes.n_annotators)
        if self.samples is not None:
            return self.samples["discrimination"].std(axis=(0, 1))
        return self.posterior.sd_of("discrimination")

    @property
    def spreads(self) -> dict[str, float]:
        """Estimated spreads by effect, in logits; that of theta without unit."""
        return self.posterior.spreads

    @cached_property
    def board(self) -> Board:
        """Strengths and covariance on the common scale; nan without an estimate."""
        if self.samples is not None:
            draws = self.board_samples
            return Board(draws.mean(axis=0), np.cov(draws, rowvar=False))
        board = self.finite_board
        if self.estimable.all():
            return board
        covariance = np.full((len(self.estimable),) * 2, np.nan)
        covariance[np.ix_(self.estimable, self.estimable)] = board.covariance
        return Board(self.of_all(board.strength), covariance)

    @cached_property
    def finite_board(self) -> Board:
        """The board of the Gaussian, of the competitors that have an estimate."""
        with threads_for(self.votes.n_competitors):
            return board_of(self.posterior)

    @cached_property
    def board_samples(self) -> Floats:
        """Samples of the strengths on the common scale, (samples, competitors)."""
        vectors = thinned_vectors(self)
        with threads_for(self.votes.n_competitors):
            return board_strengths(self.posterior.design, vectors)

    @property
    def n_parameters(self) -> int:
        """Free parameters: all, less one for every sum that is held."""
        layout = self.posterior.design.layout
        n_sums = layout.shared_sums.shape[1] + layout.local_sums.shape[1]
        return layout.size - n_sums

    @cached_property
    def loss(self) -> float:
        """Negative log-likelihood of the votes in nats, without the prior."""
        posterior = self.posterior
        prior = 0.5 * posterior.design.prior_precision() @ posterior.mean**2
        return float(value(posterior.design, posterior.mean) - prior)

    @property
    def mean_loss(self) -> float:
        """Negative log-likelihood per vote, in nats."""
        return self.loss / float(self.posterior.design.n_votes.sum())

    @cached_property
    def visible_counts(self) -> Floats:
        """Counts by outcome of the rows that were fitted, (rows, outcomes)."""
        seen = visible_votes(self.model, self.fitted_votes)
        if self.model.grades:
            return seen.counts
        return seen.folded

    @property
    def log_likelihood(self) -> float:
        """Log-likelihood of the counts at the estimate, in nats, without the prior.

        The votes of a row are one observation, so this includes the multinomial
        coefficients: the same constant for all models of the same votes.  With ties as
        half wins the likelihood is not normalised: compare it only with its like.
        """
        counts = self.visible_counts
        orders = gammaln(counts.sum(axis=1) + 1).sum() - gammaln(counts + 1).sum()
        return float(orders) - self.loss

    @property
    def deviance(self) -> float:
        """Twice the log-likelihood lost to the model with shares for every row."""
        counts = self.posterior.design.outcomes.counts(
            visible_votes(self.model, self.fitted_votes)
        )
        total = counts.sum(axis=1, keepdims=True)
        return 2 * (self.loss + float(xlogy(counts, counts / total).sum()))

    @property
    def aic(self) -> float:
        """Akaike's criterion, 2 n_parameters - 2 log_likelihood.

        Raises
        ------
        ModelError
            If there is a prior, under which a parameter is not entirely free.
        """
        if not self.prior.is_flat:
            raise ModelError(
                "AIC counts free parameters, and under a prior they are not entirely "
                "free.",
                Use(prior="flat"),
                Call("compare"),
            )
        return 2 * self.n_parameters - 2 * self.log_likelihood

    def of_all(self, values: Floats) -> Floats:
        """Return values of the competitors with an estimate for all, (competitors,)."""
        everyone = np.full(len(self.estimable), np.nan)
        everyone[self.estimable] = values
        return everyone


def parameter_vectors(posterior: Posterior, samples: Mapping[str, Floats]) -> Floats:
    """Return samples as vectors of all parameters, (samples, parameters)."""
    design = posterior.design
    chains, draws = samples["strength"].shape[:2]
    vectors = np.zeros((chains * draws, design.layout.size))
    for block in design.blocks:
        effect = block.effect
        index = parameter_index(posterior, effect.name)
        vectors[:, index] = samples[effect.name].reshape(chains * draws, -1)
    return vectors


def thinned_vectors(fit: Fit) -> Floats:
    """Return the samples of all parameters that boards are made of, (samples, parameters)."""
    if fit.samples is None:
        raise ModelError("Only a fit by NUTS has samples.", Use(method="nuts"))
    vectors = parameter_vectors(fit.posterior, fit.samples)
    return vectors[:: max(len(vectors) // MOST_BOARD_DRAWS, 1)]


def parameter_index(posterior: Posterior, name: str) -> Array:
    """Return the indices of an effect's parameters, in the order of its samples."""
    return posterior.design.parameters(posterior.design.block(name))


def subset_competitors(votes: Votes, mask: Array) -> Votes:
    """Return the votes among some competitors, with the codes of these only."""
    if mask.all():
        return votes
    code = np.cumsum(mask) - 1
    rows = votes.take(np.flatnonzero(mask[votes.i] & mask[votes.j]))
    names = tuple(np.array(votes.competitors, dtype=object)[mask])
    return replace(rows, competitors=names, i=code[rows.i], j=code[rows.j])
