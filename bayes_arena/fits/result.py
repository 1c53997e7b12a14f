"""The result of a fit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.special import gammaln, xlogy

from bayes_arena.arrays import Array, Floats
from bayes_arena.errors import ModelError, plural
from bayes_arena.fits.marginals import Marginals
from bayes_arena.inference.posterior import Posterior
from bayes_arena.model.objective import value
from bayes_arena.model.priors import Prior
from bayes_arena.model.spec import Model, visible_votes
from bayes_arena.said import Call, Note, Use
from bayes_arena.votes.votes import Votes


@dataclass(frozen=True, eq=False)
class Fit:
    """A model fitted to votes.

    Attributes
    ----------
    votes : Votes
    model : Model
        With the terms that the votes can tell.
    prior : Prior
    method : {"gaussian", "map", "nuts", "own"}
        "own": draws of your own, from :func:`~bayes_arena.from_posterior`.
    plan : str
        What was fitted, in a line.
    marginals : Marginals
        Means, standard deviations and draws of every effect, and the board.
    warnings : tuple of Note
        What makes it doubtful.
    seed : int
    posterior
    samples
    strength
    discrimination
    spreads
    log_likelihood
    deviance
    aic
    """

    votes: Votes
    model: Model
    prior: Prior
    method: str
    plan: str
    marginals: Marginals
    warnings: tuple[Note, ...] = ()
    seed: int = 0

    def __repr__(self) -> str:
        """Return what was fitted, in a line."""
        return (
            f"Fit of {self.plan}: {plural(self.votes.n_votes, 'vote')} on "
            f"{plural(self.votes.n_competitors, 'competitor')}"
        )

    @property
    def posterior(self) -> Posterior:
        """The Gaussian approximation; for "nuts" that from which sampling began.

        For "own" it is that under the default prior.
        """
        return self.marginals.posterior

    @property
    def samples(self) -> Mapping[str, Floats] | None:
        """For "nuts" and "own", by effect: draws of its parameters, (chains, draws, size).

        Those of a spread are called ``{effect}_sd``.
        """
        return self.marginals.samples

    @cached_property
    def strength(self) -> Floats:
        """Strengths r in logits, sum zero, (competitors,); nan without an estimate."""
        return of_all(self, self.marginals.mean_of("strength"))

    @cached_property
    def discrimination(self) -> Floats:
        """Theta of the annotators, mean 1, (annotators,)."""
        if self.model.discrimination == "none":
            return np.ones(self.votes.n_annotators)
        return 1 + self.marginals.mean_of("discrimination")

    @property
    def spreads(self) -> dict[str, float]:
        """Estimated spreads by effect, in logits; that of theta without unit.

        For "nuts" and "own" they are means of the draws; a spread that was not drawn is
        not there.
        """
        return self.marginals.spreads

    @cached_property
    def log_likelihood(self) -> float:
        """Log-likelihood of the counts at the estimate, in nats, without the prior.

        The votes of a row are one observation, so this includes the multinomial
        coefficients: the same constant for all models of the same votes.  With ties as
        half wins the likelihood is not normalised: compare it only with its like.
        """
        counts = outcome_counts(self)
        orders = gammaln(counts.sum(axis=1) + 1).sum() - gammaln(counts + 1).sum()
        return float(orders) - loss(self)

    @cached_property
    def deviance(self) -> float:
        """Twice the log-likelihood lost to the model with shares for every row."""
        counts = self.posterior.design.outcomes.counts(seen_votes(self))
        total = counts.sum(axis=1, keepdims=True)
        return 2 * (loss(self) + float(xlogy(counts, counts / total).sum()))

    @property
    def aic(self) -> float:
        """Akaike's criterion: 2 for each free parameter, less 2 log_likelihood.

        All parameters are free but one for every sum that is held.

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
        layout = self.posterior.design.layout
        n_sums = layout.shared_sums.shape[1] + layout.local_sums.shape[1]
        return 2 * (layout.size - n_sums) - 2 * self.log_likelihood


def estimable(fit: Fit) -> Array:
    """Return which competitors have a finite estimate, (competitors,).

    All have, unless the prior is flat.
    """
    names = fit.posterior.design.votes.competitors
    if len(names) == fit.votes.n_competitors:
        return np.ones(len(names), bool)
    known = set(names)
    return np.array([name in known for name in fit.votes.competitors])


def of_all(fit: Fit, values: Floats) -> Floats:
    """Return numbers of the competitors with an estimate for all, nan elsewhere."""
    everyone = np.full(fit.votes.n_competitors, np.nan)
    everyone[estimable(fit)] = values
    return everyone


def fitted_votes(fit: Fit) -> Votes:
    """Return the votes on competitors that have a finite estimate."""
    return subset_competitors(fit.votes, estimable(fit))


def seen_votes(fit: Fit) -> Votes:
    """Return the votes that the model sees, on competitors that have an estimate."""
    return visible_votes(fit.model, fitted_votes(fit))


def outcome_counts(fit: Fit) -> Floats:
    """Return counts of the votes that the model sees, (rows, outcomes).

    Grades are apart where they are modelled.
    """
    seen = seen_votes(fit)
    return seen.counts if fit.model.grades else seen.folded


def loss(fit: Fit) -> float:
    """Return the negative log-likelihood of the votes in nats, without the prior."""
    posterior = fit.posterior
    prior = 0.5 * posterior.design.prior_precision() @ posterior.mean**2
    return float(value(posterior.design, posterior.mean) - prior)


def mean_loss(fit: Fit) -> float:
    """Return the negative log-likelihood per vote, in nats."""
    return loss(fit) / float(fit.posterior.design.n_votes.sum())


def subset_competitors(votes: Votes, mask: Array) -> Votes:
    """Return the votes among some competitors, with the codes of these only."""
    if mask.all():
        return votes
    code = np.cumsum(mask) - 1
    rows = votes.take(np.flatnonzero(mask[votes.i] & mask[votes.j]))
    names = tuple(np.array(votes.competitors, dtype=object)[mask])
    return replace(rows, competitors=names, i=code[rows.i], j=code[rows.j])


def require_fit(value: object) -> None:
    """Raise a ModelError for what is no fit, such as votes or a rating."""
    if isinstance(value, Fit):
        return
    text = f"This takes a Fit, not a value of type {type(value).__name__}."
    if hasattr(value, "fit"):
        raise ModelError(f"{text} Pass its fit: .fit.")
    raise ModelError(text, Call("fit"))
