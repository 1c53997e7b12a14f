"""Priors: one frozen object, used by every route.

Spreads of what the votes are about, in logits except for theta:

    r_i       ~ Normal(0, strength),            sum_i r_i = 0
    theta_k   ~ Normal(1, discrimination),      mean_k theta_k = 1
    ln nu_k   = ln nu + u_k,   u_k ~ Normal(0, tie_spread),        sum_k u_k = 0
    b_k       = b + v_k,       v_k ~ Normal(0, position_spread),   sum_k v_k = 0

and what annotators have in common: ln nu ~ Normal(0, 1) (Davidson; Normal(-0.7, 1) for Rao-Kupper's kappa),
b ~ Normal(0, 0.5), ln of the both-bad propensity ~ Normal(-1, 1), the slope of a feature times its root mean
square over votes ~ Normal(0, 1).

The four spreads are used as they are by ``method="map"``. ``"marginal"`` and ``"nuts"`` estimate them from the votes
under the half-normal hyperpriors in ``hyper``, starting from the values here; with ``hyper=None`` they are fixed there
too. Infinite spreads are a flat prior, whose mode is the maximum-likelihood estimate of the paper. One logit is 174 Elo
points.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import Literal

from bayes_arena.errors import ModelError

SMALLEST, LARGEST = 1e-3, 1e4
"""Scales in logits outside this range are taken for mistakes."""


@dataclass(frozen=True)
class Spreads:
    """A number for each of the four spreads of a prior.

    Attributes
    ----------
    strength, discrimination, tie_spread, position_spread : float
        For r, theta, u and v of the module's formulas.

    Raises
    ------
    ModelError
        If a number is not positive.
    """

    strength: float
    discrimination: float
    tie_spread: float
    position_spread: float

    def __post_init__(self) -> None:
        for field in fields(Spreads):
            value = getattr(self, field.name)
            if not (SMALLEST <= value <= LARGEST or value == math.inf):
                raise ModelError(
                    f"The prior scale of {field.name} is {value!r}; it must be positive, between {SMALLEST:g} and "
                    f"{LARGEST:g}, or inf for flat."
                )


@dataclass(frozen=True)
class Prior(Spreads):
    """Standard deviations of the Gaussian priors.

    Attributes
    ----------
    strength, discrimination, tie_spread, position_spread : float
        Spreads of r, theta, u and v.
    hyper : Spreads or None
        Scales of half-normal hyperpriors of the four; None keeps them where they are.
    """

    strength: float = 1.0
    discrimination: float = 0.5
    tie_spread: float = 1.0
    position_spread: float = 0.3
    hyper: Spreads | None = Spreads(strength=1.5, discrimination=1.0, tie_spread=1.0, position_spread=0.5)

    @property
    def is_flat(self) -> bool:
        """Whether nothing at all is assumed."""
        return all(math.isinf(getattr(self, field.name)) for field in fields(Spreads))

    def __str__(self) -> str:
        names = [name for name, prior in NAMED_PRIORS.items() if prior == self]
        if names:
            return names[0]
        return "normal(" + ", ".join(f"{field.name}={getattr(self, field.name):g}" for field in fields(Spreads)) + ")"


PriorName = Literal["flat", "default"]
FLAT = Prior(math.inf, math.inf, math.inf, math.inf, hyper=None)
NAMED_PRIORS: dict[PriorName, Prior] = {"flat": FLAT, "default": Prior()}

COMMON_POSITION, COMMON_BOTH_BAD, COMMON_STYLE = (0.0, 0.5), (-1.0, 1.0), (0.0, 1.0)
"""Mean and standard deviation of what annotators have in common; those of ties stand with each likelihood."""
SPREAD_LABELS = {
    "strength": "strength_sd",
    "discrimination": "discrimination_sd",
    "tie_spread": "tie_spread",
    "position_spread": "position_spread",
}
"""What spreads are called in a PyMC program and its draws."""


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
