"""Sandwich covariances: votes that depend on each other, or a model that is off.

A cluster of votes has a score, the gradient of its loss in all parameters, which moves
a board, or other numbers (estimate.py).  The covariance is the sum of the squares of
these moves (Liang & Zeger, 1986), times G / (G - 1) for G clusters (CR1).  Where each
vote is a cluster of its own this is White's covariance (1982), without the factor.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.sparse import csr_array

from bayes_arena.arrays import Floats, Ints
from bayes_arena.inference.estimate import Estimate
from bayes_arena.inference.posterior import Posterior
from bayes_arena.model.build import design_of_rows
from bayes_arena.model.design import Chunk, Design
from bayes_arena.model.likelihood import loss_at
from bayes_arena.model.objective import predictors
from bayes_arena.model.priors import FLAT
from bayes_arena.model.spec import Model, visible_votes
from bayes_arena.threads import threads_for
from bayes_arena.votes.votes import Votes

CLUSTER = ""  # name of the slice in which votes carry their clusters; no file has it


def clustered_covariance(moves: Floats) -> Floats:
    """Return the covariance of numbers from their moves by clusters (CR1).

    Parameters
    ----------
    moves : ndarray, shape (clusters, m)
    """
    n_clusters = len(moves)
    with threads_for(moves.shape[1]):
        return n_clusters / (n_clusters - 1) * moves.T @ moves


def cluster_scores(
    posterior: Posterior, votes: Votes, model: Model, cluster: Ints
) -> csr_array:
    """Return the scores of clusters of votes, (clusters, parameters).

    Parameters
    ----------
    posterior : Posterior
    votes : Votes
        All rows of the votes that were fitted.
    model : Model
        The model that was fitted.
    cluster : ndarray of int, shape (rows,)
        Codes 0, 1, ... of the clusters.
    """
    rows = with_clusters(votes, cluster)
    design = design_of_rows(visible_votes(model, rows), model, FLAT)
    sorted_cluster = clusters_of(design.votes)
    n_clusters = int(sorted_cluster.max()) + 1
    total = csr_array((n_clusters, design.layout.size))
    for chunk in design.chunks():
        number = np.arange(len(chunk.n_votes))
        entries = (sorted_cluster[chunk.rows], number)
        shape = (n_clusters, len(number))
        members = csr_array((np.ones(len(number)), entries), shape=shape)
        total = total + members @ row_scores(posterior, design, chunk)
    return total


def with_clusters(votes: Votes, cluster: Ints) -> Votes:
    """Return votes that carry their clusters as a slice.

    A design drops and sorts rows; a slice travels with them.
    """
    return replace(votes, slices={**votes.slices, CLUSTER: cluster})


def clusters_of(votes: Votes) -> Ints:
    """Return the clusters that votes carry, (rows,)."""
    return votes.slices[CLUSTER]


def sandwich_covariance(
    posterior: Posterior, estimate: Estimate, votes: Votes, model: Model
) -> Floats:
    """Return the covariance of numbers if all votes are independent.

    Votes of a row with the same outcome move the numbers alike: m votes that move them by
    x together add x x' / m.

    Parameters
    ----------
    posterior : Posterior
    estimate : Estimate
        Of the same posterior.
    votes, model
        As for :func:`cluster_scores`.
    """
    rows = split_by_outcome(visible_votes(model, votes))
    design = design_of_rows(rows, model, FLAT)
    total = np.zeros_like(estimate.covariance)
    with threads_for(len(total)):
        for chunk in design.chunks():
            moves = estimate.moves(row_scores(posterior, design, chunk))
            total += (moves / chunk.n_votes[:, None]).T @ moves
    return total


def row_scores(posterior: Posterior, design: Design, chunk: Chunk) -> csr_array:
    """Return the gradients of the loss of the rows in a chunk, (rows, parameters)."""
    u = predictors(chunk, posterior.mean)
    loss = loss_at(u, chunk.n_votes, chunk.statistic, design.phi)
    number = np.arange(len(chunk.n_votes))
    values, columns = [], []
    for term in chunk.terms:
        values.append(term.coefficient * loss.gradient[term.predictor])
        columns.append(chunk.index(term))
    rows = np.tile(number, len(columns))
    entries = (rows, np.concatenate(columns))
    shape = (len(number), design.layout.size)
    return csr_array((np.concatenate(values), entries), shape=shape)


def split_by_outcome(votes: Votes) -> Votes:
    """Return rows with votes of one outcome each."""
    row, outcome = np.nonzero(votes.counts)
    counts = np.zeros((len(row), votes.counts.shape[1]))
    counts[np.arange(len(row)), outcome] = votes.counts[row, outcome]
    return replace(votes.take(row), counts=counts)
