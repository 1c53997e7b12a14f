"""Bradley-Terry: P(i beats j) = 1 / (1 + exp(-(r_i - r_j))), strengths r in logits with sum zero.

A tie is half a win for each.

Source: Bradley & Terry (1952), "Rank analysis of incomplete block designs", Biometrika 39.
"""

from __future__ import annotations

import pymc as pm

from bayes_arena.likelihood.priors import Prior
from bayes_arena.models import grid
from bayes_arena.votes.cells import Cells


def build(cells: Cells, prior: Prior, *, pooled: bool = False) -> pm.Model:
    """Return the model: ``strength`` (competitor), in logits."""
    return grid.build(cells, model="bradley-terry", prior=prior, pooled=pooled)
