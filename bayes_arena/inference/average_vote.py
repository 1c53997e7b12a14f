"""The average vote: the score that the annotators are expected to give on a lead.

On a lead x, the first competitor is expected to score (win 1, tie 1/2, loss 0)

    F(x) = sum_k w_k E[score | z_0 = theta_k (x + noise), z_c = offset_kc + noise],

where w_k is the annotator's share of the votes.  The expectation is over the posterior
of theta_k and of the offsets, and over the effects of a new slice, the noise.  Neither
side has an advantage, and the two answers have the same features.

Theta and the offsets, C numbers, are an annotator's *profile*.  The annotators are
sorted by theta into types of about as many votes each, with Gaussian profiles.  The
last axis of arrays is the annotators, the types or the leads.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.sparse import csr_array, eye_array, kron

from bayes_arena.arrays import Array, Floats, Ints
from bayes_arena.inference.posterior import Posterior
from bayes_arena.model.constants import MAX_TYPES, SLICE_NODES, TINY
from bayes_arena.model.design import Block, Design
from bayes_arena.model.effects import ETA, LEAD, THETA, Outcomes
from bayes_arena.model.likelihood import outcome_probabilities
from bayes_arena.model.quadrature import (
    gauss_hermite,
    nodes_and_weights,
    partial_cholesky,
)

NO_UNCERTAINTY: Floats = np.zeros((1, 1, 1))  # of profiles: broadcasts to (C, C, n)


@dataclass(frozen=True)
class AnnotatorTypes:
    """T types of annotators: shares of the votes (T,), and moments of their profiles.

    ``mean`` is (C, T), ``covariance`` (C, C, T), and ``jacobian`` (C T, parameters) has
    the derivatives of the means in the parameters.
    """

    share: Floats
    mean: Floats
    covariance: Floats
    jacobian: csr_array


@dataclass(frozen=True)
class ScoreCurve:
    """The average vote F at some leads.

    ``score`` and its derivative ``slope`` are (leads,).  ``profile_gradient`` has the
    derivatives in the mean profiles of the types, (C, T, leads).
    """

    leads: Floats
    score: Floats
    slope: Floats
    profile_gradient: Floats

    @cached_property
    def slope_derivative(self) -> Floats:
        """The derivative of the slope, (leads,)."""
        return np.gradient(self.slope, self.leads)

    @cached_property
    def profile_derivative(self) -> Floats:
        """The derivative of the profile gradient in the lead, (C, T, leads)."""
        return np.gradient(self.profile_gradient, self.leads, axis=-1)

    def at(self, leads: Floats) -> ScoreCurve:
        """Return the curve at other leads; its own have to be evenly spaced."""
        grid, profile = self.leads, self.profile_gradient
        return ScoreCurve(
            leads,
            interpolate(leads, grid, self.score, self.slope),
            interpolate(leads, grid, self.slope, self.slope_derivative),
            interpolate(leads, grid, profile, self.profile_derivative),
        )


def interpolate(x: Floats, grid: Floats, values: Floats, slopes: Floats) -> Floats:
    """Return a function at x, (..., *x.shape), by cubic Hermite interpolation.

    Between two points of distance w, with values f and slopes m, it is at the share t

        (1 + 2t) (1 - t)^2 f_0 + t^2 (3 - 2t) f_1 + w t (1 - t)^2 m_0 - w t^2 (1 - t) m_1,

    as SciPy's CubicHermiteSpline, whose module takes half a second to import.

    Parameters
    ----------
    x : ndarray
    grid : ndarray, shape (points,)
        Evenly spaced.
    values, slopes : ndarray, shape (..., points)
        The function and its derivative on the grid.
    """
    width = grid[1] - grid[0]
    interval = np.clip(((x - grid[0]) / width).astype(int), 0, len(grid) - 2)
    t = (x - grid[interval]) / width
    rest = 1 - t
    left = (1 + 2 * t) * rest**2 * values[..., interval]
    right = t**2 * (3 - 2 * t) * values[..., interval + 1]
    left_slope = width * t * rest**2 * slopes[..., interval]
    right_slope = width * t**2 * rest * slopes[..., interval + 1]
    return left + right + left_slope - right_slope


def annotator_types(posterior: Posterior) -> AnnotatorTypes:
    """Return the types of the annotators who voted."""
    design = posterior.design
    n = max(design.votes.n_annotators, 1)
    jacobian = profile_jacobian(design, n)
    if posterior.is_mode:
        return types_at(design, posterior.mean, jacobian, NO_UNCERTAINTY)
    covariances = profile_covariances(posterior, n)
    return types_at(design, posterior.mean, jacobian, covariances)


def types_at(
    design: Design, x: Floats, jacobian: csr_array, covariances: Floats
) -> AnnotatorTypes:
    """Return the types at some parameters x.

    Parameters
    ----------
    design : Design
    x : ndarray, shape (parameters,)
    jacobian : csr_array, shape (C n, parameters)
        Derivatives of the profiles.
    covariances : ndarray, shape (C, C, n)
        What is open about each profile; or something that broadcasts to it.
    """
    C = design.phi.shape[1]
    profile = (jacobian @ x).reshape(C, -1)
    profile[ETA] += 1.0  # theta is 1 plus its effects
    n = profile.shape[1]
    votes = np.bincount(design.votes.annotator, design.n_votes, n)

    type_index = bin_by_votes(profile[ETA], votes)
    type_votes = np.bincount(type_index, votes)
    # A sparse matrix (n, T) averages over the annotators of a type, weighted by votes.
    weights = votes / np.maximum(type_votes, TINY)[type_index]
    average = csr_array((weights, (np.arange(n), type_index)))
    mean = profile @ average
    # Profiles of a type differ between annotators, and each of them is uncertain.
    deviation = profile - mean[:, type_index]
    squares = deviation[:, None] * deviation + covariances
    covariance = squares.reshape(C * C, n) @ average
    return AnnotatorTypes(
        share=type_votes / type_votes.sum(),
        mean=mean,
        covariance=covariance.reshape(C, C, -1),
        jacobian=csr_array(kron(eye_array(C), average.T) @ jacobian),
    )


def profile_blocks(design: Design) -> list[tuple[Block, int]]:
    """Return the blocks in a profile and the place of each; theta takes that of eta."""
    blocks = []
    for block in design.blocks:
        predictor = block.effect.predictor
        if predictor not in (ETA, LEAD) and not block.effect.is_by_slice:
            blocks.append((block, ETA if predictor == THETA else predictor))
    return blocks


def profile_jacobian(design: Design, n: int) -> csr_array:
    """Return the derivatives of n profiles in the parameters, (C n, parameters)."""
    C = design.phi.shape[1]
    jacobian = csr_array((C * n, design.layout.size))
    for block, c in profile_blocks(design):
        # A common parameter is in all profiles, an annotator's own in one.
        entries = (c * n + np.arange(n), np.broadcast_to(design.indices(block), n))
        jacobian = jacobian + csr_array((np.ones(n), entries), shape=jacobian.shape)
    return jacobian


def profile_covariances(posterior: Posterior, n: int) -> Floats:
    """Return the covariances of n profiles, without common effects, (C, C, n)."""
    design = posterior.design
    C = design.phi.shape[1]
    covariances = np.zeros((C, C, n))
    for a, c in profile_blocks(design):
        for b, d in profile_blocks(design):
            if a.effect.by == b.effect.by == "annotator":
                covariances[c, d] = posterior.level_covariances(a, b)
    return covariances


def bin_by_votes(theta: Floats, votes: Array) -> Ints:
    """Return the bins of annotators, sorted by theta and of about as many votes.

    A few annotators have a bin each.
    """
    if len(votes) <= MAX_TYPES:
        return np.arange(len(votes))
    order = np.argsort(theta, kind="stable")
    middle = (np.cumsum(votes[order]) - votes[order] / 2) / votes.sum()
    bins = np.empty(len(votes), np.intp)
    bins[order] = np.unique((middle * MAX_TYPES).astype(int), return_inverse=True)[1]
    return bins


def score_curve(design: Design, types: AnnotatorTypes, leads: Floats) -> ScoreCurve:
    """Return the average vote at some leads, (leads,)."""
    C, n_types = types.mean.shape
    shape = (C, n_types, len(leads))
    score = np.zeros(len(leads))
    slope = np.zeros(len(leads))
    profile_gradient = np.zeros(shape)
    for profile, lead_noise, eta_noise, weight in quadrature_points(design, types):
        lead = leads + lead_noise
        z = np.repeat(profile, len(leads), axis=1).reshape(shape)
        z[ETA] = z[ETA] * lead + eta_noise
        expected, gradient = expected_score(design.outcomes, z.reshape(C, -1))
        gradient = gradient.reshape(shape)
        share = weight * types.share
        score += share @ expected.reshape(n_types, -1)
        slope += (share * profile[ETA]) @ gradient[ETA]
        gradient[ETA] *= lead  # from z_0 to theta
        profile_gradient += share[:, None] * gradient
    return ScoreCurve(leads, score, slope, profile_gradient)


def expected_score(outcomes: Outcomes, z: Floats) -> tuple[Floats, Floats]:
    """Return the expected score of the first competitor, and its gradient in z.

    The gradient, (C, rows), is the covariance of an outcome's points with its phi.
    """
    points, phi = outcomes.points, outcomes.phi
    p, _ = outcome_probabilities(phi, z)
    score = points @ p
    return score, (points * phi.T) @ p - score * (phi.T @ p)


def quadrature_points(
    design: Design, types: AnnotatorTypes
) -> Iterator[tuple[Floats, float, float, float]]:
    """Yield profiles of all types (C, T), noise of the lead and of eta, and weights."""
    C = design.phi.shape[1]
    noise = slice_noise(design)
    # Noise of the other coordinates is like uncertainty of the profiles.
    profile_noise = np.diag(np.append(0.0, noise[1:C]))
    root, _ = partial_cholesky(types.covariance + profile_noise[:, :, None], C)
    # Noise of the lead or of eta has nodes of its own.
    n_nodes = SLICE_NODES if noise[LEAD] + noise[ETA] > 0 else 1
    lead_sd, eta_sd = np.sqrt(noise[[LEAD, ETA]])
    for node, weight in zip(*nodes_and_weights(C), strict=True):
        profile = types.mean + np.tensordot(node, root, 1)
        for shift, shift_weight in zip(*gauss_hermite(n_nodes), strict=True):
            yield profile, lead_sd * shift, eta_sd * shift, weight * shift_weight


def slice_noise(design: Design) -> Floats:
    """Return the variances that a new slice adds to the predictors, (C + 2,)."""
    noise = np.zeros(design.phi.shape[1] + 2)
    for block in design.blocks:
        if block.effect.is_by_slice:
            n_parameters = 2 if block.effect.per_competitor else 1
            noise[block.effect.predictor] += n_parameters * block.sd**2
    return noise
