"""The board: Elo scores on the scale of the average vote, with their covariance.

The board has the Bradley-Terry strengths b that expect the same scores, each pair of
competitors weighing the same, as the average vote F does of the strengths r:

    sum_j P(b_i - b_j) = sum_j F(r_i - r_j),    P(x) = 1 / (1 + exp(-x)).

For Bradley-Terry itself b is r; so the boards of all models are on one scale.  With L
the Laplacian matrix of the weights P (1 - P), the derivatives J of b are the
pseudoinverse of L times those of the right-hand side.  The delta method gives the
covariance J S J'.  The right-hand side depends on the annotators by the profiles of their
types only, so J has columns for shared parameters, and for local ones few rows times a
sparse matrix; nothing of the size of parameters x competitors is formed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve as solve_linear
from scipy.sparse import bsr_array, csr_array
from scipy.special import expit

from bayes_arena.arrays import Array, Floats
from bayes_arena.inference.average_vote import (
    NO_UNCERTAINTY,
    AnnotatorTypes,
    ScoreCurve,
    annotator_types,
    profile_jacobian,
    score_curve,
    types_at,
)
from bayes_arena.inference.posterior import Posterior
from bayes_arena.model import constants
from bayes_arena.model.arrow import invert_definite, stacked
from bayes_arena.model.design import Design


@dataclass(frozen=True)
class Influence:
    """The covariance of all parameters with the board, S J', in factors.

    ``shared`` (w, competitors) are the rows of shared parameters and multipliers.  Those
    of local parameters are R times ``shared`` plus ``local`` (local, types) times
    ``types`` (types, competitors).
    """

    regression: Floats
    shared: Floats
    local: csr_array
    types: Floats

    def moves(self, scores: csr_array) -> Floats:
        """Return how far scores move the board, (clusters, competitors).

        Parameters
        ----------
        scores : csr_array, shape (clusters, parameters)
            Gradients of the loss of clusters of votes.
        """
        p = scores.shape[1] - len(self.regression)
        by_local = scores[:, p:]
        onto_shared = by_local @ self.regression
        onto_shared[:, :p] += scores[:, :p].toarray()
        return np.asarray(
            onto_shared @ self.shared + by_local @ self.local @ self.types
        )


@dataclass(frozen=True)
class Board:
    """Strengths on the scale of the average vote, in logits, and their covariance.

    ``strength`` is (competitors,) and ``covariance`` (competitors, competitors).
    """

    strength: Floats
    covariance: Floats
    influence: Influence | None = None

    @property
    def elo(self) -> Floats:
        """Elo scores, (competitors,)."""
        return constants.ELO_CENTRE + constants.ELO_PER_LOGIT * self.strength

    @property
    def sd(self) -> Floats:
        """Standard deviations of the Elo scores, (competitors,)."""
        variances = np.maximum(np.diag(self.covariance), 0.0)
        return constants.ELO_PER_LOGIT * np.sqrt(variances)


@dataclass(frozen=True)
class LinearBoard:
    """The board's strengths, (competitors,), and their derivatives.

    ``by_strength`` (competitors, competitors) are those in the strengths r, and
    ``by_types`` (competitors, C T) those in the profiles of the types.
    """

    strength: Floats
    by_strength: Floats
    by_types: Floats


def board_of(posterior: Posterior) -> Board:
    """Return the board of all annotators who voted."""
    design, covariance = posterior.design, posterior.covariance
    types = annotator_types(posterior)
    linear = linear_board(design, types, posterior.mean_of("strength"))
    p = design.layout.n_shared
    by_types = linear.by_types
    jacobian = by_types @ types.jacobian[:, :p]
    strengths = design.indices(design.block("strength"))
    jacobian[:, strengths] += linear.by_strength

    # S J' = [V a'; R V a' + D^-1 J_l'], where a = J_s + J_l R and J_l is sparse.
    local_types = types.jacobian[:, p:]
    R = stacked(covariance.regression)
    a = by_types @ (local_types @ R)
    a[:, :p] += jacobian
    shared = covariance.shared @ a.T
    local = block_diagonal(covariance.conditional) @ local_types.T
    spread = a @ shared + by_types @ (local_types @ local) @ by_types.T
    influence = Influence(R, shared, local, by_types.T)
    return Board(linear.strength, spread, influence)


def linear_board(design: Design, types: AnnotatorTypes, r: Floats) -> LinearBoard:
    """Return the board of strengths r and types of annotators, with its derivatives."""
    totals, to_strength, to_types = total_scores(tabulated_curve(design, types, r), r)
    strength, weights = bradley_terry_strengths(totals, r)
    inverse = pseudoinverse(weights)
    return LinearBoard(strength, inverse @ to_strength, inverse @ to_types)


def board_strengths(design: Design, draws: Floats) -> Floats:
    """Return the board's strengths at draws of all parameters, (draws, competitors).

    Parameters
    ----------
    design : Design
    draws : ndarray, shape (draws, parameters)
    """
    jacobian = profile_jacobian(design, max(design.votes.n_annotators, 1))
    strengths = design.indices(design.block("strength"))
    boards = np.empty((len(draws), len(strengths)))
    start = None
    for row, x in enumerate(draws):
        types = types_at(design, x, jacobian, NO_UNCERTAINTY)
        r = x[strengths]
        totals, _, _ = total_scores(tabulated_curve(design, types, r), r)
        start, _ = bradley_terry_strengths(totals, start)
        boards[row] = start
    return boards


def tabulated_curve(design: Design, types: AnnotatorTypes, r: Floats) -> ScoreCurve:
    """Return the average vote on a grid of leads that covers all pairs."""
    largest = max(float(np.ptp(r)), constants.TINY)
    grid = np.linspace(-largest, largest, constants.CURVE_POINTS)
    return score_curve(design, types, grid)


def total_scores(curve: ScoreCurve, r: Floats) -> tuple[Floats, Floats, Floats]:
    """Return the score of each competitor against all others, and its derivatives.

    Returns
    -------
    totals : ndarray, shape (competitors,)
    to_strength : ndarray, shape (competitors, competitors)
        Derivatives in the strengths: a competitor's own moves all its pairs, and each
        other one's only the pair with it.
    to_types : ndarray, shape (competitors, C T)
        Derivatives in the profiles of the types.
    """
    n = len(r)
    totals = np.empty(n)
    to_strength = np.empty((n, n))
    to_types = np.empty((n, curve.profile_gradient[:, :, 0].size))
    for i in range(n):
        pairs = curve.at(r[i] - r)
        totals[i] = pairs.score.sum() - pairs.score[i]
        slope = pairs.slope
        slope[i] = 0.0
        to_strength[i] = -slope
        to_strength[i, i] = slope.sum()
        to_types[i] = pairs.profile_gradient.sum(axis=-1).ravel()
    return totals, to_strength, to_types


def bradley_terry_strengths(
    totals: Floats, start: Floats | None = None
) -> tuple[Floats, Floats]:
    """Return the strengths that expect some total scores, and the Laplacian of the weights.

    Parameters
    ----------
    totals : ndarray, shape (competitors,)
        Expected score of each competitor against all others.
    start : ndarray, shape (competitors,), optional
        By default 0.
    """
    n = len(totals)
    strength = np.zeros(n) if start is None else start
    for _ in range(constants.MAX_PROJECTION_STEPS):
        p = expit(strength[:, None] - strength)
        weight = p * (1 - p)
        np.fill_diagonal(weight, 0.0)
        laplacian = -weight
        np.fill_diagonal(laplacian, weight.sum(axis=1))
        excess = totals - (p.sum(axis=1) - 0.5)
        step = solve_linear(laplacian + 1 / n, excess, assume_a="pos")
        longest = max(np.abs(step).max(), constants.TINY)
        length = min(1.0, constants.LONGEST_PROJECTION_STEP / longest)
        strength = strength + length * step
        if longest < constants.PROJECTION_TOLERANCE:
            break
    return strength - strength.mean(), laplacian


def pseudoinverse(laplacian: Floats) -> Floats:
    """Return the pseudoinverse of a Laplacian, whose null space is the constant vectors."""
    n = len(laplacian)
    return invert_definite(laplacian + 1 / n)[0] - 1 / n


def block_diagonal(blocks: Array) -> csr_array:
    """Return blocks (G, q, q) as a sparse matrix (G q, G q)."""
    n_groups, size, _ = blocks.shape
    index = np.arange(n_groups)
    pointer = np.arange(n_groups + 1)
    shape = (n_groups * size, n_groups * size)
    if size == 0:
        return csr_array(shape)
    return csr_array(bsr_array((blocks, index, pointer), shape=shape))
