"""Priors: one frozen object, used by every method.

Numbers that have a spread, in logits except for theta:

    r_i       ~ Normal(0, strength),            sum_i r_i = 0
    theta_k   ~ Normal(1, discrimination),      mean_k theta_k = 1
    ln nu_k   = ln nu + u_k,   u_k ~ Normal(0, tie_spread),        sum_k u_k = 0
    b_k       = b + v_k,       v_k ~ Normal(0, position_spread),   sum_k v_k = 0
    x_k       = x + e_k,       e_k ~ Normal(0, emphasis_spread),   sum_k e_k = 0        (where wins have grades)

and what annotators have in common: ln nu ~ Normal(0, 1) (Davidson; Normal(-0.7, 1) for Rao-Kupper's kappa),
b ~ Normal(0, 0.5), ln of the both-bad propensity ~ Normal(-1, 1), the emphasis x and c_3, ... ~ Normal(0, 1), the slope
of a feature times its root mean square over votes ~ Normal(0, 1).

Where a model has slices, their numbers are not held to a sum, as r is the strength on a new slice, except for s_g: the
scale of the strengths is that of the average slice.

    u^f_{g,i} ~ Normal(0, strength_by_f)        deviation of competitor i in slice g of kind f, in logits
    w_g       ~ Normal(0, ties_by_f)            deviation of ln nu in slice g of kind f, or of a competitor
    s_g       ~ Normal(0, discrimination_by_f)  what is added to theta in slice g of kind f, sum_g s_g = 0
    c_{f,k}   ~ Normal(0, style_f_spread)       deviation of an annotator's slope of feature f, sum_k c_{f,k} = 0
    d_{t,i} - d_{t',i} ~ Normal(0, drift sqrt(t' - t))   steps of a strength that moves, over t' - t periods to the next

and where annotators disagree along directions l = 1, 2, ...:

    w_{l,i}   ~ Normal(0, direction_l)          position of competitor i, in logits
    v_{l,k}   ~ Normal(0, 1)                    loading of an annotator, sum_k v_{l,k} = 0

``method="map"`` uses the spreads as they are. ``"marginal"`` and ``"nuts"`` estimate them from the votes under
hyperpriors with the scales s in ``hyper``, starting from the values here,

    sigma / s ~ chi(d),     d = 3 for the strengths (Maxwell's distribution), d = 1 for all others (half-normal);

with ``hyper=None`` they keep them fixed, too. The density of chi(3) vanishes at zero as sigma^2, so that few votes
cannot make competitors look all but equal, where a plug-in estimate under a half-normal leaves intervals too narrow
(Chung et al., 2013). Infinite spreads are a flat prior, whose mode is the maximum-likelihood estimate of the paper. One
logit is 174 Elo points.

Source: Chung, Y. et al. (2013), "A nondegenerate penalized likelihood estimator for variance parameters in multilevel
models", Psychometrika 78.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, Self

from bayes_arena.errors import ModelError

EMPHASIS = "emphasis"
"""What annotators have of their own where wins have grades."""
FOUR = ("strength", "discrimination", "tie_spread", "position_spread")
"""Spreads that are fields; the others are found by name."""
TASTES = "strength_by_annotator", "strength_by_program"
"""Spreads of taste, of all annotators and of programs."""
DRIFT, DRIFT_SCALE, DRIFT_START = "drift", 0.5, 0.15
"""Spread of the steps of strengths that move, the scale of its hyperprior, and where its estimate starts."""
OF_SLICES = "strength_by_", "ties_by_", "discrimination_by_", "direction_"
"""How the names of further spreads begin."""
DEGREES = {"strength": 3}
"""Degrees of freedom of the hyperprior of a spread, where not one."""
SMALLEST, LARGEST = 1e-3, 1e4
"""Scales in logits outside this range count as mistakes."""


@dataclass(frozen=True)
class Spreads:
    """A number for each spread of a prior.

    Attributes
    ----------
    strength, discrimination, tie_spread, position_spread : float
        For r, theta, u and v of the module's formulas.
    by : mapping of str to float
        For the numbers of slices and the annotators' slopes, by the names in the module's formulas, such as
        ``"strength_by_prompt"``. Others have default values.

    Raises
    ------
    ModelError
        If a number is not positive.
    """

    strength: float
    discrimination: float
    tie_spread: float
    position_spread: float
    by: Mapping[str, float] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        for name in FOUR:
            object.__setattr__(self, name, float(getattr(self, name)))
        for name, value in self.named().items():
            if not (SMALLEST <= value <= LARGEST or value == math.inf):
                raise ModelError(
                    f"The prior scale of {name} is {value!r}; it must be positive, between {SMALLEST:g} and "
                    f"{LARGEST:g}, or inf for flat."
                )

    def named(self) -> dict[str, float]:
        """Return all spreads that are set, by name."""
        return {name: getattr(self, name) for name in FOUR} | dict(self.by)

    def spread(self, name: str) -> float:
        """Return a spread by its name.

        Raises
        ------
        ModelError
            If no model has a spread of that name.
        """
        if name in (named := self.named()):
            return named[name]
        if name and name != DRIFT and not (name.startswith(OF_SLICES) or name.endswith("_spread")):  # loadings have ""
            raise ModelError(
                f"No spread is called {name!r}. Those of slices are 'strength_by_{name}', 'ties_by_{name}' and "
                f"'discrimination_by_{name}'; the others {', '.join(map(repr, (*FOUR, DRIFT)))}, or those of Prior.by."
            )
        return self._usual(name)

    def with_spreads(self, spreads: Mapping[str, float]) -> Self:
        """Return a copy with other spreads, by name."""
        four = {name: value for name, value in spreads.items() if name in FOUR}
        return replace(self, by={**self.by, **{k: v for k, v in spreads.items() if k not in FOUR}}, **four)

    @staticmethod
    def _usual(name: str) -> float:
        """Return the scale of the hyperprior of a spread that is not set."""
        if name == DRIFT:
            return DRIFT_SCALE
        return 1.5 if name.startswith("strength_by") and name not in TASTES else 1.0


@dataclass(frozen=True)
class Prior(Spreads):
    """Standard deviations of the Gaussian priors.

    Attributes
    ----------
    strength, discrimination, tie_spread, position_spread : float
        Spreads of r, theta, u and v.
    by : mapping of str to float
        Spreads of the numbers of slices and the annotators' slopes.
    hyper : Spreads or None
        Scales of the hyperpriors of the spreads; None keeps the spreads fixed.
    known : tuple of str
        Spreads that stay fixed while the others are estimated.
    """

    strength: float = 1.0
    discrimination: float = 0.5
    tie_spread: float = 1.0
    position_spread: float = 0.3
    hyper: Spreads | None = Spreads(strength=1.5, discrimination=1.0, tie_spread=1.0, position_spread=0.5)
    known: tuple[str, ...] = ()

    def estimates(self, name: str) -> bool:
        """Whether a spread is estimated by methods that estimate any."""
        return self.hyper is not None and bool(name) and name not in self.known

    @property
    def is_flat(self) -> bool:
        """Whether all spreads in ``FOUR`` are infinite."""
        return all(math.isinf(getattr(self, name)) for name in FOUR)

    @staticmethod
    def _usual(name: str) -> float:
        """Return a spread that is not set."""
        if name == DRIFT:
            return DRIFT_START
        return 1.0 if name.startswith("strength_by") and name not in TASTES else 0.5

    def __str__(self) -> str:
        names = [name for name, prior in NAMED_PRIORS.items() if prior == self]
        if names:
            return names[0]
        return "normal(" + ", ".join(f"{name}={value:g}" for name, value in self.named().items()) + ")"


PriorName = Literal["flat", "weak", "default"]
FLAT = Prior(math.inf, math.inf, math.inf, math.inf, hyper=None)
WEAK = Prior(strength=5.0, known=("strength",))
"""Next to nothing is assumed of the strengths; all other spreads are estimated."""
NAMED_PRIORS: dict[PriorName, Prior] = {"flat": FLAT, "weak": WEAK, "default": Prior()}

COMMON_POSITION, COMMON_BOTH_BAD, COMMON_STYLE, COMMON_GRADE = (0.0, 0.5), (-1.0, 1.0), (0.0, 1.0), (0.0, 1.0)
"""Mean and standard deviation of what annotators have in common; each likelihood has those of ties."""


def degrees(name: str) -> int:
    """Return the degrees of freedom of the hyperprior of a spread."""
    return DEGREES.get(name, 1)


def spread_label(name: str) -> str:
    """Return the name of a spread in a PyMC program and its draws."""
    return name if name.endswith("_spread") else f"{name}_sd"


def resolve_prior(prior: str | Prior) -> Prior:
    """Return a prior, given by name or as it is.

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
