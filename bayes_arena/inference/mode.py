"""The posterior mode at fixed spreads, by Newton's method with a line search."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from bayes_arena.arrays import Floats
from bayes_arena.inference.posterior import (
    Posterior,
    reversed_start,
    share_reversed,
)
from bayes_arena.model import constants
from bayes_arena.model.arrow import invert
from bayes_arena.model.design import Design
from bayes_arena.model.objective import Expansion, expand, value


def posterior_mode(
    design: Design,
    start: Floats | None = None,
    *,
    tolerance: float = constants.MODE_TOLERANCE,
    max_steps: int = constants.MAX_NEWTON_STEPS,
) -> Posterior:
    """Return the posterior mode with the curvature there (Laplace's approximation).

    Steps use the expected Hessian, which leads downhill from anywhere, and close to the
    mode the complete one, which converges quadratically.

    Parameters
    ----------
    design : Design
    start : ndarray, shape (parameters,), optional
        By default 0.  Under flat priors am-ELO has to start from m-ELO, as it has no
        curvature in theta where all strengths are equal.
    tolerance : float
        Largest change of a parameter at convergence.
    max_steps : int

    Raises
    ------
    numpy.linalg.LinAlgError
        If votes and priors do not determine the parameters.
    """
    x = np.zeros(design.layout.size) if start is None else start
    is_near = False
    for n_steps in range(1, max_steps + 1):  # noqa: B007  (it is returned)
        expansion = expand(design, x, with_residuals=is_near)
        try:
            covariance = invert(expansion.hessian, design.layout)
        except np.linalg.LinAlgError:
            if not is_near:
                raise
            # The complete Hessian is indefinite at x; the expected one never is.
            expansion = expand(design, x)
            covariance = invert(expansion.hessian, design.layout)
        step = -covariance.solve(expansion.gradient)
        x = x + line_search(design, x, step, expansion) * step
        longest = np.abs(step).max()
        is_near = longest < constants.NEAR_MODE
        if longest < tolerance:
            break
    converged = bool(longest < tolerance)
    loss = value(design, x)
    return Posterior(design, x, covariance, loss, n_steps, converged, is_mode=True)


def line_search(design: Design, x: Floats, step: Floats, expansion: Expansion) -> float:
    """Return the first of 1, 1/2, 1/4, ... with enough descent (Armijo, 1966)."""
    slope = float(expansion.gradient @ step)
    slack = constants.ROUNDING * abs(expansion.value)
    length = 1.0
    while length > constants.SHORTEST_STEP:
        bound = expansion.value + constants.ARMIJO * length * slope + slack
        if value(design, x + length * step) <= bound:
            break
        length /= 2
    return length


def better_mode(design: Design) -> Posterior:
    """Return the mode; where many annotators are reversed, the better of two."""
    mode = posterior_mode(design)
    if share_reversed(mode) < constants.MANY_REVERSED:
        return mode
    mirror = posterior_mode(design, reversed_start(mode))
    best, other = sorted([mode, mirror], key=lambda posterior: posterior.loss)
    if best.mean_of("strength") @ other.mean_of("strength") > 0:
        return best
    return replace(best, mirror_gap=other.loss - best.loss)
