"""The Elo scale: from logits to points.

    elo_i = init + scale / ln(base) r*_i,    or shifted so that an anchor has a given score,

with r* the strengths on the common scale, of mean zero over the competitors that have a
rank.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real

import numpy as np

from bayes_arena.arrays import Floats
from bayes_arena.errors import ModelError, NotIdentifiedError, did_you_mean
from bayes_arena.said import Use


@dataclass(frozen=True)
class EloScale:
    """A scale that turns logits into Elo points.

    Attributes
    ----------
    init : float
        The mean score, unless there is an anchor.
    scale, base : float
        A lead of ``scale`` points means odds of ``base`` to 1.
    anchor : tuple of (str, float), optional
        A competitor and its score.  All scores and bounds are shifted alike.

    Raises
    ------
    ModelError
        If a number is not finite, the scale not positive, or the base not above 1.
    """

    init: float = 1000.0
    scale: float = 400.0
    base: float = 10.0
    anchor: tuple[str, float] | None = None

    def __post_init__(self) -> None:
        """Check the numbers."""
        numbers = [self.init, self.scale, self.base]
        if self.anchor is not None:
            if not isinstance(self.anchor, tuple) or len(self.anchor) != 2:
                raise ModelError(
                    "An anchor is a competitor and its score, such as ('gpt-4', 1500.0); "
                    f"not {self.anchor!r}."
                )
            numbers.append(self.anchor[1])
        are_numbers = all(isinstance(x, Real) and math.isfinite(x) for x in numbers)
        if not are_numbers or self.scale <= 0 or self.base <= 1:
            raise ModelError(
                "An Elo scale needs finite numbers, scale above 0 and base above 1; "
                f"not {self}."
            )

    @property
    def points_per_logit(self) -> float:
        """Elo points in a logit: 400 / ln 10 = 173.7 by default."""
        return self.scale / math.log(self.base)

    def points(self, competitors: Sequence[str], strength: Floats) -> Floats:
        """Return the Elo points of strengths in logits, (competitors,)."""
        shift = self.shift(competitors, strength)
        return shift + self.points_per_logit * strength

    def shift(self, competitors: Sequence[str], strength: Floats) -> float:
        """Return the points of a strength of zero.

        Parameters
        ----------
        competitors : sequence of str
        strength : ndarray, shape (competitors,)
            In logits.

        Raises
        ------
        ModelError
            If the anchor is not a competitor.
        NotIdentifiedError
            If it has no finite estimate.
        """
        if self.anchor is None:
            return self.init
        name, score = self.anchor
        if name not in competitors:
            raise ModelError(
                f"The anchor {name!r} is not a competitor."
                f"{did_you_mean(name, competitors)}"
            )
        value = float(strength[list(competitors).index(name)])
        if np.isnan(value):
            raise NotIdentifiedError(
                f"The anchor {name!r} has no finite estimate. Choose another.",
                Use(prior="default"),
            )
        return score - self.points_per_logit * value


ELO = EloScale()


def require_scale(elo: object) -> None:
    """Raise a ModelError for what is no scale, such as its mean alone."""
    if not isinstance(elo, EloScale):
        text = (Use(elo=elo), " must be an EloScale, such as EloScale(init=1000).")
        raise ModelError(text)
