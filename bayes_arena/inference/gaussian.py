"""The Gaussian nearest to the posterior, at estimated spreads.

The Gaussian N(m, S) of least Kullback-Leibler divergence from the posterior solves
(Opper & Archambeau, 2009)

    E[gradient] = 0,    S^-1 = E[Hessian],

where the gradient and the Hessian are those of the negative log-posterior, and the
averages are over N(m, S).  A sweep sets S to the inverse of the average Hessian, and
moves m and the spreads by a joint Newton step.  It ignores that S depends on m, so it
may overshoot.  Then the sweeps are damped: the step, and what the votes add to S^-1,
go a part of the way (Khan & Lin, 2017, AISTATS 20).

The loss of the Gaussian is its free energy,

    F = E[-log posterior] - log det(S) / 2 - log p(spreads).
"""

from __future__ import annotations

from contextlib import suppress

import numpy as np

from bayes_arena.arrays import Floats
from bayes_arena.inference.mode import posterior_mode
from bayes_arena.inference.posterior import Posterior
from bayes_arena.inference.spreads import log_prior, move_spreads, spread_step
from bayes_arena.model import constants
from bayes_arena.model.arrow import (
    Arrow,
    Covariance,
    ParameterLayout,
    blockwise,
    invert,
)
from bayes_arena.model.design import Design
from bayes_arena.model.objective import expand


def nearest_gaussian(design: Design, start: Floats | None = None) -> Posterior:
    """Return the nearest Gaussian, at the spreads that maximise the evidence.

    Parameters
    ----------
    design : Design
        Its spreads are where the search starts.
    start : ndarray, shape (parameters,), optional
        By default two Newton steps towards the mode, from 0.
    """
    if start is None:
        start = posterior_mode(design, max_steps=constants.WARM_UP_STEPS).mean
    x = start
    expansion = expand(design, x)
    hessian = expansion.hessian
    previous, damping = None, 1.0
    for n_sweeps in range(1, constants.MAX_SWEEPS + 1):
        covariance = invert(hessian, design.layout)
        newton = -covariance.solve(expansion.gradient)
        log_step, response = spread_step(design, x + newton, covariance)
        step = newton + response @ log_step

        change = np.append(step / tolerance_units(design, covariance), log_step)
        damping = next_damping(damping, change, previous)
        longest = np.abs(step).max()
        length = min(damping, constants.LONGEST_STEP / max(longest, constants.TINY))
        x = x + length * step
        precision = design.prior_precision()
        design = move_spreads(design, length * log_step)
        previous = change
        converged = bool(np.abs(change).max() < constants.SWEEP_TOLERANCE)
        if converged and n_sweeps >= constants.MIN_SWEEPS:
            break
        expansion = expand(design, x, covariance)
        drift = design.prior_precision() - precision
        hessian = damped(hessian, expansion.hessian, damping, drift, design.layout)

    # Sweeps are safer with the expected Hessian.  The complete one, taken once at the
    # end, widens S: it has the response of the local parameters to the shared ones.
    expansion = expand(design, x, covariance, with_residuals=True)
    loss = expansion.value + prior_and_entropy(design, covariance)
    with suppress(np.linalg.LinAlgError):
        covariance = invert(expansion.hessian, design.layout)
    return Posterior(design, x, covariance, loss, n_sweeps, converged)


def damped(
    old: Arrow, new: Arrow, damping: float, drift: Floats, layout: ParameterLayout
) -> Arrow:
    """Return a Hessian, of which the votes' part goes a part of the way to a new one.

    Parameters
    ----------
    old : Arrow
        The inverted one: R = -D^-1 B stands in its cross part.
    new : Arrow
    damping : float
        The part of the way.
    drift : ndarray, shape (parameters,)
        Change of the prior precision, which goes all the way.
    layout : ParameterLayout
    """
    if damping == 1:
        return new
    B = blockwise(layout, -old.local, old.cross)
    moved = Arrow(old.shared, B, old.local).plus_diagonal(layout, drift)
    return moved.towards(new, damping)


def prior_and_entropy(design: Design, covariance: Covariance) -> float:
    """Return what the free energy adds to the average loss and the prior at the mean."""
    spread_of_means = design.prior_precision() @ covariance.variances() / 2
    entropy = -covariance.log_determinant / 2
    return float(spread_of_means - entropy - log_prior(design))


def tolerance_units(design: Design, covariance: Covariance) -> Floats:
    """Return the unit in which the change of each parameter is measured, (parameters,).

    It is the standard deviation, and a multiple of it for the many parameters of
    annotators and slices: a few of these, which saw one outcome only, converge slowly.
    """
    variances = np.maximum(covariance.conditional_variances(), constants.TINY)
    units = np.sqrt(variances)
    for block in design.blocks:
        if block.effect.by is not None:
            units[design.indices(block)] *= constants.LEVEL_TOLERANCE
    return units


def next_damping(damping: float, change: Floats, previous: Floats | None) -> float:
    """Return half the damping if the change reverses the previous one, else raise it."""
    if previous is None:
        return damping
    if change @ previous < -constants.REVERSAL * (previous @ previous):
        return max(damping / 2, constants.MIN_DAMPING)
    return min(constants.RECOVERY * damping, 1.0)
