"""Every vote under every draw: its log-density, and what it might have been."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from bayes_arena.arrays import Array, Floats, Ints
from bayes_arena.fits.result import Fit, outcome_counts, seen_votes
from bayes_arena.inference.predictive import NewRows, rows_of
from bayes_arena.model.design import Design
from bayes_arena.model.likelihood import outcome_probabilities
from bayes_arena.model.objective import row_coordinates
from bayes_arena.votes.votes import Votes


@dataclass(frozen=True, eq=False)
class SingleVotes:
    """The votes that a model sees, one by one.

    ``rows`` is their design, one row for each kind of vote.  ``row`` and ``outcome``
    (votes,) say which row each vote is in, and how it ended.
    """

    votes: Votes
    rows: NewRows
    row: Ints
    outcome: Ints


def single_votes(fit: Fit) -> SingleVotes:
    """Return the fitted votes one by one, in the order of their rows."""
    votes = replace(seen_votes(fit), counts=outcome_counts(fit))
    row, outcome = votes.one_by_one()
    return SingleVotes(votes, rows_of(fit.posterior.design, votes), row, outcome)


def log_densities(single: SingleVotes, vectors: Floats) -> Floats:
    """Return the log-density of each vote under each draw, (draws, votes)."""
    values = np.empty((len(vectors), len(single.row)))
    for draw, x in enumerate(vectors):
        values[draw] = row_log_densities(single.rows, x)[single.row, single.outcome]
    return values


def replicated(single: SingleVotes, vectors: Floats, seed: int) -> Array:
    """Draw how each vote ends under each draw of the parameters, (draws, votes).

    With ties as half wins, their likelihood is normalised over win, loss and tie; where
    no vote is a tie, over win and loss.
    """
    rng = np.random.default_rng(seed)
    n_outcomes = max(int(single.outcome.max(initial=0)) + 1, 2)
    outcomes = np.empty((len(vectors), len(single.row)), np.int8)
    for draw, x in enumerate(vectors):
        p = np.exp(row_log_densities(single.rows, x)[:, :n_outcomes])
        p /= p.sum(axis=1, keepdims=True)
        # A uniform number exceeds as many cumulative probabilities as the outcome's code.
        cumulative = np.cumsum(p, axis=1)[single.row, :-1]
        uniform = rng.random((len(single.row), 1))
        outcomes[draw] = (uniform > cumulative).sum(axis=1)
    return outcomes


def row_log_densities(rows: NewRows, x: Floats) -> Floats:
    """Return the log-densities of a vote in each row at x, (rows, outcomes).

    With ties as half wins that of a tie is the mean of those of a win and a loss.
    """
    log_p = design_log_densities(rows.design, x)
    return np.asarray(log_p[np.argsort(rows.order)])


def design_log_densities(design: Design, x: Floats) -> Floats:
    """Return the log-densities in the order of the design, (rows, outcomes)."""
    z = row_coordinates(design, x)
    _, A = outcome_probabilities(design.phi, z)
    log_p = (design.phi @ z - A).T
    if not design.outcomes.has_tie:
        log_p = np.column_stack([log_p, log_p.mean(axis=1)])
    return log_p
