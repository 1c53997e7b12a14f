"""The linear predictor: effects as data, and the one place that turns effects and votes into coordinates.

The coordinates of a vote (:mod:`bayes_arena.likelihood.outcomes.likelihood`) are sums over effects, each a number times
its basis D:

    eta = (theta_k + sum_f s^f_g) (q_i - q_j) + sum_l v_kl (w_li - w_lj) + b + b_k + sum_f (beta_f + c_fk) x_f,
    q_i = r_i + sum_f u^f_{g,i} + d_{t,i},
    t = ln nu + u_k + sum_f w^f_g + w_i + w_j,      m = ln mu,      x = x_0 + e_k,

where wins have grades, with further numbers c_3, ... in common.

Lead and factor. In dimension 0 competitors have the lead q_i - q_j, and its factor is theta_k (one where it is fixed),
with s, how much more closely votes in slice g follow the strengths.
In dimension l = 1, 2, ... they have the lead w_li - w_lj along a direction in which annotators disagree, and its factor
is the loading v_kl. The basis of a factor is the lead. The basis of what a lead is made of, of w and of u, the
deviation of a competitor's strength in slice g (a prompt, a category, an annotator), and of d, that of its strength in
period t from the one now, a random walk (:mod:`bayes_arena.likelihood.steps`), is the factor, with a minus for j.
The basis of a style slope beta_f is a feature x_f of the vote, and that of all others is one.

Position and style belong to the vote: who was shown first, how long the answers are. The rest belongs to competitors
and annotators. Of a hypothetical vote (on every pair, for the scale that all models share, or the next vote) only the
leads and the annotator are known. What belongs to the vote is left out, and so is what belongs to a slice: over the
population of slices its numbers have mean zero.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from bayes_arena.arrays import Floats, Ints
from bayes_arena.errors import ModelError
from bayes_arena.likelihood.outcomes.likelihood import ETA, M, T
from bayes_arena.likelihood.priors import (
    COMMON_BOTH_BAD,
    COMMON_GRADE,
    COMMON_POSITION,
    COMMON_STYLE,
    DRIFT,
    EMPHASIS,
    Prior,
)
from bayes_arena.likelihood.specification import Model
from bayes_arena.votes.names import COMPETITOR, TIME
from bayes_arena.votes.tally import Tally

THETA = 0
"""Place of theta, where it is free, among the annotators' effects."""
Numbers = Sequence[Any] | Floats
"""Numbers by effect."""
Level = Literal["common", "annotator", "slice"]
Basis = Literal["lead", "one", "feature", "difference", "sum"]


@dataclass(frozen=True)
class Effect:
    """A number, or one for every annotator or slice, that enters a coordinate of a vote.

    Attributes
    ----------
    name : str
        The same for a common effect and the annotators' deviations from it.
    label : str
        Its name in a PyMC program, its draws, and tables.
    coordinate : int
        The coordinate that it enters.
    level : {"common", "annotator", "slice"}
        Whose number it is.
    mean, sd : float
        Gaussian prior.
    basis : {"one", "lead", "feature", "difference", "sum"}
        What the number is multiplied by. ``"lead"``: it is the lead's factor, or part of it. ``"difference"``: it is
        part of a lead, and multiplied by the factor; every competitor has a number, in every slice, and that of j is
        subtracted. ``"sum"``: one, and the numbers of both competitors are added.
    belongs_to_vote : bool
        Whether it is left out of hypothetical votes.
    spread : str
        The name of ``sd`` in :class:`~bayes_arena.likelihood.priors.Spreads`; empty where it is fixed.
    feature : int
        Row of ``Tally.features``, or of ``Tally.slices``.
    unit : float
        What the number multiplies, in the units of its spread: the spread of the prior is ``sd * unit``.
    dimension : int
        Of the lead that it multiplies, or is a part of: 0, or that of a direction.
    by : str
        For a slice: its kind, in ``Cells.slices``, or annotator, competitor or program.
    walks : bool
        Whether the prior is that of the steps between the numbers of consecutive slices, back from the last
        (:mod:`bayes_arena.likelihood.steps`), rather than of each number.

    Raises
    ------
    ModelError
        If it multiplies a feature and does not belong to the vote.
    """

    name: str
    label: str
    coordinate: int
    level: Level
    mean: float
    sd: float
    basis: Basis = "one"
    belongs_to_vote: bool = False
    spread: str = ""
    feature: int = 0
    unit: float = 1.0
    dimension: int = 0
    by: str = ""
    walks: bool = False

    def __post_init__(self) -> None:
        if self.basis == "feature" and not self.belongs_to_vote:
            raise ModelError(f"The effect {self.name!r} multiplies a feature. Set belongs_to_vote=True.")

    @property
    def is_single(self) -> bool:
        """Whether a slice has one number, rather than one for every competitor."""
        return self.basis in ("one", "lead")

    @property
    def is_held(self) -> bool:
        """Whether the numbers of slices sum to zero: what they add to theta. The scale of strengths would be open."""
        return self.level == "slice" and self.basis == "lead"

    @property
    def common_label(self) -> str:
        """Name of the shared number in a PyMC program."""
        return f"{self.name}_common"


