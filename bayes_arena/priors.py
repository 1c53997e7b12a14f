"""Priors: one frozen object, used by every route.

    r_i     ~ Normal(0, strength),        sum_i r_i = 0
    theta_k ~ Normal(1, discrimination),  mean_k theta_k = 1

Scales are standard deviations, of r in logits and of theta relative to its mean; an infinite scale is a flat
prior, and with both infinite the posterior mode is the paper's maximum-likelihood estimate. The defaults are
weak: one logit is 174 Elo points, and theta between 0 and 2 covers two standard deviations.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from bayes_arena.errors import ModelError


@dataclass(frozen=True)
class Prior:
    """Scales of the Gaussian priors.

    Attributes
    ----------
    strength : float
        Standard deviation of r, in logits.
    discrimination : float
        Standard deviation of theta around its mean of 1.

    Raises
    ------
    ModelError
        If a scale is not positive.
    """

    strength: float = 1.0
    discrimination: float = 0.5

    def __post_init__(self) -> None:
        for name in ("strength", "discrimination"):
            value = getattr(self, name)
            if not value > 0:
                raise ModelError(f"The prior scale of {name} is {value!r}; it must be positive (inf for a flat prior).")

    @property
    def is_flat(self) -> bool:
        """Whether both scales are infinite."""
        return math.isinf(self.strength) and math.isinf(self.discrimination)

    def __str__(self) -> str:
        names = [name for name, prior in NAMED_PRIORS.items() if prior == self]
        return names[0] if names else f"normal(strength={self.strength:g}, discrimination={self.discrimination:g})"


FLAT = Prior(strength=math.inf, discrimination=math.inf)
NAMED_PRIORS = {"flat": FLAT, "default": Prior()}


def resolve_prior(prior: str | Prior) -> Prior:
    """Return the prior meant, by name or as it is.

    Raises
    ------
    ModelError
        If the name is unknown.
    """
    if isinstance(prior, Prior):
        return prior
    if prior not in NAMED_PRIORS:
        raise ModelError(f"Unknown prior {prior!r}. Use one of {', '.join(NAMED_PRIORS)}, or a Prior.")
    return NAMED_PRIORS[prior]
