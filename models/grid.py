"""Any model of the grid as a PyMC program.

Composed from the same description and prior object as in :func:`bayes_arena.fit`, so the posterior is the same:
strengths, then what the effects of the objective require, then the outcome.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from functools import reduce
from operator import add
from typing import Any

import numpy as np
import pymc as pm

from bayes_arena.arrays import sum_by
from bayes_arena.inference.marginal.finding import information_of
from bayes_arena.likelihood.numbering import label_of
from bayes_arena.likelihood.outcomes.likelihood import ETA, M, T
from bayes_arena.likelihood.predictor import times
from bayes_arena.likelihood.priors import Prior
from bayes_arena.likelihood.problem import Problem
from bayes_arena.likelihood.specification import Model
from bayes_arena.models import _parts
from bayes_arena.models.spreads import spread
from bayes_arena.threads import one_thread
from bayes_arena.votes.cells import Cells


def build(
    cells: Cells, *, model: str | Model | None = None, prior: str | Prior = "default", pooled: bool = False
) -> pm.Model:
    """Build the PyMC model of any point of the grid.

    Parameters
    ----------
    cells : Cells
        Votes.
    model : str or Model, optional
        As for :func:`bayes_arena.fit`.
    prior : str or Prior
        Prior, by name or as an object.
    pooled : bool
        Give the spreads of the prior their hyperpriors, rather than fixing them.

    Returns
    -------
    pymc.Model
        ``strength`` (competitor) in logits; where the model has them ``discrimination`` (annotator) with mean 1,
        ``log_tie_propensity`` and ``position`` (annotator, or a scalar where common), ``log_both_bad``,
        ``emphasis`` (annotator or scalar, where wins have grades) and ``grade_3`` onwards; for every dimension l of
        disagreement ``direction_l`` (competitor) and ``loading_l`` (annotator), of which the program has mirror images
        (:mod:`bayes_arena.fits.images`); the pooled spreads ``strength_sd``, ``discrimination_sd``, ``tie_spread``,
        ``position_spread``. Pooled, these are functions of the coordinates that are sampled, ``..._unit`` and
        ``..._level``.

    Raises
    ------
    ModelError
        If the model or prior is unknown, or the model needs annotators and there are none.
    ConvergenceError, NotIdentifiedError, NoVotesError
        If ``pooled``, and the fit by ``"marginal"`` that sets the sampler's coordinates fails.
    """
    problem = Problem.of(cells, model, prior)
    if not pooled or problem.prior.hyper is None:
        return compose(problem)
    with one_thread():
        known = information_of(problem)
    return compose(problem, known)


def compose(problem: Problem, known: Mapping[str, float] | None = None) -> pm.Model:
    """Compose the program, given what the fit by ``"marginal"`` has found.

    Parameters
    ----------
    problem : Problem
    known : mapping of str to float, optional
        The :func:`~bayes_arena.inference.marginal.spreads.information` of the votes, which sets the sampler's
        coordinates; the spreads are then pooled. Without it they are fixed.

    Returns
    -------
    pymc.Model
        As by :func:`build`.
    """
    prior, target = problem.prior, problem.objective
    with pm.Model(coords=_parts.coordinates(problem)) as program:

        def scattered(make: _parts.Vector, name: str, of: str, sd: float, dim: str) -> Any:
            """Return numbers of a common spread, which is sampled where the votes' information is known."""
            if known is None or not prior.estimates(of):
                return make(name, sd, dim)
            return _parts.pooled(make, name, spread(of, prior), known[of], dim)

        strength = scattered(_parts.zero_sum, "strength", "strength", target.strength_sd, "competitor")
        if known is not None:
            strength = pm.Deterministic("strength", strength, dims="competitor")
        own = {}
        for effect in target.own:
            name, sd = f"{effect.name}_deviation", effect.sd * effect.unit
            deviations = scattered(_parts.zero_sum, name, effect.spread, sd, "annotator")
            own[effect.name] = times(1 / effect.unit, deviations)
        votes = sum_by(target.tally.k, target.counts.sum(axis=0), target.n_annotators)
        shared = {
            effect.name: _parts.common_beside(own[effect.name], effect, votes / votes.sum())
            if known is not None and effect.name in own
            else _parts.common(effect)
            for effect in target.common
        }
        entering, style = defaultdict(list), []
        every = np.zeros(max(target.n_annotators, 1))
        factors: list[Any] = [1 + every] * (1 + target.predictor.dimensions)
        kinds = {effect.name: effect for effect in (*target.own, *target.common)}
        for effect in sorted(kinds.values(), key=lambda effect: effect.coordinate):
            parts = [shared[effect.name]] if effect.name in shared else [effect.mean]
            parts += [own[effect.name]] if effect.name in own else []
            dims = "annotator" if effect.name in own else None
            number = pm.Deterministic(effect.label, reduce(add, parts), dims=dims)
            if effect.basis == "lead":
                factors[effect.dimension] = number
            elif effect.basis == "feature":
                style.append(number)
            else:
                entering[effect.coordinate].append(number)
        first = target.likelihood.emphasis
        position, tie, bad = (reduce(add, entering[at] or [0.0]) if at < max(first, M) else 0.0 for at in (ETA, T, M))
        grades = [reduce(add, entering[at]) + every for at in range(first, target.likelihood.n_coordinates)]
        slices = []
        for effect, part in zip(target.slices, target.numbering.parts if target.numbering else (), strict=True):
            name = f"{effect.name}_steps" if effect.walks and known is None else effect.name
            make = _parts.zero_sum if effect.is_held else _parts.normal
            numbers = scattered(make, name, effect.spread, effect.sd, label_of(effect))
            if effect.walks and target.numbering is not None:
                summed = target.numbering.steps.summed(np.eye(target.numbering.n_slices))[part, part]
                numbers = pm.math.dot(numbers, summed)
            if effect.walks or known is not None:
                numbers = pm.Deterministic(effect.label, numbers, dims=label_of(effect))
            slices.append(numbers)
        parameters = [strength, factors[0], position + every, tie + every, bad + np.zeros(1), *grades]
        _parts.observe(target, parameters, factors, style, slices)
    return program
