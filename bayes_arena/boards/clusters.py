"""Clusters of votes: what they share, how many there are, and how far they move numbers."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from bayes_arena.arrays import Floats, Ints
from bayes_arena.errors import ModelError
from bayes_arena.fits.result import Fit, fitted_votes
from bayes_arena.inference.estimate import Estimate
from bayes_arena.inference.sandwich import cluster_scores
from bayes_arena.model.constants import TINY
from bayes_arena.said import Use
from bayes_arena.threads import threads_for
from bayes_arena.votes.votes import PROMPT, Votes, kish

FEWEST_CLUSTERS = 8  # Kish's number, below which their spread says too little
LARGEST_SHARE = 0.5  # of Kish's number of prompts in the votes, if prompts repeat


def cluster_codes(votes: Votes, cluster: str) -> Ints:
    """Return the codes 0, 1, ... of the clusters that voted, (rows,).

    Rows whose annotator or prompt nobody knows stand alone.
    """
    if cluster == "annotator":
        votes.require_annotators()
    codes = np.unique(votes.level_or_row(cluster), return_inverse=True)[1]
    if codes.max() == 0:
        raise ModelError(
            f"All votes have the same {cluster}, and a single cluster has no spread.",
            Use(interval="sandwich"),
        )
    return codes


def usual_cluster(votes: Votes) -> str:
    """Return what votes are clustered by if nothing is named."""
    if PROMPT in votes.slices:
        return PROMPT
    if votes.n_annotators:
        return "annotator"
    raise ModelError(
        (
            "Clustered intervals need clusters, and the votes carry neither prompts nor "
            "annotators.",
            (" Name their column with ", Use("prompt"), "."),
            (" Or use ", Use(interval="sandwich"), "."),
        )
    )


def repeating_prompts(fit: Fit) -> float | None:
    """Return Kish's number of prompts, or None if prompts are unknown or hardly repeat."""
    votes = fitted_votes(fit)
    if PROMPT not in votes.slices:
        return None
    n_prompts = kish_of_prompts(votes)
    return n_prompts if n_prompts <= LARGEST_SHARE * votes.counts.sum() else None


def kish_of_prompts(votes: Votes) -> float:
    """Return Kish's number of prompts; a vote without one has one of its own."""
    return kish_of(votes, votes.level_or_row(PROMPT))


def kish_of(votes: Votes, codes: Ints) -> float:
    """Return Kish's number of clusters, given the cluster of each row."""
    return kish(np.bincount(codes, votes.counts.sum(axis=1)))


def prompt_clusters(fit: Fit, votes: Votes) -> Ints | None:
    """Return the prompts of rows as clusters, (rows,); None where too few repeat.

    Parameters
    ----------
    fit : Fit
    votes : Votes
        Rows of its votes.
    """
    if (repeating_prompts(fit) or 0.0) < FEWEST_CLUSTERS:
        return None
    return cluster_codes(votes, PROMPT)


def kish_by_competitor(votes: Votes, codes: Ints) -> Floats:
    """Return Kish's number of clusters among the votes on each competitor."""
    cast = votes.counts.sum(axis=1)
    entries = (np.tile(codes, 2), np.concatenate([votes.i, votes.j]))
    shape = (int(codes.max()) + 1, votes.n_competitors)
    table = csr_array((np.tile(cast, 2), entries), shape=shape)
    squares = (table**2).sum(axis=0)
    return np.asarray(table.sum(axis=0)) ** 2 / np.maximum(squares, TINY)


def moves_of(fit: Fit, estimate: Estimate, votes: Votes, codes: Ints) -> Floats:
    """Return how far clusters of votes move numbers, (clusters, m).

    Parameters
    ----------
    fit : Fit
    estimate : Estimate
        Numbers of this fit.
    votes : Votes
        Those that were fitted; or all of the fit, if every competitor has an estimate.
    codes : ndarray of int, shape (rows,)
        Codes 0, 1, ... of the clusters.
    """
    scores = cluster_scores(fit.posterior, votes, fit.model, codes)
    with threads_for(len(estimate.value)):
        return estimate.moves(scores)