def effects(model: Model, prior: Prior) -> tuple[Effect, ...]:
    """Return the effects of a model, strengths apart: common ones, then the annotators' own, then those of slices."""
    common, own, slices = [], [], []
    if model.discrimination == "annotator":
        spread = "discrimination"
        own.append(Effect(spread, spread, ETA, "annotator", 1.0, prior.discrimination, "lead", spread=spread))
    if model.likelihood.tie_prior is not None:
        tie = Effect("tie_propensity", "log_tie_propensity", T, "common", *model.likelihood.tie_prior)
        common.append(tie)
        if model.tie_propensity == "annotator":
            own.append(_deviations(tie, prior.tie_spread, "tie_spread"))
    if model.position != "none":
        position = Effect("position", "position", ETA, "common", *COMMON_POSITION, belongs_to_vote=True)
        common.append(position)
        if model.position == "annotator":
            own.append(_deviations(position, prior.position_spread, "position_spread"))
    if model.both_bad == "outcome":
        common.append(Effect("both_bad", "log_both_bad", M, "common", *COMMON_BOTH_BAD))
    for grade in range(2, model.grades + 1):
        name = EMPHASIS if grade == 2 else f"grade_{grade}"
        place = model.likelihood.emphasis + grade - 2
        strong = Effect(name, name, place, "common", *COMMON_GRADE)
        common.append(strong)
        if name == EMPHASIS and model.tie_propensity == "annotator":
            own.append(_deviations(strong, prior.spread(f"{EMPHASIS}_spread"), f"{EMPHASIS}_spread"))
    for row, feature in enumerate(model.features):
        name = f"style_{feature}"
        slope = Effect(name, name, ETA, "common", *COMMON_STYLE, "feature", belongs_to_vote=True, feature=row)
        common.append(slope)
        if model.style_slopes == "annotator":
            own.append(_deviations(slope, prior.spread(f"{name}_spread"), f"{name}_spread"))
    for kind, coordinate, kinds in (("strength", ETA, model.strength_by), ("ties", T, model.ties_by)):
        for by in kinds:
            name, row = f"{kind}_by_{by}", model.slices.index(by) if by in model.slices else 0
            basis: Basis = "difference" if kind == "strength" else "sum" if by == COMPETITOR else "one"
            sd = prior.spread(name)
            slices.append(Effect(name, name, coordinate, "slice", 0.0, sd, basis, spread=name, feature=row, by=by))
    for by in model.discrimination_by:
        name, row = f"discrimination_by_{by}", model.slices.index(by)
        sd = prior.spread(name)
        slices.append(Effect(name, name, ETA, "slice", 0.0, sd, "lead", spread=name, feature=row, by=by))
    if model.drift:
        sd, row = prior.spread(DRIFT), model.slices.index(TIME)
        drift = Effect(
            DRIFT, DRIFT, ETA, "slice", 0.0, sd, "difference", spread=DRIFT, feature=row, by=TIME, walks=True
        )
        slices.append(drift)
    for one in range(1, model.dimensions + 1):
        loading, direction = f"loading_{one}", f"direction_{one}"
        own.append(Effect(loading, loading, ETA, "annotator", 0.0, 1.0, "lead", dimension=one))
        sd, by = prior.spread(direction), COMPETITOR
        whose = Effect(
            direction, direction, ETA, "slice", 0.0, sd, "difference", spread=direction, dimension=one, by=by
        )
        slices.append(whose)
    if prior.is_flat:
        common, own = ([replace(effect, sd=math.inf) for effect in effects] for effects in (common, own))
    return (*common, *own, *slices)


def kinds(common: Sequence[Effect], own: Sequence[Effect]) -> tuple[list[Effect], list[int], list[int]]:
    """Return an effect of every kind (equal basis and coordinate), and the kinds of the common and the own effects."""
    keys = [[(one.basis, one.feature, one.coordinate, one.dimension) for one in part] for part in (common, own)]
    found = dict(zip((*keys[0], *keys[1]), (*common, *own), strict=True))
    places = list(found)
    return list(found.values()), [places.index(one) for one in keys[0]], [places.index(one) for one in keys[1]]


def _deviations(effect: Effect, sd: float, spread: str) -> Effect:
    """Return the effect of the annotators' deviations from a common effect."""
    return replace(effect, level="annotator", mean=0.0, sd=sd, spread=spread)


def in_units(effect: Effect, tally: Tally) -> Effect:
    """Return an effect with its prior in units of what it multiplies.

    The prior of a feature's slope is that of its product with the feature's root mean square over votes, so that
    lengths in words and in thousands of words give the same fit.
    """
    if effect.basis != "feature":
        return effect
    size = root_mean_square(effect, tally)
    return replace(effect, sd=effect.sd / size, unit=size) if size else effect


