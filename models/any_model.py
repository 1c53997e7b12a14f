"""Any :class:`~bayes_arena.Model` as a program: slices, style, graded wins.

A vote has the coordinates

    eta = theta_k (r_i - r_j + u_gi - u_gj) + b + b_k + x . beta,    tau = t + t_k + w_g,

and more where wins are graded; the logit of outcome o is phi_o . z (see
:mod:`bayes_arena.model.effects`).  The effects are added up one by one, each to the
predictor that it enters.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping
from typing import Any

import numpy as np
import pymc as pm
from pymc.distributions.transforms import ZeroSumTransform

from bayes_arena.arrays import Floats
from bayes_arena.model.effects import (
    ETA,
    LEAD,
    THETA,
    Effect,
    effects_of,
    outcomes_of,
)
from bayes_arena.model.priors import Prior, Spread, resolve_prior
from bayes_arena.model.spec import Model, resolve_model, visible_votes
from bayes_arena.models.parts import (
    independent_normal,
    normal,
    observe,
    shared,
    spread_variable,
    zero_sum,
)
from bayes_arena.models.rows import Data, data
from bayes_arena.reading.read import votes_from
from bayes_arena.votes.votes import Votes


def build(
    votes: object,
    model: str | Model,
    prior: str | Prior = "default",
    *,
    per_vote: bool = False,
) -> pm.Model:
    """Return the program of a model.

    Parameters
    ----------
    votes : Votes, path or dataframe
    model : str or Model
        As for :func:`bayes_arena.fit`.
    prior : {"default", "weak", "flat"} or Prior
    per_vote : bool
        Whether there is one row a vote.

    Returns
    -------
    pymc.Model
        A variable for each effect, with its name: ``strength`` (competitor) and those of
        :mod:`~bayes_arena.models.am_davidson`; ``strength_by_{slice}``
        (competitor_by_{slice}), ``tie_by_{slice}`` ({slice}), ``style_{feature}``,
        ``emphasis``; a spread ``..._sd`` of each where it is estimated; and ``votes``.

    Raises
    ------
    ModelError
        If the model or the prior is unknown, or the votes lack what the model needs.
    """
    votes = votes_from(votes)
    model, votes, _ = resolve_model(model, votes)
    return program(data_of(votes, model, per_vote=per_vote), model, prior)


def data_of(votes: Votes, model: Model, *, per_vote: bool = False) -> Data:
    """Return votes as the arrays that the program of a model reads."""
    return data(
        visible_votes(model, votes),
        annotators=model.needs_annotators,
        slices=model.strength_by,
        features=model.style,
        per_vote=per_vote,
    )


def program(rows: Data, model: Model, prior: str | Prior) -> pm.Model:
    """Return the program of a model whose terms the votes can tell."""
    effects = effects_of(model, resolve_prior(prior))
    with pm.Model(coords=rows.coords) as program:
        parameters = variables_of(effects, rows)
        predictors: dict[int, Any] = defaultdict(float)
        for effect in effects:
            on_each = on_rows(effect, parameters[effect.name], rows)
            predictors[effect.predictor] += on_each
        observe(logits_of(model, predictors), observed_counts(model, rows))
    return program


def variables_of(effects: tuple[Effect, ...], rows: Data) -> dict[str, Any]:
    """Return the parameters of each effect; theta with its mean, 1.

    First the deviations by annotator and by slice; then what all votes share, beside the
    average deviation in the same predictor, its *drift*.
    """
    parameters: dict[str, Any] = {}
    drift: dict[int, Any] = {}
    for effect in [effect for effect in effects if effect.by is not None]:
        value = deviations(effect, rows)
        parameters[effect.name] = value
        average = pm.math.dot(share_of_votes(effect, rows), value)
        drift[effect.predictor] = drift.get(effect.predictor, 0.0) + average
    for effect in [effect for effect in effects if effect.by is None]:
        parameters[effect.name] = beside(effect, drift.get(effect.predictor), rows)
    return parameters


def deviations(effect: Effect, rows: Data) -> Any:
    """Return the parameters of annotators, or of a slice."""
    dim = str(effect.dimension)
    if not effect.zero_sum:
        return normal(effect.name, effect.spread, dim, rows.information)
    mean = 1.0 if effect.predictor == THETA else 0.0
    return zero_sum(effect.name, effect.spread, dim, rows.information, mean)


def beside(effect: Effect, drift: Any, rows: Data) -> Any:
    """Return the parameters that all votes share, beside a drift, or None."""
    name, spread = effect.name, effect.spread
    if effect.feature is not None:
        return slope(effect, rows)
    if not effect.per_competitor:
        return normal(name, spread) if drift is None else shared(name, spread, drift)
    if drift is None or math.isinf(spread.sd):
        return zero_sum(name, spread, "competitor", rows.information)
    return strength_beside(spread, drift, len(rows.coords["competitor"]))


def slope(effect: Effect, rows: Data) -> Any:
    """Return the slope of a feature, whose known spread is per root mean square."""
    name, spread = effect.name, effect.spread
    if spread.is_estimated:
        return normal(name, spread)
    per_unit = independent_normal(f"{name}_raw", spread.sd, None)
    return pm.Deterministic(name, per_unit / root_mean_square(effect.feature, rows))


def strength_beside(prior: Spread, drift: Any, n_competitors: int) -> Any:
    """Return the strengths, beside competitors' average deviations over votes.

    What is sampled is their sum, which the votes determine: given the average deviations,
    it is normal about them.
    """
    sd = spread_variable("strength", prior)
    mean = drift - drift.mean()

    def about(mean: Any, sd: Any, size: Any) -> Any:
        return mean + pm.ZeroSumNormal.dist(sigma=sd, shape=(n_competitors,))

    hold_sum = ZeroSumTransform([0])
    total = pm.CustomDist(
        "strength_sum", mean, sd, dist=about, transform=hold_sum, dims="competitor"
    )
    return pm.Deterministic("strength", total - mean, dims="competitor")


def share_of_votes(effect: Effect, rows: Data) -> Floats:
    """Return weights with which an effect's parameters are averaged over votes.

    They are (annotators,) or (levels,); for parameters of competitors (competitors,
    size): of the votes on each competitor.
    """
    if effect.by == "annotator":
        return rows.share
    n = rows.counts.sum(axis=1)
    level, first, second = rows.slices[str(effect.by)]
    if not effect.per_competitor:
        return np.bincount(level, n, len(rows.coords[str(effect.by)])) / n.sum()
    n_competitors = len(rows.coords["competitor"])
    votes = np.zeros((n_competitors, len(rows.coords[str(effect.dimension)])))
    np.add.at(votes, (rows.first[rows.pair], first), n)
    np.add.at(votes, (rows.second[rows.pair], second), n)
    return votes / np.maximum(votes.sum(axis=1, keepdims=True), 1.0)


def root_mean_square(feature: str | None, rows: Data) -> float:
    """Return the root mean square of a feature over votes; 1 where it is 0."""
    n = rows.counts.sum(axis=1)
    mean_square = n @ rows.features[str(feature)] ** 2 / n.sum()
    return float(np.sqrt(mean_square)) or 1.0


def on_rows(effect: Effect, parameters: Any, rows: Data) -> Any:
    """Return what an effect adds to its predictor in each row."""
    if effect.per_competitor:
        if effect.by is None:
            return (parameters[rows.first] - parameters[rows.second])[rows.pair]
        _, first, second = rows.slices[effect.by]
        return parameters[first] - parameters[second]
    if effect.by == "annotator":
        return parameters[rows.annotator]
    if effect.by is not None:
        return parameters[rows.slices[effect.by][0]]
    if effect.feature is not None:
        return parameters * rows.features[effect.feature]
    return parameters


def logits_of(model: Model, predictors: Mapping[int, Any]) -> list[Any]:
    """Return the logits of the outcomes, phi_o . z."""
    outcomes = outcomes_of(model)
    theta = predictors.get(THETA, 1.0)
    z = [theta * predictors[LEAD] + predictors.get(ETA, 0.0)]
    z += [predictors[c] for c in range(1, 1 + len(outcomes.offsets))]
    logits = []
    for phi in outcomes.phi:
        # Coordinates that an outcome does not read stay out of the program.
        logits.append(sum(phi[c] * z[c] for c in np.flatnonzero(phi)))
    return logits


def observed_counts(model: Model, rows: Data) -> Floats:
    """Return the counts by outcome, in the order of the logits."""
    if model.grades:
        return rows.counts
    return rows.folded if outcomes_of(model).has_tie else rows.half_wins
