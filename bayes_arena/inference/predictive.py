"""The probabilities of the outcomes of votes, averaged over a posterior.

A vote that may be new has the predictors u = (offsets, lead, theta) of the design.  As
far as the fit knows their parameters, u ~ N(m, S) under the Gaussian.  An annotator, or
a level of a slice, that the fit does not know is drawn from the prior: its effects have
mean zero, and the variance of their spread is added to S.  The coordinates z get their
exact mean and covariance (see likelihood.py), and

    P(o) = E[ exp(phi_o . z - A(z)) ]

is a sum over nodes for Gaussian z.  A posterior mode, and every draw of NUTS, is a
point without S; what is drawn from the prior keeps its variance.  A flat prior has
nothing to draw from: under it an unknown annotator votes like the average one.

With ties as half wins a tie has no probability.  Where there are ties, the likelihood
P^W (1 - P)^(1 - W), normalised over W = 0, 1/2 and 1, stands for it: Davidson's with
tau = 0.  The expected score remains P.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from bayes_arena.arrays import Floats, Ints
from bayes_arena.errors import ModelError, did_you_mean, listing
from bayes_arena.inference.posterior import Posterior
from bayes_arena.model.build import terms_of
from bayes_arena.model.constants import ROWS_PER_CHUNK, SLICE_NODES
from bayes_arena.model.design import Chunk, Design, Term
from bayes_arena.model.effects import DAVIDSON, Outcomes
from bayes_arena.model.likelihood import (
    coordinates,
    moments_with_coordinates,
    outcome_probabilities,
)
from bayes_arena.model.objective import predictor_covariances, predictors
from bayes_arena.model.quadrature import gauss_hermite, partial_cholesky
from bayes_arena.said import Use
from bayes_arena.votes.votes import TIE, Votes

UNKNOWN = -1  # the code of a name that the fit does not know
MOST_DRAWS = 500  # samples over which a prediction is averaged


@dataclass(frozen=True)
class Prediction:
    """What is expected of a vote in each row.

    ``probabilities`` (rows, outcomes) are in the order of the counts of votes: first
    wins, second wins, tie, and where grades are modelled clear wins of either.
    ``score`` (rows,) is the expected score of the first competitor.
    """

    probabilities: Floats
    score: Floats


@dataclass(frozen=True)
class NewRows:
    """Rows of votes under the design of a fit.

    ``design`` has no counts.  ``order`` (rows,) are the rows as they were given, and
    ``unknown`` (predictors, rows) the variances of what the fit does not know.
    """

    design: Design
    order: Ints
    unknown: Floats


def row_probabilities(
    posterior: Posterior,
    votes: Votes,
    *,
    vectors: Floats | None = None,
    with_ties: bool | None = None,
) -> Prediction:
    """Predict a vote in each row.

    Parameters
    ----------
    posterior : Posterior
    votes : Votes
        Their names are matched with those of the fit; counts are ignored.
    vectors : ndarray, shape (draws, parameters), optional
        Samples of the parameters, over which the prediction is averaged instead.
    with_ties : bool, optional
        Whether a vote can be a tie; by default, whether one of the fitted votes is.

    Raises
    ------
    ModelError
        If the fit does not know a competitor.
    """
    rows = rows_of(posterior.design, votes)
    if with_ties is None:
        with_ties = bool(posterior.design.votes.counts[:, TIE].any())
    probabilities = []
    scores = []
    for chunk in rows.design.chunks():
        if vectors is None:
            p, score = average_over_gaussian(posterior, chunk, rows, with_ties)
        else:
            p, score = average_over(vectors, chunk, rows, with_ties)
        probabilities.append(p)
        scores.append(score)
    back = np.argsort(rows.order)
    return Prediction(np.concatenate(probabilities)[back], np.concatenate(scores)[back])


def average_over_gaussian(
    posterior: Posterior, chunk: Chunk, rows: NewRows, with_ties: bool
) -> tuple[Floats, Floats]:
    """Return probabilities and scores of the rows in a chunk, averaged over a posterior."""
    u = predictors(chunk, posterior.mean)
    S = diagonal(rows.unknown[:, chunk.rows])
    if not posterior.is_mode:
        S = S + predictor_covariances(chunk, posterior.covariance)
    return average_outcomes(u, S, rows.design.outcomes, with_ties)


def average_over(
    vectors: Floats, chunk: Chunk, rows: NewRows, with_ties: bool
) -> tuple[Floats, Floats]:
    """Return probabilities and scores of the rows in a chunk, averaged over samples.

    What the fit does not know is drawn once for each sample.
    """
    # Each chunk has random numbers of its own, the same in every call.
    rng = np.random.default_rng(chunk.rows.start)
    sd = np.sqrt(rows.unknown[:, chunk.rows])
    vectors = vectors[:: math.ceil(len(vectors) / MOST_DRAWS)]
    # The sums take the shape of what is added to them: a single zero broadcasts.
    total = np.zeros(1)
    total_score = np.zeros(1)
    for x in vectors:
        u = predictors(chunk, x) + sd * rng.normal(size=sd.shape)
        p, score = outcomes_at(coordinates(u), rows.design.outcomes, with_ties)
        total = total + p
        total_score = total_score + score
    return total / len(vectors), total_score / len(vectors)


def average_outcomes(
    u: Floats, S: Floats, outcomes: Outcomes, with_ties: bool
) -> tuple[Floats, Floats]:
    """Return probabilities (rows, outcomes) and scores (rows,), for predictors ~ N(u, S)."""
    if not S.any():
        return outcomes_at(coordinates(u), outcomes, with_ties)
    C = len(u) - 2
    mean, K = moments_with_coordinates(u, S)
    root, _ = partial_cholesky(K[:C, :C], C)
    node, weight = gauss_hermite(SLICE_NODES)
    # The sums take the shape of what is added to them: a single zero broadcasts.
    average = np.zeros(1)
    average_score = np.zeros(1)
    for index in product(range(SLICE_NODES), repeat=C):
        z = mean[:C] + np.tensordot(node[list(index)], root, 1)
        w = weight[list(index)].prod()
        p, score = outcomes_at(z, outcomes, with_ties)
        average = average + w * p
        average_score = average_score + w * score
    return average, average_score


def outcomes_at(
    z: Floats, outcomes: Outcomes, with_ties: bool
) -> tuple[Floats, Floats]:
    """Return probabilities (rows, outcomes) and scores (rows,) at coordinates z.

    Half wins have no probability of a tie.  Where a vote can be one (``with_ties``),
    Davidson's probabilities with tau = 0 stand for them; else that of a tie is 0.
    """
    p, _ = outcome_probabilities(outcomes.phi, z)
    score = outcomes.points @ p
    if not outcomes.has_tie and with_ties:
        p, _ = outcome_probabilities(DAVIDSON.phi, np.vstack([z, np.zeros_like(z)]))
    elif not outcomes.has_tie:
        p = np.vstack([p, np.zeros_like(z)])
    return p.T, score


def diagonal(variances: Floats) -> Floats:
    """Return diagonal covariances of the predictors, (predictors, predictors, rows)."""
    return np.eye(len(variances))[:, :, None] * variances


def rows_of(design: Design, votes: Votes) -> NewRows:
    """Return rows of votes under the design of a fit."""
    votes = with_codes_of(design.votes, votes)
    eliminated = [block.effect.by for block in design.blocks if block.is_local]
    group = group_of(design, votes, eliminated[0] if eliminated else None)
    # Chunks of a design are runs of rows, so the rows of a group have to stand together.
    order = np.argsort(group, kind="stable")
    votes = votes.take(order)
    group = group[order]
    terms, unknown = new_terms(design, votes)
    layout = design.layout
    if not eliminated:
        n_groups = int(group.max(initial=0)) + 1
        layout = replace(layout, n_local=np.zeros(n_groups, np.intp))
    empty = replace(
        design,
        votes=votes,
        n_votes=np.zeros(len(votes)),
        statistic=np.zeros((design.phi.shape[1], len(votes))),
        group=group,
        terms=terms,
        layout=layout,
    )
    return NewRows(empty, order, unknown)


def new_terms(design: Design, votes: Votes) -> tuple[tuple[Term, ...], Floats]:
    """Return the terms of rows, and the variances of what the fit does not know."""
    unknown = np.zeros((design.phi.shape[1] + 2, len(votes)))
    terms = []
    for block in design.blocks:
        # A flat prior has nothing to draw from: what is unknown is then the average.
        variance = block.sd**2 if np.isfinite(block.sd) else 0.0
        for term, is_unknown in terms_of(block, votes):
            terms.append(term)
            unknown[term.predictor, is_unknown] += variance
    return tuple(terms), unknown


def group_of(design: Design, votes: Votes, eliminated: str | None) -> Ints:
    """Return the group of each row; one without parameters may be in any."""
    if eliminated is None:
        return np.arange(len(votes)) // ROWS_PER_CHUNK
    return design.group_of_level[np.maximum(votes.level(eliminated), 0)]


def with_codes_of(fitted: Votes, votes: Votes) -> Votes:
    """Return votes with the codes of the fit; unknown annotators and levels have -1."""
    competitor = codes_in(fitted.competitors, votes.competitors)
    # Only competitors of some row have to be known.
    present = np.unique(np.concatenate([votes.i, votes.j]))
    missing = [votes.competitors[c] for c in present if competitor[c] == UNKNOWN]
    if missing:
        hint = did_you_mean(missing[0], fitted.competitors)
        raise ModelError(
            (
                f"The fit has no estimate for {listing(map(repr, missing))}. Fit votes "
                "that have them",
                (", under ", Use(prior="default")),
                f".{hint}",
            )
        )
    annotator = np.full(len(votes), UNKNOWN)
    if votes.annotators:
        annotator = codes_in(fitted.annotators, votes.annotators)[votes.annotator]
    slices: dict[str, Ints] = {}
    for by, names in fitted.levels.items():
        slices[by] = np.full(len(votes), UNKNOWN)
        if by in votes.slices:
            slices[by] = codes_in(names, votes.levels[by])[votes.slices[by]]
    return replace(
        votes,
        competitors=fitted.competitors,
        annotators=fitted.annotators,
        i=competitor[votes.i],
        j=competitor[votes.j],
        annotator=annotator,
        slices=slices,
        levels=fitted.levels,
    )


def codes_in(known: Sequence[str], names: Sequence[str]) -> Ints:
    """Return the codes of names among known ones, (names + 1,).

    The last is for a name that is missing, whose code is -1.
    """
    code = {name: number for number, name in enumerate(known)}
    return np.array([*(code.get(name, UNKNOWN) for name in names), UNKNOWN], np.intp)
