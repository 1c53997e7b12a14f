"""Any :class:`~bayes_arena.Model` as a program: slices, style, graded wins.

A vote has the coordinates

    eta = theta_k (r_i - r_j + u_gi - u_gj) + b + b_k + x . beta,    tau = t + t_k + w_g,

and more where wins are graded; the logit of outcome o is phi_o . z (see
:mod:`bayes_arena.model.effects`).  The effects are added up one by one, each to the
predictor that it enters.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

import numpy as np
import pymc as pm

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
    Information,
    normal,
    observe,
    shared,
    spread_variable,
    zero_sum,
)
from bayes_arena.models.rows import Data, data
from bayes_arena.reading.read import votes_from


def build(
    votes: object,
    model: str | Model,
    prior: str | Prior = "default",
    information: Mapping[str, float] | None = None,
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
    information : mapping of str to float, optional
        What the votes say on the effects, by name: sets the coordinates that are sampled.
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
    rows = data(
        visible_votes(model, votes),
        annotators=model.needs_annotators,
        slices=model.strength_by,
        features=model.style,
        per_vote=per_vote,
    )
    effects = effects_of(model, resolve_prior(prior))
    with pm.Model(coords=rows.coords) as program:
        parameters = parameters_of(effects, rows, information)
        predictors: dict[int, Any] = defaultdict(float)
        for effect in effects:
            predictors[effect.predictor] += on_rows(
                effect, parameters[effect.name], rows
            )
        observe(logits_of(model, predictors), outcome_counts(model, rows))
    return program


def parameters_of(
    effects: tuple[Effect, ...], rows: Data, information: Information
) -> dict[str, Any]:
    """Return the parameters of each effect; theta with its mean, 1."""
    parameters: dict[str, Any] = {}
    # The average deviation over votes, by predictor.
    drift: dict[int, Any] = {}
    # Those that all votes share come after the deviations from them.
    for effect in sorted(effects, key=lambda effect: effect.by is None):
        value = parameter_of(effect, drift, rows, information)
        parameters[effect.name] = value
        if effect.by is not None and effect.predictor != THETA:
            average = pm.math.dot(share_of_votes(effect, rows), value)
            drift[effect.predictor] = drift.get(effect.predictor, 0.0) + average
    return parameters


def parameter_of(
    effect: Effect, drift: Mapping[int, Any], rows: Data, information: Information
) -> Any:
    """Return the parameters of an effect, in the coordinates that sample best."""
    name = effect.name
    spread = effect.spread
    dim = effect.dimension
    has_drift = effect.predictor in drift
    if effect.predictor == LEAD and has_drift and information is not None:
        return strength_beside(spread, drift[LEAD])
    if dim is None and effect.feature is None and has_drift:
        return shared(name, spread, drift[effect.predictor], information)
    if effect.zero_sum:
        mean = 1.0 if effect.predictor == THETA else 0.0
        return zero_sum(name, spread, dim, information, mean)
    return normal(name, spread, dim, information, unit_of(effect, rows))


def strength_beside(prior: Spread, drift: Any) -> Any:
    """Return the strengths, beside competitors' average deviations over votes.

    What is sampled is their sum a (zero sum), which the votes determine.  Given the
    average deviations m, r = a - m is normal: a has the density of Normal(0, s), times
    exp((a . m - m . m / 2) / s^2).
    """
    sd = spread_variable("strength", prior)
    m = drift - drift.mean()
    a = pm.ZeroSumNormal("strength_raw", sigma=sd, dims="competitor")
    pm.Potential("strength_shift", ((a * m).sum() - (m * m).sum() / 2) / sd**2)
    return pm.Deterministic("strength", a - m, dims="competitor")


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


def unit_of(effect: Effect, rows: Data) -> float:
    """Return the root mean square of an effect's feature over votes, else 1."""
    if effect.feature is None:
        return 1.0
    n = rows.counts.sum(axis=1)
    mean_square = n @ rows.features[effect.feature] ** 2 / n.sum()
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


def outcome_counts(model: Model, rows: Data) -> Floats:
    """Return the counts by outcome, in the order of the logits."""
    if model.grades:
        return rows.counts
    return rows.folded if outcomes_of(model).has_tie else rows.half_wins
