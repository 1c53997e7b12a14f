"""The Elo scale: from logits to points.

    elo_i = init + scale / ln(base) * r*_i,     or shifted so that an anchor has a given score,

with r* the strengths on the scale that all models share (:mod:`bayes_arena.inference.projection`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from bayes_arena.arrays import Floats
from bayes_arena.errors import ModelError, did_you_mean


@dataclass(frozen=True)
class EloScale:
    """A scale that turns logits into Elo points.

    Attributes
    ----------
    init : float
        Mean score (unless there is an anchor).
    scale, base : float
        A lead of ``scale`` points means odds of ``base`` to 1.
    anchor : tuple of (str, float), optional
        A competitor and its score. An anchor shifts every score and bound by the same amount; it changes neither the
        width of an interval nor a rank.

    Raises
    ------
    ModelError
        If scale is not positive or base not above 1.
    """

    init: float = 1000.0
    scale: float = 400.0
    base: float = 10.0
    anchor: tuple[str, float] | None = None

    def __post_init__(self) -> None:
        numbers = (self.init, self.scale, self.base, self.anchor[1] if self.anchor else 0.0)
        if not self.scale > 0 or not self.base > 1 or not all(map(math.isfinite, numbers)):
            raise ModelError(f"An Elo scale needs finite numbers, scale > 0 and base > 1, not {self}.")

    @property
    def points_per_logit(self) -> float:
        """Elo points per logit: 400 / ln 10 = 173.7 by default."""
        return self.scale / math.log(self.base)

    def points(self, strength: Floats, competitors: tuple[str, ...]) -> Floats:
        """Return the scores of strengths (n,) in logits.

        Raises
        ------
        ModelError
            If the anchor is not a competitor.
        """
        points = self.points_per_logit * strength
        if self.anchor is None:
            return np.asarray(self.init + points)
        name, score = self.anchor
        if name not in competitors:
            raise ModelError(f"The anchor {name!r} is not a competitor.{did_you_mean(name, competitors)}")
        return np.asarray(score + points - points[competitors.index(name)])
