"""The board: Elo scores on the scale of the average vote, with their covariance.

The board has the Bradley-Terry strengths b that expect the same scores, each pair of
competitors weighing the same, as the average vote F does of the strengths r:

    sum_j P(b_i - b_j) = sum_j F(r_i - r_j),    P(x) = 1 / (1 + exp(-x)).

For Bradley-Terry itself b is r; so the boards of all models are on one scale.  With L
the Laplacian matrix of the weights P (1 - P), the derivatives J of b are the
pseudoinverse of L times those of the right-hand side, which depends on the strengths, and
on the annotators by the profiles of their types only.  The delta method gives the
covariance (estimate.py).
"""

from __future__ import annotations

from functools import partial

import numpy as np
from scipy.linalg import solve as solve_linear
from scipy.sparse import csr_array, vstack
from scipy.special import expit

from bayes_arena.arrays import Floats
from bayes_arena.inference.average_vote import (
    NO_UNCERTAINTY,
    AnnotatorTypes,
    ScoreCurve,
    annotator_types,
    profile_jacobian,
    score_curve,
    types_at,
)
from bayes_arena.inference.estimate import Estimate, Linear, delta_method
from bayes_arena.inference.posterior import Posterior
from bayes_arena.model import constants
from bayes_arena.model.design import Design


def board_of(posterior: Posterior) -> Estimate:
    """Return the strengths on the common scale, in logits, by all who voted."""
    design = posterior.design
    linear = linear_board(posterior, design, strength_rows(design))
    return delta_method(posterior, linear, partial(board_strengths, design))


def strength_rows(design: Design) -> csr_array:
    """Return the matrix that takes the parameters to the strengths r."""
    index = design.indices(design.block("strength"))
    n = len(index)
    entries = (np.ones(n), (np.arange(n), index))
    return csr_array(entries, shape=(n, design.layout.size))


def linear_board(posterior: Posterior, design: Design, strengths: csr_array) -> Linear:
    """Return the board of some strengths, with its derivatives.

    Parameters
    ----------
    posterior : Posterior
    design : Design
        That of the posterior, or one in which a slice is no noise.
    strengths : csr_array, shape (competitors, parameters)
        What the strengths are of the parameters.
    """
    types = annotator_types(posterior)
    r = strengths @ posterior.mean
    totals, by_strength, by_types = total_scores(tabulated_curve(design, types, r), r)
    board, laplacian = bradley_terry_strengths(totals, r)
    weights = solve_laplacian(laplacian, np.hstack([by_types, by_strength]))
    return Linear(board, weights, csr_array(vstack([types.jacobian, strengths])))


def board_strengths(
    design: Design, draws: Floats, strengths: csr_array | None = None
) -> Floats:
    """Return the board's strengths at draws of all parameters, (draws, competitors).

    Parameters
    ----------
    design : Design
    draws : ndarray, shape (draws, parameters)
    strengths : csr_array, shape (competitors, parameters), optional
        What the strengths are of the parameters; by default the strengths r themselves.
    """
    if strengths is None:
        strengths = strength_rows(design)
    jacobian = profile_jacobian(design, max(design.votes.n_annotators, 1))
    boards = np.empty((len(draws), strengths.shape[0]))
    for row, x in enumerate(draws):
        types = types_at(design, x, jacobian, NO_UNCERTAINTY)
        r = strengths @ x
        totals, _, _ = total_scores(tabulated_curve(design, types, r), r)
        boards[row], _ = bradley_terry_strengths(totals, r)
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


def solve_laplacian(laplacian: Floats, right: Floats) -> Floats:
    """Return the pseudoinverse of a Laplacian times columns, (competitors, columns).

    Its null space is the constant vectors.
    """
    solved = solve_linear(laplacian + 1 / len(laplacian), right, assume_a="pos")
    return np.asarray(solved - right.mean(axis=0))
