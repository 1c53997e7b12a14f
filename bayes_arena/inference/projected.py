"""Strengths on the common scale of :mod:`bayes_arena.inference.projection`, and how they move with the parameters."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from bayes_arena.algebra.own_jacobian import OwnJacobian
from bayes_arena.algebra.thin_jacobian import Jacobian, times
from bayes_arena.arrays import Floats


@dataclass(frozen=True, eq=False)
class Projection:
    """Comparable strengths r* and how they move with the parameters.

    Attributes
    ----------
    strength : ndarray, shape (n,)
        r*, sum zero, in logits.
    by_head : ndarray or ThinJacobian, shape (n, h)
        Jacobian with respect to the strengths, the common parameters and those of slices.
    by_mean : ndarray or ThinJacobian, shape (n, n)
        Jacobian with respect to m; for many competitors, where there are no slices, the same as ``by_head``.
    own : OwnJacobian, shape (n, M, q)
        Jacobian with respect to the annotators' parameters.
    """

    strength: Floats
    by_head: Jacobian
    own: OwnJacobian
    by_mean: Jacobian

    def whole(self) -> Projection:
        """Return the same with the Jacobian ``own`` held as an array."""
        own = np.asarray(self.own)
        return replace(self, own=OwnJacobian(own.shape, lambda part: own[:, part]))

    def moved(self, head: Floats, own: Floats, noise: Floats | None) -> Floats:
        """Return the change of r*, (size, n), with head (size, h), annotators (size, M, q) and m (size, n)."""
        by_own = self.by_own.reshape(len(self.strength), -1)
        shift = times(self.by_head, head) + own.reshape(len(own), -1) @ by_own.T
        return shift if noise is None else shift + times(self.by_mean, noise)

    def variance_by_mean(self, variance: Floats) -> Floats:
        """Return the variance of r* due to that of m (n,), shape (n,)."""
        return np.asarray(self.by_mean[:] ** 2 @ variance) if variance.any() else np.zeros_like(variance)

    @cached_property
    def by_own(self) -> Floats:
        """The full Jacobian with respect to the annotators' parameters, shape (n, M, q)."""
        return np.asarray(self.own)
