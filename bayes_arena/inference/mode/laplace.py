"""The Gaussian approximation at the mode.

Its covariance is the inverse of the Hessian of the negative log-posterior on the plane where the strengths and the
annotators' numbers keep their sums; under a flat prior that is the inverse of the observed Fisher information.
Functions of the parameters get their variance by the delta method, Var f = J V J'.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import cast

import numpy as np

from bayes_arena.algebra.factor import Factor
from bayes_arena.algebra.factorising import AnyFactor, DenseFactor, factorise
from bayes_arena.algebra.own_jacobian import OwnJacobian
from bayes_arena.algebra.sparse_bordered import SparseBorderedFactor
from bayes_arena.algebra.sparse_factor import SparseFactor
from bayes_arena.algebra.thin_jacobian import Jacobian, ThinJacobian
from bayes_arena.arrays import Floats
from bayes_arena.errors import NotIdentifiedError
from bayes_arena.inference.mode.newton import Curvature, Gauge
from bayes_arena.likelihood.derivatives import are_many, gradient_and_hessian
from bayes_arena.likelihood.objective import Objective
from bayes_arena.likelihood.point import Point

OwnNumbers = Floats | OwnJacobian | None
"""Derivatives with respect to the annotators' parameters, or none."""
SINGULAR = 1e-9
"""Smallest eigenvalue of the Schur complement, scaled by the head, that still counts as information from votes."""
ROUNDING = 1e-14
"""The same where a prior determines every direction: what rounding makes of zero, however many votes there are."""
RIDGE = 1e-6
"""Ridge at infinity, relative to the curvature."""
INVERSE_STEPS = 4
"""Steps of the inverse iteration, which distinguishes singular from regular: they differ by many orders of
magnitude."""
AT_ONCE = 10_000_000
"""Parameters times functions solved for at once: bounds the memory."""


