"""The posterior mode at fixed spreads, by Newton's method with a line search."""

from __future__ import annotations

import numpy as np

from bayes_arena.arrays import Floats
from bayes_arena.inference.posterior import Posterior
from bayes_arena.model import constants
from bayes_arena.model.arrow import invert
from bayes_arena.model.design import Design
from bayes_arena.model.objective import Expansion, expand, value


def posterior_mode(
    design: Design,
    start: Floats | None = None,
    *,
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
        converged = bool(longest < constants.MODE_TOLERANCE)
        if converged:
            break
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
