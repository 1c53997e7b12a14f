"""am-ELO: annotators differ in how closely they follow the ranking.

Annotator k votes for the first with probability 1 / (1 + exp(-theta_k (r_i - r_j))).

The discriminations theta have mean 1 and may be negative.  A tie is half a win for each.
The paper's scale is sum theta = 1: theta / M and R = M r, for M annotators.

Source: Liu et al. (2025), "am-ELO: A stable framework for arena-based LLM evaluation",
equations 4, 5 and 7.
"""

from __future__ import annotations

import pymc as pm

from bayes_arena.models import Prior, data, observe, zero_sum


def build(votes: object, prior: str | Prior = "default") -> pm.Model:
    """Return the program of am-ELO.

    Parameters
    ----------
    votes : Votes, path, dataframe, or Data
    prior : {"default", "weak", "flat"} or Prior

    Returns
    -------
    pymc.Model
        ``strength`` (competitor) r in logits, ``discrimination`` (annotator) theta, their
        spreads ``strength_sd`` and ``discrimination_sd``, and ``votes``.
    """
    rows = data(votes)
    with pm.Model(coords=rows.coords) as model:
        r = zero_sum("strength", prior, "competitor", rows.information)
        theta = zero_sum("discrimination", prior, "annotator", rows.information, mean=1)
        lead = (r[rows.first] - r[rows.second])[rows.pair]
        eta = theta[rows.annotator] * lead
        observe([eta / 2, -eta / 2], rows.half_wins)
    return model
