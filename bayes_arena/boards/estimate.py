"""What a table shows: numbers with a covariance, and how they depend on the parameters.

Numbers v(x) of the parameters x with derivatives J have the covariance J S J' by the delta
method, where S is that of the parameters; and votes move them by their scores times S J'.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.sparse import eye_array

from bayes_arena.arrays import Array, Floats
from bayes_arena.fits.result import Fit
from bayes_arena.inference.posterior import Posterior
from bayes_arena.inference.scale import Board, Influence, board_strengths
from bayes_arena.threads import threads_for


@dataclass(frozen=True, eq=False)
class Estimate:
    """Numbers that a fit estimates.

    Attributes
    ----------
    board : Board
        The numbers (m,) as ``strength``, their covariance and influence.
    evaluate : callable
        The numbers at other parameters (parameters,).
    samples : ndarray, shape (samples, m), optional
        Samples of NUTS.
    is_by_competitor : bool
        Whether there is one number for each competitor that has an estimate.
    """

    board: Board
    evaluate: Callable[[Floats], Floats]
    samples: Floats | None = None
    is_by_competitor: bool = False

    @property
    def value(self) -> Floats:
        """The numbers, (m,)."""
        return self.board.strength

    @property
    def covariance(self) -> Floats:
        """Their covariance in the posterior, (m, m)."""
        return self.board.covariance


def board_estimate(fit: Fit) -> Estimate:
    """Return the strengths on the common scale, of competitors with an estimate."""
    design = fit.posterior.design

    def evaluate(x: Floats) -> Floats:
        return board_strengths(design, x[None])[0]

    if fit.samples is not None:
        return Estimate(fit.board, evaluate, fit.board_samples, is_by_competitor=True)
    return Estimate(fit.finite_board, evaluate, is_by_competitor=True)


def sampled_estimate(
    samples: Floats, evaluate: Callable[[Floats], Floats], *, is_by_competitor: bool
) -> Estimate:
    """Return numbers of which there are samples, (samples, m)."""
    covariance = np.atleast_2d(np.cov(samples, rowvar=False))
    board = Board(samples.mean(axis=0), covariance)
    return Estimate(board, evaluate, samples, is_by_competitor=is_by_competitor)


def board_by_delta_method(
    posterior: Posterior, value: Floats, jacobian: Array
) -> Board:
    """Return numbers with their covariance J S J', and S J' as their influence."""
    layout = posterior.design.layout
    p = layout.n_shared
    with threads_for(layout.width):
        solved = posterior.covariance.solve(np.ascontiguousarray(jacobian.T))
        covariance = jacobian @ solved
    n_local, size = layout.size - p, len(value)
    shared = np.zeros((layout.width, size))
    shared[:p] = solved[:p]
    regression = np.zeros((n_local, layout.width))
    influence = Influence(
        regression, shared, eye_array(n_local, format="csr"), solved[p:]
    )
    return Board(value, covariance, influence)
