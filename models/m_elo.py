"""m-ELO: P(i beats j) = 1 / (1 + exp(-C (R_i - R_j))) with C = ln 10 / 400, ratings R in Elo points, mean zero.

The same likelihood as Bradley-Terry in the units of the paper; ``strength`` = C R is in logits.

Source: Liu et al. (2025), "am-ELO", equation 2.
"""

from __future__ import annotations

import math

import pymc as pm

from bayes_arena.likelihood.priors import Prior
from bayes_arena.models import grid
from bayes_arena.votes.cells import Cells

LOGITS_PER_POINT = math.log(10) / 400
"""The paper's C."""


def build(cells: Cells, prior: Prior, *, pooled: bool = False) -> pm.Model:
    """Return the model: ``rating`` (competitor) in Elo points, ``strength`` the same in logits."""
    program = grid.build(cells, model="m-elo", prior=prior, pooled=pooled)
    with program:
        pm.Deterministic("rating", program["strength"] / LOGITS_PER_POINT, dims="competitor")
    return program
