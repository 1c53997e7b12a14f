"""Derivatives of n functions, one per competitor, in strengths and common numbers: J = diag(s) + P Q."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from bayes_arena.arrays import Floats


@dataclass(frozen=True, eq=False)
class ThinJacobian:
    """A Jacobian, shape (n, h), whose rows are made on demand: ``jacobian[rows]``.

    Attributes
    ----------
    scale : ndarray, shape (n,)
        s: derivative of every function in the strength of its own competitor.
    left, right : ndarray, shapes (n, k) and (k, h)
        P and Q.
    """

    scale: Floats
    left: Floats
    right: Floats

    @classmethod
    def identity(cls, n: int, head: int) -> ThinJacobian:
        """Return the Jacobian of the strengths themselves."""
        return cls(np.ones(n), np.zeros((n, 0)), np.zeros((0, head)))

    @property
    def shape(self) -> tuple[int, int]:
        """Functions, and numbers of the head."""
        return len(self.scale), self.right.shape[1]

    def __len__(self) -> int:
        return len(self.scale)

    def __getitem__(self, rows: Any) -> Floats:
        places = np.arange(len(self))[rows]
        found = self.left[places] @ self.right
        found[np.arange(len(places)), places] += self.scale[places]
        return np.asarray(found)


Jacobian = Floats | ThinJacobian
"""Derivatives of functions, in full or in parts."""


def times(jacobian: Jacobian, steps: Floats) -> Floats:
    """Return J x, the change of the functions, shape (..., m), for steps x of the head, shape (..., h)."""
    if not isinstance(jacobian, ThinJacobian):
        return np.asarray(steps @ jacobian.T)
    return np.asarray(steps[..., : len(jacobian)] * jacobian.scale + (steps @ jacobian.right.T) @ jacobian.left.T)
