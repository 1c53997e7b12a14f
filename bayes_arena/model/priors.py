"""Priors: every parameter is normal around zero, with a known or an estimated spread.

Spreads are in logits, except that of theta, which has no unit, and that of style, which is
per root mean square of the feature.  An estimated spread s has the hyperprior
s / scale ~ chi(degrees).  One degree is the half-normal.  Two degrees, those of the
strengths, let the density vanish at zero, so that few votes cannot make all competitors
look alike (Chung et al., 2013, Psychometrika 78).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from numbers import Real
from typing import Literal, get_args

from bayes_arena.errors import ModelError, require_choice

type PriorName = Literal["default", "weak", "flat"]
SMALLEST_SD, LARGEST_SD = 1e-3, 1e4  # others count as mistakes


SPREADS = (
    f"a number from {SMALLEST_SD:g} to {LARGEST_SD:,.0f}, or math.inf for a flat prior"
)


def is_spread(value: object) -> bool:
    """Whether a value may be a standard deviation."""
    if not isinstance(value, Real) or isinstance(value, bool):
        return False
    return SMALLEST_SD <= float(value) <= LARGEST_SD or value == math.inf


@dataclass(frozen=True)
class Spread:
    """The standard deviation of the parameters of an effect.

    Attributes
    ----------
    sd : float
        Standard deviation; where it is estimated, the one to start from.  Infinite for a
        flat prior.
    scale : float
        If positive, the spread is estimated, under spread / scale ~ chi(degrees).
    degrees : int
        Degrees of freedom of the hyperprior.

    Raises
    ------
    ModelError
        If a number is not positive.
    """

    sd: float
    scale: float = 0.0
    degrees: int = 1

    def __post_init__(self) -> None:
        """Check the numbers."""
        if not is_spread(self.sd):
            raise ModelError(f"A prior spread must be {SPREADS}; not {self.sd!r}.")
        numbers = (self.scale, self.degrees)
        are_numbers = all(isinstance(x, Real) and math.isfinite(x) for x in numbers)
        if not are_numbers or self.scale < 0 or self.degrees < 1:
            raise ModelError(
                "The hyperprior of a spread has a scale that is not negative and a degree "
                f"or more; not {self.scale!r} and {self.degrees!r}."
            )

    @property
    def is_estimated(self) -> bool:
        """Whether the spread is estimated from the votes."""
        return self.scale > 0


@dataclass(frozen=True)
class Prior:
    """The spread of every kind of parameter.  A number is a known standard deviation.

    By default the spreads of the strengths, of theta, and of what differs by annotator or
    by slice are estimated from the votes: that of the strengths, s, under s / 1.5 ~ chi(2).
    The spreads of what all votes share are known: 0.5 for the position, and 1 for ties,
    emphasis and style.

    A spread that is to be estimated is a :class:`bayes_arena.models.Spread`.  With
    ``ba.Prior(strength=ba.models.Spread(1.0, scale=0.5))`` that of the strengths is
    estimated under a half-normal of scale 0.5, from 1 on.

    Attributes
    ----------
    strength : Spread or float
        Strengths r, in logits, sum zero.
    strength_by_slice : Spread or float
        Deviations of the strengths in a slice.
    discrimination : Spread or float
        theta of the annotators around their mean, 1.
    position, position_by_annotator : Spread or float
        The advantage b of the first side, and annotators' deviations from it.
    tie, tie_by_annotator, tie_by_slice : Spread or float
        The propensity t to tie, and the deviations of annotators and of slices.
    emphasis, emphasis_by_annotator : Spread or float
        The propensity to call a win a clear one, where verdicts are graded.
    style : Spread or float
        The slope of a feature, per root mean square.
    """

    strength: Spread | float = Spread(1.0, scale=1.5, degrees=2)
    strength_by_slice: Spread | float = Spread(1.0, scale=1.5)
    discrimination: Spread | float = Spread(0.5, scale=1.0)
    position: Spread | float = Spread(0.5)
    position_by_annotator: Spread | float = Spread(0.3, scale=0.5)
    tie: Spread | float = Spread(1.0)
    tie_by_annotator: Spread | float = Spread(0.5, scale=1.0)
    tie_by_slice: Spread | float = Spread(0.5, scale=1.0)
    emphasis: Spread | float = Spread(1.0)
    emphasis_by_annotator: Spread | float = Spread(0.5, scale=1.0)
    style: Spread | float = Spread(1.0)

    def __post_init__(self) -> None:
        """Turn numbers into known spreads."""
        for name, value in self.spreads().items():
            if isinstance(value, Spread):
                continue
            if not is_spread(value):
                raise ModelError(
                    f"The {name} of a prior is a standard deviation: {SPREADS}. It cannot "
                    f"be {value!r}."
                )
            object.__setattr__(self, name, Spread(float(value)))

    def spreads(self) -> Mapping[str, Spread]:
        """Return the spread of each kind of parameter."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @property
    def is_flat(self) -> bool:
        """Whether all spreads are infinite: the mode maximises the likelihood."""
        return all(spread.sd == math.inf for spread in self.spreads().values())


FLAT = Prior(**{field.name: Spread(math.inf) for field in fields(Prior)})
PRIORS: Mapping[str, Prior] = {
    "default": Prior(),
    "weak": Prior(strength=5.0),
    "flat": FLAT,
}


def name_of_prior(prior: Prior) -> str | None:
    """Return the name of a prior; None for one of one's own."""
    return next((name for name, known in PRIORS.items() if known == prior), None)


def resolve_prior(prior: str | Prior) -> Prior:
    """Return a prior by its name, or as it is.

    Raises
    ------
    ModelError
        If the name is unknown.
    """
    if isinstance(prior, Prior):
        return prior
    require_choice("prior", prior, get_args(PriorName.__value__))
    return PRIORS[prior]