def root_mean_square(effect: Effect, tally: Tally) -> float:
    """Return the root mean square over votes of the feature that an effect multiplies."""
    return math.sqrt(float(tally.votes @ tally.features[effect.feature] ** 2 / tally.votes.sum()))


def lead(strength: Floats, i: Ints, j: Ints, axis: int = -1) -> Floats:
    """Return the lead of i over j, shape (..., n_rows), for strengths (..., n) with competitors along the axis."""
    return np.asarray(strength.take(i, axis) - strength.take(j, axis))


@dataclass(frozen=True)
class Predictor:
    """Effects and how votes turn them into coordinates.

    Numbers are given by effect, each of any shape that broadcasts with the leads: numbers of the annotators who vote,
    draws, or a grid of leads by annotators.

    Attributes
    ----------
    n_coordinates : int
        Coordinates of a vote.
    common, own : tuple of Effect
        Effects that annotators share, and those of every annotator.
    sharper : float or ndarray
        What slices add to theta; an array broadcasts with the leads.
    """

    n_coordinates: int
    common: tuple[Effect, ...]
    own: tuple[Effect, ...]
    sharper: Any = 0.0

    @property
    def free_discrimination(self) -> bool:
        """Whether theta is free."""
        return bool(self.own) and self.own[THETA].basis == "lead" and not self.own[THETA].dimension

    @property
    def loadings(self) -> list[int]:
        """Which of the own effects are loadings, by direction."""
        return [place for place, effect in enumerate(self.own) if effect.dimension]

    @property
    def dimensions(self) -> int:
        """Number of directions in which annotators disagree."""
        return len(self.loadings)

    def factors(self, own: Numbers) -> list[Any]:
        """Return the factor of the lead in every dimension: theta with what is added to it, and the loadings."""
        factors: list[Any] = [1.0] * (1 + self.dimensions)
        for effect, number in zip(self.own, own, strict=True):
            if effect.basis == "lead":
                factors[effect.dimension] = number
        if np.any(self.sharper):
            factors[0] = factors[0] + self.sharper
        return factors

    def coordinates(
        self, leads: Sequence[Any], common: Numbers, own: Numbers, features: Floats | None = None
    ) -> Floats:
        """Return the coordinates of votes.

        Parameters
        ----------
        leads : sequence of ndarray
            q_i - q_j, and the leads along every direction.
        common, own : sequence of ndarray
            Numbers of every effect.
        features : ndarray, shape (n_features, ...), optional
            Of votes that were cast. Without it votes are hypothetical, and what belongs to the vote is left out.

        Returns
        -------
        ndarray, shape (n_coordinates, ...)
        """
        totals: list[Any] = [0.0] * self.n_coordinates
        totals[ETA] = sum(times(*of) for of in zip(self.factors(own), leads, strict=True))
        for effect, number in zip((*self.common, *self.own), (*common, *own), strict=True):
            if effect.basis != "lead" and not (effect.belongs_to_vote and features is None):
                totals[effect.coordinate] = totals[effect.coordinate] + times(basis(effect, leads, features), number)
        z = np.empty((self.n_coordinates, *np.broadcast_shapes(*map(np.shape, totals))))
        for coordinate, total in enumerate(totals):
            z[coordinate] = total
        return z

    def move(
        self,
        leads: Sequence[Any],
        own: Numbers,
        features: Floats,
        by_lead: Sequence[Floats],
        by_common: Numbers,
        by_own: Numbers,
    ) -> Floats:
        """Return the first-order change of the coordinates of votes cast, for a step in leads and numbers.

        Parameters
        ----------
        leads, own, features
            As for :meth:`coordinates`.
        by_lead : sequence of ndarray
            Step of the leads.
        by_common, by_own : sequence of ndarray
            Steps of the numbers of every effect.

        Returns
        -------
        ndarray, shape (n_coordinates, ...)
        """
        moves = np.zeros((self.n_coordinates, *by_lead[0].shape))
        moves[ETA] = sum(times(*of) for of in zip(self.factors(own), by_lead, strict=True))
        for effect, number in zip((*self.common, *self.own), (*by_common, *by_own), strict=True):
            moves[effect.coordinate] += times(basis(effect, leads, features), number)
        return moves


def basis(effect: Effect, leads: Sequence[Any], features: Floats | None) -> Any:
    """Return an effect's basis; zero if it belongs to the vote, and the vote is hypothetical."""
    if effect.belongs_to_vote and features is None:
        return 0.0
    if effect.basis == "lead":
        return leads[effect.dimension]
    return 1.0 if features is None or effect.basis == "one" else features[effect.feature]


def times(factor: Any, values: Any) -> Any:
    """Return the product, without a pass over the values where the factor is one."""
    return values if isinstance(factor, float) and factor == 1.0 else factor * values
