"""am-ELO: P(i beats j | k) = 1 / (1 + exp(-theta_k (r_i - r_j))), theta of mean 1 and of any sign.

A tie is half a win for each. The paper's scale is sum theta = 1: theta / M and R = M r.

Source: Liu et al. (2025), "am-ELO", equations 4, 5 and 7.
"""

from __future__ import annotations

import pymc as pm

from bayes_arena.likelihood.priors import Prior
from bayes_arena.models import grid
from bayes_arena.votes.cells import Cells


def build(cells: Cells, prior: Prior, *, pooled: bool = False) -> pm.Model:
    """Return the model: ``strength`` (competitor) in logits, ``discrimination`` (annotator) with mean 1."""
    return grid.build(cells, model="am-elo", prior=prior, pooled=pooled)
