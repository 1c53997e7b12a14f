"""A point in parameter space."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial

import numpy as np

from bayes_arena.arrays import Floats


@dataclass(frozen=True, eq=False)
class Point:
    """A point in parameter space.

    Attributes
    ----------
    strength : ndarray, shape (n,)
        r.
    common : ndarray, shape (c,)
        What annotators have in common, in the order of ``Objective.common``.
    own : ndarray, shape (M, q)
        The annotators' own numbers, in the order of ``Objective.own``.
    slices : ndarray, shape (s,)
        The numbers of slices, in the order of ``Objective.numbering``.
    """

    strength: Floats
    common: Floats
    own: Floats
    slices: Floats = field(default_factory=partial(np.zeros, 0))

    @property
    def head(self) -> Floats:
        """Strengths, common numbers and numbers of slices, shape (h,)."""
        return np.concatenate([self.strength, self.common, self.slices])

    def moved(self, head: Floats, own: Floats, length: float = 1.0) -> Point:
        """Return this point plus ``length`` times a step."""
        n, c = len(self.strength), len(self.strength) + len(self.common)
        return Point(
            self.strength + length * head[:n],
            self.common + length * head[n:c],
            self.own + length * own,
            self.slices + length * head[c:],
        )
