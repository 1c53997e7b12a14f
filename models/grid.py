"""Any model of the grid as a PyMC program.

One composition from the same description and the same prior object as :func:`bayes_arena.fit`, hence the same
posterior: strengths, then whatever the terms of the objective ask for, then the outcome.
"""

from __future__ import annotations

import numpy as np
import pymc as pm

from bayes_arena.cells import Cells
from bayes_arena.likelihood import objective
from bayes_arena.marginal import SPREAD_OF
from bayes_arena.models import _parts
from bayes_arena.priors import Prior, resolve_prior
from bayes_arena.specification import Model, resolve_model


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
        spreads ``strength_sd``, ``discrimination_sd``, ``tie_spread``, ``position_spread``.

    Raises
    ------
    ModelError
        If the model or prior is unknown, or the model needs annotators and there are none.
    """
    prior = resolve_prior(prior)
    chosen = resolve_model(model, annotators_known=cells.n_annotators > 0, flat=prior.is_flat)
    target = objective(cells, chosen, prior)
    with pm.Model(coords=_parts.coordinates(cells)) as program:
        def spread(name: str) -> float | pm.TensorVariable:
            if not pooled or prior.hyper is None:
                return float(getattr(prior, name))
            label = name if name.endswith("spread") else f"{name}_sd"
            return pm.HalfNormal(label, getattr(prior.hyper, name))

        strength = _parts.zero_sum("strength", spread("strength"), "competitor")
        shared = {term.name: _parts.common(term) for term in target.common}
        own = {}
        for term in target.own:
            deviation = spread(SPREAD_OF[term.name])
            if pooled and prior.hyper is not None and term.name != "tie_propensity":
                unit = _parts.zero_sum(f"{term.name}_unit", 1.0, "annotator")
                own[term.name] = deviation * unit
            else:
                own[term.name] = _parts.zero_sum(f"{term.name}_deviation", deviation, "annotator")
        every = np.zeros(max(target.n_annotators, 1))
        theta = 1 + every
        if "discrimination" in own:
            theta = pm.Deterministic("discrimination", 1 + own["discrimination"], dims="annotator")
        position = _with_own("position", shared, own) if "position" in shared else 0.0
        tie = _with_own("tie_propensity", shared, own, label="log_tie_propensity") if "tie_propensity" in shared else 0.0
        bad = pm.Deterministic("log_both_bad", shared["both_bad"]) if "both_bad" in shared else 0.0
        _parts.observe(target, chosen, [strength, theta, position + every, tie + every, bad + np.zeros(1)])
    return program


def _with_own(name: str, shared: dict, own: dict, label: str | None = None) -> pm.TensorVariable:  # type: ignore[type-arg]
    """Name the sum of what annotators share and what is their own."""
    if name in own:
        return pm.Deterministic(label or name, shared[name] + own[name], dims="annotator")
    return pm.Deterministic(label or name, shared[name])
