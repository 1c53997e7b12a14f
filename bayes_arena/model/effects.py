"""Effects: the parameters of a model, by the predictor that they enter.

The logit of outcome o is phi_o . z, and the coordinates z are

    eta = theta lead + offset    (first competitor against second),
    tau = offset                 (tie),

and more for richer outcomes.  The lead is the difference in strength, and theta the
discrimination of the annotator.  The offsets, the lead and theta are the *predictors* of a
vote.  Each is a sum of *effects*, parameters with a common normal prior; theta is 1 plus its
effects.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bayes_arena.arrays import Floats
from bayes_arena.model.priors import Prior, Spread
from bayes_arena.model.spec import Model
from bayes_arena.votes.votes import (
    FIRST,
    FIRST_CLEARLY,
    SECOND,
    SECOND_CLEARLY,
    TIE,
    Votes,
)

# Predictors: first the offsets of the coordinates, last the lead and theta.
ETA, TAU = 0, 1
LEAD, THETA = -2, -1


@dataclass(frozen=True, eq=False)
class Outcomes:
    """What a vote can be.

    Attributes
    ----------
    phi : ndarray, shape (outcomes, coordinates)
        Logits of the outcomes per unit of each coordinate.
    offsets : tuple of str
        Names of the coordinates after eta.
    columns : tuple of int
        The column of the counts that each outcome has.
    """

    phi: Floats
    offsets: tuple[str, ...]
    columns: tuple[int, ...]

    @property
    def points(self) -> Floats:
        """Score of the first competitor: win 1, tie 1/2, loss 0, (outcomes,)."""
        return np.asarray(0.5 + 0.5 * np.sign(self.phi[:, ETA]))

    @property
    def has_tie(self) -> bool:
        """Whether a tie is an outcome, and not half a win for each."""
        return TIE in self.columns

    def counts(self, votes: Votes) -> Floats:
        """Return the counts by outcome, (rows, outcomes); without a tie, halves of it."""
        folded = votes.counts if FIRST_CLEARLY in self.columns else votes.folded
        counts = folded[:, self.columns]
        if not self.has_tie:
            counts = counts + folded[:, [TIE]] / 2
        return np.asarray(counts)


# First wins, second wins; a tie is half of each.
HALF_WINS = Outcomes(np.array([[0.5], [-0.5]]), (), (FIRST, SECOND))
# First wins, second wins, tie (Davidson, 1970).
DAVIDSON = Outcomes(
    np.array([[0.5, 0], [-0.5, 0], [0, 1]]), ("tie",), (FIRST, SECOND, TIE)
)
# A>B, B>A, tie, A>>B, B>>A.
GRADED = Outcomes(
    np.array([[0.5, 0, 0], [-0.5, 0, 0], [0, 1, 0], [1, 0, 1], [-1, 0, 1]]),
    ("tie", "emphasis"),
    (FIRST, SECOND, TIE, FIRST_CLEARLY, SECOND_CLEARLY),
)


@dataclass(frozen=True)
class Effect:
    """Parameters that enter one predictor under one prior.

    Attributes
    ----------
    name : str
    predictor : int
        ETA, TAU, 2, ... for the offset of this coordinate, LEAD or THETA.
    spread : Spread
        The prior of each parameter.
    zero_sum : bool
        Whether the parameters sum to zero.
    by : str, optional
        One parameter for each "annotator", or for each level of the slice of this name.
        By default one for all votes.
    per_competitor : bool
        Whether each competitor has its own parameter (at each level of ``by``).  A vote
        then has that of its first competitor minus that of its second.
    feature : str, optional
        The feature of the votes that multiplies the parameter.
    """

    name: str
    predictor: int
    spread: Spread
    zero_sum: bool = False
    by: str | None = None
    per_competitor: bool = False
    feature: str | None = None

    @property
    def is_by_slice(self) -> bool:
        """Whether the parameters belong to levels of a slice."""
        return self.by not in (None, "annotator")

    @property
    def dimension(self) -> str | None:
        """The dimension of the parameters in programs and trees; None of a single one."""
        if self.per_competitor:
            return f"competitor_by_{self.by}" if self.by else "competitor"
        return self.by


def outcomes_of(model: Model) -> Outcomes:
    """Return the outcomes of a model."""
    if model.grades:
        return GRADED
    return DAVIDSON if model.ties == "davidson" else HALF_WINS


def effects_of(model: Model, prior: Prior) -> tuple[Effect, ...]:
    """Return the effects of a model.

    Parameters
    ----------
    model : Model
    prior : Prior
    """
    spreads = prior.spreads()
    strength = spreads["strength"]
    effects = [Effect("strength", LEAD, strength, zero_sum=True, per_competitor=True)]
    for by in model.strength_by:
        spread = spreads["strength_by_slice"]
        name = f"strength_by_{by}"
        effects.append(Effect(name, LEAD, spread, by=by, per_competitor=True))
    if model.discrimination == "annotator":
        effects.append(annotator_effect("discrimination", THETA, prior))
    if model.position != "none":
        effects.append(Effect("position", ETA, spreads["position"]))
    if model.position == "annotator":
        effects.append(annotator_effect("position_by_annotator", ETA, prior))
    for coordinate, name in enumerate(outcomes_of(model).offsets, start=TAU):
        effects.append(Effect(name, coordinate, spreads[name]))
        if model.tie_propensity == "annotator":
            name = f"{name}_by_annotator"
            effects.append(annotator_effect(name, coordinate, prior))
    if model.ties == "davidson":
        for by in model.strength_by:
            spread = spreads["tie_by_slice"]
            effects.append(Effect(f"tie_by_{by}", TAU, spread, by=by))
    for name in model.style:
        effects.append(Effect(f"style_{name}", ETA, spreads["style"], feature=name))
    return tuple(effects)


def annotator_effect(name: str, predictor: int, prior: Prior) -> Effect:
    """Return an effect with one parameter for each annotator, which sum to zero."""
    spread = prior.spreads()[name]
    return Effect(name, predictor, spread, zero_sum=True, by="annotator")
