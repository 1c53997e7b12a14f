"""How certain numbers are: the posterior's own covariance, or one from the votes.

The scores of clusters of votes, their gradients in the parameters, move the numbers by
m_g (G, m).  With P the prior's precision, which counts as the score of one more vote,

    clustered    G / (G - 1) sum_g m_g m_g' + S P S,   Student's t with K - 1 degrees,
    sandwich     the same, each vote a cluster of its own, without the factor; normal,
    bootstrap    the covariance over votes or clusters drawn again + S P S; normal.

K = (sum n_g)^2 / sum n_g^2 is Kish's number of clusters of n_g votes.  Where the model is
right and votes are independent, all are the posterior's covariance S: without S P S, which
vanishes under a flat prior, whoever has few votes would have an interval that is far too
narrow.  Sources: White (1982), Econometrica 50; Liang & Zeger (1986), Biometrika 73.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array, diags_array

from bayes_arena.arrays import Array, Floats
from bayes_arena.boards.bootstrap import bootstrap_covariance
from bayes_arena.boards.clusters import (
    FEWEST_CLUSTERS,
    cluster_codes,
    kish_by_competitor,
    kish_of,
    moves_of,
    repeating_prompts,
    usual_cluster,
)
from bayes_arena.boards.look import LOOK, Interval, Look
from bayes_arena.boards.uncertainty import Uncertainty
from bayes_arena.errors import ModelError, listing
from bayes_arena.fits.options import OWN
from bayes_arena.fits.result import Fit, fitted_votes, seen_votes
from bayes_arena.inference.estimate import Estimate
from bayes_arena.inference.sandwich import clustered_covariance, sandwich_covariance
from bayes_arena.model.constants import TINY
from bayes_arena.said import Note, Use
from bayes_arena.threads import threads_for
from bayes_arena.votes.votes import PROMPT, Votes

HARDLY_ANY = 3  # votes on one competitor, or clusters by Kish, which show no spread


def uncertainty_of(fit: Fit, estimate: Estimate, look: Look = LOOK) -> Uncertainty:
    """Return how certain some numbers are.

    Raises
    ------
    ModelError
        If the fit does not have the interval, or there is a single cluster.
    VotesError
        If the votes have no such slice.
    """
    choice = choose_interval(fit, look)
    if choice.name == "bootstrap":
        return bootstrapped(fit, estimate, choice.cluster, look.seed)
    if choice.name == "sandwich":
        covariance = sandwich_covariance(
            fit.posterior, estimate, seen_votes(fit), fit.model
        )
        return Uncertainty("sandwich", covariance + of_prior(fit, estimate))
    if choice.cluster is not None:
        return clustered(fit, estimate, choice.cluster)
    return Uncertainty(
        "posterior", estimate.covariance, notes=choice.notes, samples=estimate.samples
    )


def board_uncertainty(fit: Fit, board: Estimate, look: Look = LOOK) -> Uncertainty:
    """Return how certain a board is, also of competitors with hardly any votes or clusters.

    These do not show how votes or clusters differ: the interval is the posterior's, if that
    is wider.
    """
    uncertainty = uncertainty_of(fit, board, look)
    if uncertainty.name not in ("clustered", "bootstrap"):
        return uncertainty
    votes, cluster = seen_votes(fit), uncertainty.cluster
    few = clusters_by_competitor(votes, cluster) < HARDLY_ANY
    named = few
    if cluster is not None:  # who has no rank for want of votes is named elsewhere
        named = few & (votes.votes_by_competitor >= look.min_votes)
    return replace(
        uncertainty,
        covariance=as_wide_as_posterior(uncertainty.covariance, board.covariance, few),
        notes=(*uncertainty.notes, *of_few_clusters(votes, named, cluster)),
    )


def bootstrapped(
    fit: Fit, estimate: Estimate, cluster: str | None, seed: int
) -> Uncertainty:
    """Return how certain numbers are by votes, or clusters of votes, drawn again."""
    votes = seen_votes(fit)
    codes = None if cluster is None else cluster_codes(votes, cluster)
    covariance, n_lost = bootstrap_covariance(fit, estimate, codes, seed)
    n_effective = np.inf if codes is None else kish_of(votes, codes)
    return Uncertainty(
        "bootstrap",
        covariance + of_prior(fit, estimate),
        cluster=cluster,
        n_clusters=0 if codes is None else int(codes.max()) + 1,
        are_few=n_effective < FEWEST_CLUSTERS,
        notes=lost_resamples(n_lost),
    )


def clustered(fit: Fit, estimate: Estimate, cluster: str) -> Uncertainty:
    """Return how certain numbers are if clusters of votes are independent."""
    votes = seen_votes(fit)
    codes = cluster_codes(votes, cluster)
    moves = moves_of(fit, estimate, votes, codes)
    n_effective = kish_of(votes, codes)
    return Uncertainty(
        "clustered",
        clustered_covariance(moves) + of_prior(fit, estimate),
        df=n_effective - 1,
        cluster=cluster,
        n_clusters=len(moves),
        are_few=n_effective < FEWEST_CLUSTERS,
    )


class Choice(NamedTuple):
    """A kind of interval, what votes of a cluster share, and what it does not allow for."""

    name: Interval
    cluster: str | None = None
    notes: tuple[Note, ...] = ()


def choose_interval(fit: Fit, look: Look) -> Choice:
    """Return the kind of interval that is asked for, or that suits the votes."""
    if fit.samples is not None:
        return choice_of_samples(fit, look)
    match look.interval, look.cluster:
        case None, None:
            return default_choice(fit)
        case None | "clustered", cluster:
            return Choice("clustered", cluster or usual_cluster(fit.votes))
        case interval, cluster:
            return Choice(interval, cluster)


def default_choice(fit: Fit) -> Choice:
    """Return clusters by prompt where prompts repeat, else the posterior."""
    n_prompts = repeating_prompts(fit)
    if n_prompts is None:
        return Choice("posterior")
    if n_prompts >= FEWEST_CLUSTERS:
        return Choice("clustered", PROMPT)
    n = int(np.sum(fitted_votes(fit).votes_by_level(PROMPT) > 0))
    prompts = "this prompt" if n == 1 else f"these {n} prompts"
    text = f"The board is about {prompts} only: there are too few to allow for others."
    return Choice("posterior", notes=(Note("intervals", text),))


def choice_of_samples(fit: Fit, look: Look) -> Choice:
    """Return the posterior, which is all that samples have; say if prompts repeat."""
    if look.interval not in (None, "posterior") or look.cluster is not None:
        only = " has the intervals of its posterior only."
        if fit.method == OWN:
            raise ModelError(f"A fit of draws of your own{only}")
        raise ModelError(
            ("A fit with ", Use(method="nuts"), only), Use(method="gaussian")
        )
    if repeating_prompts(fit) is None or PROMPT in fit.model.strength_by:
        return Choice("posterior")
    text = "Prompts repeat, and intervals from samples do not allow for new ones."
    return Choice("posterior", notes=(Note("intervals", text),))


def as_wide_as_posterior(covariance: Floats, posterior: Floats, few: Array) -> Floats:
    """Return a covariance with at least the posterior's variances for some competitors.

    Votes in few clusters cannot show how clusters differ; correlations are kept.
    """
    variances = np.maximum(np.diag(covariance), TINY)
    factor = np.sqrt(np.maximum(np.diag(posterior) / variances, 1.0))
    factor[~few] = 1.0
    return covariance * factor[:, None] * factor


def clusters_by_competitor(votes: Votes, cluster: str | None) -> Floats:
    """Return Kish's number of clusters on each competitor, or of votes without clusters."""
    if cluster is None:
        return votes.votes_by_competitor
    return kish_by_competitor(votes, cluster_codes(votes, cluster))


