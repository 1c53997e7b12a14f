"""am-ELO: P(i beats j | k) = 1 / (1 + exp(-theta_k (r_i - r_j))), theta of mean 1 and of any sign.

The paper's scale is sum theta = 1: theta / M and R = M r.

Source: Liu et al. (2025), "am-ELO", equations 4, 5 and 7.
"""

from __future__ import annotations

import pymc as pm

from bayes_arena.cells import Cells
from bayes_arena.models import _parts
from bayes_arena.priors import Prior


def build(cells: Cells, prior: Prior) -> pm.Model:
    """Return the model: ``strength`` (competitor) in logits, ``discrimination`` (annotator) with mean 1."""
    tally = cells.tally
    with pm.Model(coords=_parts.coordinates(cells)) as model:
        strength = _parts.zero_sum("strength", prior.strength, "competitor")
        deviation = _parts.zero_sum("discrimination_deviation", prior.discrimination, "annotator")
        discrimination = pm.Deterministic("discrimination", 1 + deviation, dims="annotator")
        k = pm.Data("k", tally.k, dims="row")
        _parts.soft_outcome(tally, discrimination[k] * _parts.lead(tally, strength))
    return model
