"""Bradley-Terry: P(i beats j) = 1 / (1 + exp(-(r_i - r_j))), strengths r in logits with sum zero.

Source: Bradley & Terry (1952), "Rank analysis of incomplete block designs", Biometrika 39.
"""

from __future__ import annotations

import pymc as pm

from bayes_arena.cells import Cells
from bayes_arena.models import _parts
from bayes_arena.priors import Prior


def build(cells: Cells, prior: Prior) -> pm.Model:
    """Return the model: ``strength`` (competitor), in logits."""
    tally = cells.pair_tally
    with pm.Model(coords=_parts.coordinates(cells)) as model:
        strength = _parts.zero_sum("strength", prior.strength, "competitor")
        _parts.soft_outcome(tally, _parts.lead(tally, strength))
    return model
