"""The spreads of the effects, by Newton's method on their log-density given the votes.

That density, of the logarithms of the spreads, is the evidence times the hyperprior.

The N_b parameters x_b of effect b have the prior Normal(0, s_b), and s_b / scale has a
chi distribution with d degrees.  With expectations over the posterior N(m, S), and with
h_b = 1 if the sum of x_b is held and else 0, the slope of the log-density in ln s_b is

    E|x_b|^2 / s_b^2 - (N_b - h_b) + d - (s_b / scale)^2.

The information is minus the derivative of the slope.  It is that of the complete data,
which is diagonal,

    2 E|x_b|^2 / s_b^2 + 2 (s_b / scale)^2,

less the missing information (Louis, 1982), the covariance of |x_a|^2 / s_a^2 and
|x_b|^2 / s_b^2 over the posterior,

    4 m_a' S_ab m_b / (s_a s_b)^2 + 2 |S_ab|^2 / (s_a s_b)^2.

As ln s_b grows, the prior releases x_b: the mean moves by S times 2 m_b / s_b^2.
"""

from __future__ import annotations

import numpy as np

from bayes_arena.arrays import Floats
from bayes_arena.model.arrow import Covariance
from bayes_arena.model.constants import (
    BOUND_MARGIN,
    LONGEST_LOG_STEP,
    SMALLEST_SPREAD,
    TINY,
)
from bayes_arena.model.design import Block, Design


def spread_step(
    design: Design, x: Floats, covariance: Covariance
) -> tuple[Floats, Floats]:
    """Return a Newton step of the logarithms of the estimated spreads.

    Returns
    -------
    step : ndarray, shape (spreads,)
    response : ndarray, shape (parameters, spreads)
        Derivatives of the posterior mean in the logarithms.
    """
    blocks = estimated_blocks(design)
    if not blocks:
        return np.zeros(0), np.zeros((len(x), 0))
    squares = expected_squares(design, x, covariance)
    slope = np.zeros(len(blocks))
    complete = np.zeros(len(blocks))
    release = np.zeros((len(x), len(blocks)))
    for b, block in enumerate(blocks):
        spread = block.effect.spread
        indices = design.indices(block)
        hyper = (block.sd / spread.scale) ** 2
        n_free = len(indices) - block.effect.zero_sum
        slope[b] = squares[b] - n_free + spread.degrees - hyper
        complete[b] = 2 * squares[b] + 2 * hyper
        release[indices, b] = 2 * x[indices] / block.sd**2
    response = covariance.solve(release)
    missing = release.T @ response + squared_norms(blocks, covariance)
    return uphill_step(blocks, slope, np.diag(complete) - missing), response


def expected_squares(design: Design, x: Floats, covariance: Covariance) -> Floats:
    """Return E|x_b|^2 / s_b^2 for each estimated spread, (spreads,)."""
    squares = x**2 + covariance.variances()
    expected = []
    for block in estimated_blocks(design):
        expected.append(np.sum(squares[design.indices(block)]) / block.sd**2)
    return np.array(expected)


def squared_norms(blocks: list[Block], covariance: Covariance) -> Floats:
    """Return 2 |S_ab|^2 / (s_a s_b)^2 for all pairs of blocks, (blocks, blocks).

    The covariances between groups, and of local with shared parameters, count as zero.
    That changes the path of the steps, but not their end.
    """
    norms = np.zeros((len(blocks), len(blocks)))
    for a, first in enumerate(blocks):
        for b, second in enumerate(blocks):
            if first.is_local == second.is_local:
                square = sum(
                    np.sum(matrix[..., first.columns, second.columns] ** 2)
                    for matrix in matrices(covariance, is_local=first.is_local)
                )
                norms[a, b] = 2 * square / (first.sd * second.sd) ** 2
    return norms


def matrices(covariance: Covariance, *, is_local: bool) -> list[Floats]:
    """Return the covariances of local parameters, (groups, q, q) each, or of shared ones."""
    if not is_local:
        return [covariance.shared]
    stacks = covariance.layout.stacks()
    return [stack.blocks(covariance.conditional) for stack in stacks]


def uphill_step(blocks: list[Block], slope: Floats, information: Floats) -> Floats:
    """Return a step that leads uphill, even where the information is indefinite.

    A spread at its lower bound that would fall further stays there.
    """
    sds = np.array([block.sd for block in blocks])
    is_free = (sds > BOUND_MARGIN * SMALLEST_SPREAD) | (slope > 0)
    free = np.flatnonzero(is_free)
    values, vectors = np.linalg.eigh(information[np.ix_(free, free)])
    values = np.maximum(np.abs(values), 1.0)
    step = np.zeros(len(slope))
    step[free] = vectors @ ((vectors.T @ slope[free]) / values)
    longest = np.abs(step).max(initial=TINY)
    return step * min(1.0, LONGEST_LOG_STEP / longest)


def move_spreads(design: Design, log_step: Floats) -> Design:
    """Return the design, its estimated spreads moved by a step of the logarithms."""
    spreads = {}
    for block, change in zip(estimated_blocks(design), log_step, strict=True):
        sd = block.sd * float(np.exp(change))
        spreads[block.effect.name] = max(sd, SMALLEST_SPREAD)
    return design.with_spreads(spreads)


def log_prior(design: Design) -> float:
    """Return the logarithm of the priors' densities that depends on the spreads.

    It is that of the parameters' normal densities without their exponents, and the
    hyperpriors' density of ln s.
    """
    total = 0.0
    for block in estimated_blocks(design):
        spread = block.effect.spread
        n_free = len(design.indices(block)) - block.effect.zero_sum
        total += (spread.degrees - n_free) * float(np.log(block.sd))
        total -= (block.sd / spread.scale) ** 2 / 2
    return total


def estimated_blocks(design: Design) -> list[Block]:
    """Return the blocks whose spread is estimated."""
    return [block for block in design.blocks if block.is_estimated]