@dataclass(frozen=True, eq=False)
class Laplace:
    """Covariance of the parameters, in factored form.

    Attributes
    ----------
    factor : Factor, or another
        The Hessian on the plane of the constraints.
    shifts : ndarray, shape (n, c)
        Orthonormal directions in which r is held at zero.
    singular : bool
        Whether some direction carries no information; not checked where the Hessian has no residuals.
    log_determinant : float or None
        Of the Hessian on the plane, up to a constant of the shapes; None where computing it takes as long as the mode.
    """

    factor: AnyFactor
    shifts: Floats
    singular: bool
    log_determinant: float | None

    def solve(self, head: Floats, own: OwnNumbers = None) -> tuple[Floats, Floats]:
        """Solve H x = g for the gradients of m functions of the parameters.

        Parameters
        ----------
        head : ndarray, shape (m, n) or (m, h)
            Derivatives with respect to the strengths, or to strengths and common parameters.
        own : ndarray or OwnJacobian, shape (m, M, q), optional
            Derivatives with respect to the annotators' parameters; zero by default.

        Returns
        -------
        head, own : ndarray, shapes (h, m) and (M, q, m)
            x, on the plane of the constraints.
        """
        return self.factor.solve(self._on_plane(head), self._by_own(head, own))

    def _by_own(self, head: Floats, own: OwnNumbers) -> Floats:
        """Return derivatives with respect to the annotators' parameters, shape (M, q, m)."""
        _, count, width = self.factor.shape
        return np.zeros((count, width, len(head))) if own is None else np.asarray(own).transpose(1, 2, 0)

    def _on_plane(self, head: Floats) -> Floats:
        """Return derivatives (m, n) or (m, h) by the whole head on the plane of the constraints, (h, m)."""
        n, right = len(self.shifts), np.zeros((self.factor.shape[0], len(head)))
        right[: head.shape[1]] = head.T
        right[:n] -= self.shifts @ (self.shifts.T @ right[:n])
        return right

    def covariance(self, head: Floats, own: OwnNumbers = None) -> Floats:
        """Return J V J', shape (m, m), for m functions with the Jacobian J, given as for :meth:`solve`."""
        if isinstance(self.factor, DenseFactor):
            return np.asarray(sum(a.T @ b for a, b in self.factor.form(self._on_plane(head).T, own)))
        own = None if own is None else np.asarray(own)
        covariance = np.empty((len(head), len(head)))
        for part in self._parts(len(head)):
            x_head, x_own = self.solve(head[part], None if own is None else own[part])
            covariance[:, part] = head @ x_head[: head.shape[1]]
            if own is not None:
                covariance[:, part] += own.reshape(len(head), -1) @ x_own.reshape(-1, x_own.shape[2])
        return covariance

    def variance(self, head: Jacobian, own: OwnNumbers = None) -> Floats:
        """Return the diagonal of :meth:`covariance`, shape (m,), without forming the rest."""
        if isinstance(head, ThinJacobian) and isinstance(self.factor, SparseFactor):
            return self.factor.variance(head)
        if isinstance(head, ThinJacobian) and isinstance(self.factor, SparseBorderedFactor):
            return self.factor.variance(head, own)
        head = head[:]
        if isinstance(own, OwnJacobian) and isinstance(self.factor, DenseFactor):
            return self._sum_of_pairs(head, own)
        own = None if own is None else np.asarray(own)
        variance = np.empty(len(head))
        for part in self._parts(len(head)):
            some = None if own is None else own[part]
            if isinstance(self.factor, DenseFactor):
                variance[part] = self._sum_of_pairs(head[part], some)
                continue
            x_head, x_own = self.solve(head[part], some)
            variance[part] = np.einsum("mh,hm->m", head[part], x_head[: head.shape[1]])
            if own is not None:
                variance[part] += np.einsum("mkq,kqm->m", own[part], x_own)
        return variance

    def _sum_of_pairs(self, head: Floats, own: OwnNumbers) -> Floats:
        pairs = cast(DenseFactor, self.factor).form(self._on_plane(head).T, own)
        return np.asarray(sum(np.einsum("km,km->m", a, b) for a, b in pairs))

    def _parts(self, functions: int) -> Iterator[slice]:
        """Yield slices of the functions that are solved for at once."""
        size, count, width = self.factor.shape
        step = max(1, AT_ONCE // (size + count * width))
        return (slice(first, first + step) for first in range(0, functions, step))

    def log_of_determinant(self) -> float:
        """Return the log-determinant on the plane, up to a constant of the shapes; for a sparse Hessian an estimate."""
        return self.factor.log_determinant() if self.log_determinant is None else self.log_determinant

    def rise_of_determinant(self, there: Laplace) -> float:
        """Return by how much the logarithm of the determinant is larger at a point nearby."""
        if isinstance(self.factor, SparseBorderedFactor) and isinstance(there.factor, SparseBorderedFactor):
            return self.factor.rise_of_determinant(there.factor)
        return there.log_of_determinant() - self.log_of_determinant()

    def strength_variance(self) -> Floats:
        """Variances of r, shape (n,)."""
        if isinstance(self.factor, SparseFactor | SparseBorderedFactor):
            return self.factor.strength_variance
        return np.diag(self.strength_covariance())

    def strength_covariance(self) -> Floats:
        """Covariance of r, shape (n, n)."""
        return self.covariance(np.eye(len(self.shifts)))

    def own_given_head(self) -> Floats:
        """Return the covariance of every annotator's own numbers given the strengths, shape (M, q, q)."""
        return cast(DenseFactor, self.factor).inverse_tail

    def own_covariance(self) -> Floats:
        """Return the covariance of each annotator's parameters, shape (M, q, q)."""
        return self.factor.tail_covariance()


def laplace_at(
    target: Objective,
    point: Point,
    shifts: Floats,
    *,
    at_infinity: bool = False,
    residuals: bool = True,
    known: Curvature | None = None,
) -> Laplace:
    """Factorise the Hessian of the negative log-posterior at its mode.

    Parameters
    ----------
    target : Objective
    point : Point
        Its mode.
    shifts : ndarray, shape (n, c)
        Orthonormal directions in which r is held at zero.
    at_infinity : bool
        The point is on its way to infinity, where the curvature vanishes: a small ridge keeps the intervals finite,
        and very wide.
    residuals : bool
        As for :meth:`~bayes_arena.likelihood.objective.Objective.gradient_and_hessian`.
    known : (Hessian, AnyFactor), optional
        The result of Newton's method there, with every sum held.

    Raises
    ------
    NotIdentifiedError
        If the Hessian is not positive definite.
    """
    hessian = known[0] if known else gradient_and_hessian(target, point, residuals=residuals)[1]
    gauge = Gauge.of_all(shifts, target)
    extra = gauge.extra(point, hessian)
    if at_infinity:
        of_head, of_own = np.full(len(point.head), RIDGE * gauge.shift_size(hessian)), np.full(point.own.size, RIDGE)
        hessian = hessian.stiffened(np.append(of_head, of_own))
    try:
        factor = known[1] if known else factorise(hessian, extra=extra, held=gauge.held)
    except np.linalg.LinAlgError:
        if at_infinity and residuals:  # no curvature to rely on, but the model's own is never negative
            return laplace_at(target, point, shifts, at_infinity=True, residuals=False)
        if target.is_proper:
            raise NotIdentifiedError(
                "Some direction of the parameters is known from the prior alone, whose information is lost in rounding "
                f"beside {target.n_votes:,.12g} votes, so no interval exists. Use a narrower prior, or smaller vote "
                "weights."
            ) from None
        raise NotIdentifiedError(
            "The votes carry no information in some direction of the parameters, so no interval exists. "
            "Use a prior (prior='default')."
        ) from None
    singular = False
    least = ROUNDING if target.is_proper else SINGULAR
    if isinstance(factor, SparseBorderedFactor):  # a prior holds every number, and is not drowned: it is solved
        return Laplace(factor, shifts, singular=False, log_determinant=None)
    if isinstance(factor, SparseFactor):
        return Laplace(factor, shifts, singular=factor.smallest_eigenvalue() < least, log_determinant=None)
    if isinstance(factor, Factor) and residuals and not target.slices:
        scale = hessian.left_diagonal().copy()
        scale[: len(shifts)] += np.diag(extra)
        scale = np.sqrt(scale)
        singular = _smallest_eigenvalue(factor, scale) < least
    # the shift directions are eigenvectors of S: their part of the determinant is that of the added terms
    gauge_part = shifts.shape[1] * np.log(gauge.shift_size(hessian) + target.strength_sd**-2)
    return Laplace(
        factor,
        shifts,
        singular=singular,
        log_determinant=factor.log_determinant() - gauge_part,
    )


def _smallest_eigenvalue(factor: Factor, scale: Floats) -> float:
    """Return the smallest eigenvalue of S scaled by the head; for many competitors by inverse iteration."""
    if not are_many(len(scale)):
        return float(np.linalg.eigvalsh(factor.left.matrix / np.outer(scale, scale))[0])
    vector, size = np.random.default_rng(0).normal(size=len(scale)), 1.0
    for _ in range(INVERSE_STEPS):
        vector = scale * factor.solve_left(scale * vector / np.linalg.norm(vector))
        size = float(np.linalg.norm(vector))
    return 1 / size
