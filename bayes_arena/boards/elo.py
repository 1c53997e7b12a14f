"""The Elo scale: strengths in logits as scores.

Elo = init + scale / ln(base) * r*, so that 400 points stand for odds of 10 to 1.  Scores are
centred over all competitors, or shifted so that an anchor has a given score.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bayes_arena.arrays import Floats
from bayes_arena.errors import ModelError, did_you_mean


@dataclass(frozen=True)
class EloScale:
    """How strengths become scores.

    Attributes
    ----------
    init : float
        Mean score.
    scale : float
        Points for odds of ``base`` to 1.
    base : float
    anchor : tuple of str and float, optional
        A competitor and its score, in place of the mean.

    Raises
    ------
    ModelError
        If scale or base make no sense.
    """

    init: float = 1000.0
    scale: float = 400.0
    base: float = 10.0
    anchor: tuple[str, float] | None = None

    def __post_init__(self) -> None:
        """Check the numbers."""
        if not (self.scale > 0 and self.base > 1 and math.isfinite(self.init)):
            raise ModelError(
                "An Elo scale needs a positive scale and a base above 1; not "
                f"{self.scale!r} and {self.base!r}."
            )

    @property
    def points_per_logit(self) -> float:
        """Points of one logit."""
        return self.scale / math.log(self.base)

    def points(self, strength: Floats, competitors: Sequence[str]) -> Floats:
        """Return the scores of strengths in logits, (competitors,).

        Raises
        ------
        ModelError
            If the anchor is unknown, or has no finite estimate.
        """
        centre = np.nanmean(strength, axis=-1, keepdims=True)
        scores = self.init + self.points_per_logit * (strength - centre)
        if self.anchor is None:
            return scores
        name, target = self.anchor
        if name not in competitors:
            raise ModelError(
                f"The anchor {name!r} is no competitor.{did_you_mean(name, competitors)}"
            )
        shift = target - scores[..., [list(competitors).index(name)]]
        if not np.all(np.isfinite(shift)):
            raise ModelError(f"The anchor {name!r} has no finite estimate.")
        return scores + shift
