"""Glenn and David's ties: Thurstone's latent scores differ by less than a threshold kappa = exp(t).

With Phi the normal distribution function, c = sqrt(pi / 8) (the slope at zero is then the logistic function's, so eta
stays in logits) and the distances to the thresholds u = c (kappa - eta) and v = c (kappa + eta),

    P(i) = Phi(-u),      P(j) = Phi(-v),      P(tie) = Phi(u) - Phi(-v).

Source: Glenn & David (1960), "Ties in paired-comparison experiments", Biometrics 16.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.special import log_ndtr

from bayes_arena.arrays import Floats
from bayes_arena.likelihood.outcomes.likelihood import Likelihood, RowTerms
from bayes_arena.votes.outcomes import LOSS, TIE, WIN

C = math.sqrt(math.pi / 8)


@np.errstate(over="ignore", divide="ignore", invalid="ignore")
def rows(counts: Floats, z: Floats) -> RowTerms:
    """Differentiate in u and v, then in eta and t; not finite where t is absurd."""
    decided, ties, scale = counts[[WIN, LOSS]], counts[TIE], C * np.exp(z[1])
    distance = np.array([scale - C * z[0], scale + C * z[0]])
    log_p = log_ndtr(-distance)
    near, far = distance.min(axis=0), distance.max(axis=0)
    log_tie = log_ndtr(near) + np.nan_to_num(np.log1p(-np.exp(log_ndtr(-far) - log_ndtr(near))), neginf=-700.0)
    log_density = -0.5 * distance**2 - 0.5 * math.log(2 * math.pi)
    hazard, tied = np.exp(log_density - log_p), np.exp(log_density - log_tie)
    slope = decided * hazard - ties * tied
    curve = decided * hazard * (hazard - distance) + ties * tied * (tied + distance)
    by_both, twice, mixed = C * scale * (curve[1] - curve[0]), curve[0] + curve[1], ties * tied[0] * tied[1]
    gradient = np.array([C * (slope[1] - slope[0]), scale * (slope[0] + slope[1])])
    by_t = scale**2 * (twice + 2 * mixed) + gradient[1]
    hessian = np.array([[C**2 * (twice - 2 * mixed), by_both], [by_both, by_t]])
    return RowTerms(-(decided * log_p).sum(axis=0) - ties * log_tie, gradient, hessian)


def graph(counts: Any, z: list[Any]) -> Any:
    """Return the same in PyTensor."""
    import pytensor.tensor as pt

    def log_ndtr(x: Any) -> Any:
        tail, rest = pt.minimum(x, -1.0) / math.sqrt(2), pt.maximum(x, -1.0) / math.sqrt(2)
        return pt.switch(x < -1, pt.log(0.5 * pt.erfcx(-tail)) - tail**2, pt.log1p(-0.5 * pt.erfc(rest)))

    near, far = (C * (pt.exp(z[1]) + side * abs(z[0])) for side in (-1, 1))
    log_tie = log_ndtr(near) + pt.log1p(-pt.exp(log_ndtr(-far) - log_ndtr(near)))
    log_win, log_loss = (log_ndtr(C * (side * z[0] - pt.exp(z[1]))) for side in (1, -1))
    return counts[:, WIN] * log_win + counts[:, LOSS] * log_loss + counts[:, TIE] * log_tie


LIKELIHOOD = Likelihood("glenn-david", (WIN, LOSS, TIE), rows, graph, tie_prior=(-0.7, 1.0))
