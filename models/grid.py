"""Any model of the grid as a PyMC program.

One composition from the same description and the same prior object as :func:`bayes_arena.fit`, hence the same
posterior: strengths, then whatever the terms of the objective ask for, then the outcome.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pymc as pm

from bayes_arena.arrays import sum_by
from bayes_arena.inference.marginal.spreads import estimate_spreads, information
from bayes_arena.likelihood.labels import LABELS, SPREAD_OF, SPREADS
from bayes_arena.likelihood.priors import Prior
from bayes_arena.likelihood.problem import Problem
from bayes_arena.likelihood.specification import Model
from bayes_arena.models import _parts
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
        Give the spreads of the prior their half-normal hyperpriors, rather than fix them.

    Returns
    -------
    pymc.Model
        ``strength`` (competitor) in logits; where the model has them ``discrimination`` (annotator) with mean 1,
        ``log_tie_propensity`` and ``position`` (annotator, or a scalar where common), ``log_both_bad``; the pooled
        spreads ``strength_sd``, ``discrimination_sd``, ``tie_spread``, ``position_spread``. Pooled, these are functions
        of the coordinates that are sampled, ``..._unit`` and ``..._level``.

    Raises
    ------
    ModelError
        If the model or prior is unknown, or the model needs annotators and there are none.
    ConvergenceError, NotIdentifiedError, NoVotesError
        If ``pooled``, and the fit by ``"marginal"`` that settles the sampler's coordinates fails.
    """
    problem = Problem.of(cells, model, prior)
    if not pooled or problem.prior.hyper is None:
        return compose(problem)
    with one_thread():
        known = information(estimate_spreads(problem))
    return compose(problem, known)


def compose(problem: Problem, known: Mapping[str, float] | None = None) -> pm.Model:
    """Compose the program, given what the fit by ``"marginal"`` knows.

    Parameters
    ----------
    problem : Problem
    known : mapping of str to float, optional
        The :func:`~bayes_arena.inference.marginal.spreads.information` of the votes, which settles the sampler's
        coordinates: the spreads are pooled. Without it they are fixed.

    Returns
    -------
    pymc.Model
        As by :func:`build`.
    """
    model, prior, target = problem.model, problem.prior, problem.objective
    with pm.Model(coords=_parts.coordinates(problem.cells)) as program:

        def zero_sum(name: str, spread: str, dim: str) -> pm.TensorVariable:
            if known is None:
                return _parts.zero_sum(name, float(getattr(prior, spread)), dim)
            sd = pm.HalfNormal(SPREADS[spread], getattr(prior.hyper, spread))
            return _parts.pooled(name, sd, known[spread], dim)

        strength = zero_sum("strength", "strength", "competitor")
        if known is not None:
            strength = pm.Deterministic("strength", strength, dims="competitor")
        own = {term.name: zero_sum(f"{term.name}_deviation", SPREAD_OF[term.name], "annotator") for term in target.own}
        votes = sum_by(target.tally.k, target.counts.sum(axis=0), target.n_annotators)
        shared = {
            term.name: _parts.common_beside(own[term.name], term, votes / votes.sum())
            if known is not None and term.name in own
            else _parts.common(term)
            for term in target.common
        }
        every = np.zeros(max(target.n_annotators, 1))
        theta = 1 + every
        if "discrimination" in own:
            theta = pm.Deterministic(LABELS["discrimination"], 1 + own["discrimination"], dims="annotator")
        position = _with_own("position", shared, own)
        tie = _with_own("tie_propensity", shared, own)
        bad = _with_own("both_bad", shared, own)
        _parts.observe(target, model, [strength, theta, position + every, tie + every, bad + np.zeros(1)])
    return program


def _with_own(name: str, shared: dict, own: dict) -> pm.TensorVariable | float:  # type: ignore[type-arg]
    """Name the sum of what annotators share and what is their own; zero where the model has neither."""
    if name not in shared:
        return 0.0
    if name in own:
        return pm.Deterministic(LABELS[name], shared[name] + own[name], dims="annotator")
    return pm.Deterministic(LABELS[name], shared[name])