def of_few_clusters(votes: Votes, few: Array, cluster: str | None) -> tuple[Note, ...]:
    """Say whose votes are few, or come from few clusters."""
    if few.all() or not few.any():
        return ()
    names = listing(repr(votes.competitors[c]) for c in np.flatnonzero(few))
    if cluster is None:
        text = (
            f"Resamples tell little of one or two votes, as on {names}: their intervals "
            "are at least the posterior's."
        )
    else:
        text = (
            f"Most votes on {names} are on one or two {cluster}s: their intervals may be "
            "too narrow for new ones."
        )
    return (Note("intervals", text),)


def lost_resamples(n_lost: int) -> tuple[Note, ...]:
    """Say how many resamples were left out."""
    if not n_lost:
        return ()
    text = f"{n_lost} resamples had no finite estimate: bootstrap intervals are too narrow."
    return (Note("intervals", text),)


def of_prior(fit: Fit, estimate: Estimate) -> Floats:
    """Return the prior's part of a covariance, S P S, (m, m)."""
    precision = fit.posterior.design.prior_precision()
    scores = diags_array(np.sqrt(precision), format="csr")
    scores = csr_array(scores[np.flatnonzero(precision)])
    with threads_for(len(estimate.value)):
        moves = estimate.moves(scores)
        return moves.T @ moves
