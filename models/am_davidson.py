"""am-Davidson: am-ELO with ties as an outcome and position effects.

With eta = theta_k (r_i - r_j) + b_k, i shown first,

    P(i wins) : P(tie) : P(j wins) = exp(eta / 2) : nu_k : exp(-eta / 2),

every annotator with a discrimination theta_k, a tie propensity nu_k and a position effect b_k, all three pooled.

Source: Davidson (1970), "On extending the Bradley-Terry model to accommodate ties in paired comparison experiments",
JASA 65; the annotators' numbers after Liu et al. (2025).
"""

from __future__ import annotations

import pymc as pm

from bayes_arena.likelihood.priors import Prior
from bayes_arena.models import grid
from bayes_arena.votes.cells import Cells


def build(cells: Cells, prior: Prior, *, pooled: bool = False) -> pm.Model:
    """Return the model: ``strength``, ``discrimination``, ``log_tie_propensity`` and ``position``."""
    return grid.build(cells, model="am-davidson", prior=prior, pooled=pooled)
