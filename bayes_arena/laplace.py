"""The Gaussian approximation at the mode.

Its covariance is the inverse of the Hessian of the negative log-posterior on the plane sum r = 0,
mean theta = 1; under a flat prior that is the inverse of the observed Fisher information. Functions of the
parameters get their variance by the delta method, Var f = J V J'.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bayes_arena.arrow import Factor, factorise
from bayes_arena.cells import Floats
from bayes_arena.errors import NotIdentifiedError
from bayes_arena.likelihood import Objective, Point
from bayes_arena.newton import Gauge

SINGULAR = 1e-9
"""Smallest eigenvalue of the Schur complement, relative to its largest, that still counts as information."""


@dataclass(frozen=True, eq=False)
class Laplace:
    """Covariance of (r, theta), held in factors.

    Attributes
    ----------
    factor : Factor
        The Hessian on the constraint plane.
    shifts : ndarray, shape (n, c)
        Orthonormal directions in which r is held at zero.
    singular : bool
        Whether some direction carries no information.
    """

    factor: Factor
    shifts: Floats
    singular: bool

    def covariance(self, strength: Floats, discrimination: Floats | None = None) -> Floats:
        """Return J V J' for m functions with Jacobians (m, n) and (m, M).

        Parameters
        ----------
        strength : ndarray, shape (m, n)
            Derivatives by r.
        discrimination : ndarray, shape (m, M), optional
            Derivatives by theta; zero by default.

        Returns
        -------
        ndarray, shape (m, m)
        """
        head = strength - (strength @ self.shifts) @ self.shifts.T
        tail = np.zeros((len(head), len(self.factor.inverse_tail))) if discrimination is None else discrimination
        x_head, x_tail = self.factor.solve(head.T, tail.T)
        return np.asarray(head @ x_head + tail @ x_tail)

    def strength_covariance(self) -> Floats:
        """Covariance of r, shape (n, n)."""
        return self.covariance(np.eye(len(self.shifts)))

    def discrimination_variances(self) -> Floats:
        """Variances of theta, shape (M,)."""
        return self.factor.tail_variances()


def laplace_at(target: Objective, point: Point, shifts: Floats) -> Laplace:
    """Factorise the Hessian of the negative log-posterior at its mode.

    Raises
    ------
    NotIdentifiedError
        If the Hessian is not positive definite.
    """
    _, arrow = target.gradient_and_hessian(point)
    extra = Gauge(shifts, free_scale=False, hold_sum=True).extra(point, arrow)
    try:
        factor = factorise(arrow, extra=extra, hold_sum=True)
    except np.linalg.LinAlgError:
        raise NotIdentifiedError(
            "The votes carry no information in some direction of the parameters, so no interval exists. "
            "Use a prior (prior='default')."
        ) from None
    eigenvalues = np.linalg.eigvalsh(factor.schur)
    return Laplace(factor, shifts, singular=bool(eigenvalues[0] < SINGULAR * eigenvalues[-1]))
